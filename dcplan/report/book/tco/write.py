"""The workbook file of a comparison."""

from __future__ import annotations

from dcplan.report.book.data.term import Term
from dcplan.report.book.financing.statements import statements_sheet
from dcplan.report.book.inputs import inputs_page
from dcplan.report.book.pages import dictionary_page, sources_page
from dcplan.report.book.tco.basis.start import started
from dcplan.report.book.tco.book import LABELS, Book
from dcplan.report.book.tco.cash import cash_sheet
from dcplan.report.book.tco.checks import checks_of
from dcplan.report.book.tco.depreciation import depreciation_sheet
from dcplan.report.book.tco.even import energy_slope, even_sheet
from dcplan.report.book.tco.front.cover import DICTIONARY, cover_page
from dcplan.report.book.tco.front.summary import curve, summary_page
from dcplan.report.book.tco.loan import loan_sheet
from dcplan.report.book.tco.own import (
    after_tax,
    after_tax_factor,
    payments,
    property_tax,
    residuals,
)
from dcplan.report.book.tco.rent import rent_sheet
from dcplan.report.book.tco.returns import return_sheets
from dcplan.report.book.tco.source import TcoSource
from dcplan.report.book.tco.tax import own_tax
from dcplan.report.book.writer import Writer, write_sheet

ORDER = (
    "Cover",
    "Summary",
    "Inputs",
    "Own",
    "Rent",
    "Depreciation",
    "Loan",
    "Tax",
    "Cash",
    "Statements",
    "Break_even",
    "Return",
    "Rates",
    "Decisions",
    "Calc_Power",
    "Calc_Fabric",
    "Calc_Cost",
    "Checks",
    "Sources",
    "Dictionary",
)
"""Sheets in their order."""
RULE_WIDTH = 46
"""Width of the column with the rule of a line."""


def computed(source: TcoSource) -> Book:
    """Compute all sheets of a comparison."""
    book = started(source)
    payments(book)
    depreciation_sheet(book)
    property_tax(book)
    residuals(book)
    loan_sheet(book)
    own_tax(book)
    after_tax(book)
    after_tax_factor(book)
    rent_sheet(book)
    cash_sheet(book)
    statements_sheet(book)
    energy_slope(book)
    even_sheet(book)
    return_sheets(book)
    return book


def write_tco(writer: Writer, source: TcoSource) -> dict[str, Term]:
    """Write all sheets; return the cells of the figures by their keys."""
    book = computed(source)
    c = book.calc
    cover_page(writer, source)
    places = summary_page(writer, book)
    inputs_page(writer, source.base)
    for sheet in (
        book.own,
        book.rent,
        book.depreciation,
        book.loan,
        book.tax,
        book.cash,
        book.statements,
        book.even,
        book.back,
        book.rates,
        c.decisions,
        c.power,
        c.fabric,
        c.cost,
    ):
        write_sheet(writer, sheet)
        if sheet.labels is LABELS:
            writer.sheets[sheet.name].set_column(3, 3, RULE_WIDTH)
    curve(writer, book)
    checks_of(writer, book, places)
    sources_page(writer, source.result)
    dictionary_page(writer, DICTIONARY)
    return places
