"""Sheets of rows on a common time axis: each row is written once, as one expression.

Columns A to F are line, place, cooling, item, unit and value or total; quarters start at G. A row
is one formula copied across. Values are computed here in Python and written as cached results, so
that a recalculation by another program is an independent check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from dcplan.report.book.data.term import Array, Operand, Term, added, sum_of, term_of

Key = tuple[str, str, str]
"""Place, cooling, item."""
LABELS = ("Line", "Place", "Cooling", "Item", "Unit", "Value")
FIRST = len(LABELS)
"""Column of the first quarter, from 0."""
HEAD = 4
"""Rows above the first line of a sheet: title, note, check, header."""
INPUT_ROW = 6
"""Row of the first input on the Inputs page, from 1."""
NOWHERE: Key = ("", "", "")


def column(index: int) -> str:
    """Return the letters of a column counted from 0.

    Examples
    --------
    >>> column(0), column(25), column(26), column(701), column(702)
    ('A', 'Z', 'AA', 'ZZ', 'AAA')
    """
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@dataclass(eq=False)
class Row(Operand):
    """A line of a sheet; in an expression, it is its cell of the quarter, or its single cell."""

    sheet: str
    number: int
    label: str
    key: Key = NOWHERE
    unit: str = ""
    kind: str = "formula"
    """formula, decision, derived, or title."""
    one: float | None = None
    """Single value or total."""
    one_formula: Term | None = None
    series: Array | None = None
    formula: Term | None = None

    def term(self) -> Term:
        """Return the cell of the quarter, or the single cell of a row without quarters."""
        return self.cell if self.series is None else Term(self.values, self.at)

    @property
    def cell(self) -> Term:
        """Single value or total."""
        return Term(self.value, lambda t: f"{self.sheet}!$F${self.number}")

    def at(self, t: int) -> str:
        """Return the address of a quarter's cell."""
        return f"{self.sheet}!{column(FIRST + t)}{self.number}"

    def span(self, since: int = 0, until: int | None = None) -> Term:
        """Return all quarters, or some of them, as one range."""
        last = len(self.values) if until is None else until
        first, end = f"${column(FIRST + since)}", f"${column(FIRST + last - 1)}"
        text = f"{self.sheet}!{first}{self.number}:{end}{self.number}"
        return Term(self.values[since:last], lambda t: text)

    def so_far(self) -> Term:
        """Return the cumulative sum by quarter."""
        first = f"{self.sheet}!${column(FIRST)}{self.number}"
        return Term(
            np.cumsum(self.values), lambda t: f"SUM({first}:{column(FIRST + t)}{self.number})"
        )

    @property
    def values(self) -> Array:
        """Values by quarter.

        Raises
        ------
        ValueError
            When the row has only a single value.
        """
        if self.series is None:
            msg = f"{self.label} has no values by quarter"
            raise ValueError(msg)
        return self.series

    @property
    def value(self) -> float:
        """The single value or total.

        Raises
        ------
        ValueError
            When the row has none.
        """
        if self.one is None:
            msg = f"{self.label} has no single value"
            raise ValueError(msg)
        return self.one


@dataclass
class Sheet:
    """Rows in order; ``quarters`` are the headers of the time columns."""

    name: str
    title: str
    note: str
    quarters: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    labels: tuple[str, ...] = LABELS
    """Headers of the columns before the time columns, as many as :data:`LABELS`."""

    def heading(self, text: str) -> None:
        """Write a heading in a separate line."""
        self._row(text, NOWHERE, "", "title")

    def gap(self, rows: int) -> None:
        """Leave rows empty, as for a chart."""
        for _ in range(rows):
            self._row("", NOWHERE, "", "title")

    def fact(self, label: str, key: Key, unit: str, value: Term | float) -> Row:
        """Write a single value; a plain number stays as planned."""
        row = self._row(label, key, unit, "formula" if isinstance(value, Term) else "derived")
        row.one, row.one_formula = term_of(value).value, value if isinstance(value, Term) else None
        return row

    def frozen(
        self, label: str, key: Key, unit: str, values: Array, kind: str = "decision", *, total: bool
    ) -> Row:
        """Write values by quarter without a formula."""
        return self._series(self._row(label, key, unit, kind), values, total)

    def line(self, label: str, key: Key, unit: str, term: Operand, *, total: bool = True) -> Row:
        """Write one formula across all quarters, and its sum if it is meaningful."""
        row = self._row(label, key, unit, "formula")
        row.formula = term.term()
        values = row.formula.number
        whole = np.full(len(self.quarters), values) if isinstance(values, float) else values
        return self._series(row, whole, total)

    def _row(self, label: str, key: Key, unit: str, kind: str) -> Row:
        row = Row(self.name, HEAD + 1 + len(self.rows), label, key, unit, kind)
        self.rows.append(row)
        return row

    def _series(self, row: Row, values: Array, total: bool) -> Row:
        row.series = values
        if total:
            row.one_formula = sum_of(row.span())
            row.one = row.one_formula.value
        return row


def total(rows: Iterable[Row]) -> Term:
    """Add rows of a quarter; adjacent rows of a sheet form one range."""
    blocks: list[list[Row]] = []
    for row in rows:
        last = blocks[-1][-1] if blocks else None
        if last and (last.sheet, last.number + 1) == (row.sheet, row.number):
            blocks[-1].append(row)
        else:
            blocks.append([row])
    return added(_block(rows) for rows in blocks)


def _block(rows: list[Row]) -> Term:
    """Return the range of a quarter's cells in adjacent rows."""
    first, last = rows[0], rows[-1]
    if first is last:
        return first.term()
    column_sum = np.sum([row.values for row in rows], axis=0)
    return Term(column_sum, lambda t: f"SUM({first.at(t)}:{last.at(t).partition('!')[2]})")
