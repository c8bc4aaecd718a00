"""Rows and numbers of a result's tables, for the figures and states of a page."""

from __future__ import annotations

from dcplan.result import Cell, Result

Row = dict[str, Cell]


def rows_of(result: Result, name: str) -> list[Row]:
    """Return the rows of a table by column; none where the answer lacks it."""
    table = result.tables.get(name)
    return table.records() if table is not None else []


def number_of(cell: Cell) -> float:
    """Return the number of a cell; 0 for an empty one or a text."""
    return float(cell) if isinstance(cell, int | float) else 0.0
