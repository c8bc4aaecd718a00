"""Income tax by year of both sides."""

from __future__ import annotations

import numpy as np

from dcplan.report.book.data.term import Term, added, sum_of
from dcplan.report.book.grid import Row
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.terms import picked, summed_where
from dcplan.specs.plan.tco_book import BookTerm

NOT_GIVEN = "No income tax. Run dcplan again with --set finance.tax.income_rate=0.25 to include it."


def own_tax(book: Book) -> None:
    """Write the income tax of the owned side, and what interest saves."""
    sheet = book.tax
    sheet.heading("Owned")
    rate = book.term(sheet, BookTerm.INCOME_TAX)
    if rate is None:
        sheet.heading(NOT_GIVEN)
        return
    year = book.rows["year number"]
    key = (book.side, "")
    running = sheet.line(
        "running cost",
        (*key, "all lines but capital"),
        "USD",
        _by_year(book, [*book.running, *book.lost]),
    )
    written = sheet.line(
        "tax write-off", (*key, "from Depreciation"), "USD", book.rows["written all"].term()
    )
    last = book.source.axis.years
    final = np.where(year.values == last, 1.0, 0.0)
    ended = sheet.frozen("last year", (*key, ""), "", final, "derived", total=False)
    left = sheet.fact(
        "tax value left at the end",
        (*key, "purchases less write-off"),
        "USD",
        sum_of(book.rows["bought all"].span()) - sum_of(written.span()),
    )
    gain = sheet.line(
        "gain at the end",
        (*key, "residual value less tax value left"),
        "USD",
        ended * (book.rows["residual"] - left),
    )
    taxable = sheet.line(
        "taxable income before interest", (*key, ""), "USD", gain - running - written
    )
    book.keep(
        "income tax",
        sheet.line("income tax before interest", (*key, "rate x income"), "USD", rate * taxable),
    )
    interest = book.rows.get("interest")
    if interest is None:
        return
    cost = sheet.line(
        "interest", (*key, "from Loan"), "USD", summed_where(book.rows["year"], year, interest)
    )
    saved = book.keep(
        "shield", sheet.line("income tax saved by interest", (*key, ""), "USD", rate * cost)
    )
    sheet.line("income tax", (*key, "after interest"), "USD", book.rows["income tax"] - saved)


def rent_tax(book: Book, name: str) -> Row | None:
    """Write the income tax of a rent; return it by month."""
    rate = book.rows.get(f"{book.tax.name} {BookTerm.INCOME_TAX}")
    if rate is None:
        return None
    book.tax.heading(name)
    rows = book.rents[name]
    key = (name, "")
    running = book.tax.line("running cost", (*key, "all lines"), "USD", _by_year(book, rows))
    tax = book.tax.line("income tax", (*key, "rate x -running cost"), "USD", -rate * running)
    within = book.rows["year end"] * picked(tax, book.rows["year"])
    beyond = rate * added(rows) * (1 - book.inside)
    rule = (name, "", "last month of the year; outside the horizon in its own month")
    return book.rent.line("income tax", rule, "USD", within - beyond)


def _by_year(book: Book, rows: list[Row]) -> Term:
    year = book.rows["year number"]
    return added(summed_where(book.rows["year"], year, row) for row in rows)
