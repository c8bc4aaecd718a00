"""Catalog rows by the name given with a flag."""

from __future__ import annotations

from typing import TypeVar

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Row
from dcplan.errors import InputError, Place, Problem, did_you_mean

R = TypeVar("R", bound=Row)


def unknown(catalog: Catalog, kind: str, name: str, place: str) -> Problem:
    """Return the problem of a name that is not in the catalog."""
    hint = did_you_mean(name, catalog.rows[kind])
    return Problem(
        "DC010",
        f"the catalog has no {kind} row {name!r}",
        Place(place),
        hint,
        f"dcplan catalog list {kind}",
    )


def named(catalog: Catalog, kind: str, name: str, model: type[R], place: str) -> R:
    """Return the row of a name.

    Raises
    ------
    InputError
        When the catalog has none; the error suggests the nearest name.
    """
    row = catalog.find(kind, name, model)
    if row is None:
        raise InputError([unknown(catalog, kind, name, place)])
    return row
