"""What the columns of tables mean, as CSV files and workbooks show them."""

from __future__ import annotations

import functools
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated

from dcplan.answers.reference.metrics import fits
from dcplan.catalog.yaml12 import parse
from dcplan.specs import columns as shared
from dcplan.specs import registry
from dcplan.specs.table import Column

COMMON = "common"


@dataclass(frozen=True)
class ColumnDoc:
    """One column; ``table`` is empty where it means the same in every table."""

    table: str
    column: str
    meaning: str


@functools.cache
def columns() -> tuple[ColumnDoc, ...]:
    """Return all columns by table, those of every table first.

    Examples
    --------
    >>> next(c for c in columns() if c.column == "hall").table
    ''
    """
    text = (files("dcplan.answers.reference") / "columns.yaml").read_text(encoding="utf-8")
    tables: Mapping[str, Mapping[str, str]] = parse(text, "columns.yaml").data
    declared = _declared()
    known = {(c.table, c.column) for c in declared}
    written = (
        ColumnDoc("" if table == COMMON else table, column, meaning)
        for table, texts in tables.items()
        for column, meaning in texts.items()
    )
    found = (*declared, *(c for c in written if (c.table, c.column) not in known))
    return tuple(sorted(found, key=lambda c: c.table))


def _declared() -> tuple[ColumnDoc, ...]:
    """Return the columns of declared tables; those of every table have no table of their own."""
    common = {
        (typing.get_args(x)[1].meaning)
        for name, x in vars(shared).items()
        if name[0].isupper()
        if typing.get_origin(x) is Annotated and isinstance(typing.get_args(x)[1], Column)
    }
    return tuple(
        dict.fromkeys(
            ColumnDoc("" if c.meaning in common else spec.name, c.name, c.meaning)
            for verb in registry.VERBS
            for spec in registry.table_specs(verb)
            for c in spec.columns
        )
    )


def meaning(table: str, column: str) -> str:
    """Return the meaning of a table's column; empty where it is not documented.

    Examples
    --------
    >>> bool(meaning("racks", "hall")), meaning("racks", "zzz")
    (True, '')
    """
    found = [c for c in columns() if c.table in ("", table) and fits(c.column, column)]
    # a table's own words before common ones, a whole name before a pattern
    return max(found, key=lambda c: (bool(c.table), "<" not in c.column)).meaning if found else ""


def named(word: str) -> list[ColumnDoc]:
    """Return columns of this name in any table, or in one, as ``racks.decision``."""
    found = [c for c in columns() if word in (c.column, f"{c.table}.{c.column}")]
    table, _, column = word.rpartition(".")
    if not found and any(c.table == table for c in columns()):
        found = [c for c in columns() if not c.table and c.column == column]
    return found
