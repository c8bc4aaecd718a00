"""Sheets of rows on one time ruler: every row knows its values, its formula, and where it stands.

Columns A to F are line, place, cooling, item, unit and value or total; quarters follow from G. A
row is one formula copied across. The values are computed here in Python and written as the cells'
cached results, so that a recalculation by another engine is an independent check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Key = tuple[str, str, str]
"""Place, cooling, item."""
LABELS = ("Line", "Place", "Cooling", "Item", "Unit", "Value")
FIRST = len(LABELS)
"""Column of the first quarter, from 0."""
HEAD = 4
"""Rows above the first line of a sheet: title, note, check, header."""
INPUT_ROW = 6
"""Row of the first input on its own page, from 1."""
NOWHERE: Key = ("", "", "")


def column(index: int) -> str:
    """Letters of a column counted from 0.

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


@dataclass
class Row:
    """A line of a sheet; ``one`` is its single value or total, ``series`` its values by quarter."""

    sheet: str
    number: int
    label: str
    key: Key = NOWHERE
    unit: str = ""
    kind: str = "formula"
    """formula, decision, derived, or title."""
    one: float | None = None
    one_formula: str | None = None
    series: Array | None = None
    formula: Callable[[int], str] | None = None

    def at(self, t: int) -> str:
        """Address of a quarter's cell."""
        return f"{self.sheet}!{column(FIRST + t)}{self.number}"

    def cell(self) -> str:
        """Address of the single value or total."""
        return f"{self.sheet}!$F${self.number}"

    def span(self, until: int | None = None, since: int = 0) -> str:
        """Address of all quarters, or of some of them."""
        last = (len(self.values) if until is None else until) - 1
        return f"{self.sheet}!${column(FIRST + since)}{self.number}:${column(FIRST + last)}{self.number}"

    @property
    def values(self) -> Array:
        """Values by quarter.

        Raises
        ------
        ValueError
            When the row has a single value alone.
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
            When it has none.
        """
        if self.one is None:
            msg = f"{self.label} has no single value"
            raise ValueError(msg)
        return self.one


@dataclass
class Sheet:
    """Rows in their order; ``quarters`` head the time columns."""

    name: str
    title: str
    note: str
    quarters: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)

    def _next(self) -> int:
        return HEAD + 1 + len(self.rows)

    def heading(self, text: str) -> None:
        """A line that names what follows."""
        self.rows.append(Row(self.name, self._next(), text, kind="title"))

    def fact(
        self,
        label: str,
        key: Key,
        unit: str,
        value: float,
        formula: str | None,
        kind: str = "formula",
    ) -> Row:
        """A single value."""
        row = Row(
            self.name,
            self._next(),
            label,
            key,
            unit,
            kind if formula else "derived",
            value,
            formula,
        )
        self.rows.append(row)
        return row

    def frozen(
        self, label: str, key: Key, unit: str, values: Array, kind: str = "decision", *, total: bool
    ) -> Row:
        """Values by quarter that no formula gives."""
        return self._series(
            Row(self.name, self._next(), label, key, unit, kind, series=values), total
        )

    def line(
        self,
        label: str,
        key: Key,
        unit: str,
        values: Array,
        formula: Callable[[int], str],
        *,
        total: bool = True,
    ) -> Row:
        """One formula across all quarters, and its sum where that has a meaning."""
        return self._series(
            Row(
                self.name, self._next(), label, key, unit, "formula", series=values, formula=formula
            ),
            total,
        )

    def _series(self, row: Row, total: bool) -> Row:
        if total:
            row.one = float(np.sum(row.values))
            row.one_formula = f"SUM({row.span().partition('!')[2]})"
        self.rows.append(row)
        return row


def summed(rows: Sequence[Row]) -> Callable[[int], str]:
    """Formula that adds rows of a quarter; rows that stand together are one range."""
    return lambda t: " + ".join(_ranges(rows, t)) or "0"


def _ranges(rows: Sequence[Row], t: int) -> list[str]:
    texts: list[str] = []
    begun: list[Row] = []
    for row in [*rows, None]:
        if begun and (
            row is None or row.sheet != begun[-1].sheet or row.number != begun[-1].number + 1
        ):
            last = begun[-1].at(t).partition("!")[2]
            texts.append(begun[0].at(t) if len(begun) == 1 else f"SUM({begun[0].at(t)}:{last})")
            begun = []
        if row is not None:
            begun.append(row)
    return texts


def total(rows: Sequence[Row], length: int) -> Array:
    """Sum of rows by quarter."""
    return np.sum([r.values for r in rows], axis=0) if rows else np.zeros(length)
