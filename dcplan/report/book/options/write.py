"""The workbook file of ``tco`` without a fleet: sourcing options for the same work.

Each option has sheets of its own, since it buys and rents something else: payments, depreciation,
loan, tax and cash by month or year, on top of the sheets of its plan by quarter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from dcplan.report.book.checks import Check, Relation, stored, write_checks
from dcplan.report.book.data.term import Term, added, number, when
from dcplan.report.book.financing.write import pages_of, plan_book, plan_checks
from dcplan.report.book.grid import FIRST, HEAD, Row, Sheet
from dcplan.report.book.inputs import inputs_page
from dcplan.report.book.options.source import PlansSource
from dcplan.report.book.options.summary import cover_page, summary_page
from dcplan.report.book.pages import dictionary_page, sources_page
from dcplan.report.book.tco.basis.left import CHART_ROWS
from dcplan.report.book.tco.book import LABELS, Book
from dcplan.report.book.tco.checks import changed_input
from dcplan.report.book.tco.even import months_ahead
from dcplan.report.book.tco.front.cover import DICTIONARY
from dcplan.report.book.tco.source import TcoSource
from dcplan.report.book.writer import Writer, write_sheet

EVEN = "Break_even"
FRONT, BACK = ("Cover", "Summary", "Inputs", EVEN), ("Checks", "Sources", "Dictionary")
"""Sheets before and after those of the options."""
TOTAL = "total"


class PlansBook(NamedTuple):
    """The computed sheets of all options."""

    books: dict[str, Book]
    """Sheets by option."""
    even: Sheet
    """Sheet of the break-even."""
    rows: dict[str, Row]
    """Its curves by option, and the months by ``A over B``."""


def order_of(found: PlansBook) -> tuple[str, ...]:
    """Return the names of the sheets in their order."""
    own = [sheet.name for book in found.books.values() for sheet in _sheets(book)]
    return (*FRONT, *own, *BACK)


def plan(source: TcoSource, option: str) -> Book:
    """Compute the sheets of one option, which have its name."""
    return plan_book(source, option, f"{option.capitalize()}_")


def _sheets(book: Book) -> list[Sheet]:
    c = book.calc
    return [*pages_of(book), c.decisions, c.power, c.fabric, c.cost]


def computed(source: PlansSource) -> PlansBook:
    """Compute the sheets of all options, and their break-even."""
    books = {name: plan(each, name) for name, each in source.own.items()}
    months = next(iter(books.values())).even.quarters
    note = "Present cost of each option if all that it owns is sold at the end of month k."
    sheet = Sheet(EVEN, "Break-even by month", note, months, labels=LABELS)
    sheet.gap(CHART_ROWS)
    sheet.heading("Present cost so far")
    rows: dict[str, Row] = {}
    for name, book in books.items():
        rule = (name, "", f"from {book.even.name}")
        label = "present cost if sold at this month"
        rows[name] = sheet.line(label, rule, "USD", book.rows["curve owned"].term(), total=False)
    n = len(months) - 1
    for first, second in combinations(sorted(books, key=_rank), 2):
        name = f"{first} over {second}"
        sheet.heading(name)
        rule = (name, "", f"{second} less {first}")
        lead = sheet.line("advantage", rule, "USD", rows[second] - rows[first], total=False)
        cheaper = books[first].rows["owned npv"] <= books[second].rows["owned npv"]
        found = months_ahead(sheet, name, lead, when(cheaper, n, -1))
        rule = (name, "", "month from which it has cost no more for good; -1: never")
        rows[name] = sheet.fact("break-even", rule, "months", found)
    return PlansBook(books, sheet, rows)


def _rank(option: str) -> int:
    return ("owned", "hybrid", "rented").index(option)


def write_plans(writer: Writer, source: PlansSource, found: PlansBook) -> dict[str, Term]:
    """Write all sheets; return the cells of the figures by their keys."""
    books, even, rows = found
    cover_page(writer, source)
    evens = {name: row for name, row in rows.items() if name not in books}
    places = summary_page(writer, source, books, evens)
    inputs_page(writer, next(iter(source.own.values())).base)
    write_sheet(writer, even)
    for book in books.values():
        for sheet in _sheets(book):
            write_sheet(writer, sheet)
    writer.sheets[EVEN].insert_chart(HEAD, 0, _curves(writer, books, rows))
    writer.sheets["Summary"].insert_chart(f"H{4}", _curves(writer, books, rows))
    write_checks(writer, list(_checks(source, books, places)))
    sources_page(writer, source.result)
    dictionary_page(writer, DICTIONARY)
    return places


def _checks(
    source: PlansSource, books: Mapping[str, Book], places: Mapping[str, Term]
) -> Iterator[Check]:
    """Yield identities of each option, and its figures and lines against those of the answer."""
    for book in books.values():
        yield from plan_checks(book)
    first = next(iter(books.values()))
    yield from stored(first.source.base, places)
    changed = changed_input(first)
    for row in source.result.tables["lines"].records():
        side, line = str(row["side"]), str(row["line"])
        own = books[side].values.get((side, line)) if side in books else None
        if own is None or line == TOTAL:
            continue
        here = added(x.cell for x in own)
        label = f"present value of {line} of {side} equals the answer's, unless an input is changed"
        answer = number(float(row["npv_usd"] or 0.0))
        yield label, here, when(changed, here, answer), Relation.EQUAL


def _curves(writer: Writer, books: Mapping[str, Book], rows: Mapping[str, Row]) -> Any:
    """Return a chart in which the curves of two options cross at their break-even."""
    chart = writer.book.add_chart({"type": "line"})
    for name in books:
        row = rows[name]
        last, at = FIRST + len(row.values) - 1, row.number - 1
        chart.add_series(
            {
                "name": f"{name}, if sold at this month",
                "categories": [row.sheet, 3, FIRST, 3, last],
                "values": [row.sheet, at, FIRST, at, last],
            }
        )
    chart.set_title({"name": "Cumulative present cost, USD M"})
    chart.set_x_axis({"name": "months from the start", "interval_unit": 6, "interval_tick": 6})
    chart.set_y_axis({"num_format": "#,##0.0,,"})
    chart.set_legend({"position": "bottom"})
    chart.set_size({"width": 960, "height": 410})
    return chart
