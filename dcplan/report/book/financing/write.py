"""The pages of payments, taxes, debt and statements of a plan, and its present cost after all."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.report.book.cash import live_metrics
from dcplan.report.book.checks import Check, Relation
from dcplan.report.book.data.term import Term, added
from dcplan.report.book.financing.statements import balance_check, statements_sheet
from dcplan.report.book.grid import Sheet
from dcplan.report.book.tco.basis.start import started
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.cash import plan_cash
from dcplan.report.book.tco.depreciation import depreciation_sheet
from dcplan.report.book.tco.even import own_curve
from dcplan.report.book.tco.loan import loan_sheet
from dcplan.report.book.tco.own import after_tax, payments, property_tax, residuals
from dcplan.report.book.tco.source import TcoSource
from dcplan.report.book.tco.tax import own_tax

SIDE = "plan"
PAGES = ("Payments", "Depreciation", "Loan", "Tax", "Cash", "Statements", "Curve")
"""Pages of financing in the workbook of a plan, in their order."""


def plan_book(source: TcoSource, side: str = SIDE, prefix: str = "") -> Book:
    """Compute the sheets of a plan by month, after those of its cost by quarter."""
    book = started(source, side, prefix, whole=True)
    payments(book)
    depreciation_sheet(book)
    property_tax(book)
    residuals(book)
    loan_sheet(book)
    own_tax(book)
    after_tax(book)
    plan_cash(book)
    statements_sheet(book)
    own_curve(book)
    return book


def pages_of(book: Book) -> list[Sheet]:
    """Return the sheets of financing, in the order of :data:`PAGES`."""
    return [book.own, book.depreciation, book.loan, book.tax, book.cash, book.statements, book.even]


def plan_checks(book: Book) -> Iterator[Check]:
    """Yield identities of a plan's financing that hold for any input."""
    parts = [row.cell for rows in book.values.values() for row in rows]
    label = f"present values of the lines and of the debt sum to the cost of {book.side}"
    yield label, added(parts), book.rows["owned npv"].cell, Relation.EQUAL
    label = f"tax write-off of {book.side} is at most its purchases"
    yield label, book.rows["written all"].cell, book.rows["bought all"].cell, Relation.MOST
    yield balance_check(book)


def financed_metrics(book: Book) -> dict[str, Term]:
    """Return the metrics of a plan, with the present cost after taxes and debt."""
    return live_metrics(book.calc) | {"cost.after_tax_npv_usd": book.rows["owned npv"].cell}
