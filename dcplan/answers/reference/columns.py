"""Meaning of table columns, as declared in :mod:`dcplan.specs`."""

from __future__ import annotations

import functools
import typing
from dataclasses import dataclass
from typing import Annotated

from dcplan.answers.reference.metrics import fits
from dcplan.specs import columns as shared
from dcplan.specs import registry
from dcplan.specs.headers import header
from dcplan.specs.table import Column


@dataclass(frozen=True)
class ColumnDoc:
    """One column; ``table`` is empty if the column has the same meaning in every table."""

    table: str
    column: str
    meaning: str


@functools.cache
def columns() -> tuple[ColumnDoc, ...]:
    """Return all columns by table; columns common to every table come first.

    Examples
    --------
    >>> next(c for c in columns() if c.column == "hall").table
    ''
    """
    common = {
        typing.get_args(x)[1].meaning
        for x in vars(shared).values()
        if typing.get_origin(x) is Annotated and isinstance(typing.get_args(x)[1], Column)
    }
    found = dict.fromkeys(
        ColumnDoc("" if c.meaning in common else spec.name, c.name, c.meaning)
        for verb in registry.VERBS
        for spec in registry.table_specs(verb)
        for c in spec.columns
    )
    return tuple(sorted(found, key=lambda c: c.table))


def meaning(table: str, column: str) -> str:
    """Return the meaning of a column of a table; empty if it is not documented.

    Examples
    --------
    >>> bool(meaning("racks", "hall")), meaning("racks", "zzz")
    (True, '')
    """
    found = [c for c in columns() if c.table in ("", table) and fits(c.column, column)]
    # the table's own text before a common text, an exact name before a pattern
    return max(found, key=lambda c: (bool(c.table), "<" not in c.column)).meaning if found else ""


def named(word: str) -> list[ColumnDoc]:
    """Return the columns of this name in any table.

    A name with a table, such as ``racks.decision``, selects the column of that table. A header,
    such as ``Serves from``, is also a name.
    """
    heading = word.casefold()
    found = [
        c
        for c in columns()
        if word in (c.column, f"{c.table}.{c.column}") or header(c.column).casefold() == heading
    ]
    table, _, column = word.rpartition(".")
    if not found and any(c.table == table for c in columns()):
        found = [c for c in columns() if not c.table and c.column == column]
    return found
