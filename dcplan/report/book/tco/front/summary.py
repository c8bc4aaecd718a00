"""Summary and chart of a comparison's workbook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.report.book.data.term import Term, added
from dcplan.report.book.grid import HEAD, column
from dcplan.report.book.pages import add_series
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.front.sides import FIRST_SIDE, HEADS, KIND, decision, others, side
from dcplan.report.book.writer import NUMBERS, Writer, head
from dcplan.report.text.numbers import in_order
from dcplan.units import unit_of

LIVE = (
    "rented.",
    "break_even.",
    "owned.npv",
    "owned.usd_per_accelerator",
    "owned.irr",
    "owned.payback",
)
"""Starts of the keys of figures that the summary computes."""
MOST_CURVES = 5
"""Rents in the chart, the cheapest first."""


def summary_page(writer: Writer, book: Book) -> dict[str, Term]:
    """Write the decision, the present cost of each side and its break-even.

    Returns
    -------
    dict
        Cells of the figures, by their key in the answer.
    """
    page, rents = writer.sheets["Summary"], list(book.rents)
    head(writer, page, "Summary", f"As exported: {book.source.result.headline}")
    bold = writer.format(bold=True, bottom=1, text_wrap=True)
    last = FIRST_SIDE + len(rents)
    places: dict[str, Term] = {}
    decision(writer, book, last, places)
    for i, text in enumerate(HEADS):
        page.write_string(FIRST_SIDE - 2, i, text, bold)
    side(writer, book, "owned", FIRST_SIDE, places)
    for i, name in enumerate(rents):
        side(writer, book, name, FIRST_SIDE + 1 + i, places)
    at = others(writer, book, last + 1)
    at = by_line(writer, dict.fromkeys(["owned", *rents], book), at + 2)
    at = _answers(writer, book, at + 2)
    page.insert_chart(at + 2, 0, _curve(writer, book))
    page.set_column(0, 0, 44)
    page.set_column(1, max(KIND, 1 + len(rents)), 17)
    page.freeze_panes(FIRST_SIDE - 1, 1)
    return places


def by_line(writer: Writer, books: Mapping[str, Book], row: int) -> int:
    """Write the present value of every line of every side, with totals; return the next row.

    ``books`` has the book of each side, in the order of the columns.
    """
    page, usd = writer.sheets["Summary"], writer.number("formula", "USD")
    bold = writer.format(bold=True, bottom=1, text_wrap=True)
    page.write_string(row - 1, 0, "Present value by line, USD", bold)
    for i, name in enumerate(books, start=1):
        page.write_string(row - 1, i, name, bold)
    labels = list(dict.fromkeys(line for book in books.values() for _, line in book.values))
    sums = dict.fromkeys(books, 0.0)
    for n, label in enumerate(labels):
        page.write_string(row + n, 0, label)
        for i, (name, book) in enumerate(books.items(), start=1):
            facts = book.values.get((name, label), ())
            if facts:
                worth = added(fact.cell for fact in facts)
                page.write_formula(row + n, i, f"={worth.text()}", usd, worth.value)
                sums[name] += worth.value
    end = row + len(labels)
    page.write_string(end, 0, "Present cost", bold)
    money = writer.format(num_format=NUMBERS["USD"], bold=True, top=1)
    for i, name in enumerate(books, start=1):
        text = f"=SUM({column(i)}{row + 1}:{column(i)}{end})"
        page.write_formula(end, i, text, money, sums[name])
    return end + 1


def _answers(writer: Writer, book: Book, row: int) -> int:
    """Write the other figures of the answer, as exported; return the next row."""
    page = writer.sheets["Summary"]
    bold = writer.format(bold=True, bottom=1)
    page.write_string(row - 1, 0, "Other figures of the answer, as exported", bold)
    for key, metric in in_order(book.source.result.metrics).items():
        if key.startswith(LIVE):
            continue
        row += 1
        page.write_string(row - 1, 0, metric.label)
        share = unit_of(key) == "fraction"
        look = writer.number("derived", "fraction" if share else metric.unit or "x")
        if isinstance(metric.value, int | float):
            page.write_number(row - 1, 1, float(metric.value), look)
        page.write_string(row - 1, 2, metric.unit)
    return row


def curve(writer: Writer, book: Book) -> None:
    """Add the chart of cumulative cost above the rows of the break-even."""
    writer.sheets[book.even.name].insert_chart(HEAD, 0, _curve(writer, book))


def _curve(writer: Writer, book: Book) -> Any:
    """Return a chart in which the owned curve crosses that of a rent at the break-even."""
    chart = writer.book.add_chart({"type": "line"})
    add_series(chart, book.rows["curve owned"], "owned, if sold at this month")
    for name in list(book.rents)[:MOST_CURVES]:
        add_series(chart, book.rows[f"curve {name}"], name)
    chart.set_title({"name": "Cumulative present cost, USD M"})
    chart.set_x_axis({"name": "months from the start", "interval_unit": 6, "interval_tick": 6})
    chart.set_y_axis({"num_format": "#,##0.0,,"})
    chart.set_legend({"position": "bottom"})
    chart.set_size({"width": 960, "height": 410})
    return chart
