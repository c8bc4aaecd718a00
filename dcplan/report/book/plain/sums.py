"""Formulas that a table holds itself: its last row as a sum, and columns that follow from others."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dcplan.report.book.grid import column
from dcplan.result import Cell, Table

TOTAL, STEP = "total", "step"
"""First cell of a row of totals; first column of a table whose last row is the sum of its steps."""
DIFFERENCES = (("delta", "after", "before"),)
"""Column, and the columns whose difference it is."""
RATIOS = (
    ("delta_frac", "delta", "before"),
    ("error_frac", "predicted", "published"),
    ("error_frac", "predicted_step_time_s", "measured_step_time_s"),
)
"""Column, and the columns whose ratio it is: over the absolute value, or less 1 for an error."""
Parts = tuple[tuple[str, ...], tuple[str, ...]]
"""Columns that are added, and columns that are subtracted."""
IDENTITIES: tuple[tuple[str, Parts], ...] = (
    (
        "taxable_usd",
        (("disposal_usd",), ("running_cost_usd", "tax_depreciation_usd", "interest_usd")),
    ),
    (
        "result_usd",
        (("gain_usd",), ("operating_usd", "depreciation_usd", "interest_usd", "tax_expense_usd")),
    ),
    (
        "contributed_usd",
        (("operating_usd", "capital_paid_usd", "tax_paid_usd", "debt_paid_usd"), ("sold_usd",)),
    ),
    (
        "difference_usd",
        (("book_value_usd", "prepaid_usd"), ("debt_usd", "deferred_tax_usd", "equity_usd")),
    ),
)
"""Column, and the columns of its row that give it."""
BALANCES: tuple[tuple[str, Parts], ...] = (
    ("deferred_tax_usd", (("tax_expense_usd",), ("tax_paid_usd",))),
    ("equity_usd", (("contributed_usd", "result_usd"), ())),
)
"""Column that adds columns of its row to its cell of the row above."""
ABOVE_FIRST = (("above_hybrid_usd", "npv_usd"),)
"""Column, and the column whose difference to its first row it is."""
SAME = 1e-9
CENT = 0.01
"""Sums of rounded amounts may differ by less."""


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
    return (
        _sums(table, first)
        | _differences(table, first)
        | _ratios(table, first)
        | _identities(table, first)
        | _above_first(table, first)
    )


def _sums(table: Table, first: int) -> dict[tuple[int, int], str]:
    """Return the sums of the last row, if it is the total of all others."""
    last = len(table.rows) - 1
    if last < 1 or (table.rows[last][0] != TOTAL and table.columns[0] != STEP):
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


def _identities(table: Table, first: int) -> dict[tuple[int, int], str]:
    """Return the cells that other columns of their row give, some with the cell above."""
    found: dict[tuple[int, int], str] = {}
    for name, parts in IDENTITIES:
        found |= _identity(table, first, name, parts)
    for name, parts in BALANCES:
        found |= _identity(table, first, name, parts, runs=True)
    return found


def _identity(
    table: Table, first: int, name: str, parts: Parts, *, runs: bool = False
) -> dict[tuple[int, int], str]:
    found, before = {}, 0.0
    signed = [(x, sign) for sign, names in zip((1, -1), parts, strict=True) for x in names]
    for n, i, cells, value in _rows(table, name, [x for x, _ in signed]):
        total = sum(sign * x for (_, sign), x in zip(signed, cells, strict=True))
        if math.isclose(total + before, value, rel_tol=SAME, abs_tol=CENT):
            terms = [
                f"{'+' if sign > 0 else '-'}{column(table.columns.index(x))}{first + n}"
                for x, sign in signed
            ]
            above = [f"+{column(i)}{first + n - 1}"] if runs and n else []
            found[n, i] = "".join((*above, *terms)).removeprefix("+")
        before = value if runs else 0.0
    return found


def _above_first(table: Table, first: int) -> dict[tuple[int, int], str]:
    found = {}
    for name, other in ABOVE_FIRST:
        rows = list(_rows(table, name, [other]))
        if not rows or rows[0][0] != 0:
            continue
        letter = column(table.columns.index(other))
        for n, i, (cost,), value in rows:
            if math.isclose(cost - rows[0][2][0], value, rel_tol=SAME, abs_tol=CENT):
                found[n, i] = f"{letter}{first + n}-{letter}${first}"
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
    table: Table, name: str, others: Sequence[str]
) -> list[tuple[int, int, tuple[float, ...], float]]:
    """Return row, column, other cells and value of the cells of a column that are all numbers."""
    if name not in table.columns or any(x not in table.columns for x in others):
        return []
    i, *at = (table.columns.index(x) for x in (name, *others))
    return [
        (n, i, tuple(float(str(row[x])) for x in at), float(str(row[i])))
        for n, row in enumerate(table.rows)
        if all(_is_number(row[x]) for x in (i, *at))
    ]


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell)
