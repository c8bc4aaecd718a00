"""Formulas that a table holds itself: its total row, and differences of two columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dcplan.report.book.grid import column
from dcplan.result import Cell, Table

TOTAL = "total"
DIFFERENCES = (("delta", "after", "before"),)
"""Column, and the columns whose difference it is."""
RATIOS = (
    ("delta_frac", "delta", "before"),
    ("error_frac", "predicted", "published"),
    ("error_frac", "predicted_step_time_s", "measured_step_time_s"),
)
"""Column, and the columns whose ratio it is: over the absolute value, or less 1 for an error."""
SAME = 1e-9


def formulas(table: Table, first: int) -> dict[tuple[int, int], str]:
    """Return the formula of each cell that other cells of its table give, by row and column.

    ``first`` is the row of the sheet, from 1, that has the first row of the table. A cell whose value
    differs from its formula stays a value.

    Examples
    --------
    >>> table = Table(("line", "usd"), (("racks", 2.0), ("energy", 3.0), ("total", 5.0)))
    >>> formulas(table, 6)
    {(2, 1): 'SUM(B6:B7)'}
    >>> formulas(Table(("metric", "before", "after", "delta"), (("x", 2.0, 5.0, 3.0),)), 6)
    {(0, 3): 'C6-B6'}
    """
    return _sums(table, first) | _differences(table, first) | _ratios(table, first)


def _sums(table: Table, first: int) -> dict[tuple[int, int], str]:
    """Return the sums of the last row, if it is the total of all others."""
    last = len(table.rows) - 1
    if last < 1 or table.rows[last][0] != TOTAL:
        return {}
    found = {}
    for i in range(1, len(table.columns)):
        cells = [row[i] for row in table.rows]
        if all(_is_number(x) for x in cells):
            *parts, whole = (float(str(x)) for x in cells)
            if math.isclose(math.fsum(parts), whole, rel_tol=SAME, abs_tol=SAME):
                letter = column(i)
                found[last, i] = f"SUM({letter}{first}:{letter}{first + last - 1})"
    return found


def _differences(table: Table, first: int) -> dict[tuple[int, int], str]:
    found = {}
    for name, *pair in DIFFERENCES:
        for n, i, (a, b), cells in _rows(table, name, pair):
            if math.isclose(a - b, cells, rel_tol=SAME, abs_tol=SAME):
                left, right = (column(table.columns.index(x)) for x in pair)
                found[n, i] = f"{left}{first + n}-{right}{first + n}"
    return found


def _ratios(table: Table, first: int) -> dict[tuple[int, int], str]:
    found = {}
    for name, *pair in RATIOS:
        for n, i, (a, b), value in _rows(table, name, pair):
            left, right = (f"{column(table.columns.index(x))}{first + n}" for x in pair)
            if not b:
                continue
            if math.isclose(a / abs(b), value, rel_tol=SAME):
                found[n, i] = f"{left}/ABS({right})"
            elif math.isclose(a / b - 1.0, value, rel_tol=SAME, abs_tol=SAME):
                found[n, i] = f"{left}/{right}-1"
    return found


def _rows(
    table: Table, name: str, pair: Sequence[str]
) -> list[tuple[int, int, tuple[float, float], float]]:
    """Return row, column, both sides and value of the cells of a column that are all numbers."""
    if name not in table.columns or any(x not in table.columns for x in pair):
        return []
    i, a, b = (table.columns.index(x) for x in (name, *pair))
    return [
        (n, i, (float(str(row[a])), float(str(row[b]))), float(str(row[i])))
        for n, row in enumerate(table.rows)
        if all(_is_number(row[x]) for x in (i, a, b))
    ]


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell)
