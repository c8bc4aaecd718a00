"""A table as people see it: columns with content, headers in plain words, one format a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dcplan.report.text.headings import hidden_columns
from dcplan.report.text.numbers import column, is_number, largest_usd, with_content
from dcplan.result import Cell, Table
from dcplan.specs import registry
from dcplan.units import money, unit_of

FEW_MORE = 2
"""Rows after the first ones that are shown rather than counted."""


@dataclass(frozen=True)
class View:
    """A table as text."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    more: int = 0
    """Rows of the table that are not shown."""

    @property
    def widths(self) -> list[int]:
        """Width of each column in characters."""
        return [
            max(len(head), *(len(row[i]) for row in self.rows), 0)
            for i, head in enumerate(self.headers)
        ]


def short_view(verb: str, name: str, table: Table) -> View:
    """Return the short form of a table of a result: its main columns and its first rows."""
    hidden = set(hidden_columns(verb, name))
    rows: Sequence[Sequence[Cell]] = table.rows
    spec = registry.tables(verb).get(name)
    if spec is not None and spec.brief is not None:
        keep = [spec.brief(row) for row in spec.rows(table)]
        rows = [row for row, kept in zip(rows, keep, strict=True) if kept]
    if spec is not None and spec.first and len(rows) > spec.first + FEW_MORE:
        rows = rows[: spec.first]
    return view(table.columns, rows, without=hidden, more=len(table.rows) - len(rows))


def view(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    without: Iterable[str] = (),
    more: int = 0,
) -> View:
    """Return rows as text, without the columns that are empty or zero in every row.

    Examples
    --------
    >>> shown = view(("hall", "price_usd", "cloud_usd"), [("a", 2e6, 0), ("b", 3e5, 0)])
    >>> shown.headers, shown.rows
    (('Hall', 'Price, USD M'), (('a', '2.00'), ('b', '0.30')))
    """
    kept = list(rows)
    hidden = set(without)
    at = [i for i in with_content(columns, kept) if columns[i] not in hidden]
    top_usd = largest_usd(columns, kept)
    made = [_column(columns, kept, i, top_usd) for i in at]
    cells = tuple(zip(*(texts for _, texts in made), strict=True)) if kept else ()
    numeric = tuple(any(is_number(row[i]) for row in kept) for i in at)
    return View(tuple(head for head, _ in made), cells, numeric, more)


def _column(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], at: int, top_usd: float
) -> tuple[str, tuple[str, ...]]:
    """Return the header and the cells of one column; each row may have its own unit."""
    name = columns[at]
    head, texts = column(name, [row[at] for row in rows], top_usd)
    if "unit" not in columns or unit_of(name):
        return head, texts
    units = [row[columns.index("unit")] for row in rows]
    return head, tuple(
        money(float(row[at])) if unit == "USD" and is_number(row[at]) else text  # type: ignore[arg-type]
        for row, unit, text in zip(rows, units, texts, strict=True)
    )
