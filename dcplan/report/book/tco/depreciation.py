"""Depreciation by year: tax write-off by class and year of purchase, book value, property tax."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from dcplan.economics.cash_flow import EQUIPMENT, AssetClass
from dcplan.report.book.data.term import Operand, Term, added, dot, number
from dcplan.report.book.grid import Row, Sheet, total
from dcplan.report.book.tco.basis.left import life_of
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.own import OTHER_SITES
from dcplan.report.book.tco.terms import before, flag, picked, summed_where
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_YEAR

LIVES = {
    AssetClass.BUILDING: BookTerm.BUILDING_LIFE,
    AssetClass.COOLING: BookTerm.COOLING_LIFE,
    AssetClass.POWER: BookTerm.POWER_LIFE,
}
"""Classes with a book life of their own; the others have the service life of hardware."""
TAXES = {
    AssetClass.BUILDING: BookTerm.BUILDING_TAX,
    AssetClass.COOLING: BookTerm.COOLING_TAX,
    AssetClass.POWER: BookTerm.POWER_TAX,
}
"""Classes with a property tax of their own; equipment has one rate for all its classes."""

NOT_GIVEN = (
    "No property tax. Run dcplan again with --set finance.tax.property_tax_frac_per_year=0.01 to "
    "include it."
)


def depreciation_sheet(book: Book) -> None:
    """Write purchases, tax write-off and book value of each class, and the property tax."""
    sheet, years = book.depreciation, book.source.axis.years
    sheet.heading("Years")
    count = np.arange(1.0, years + 1.0)
    year = sheet.frozen("year", ("", "", ""), "", count, "derived", total=False)
    book.keep("year number", year)
    start = sheet.line("first month", ("", "", ""), "", (year - 1) * MONTHS_PER_YEAR, total=False)
    book.keep("year start", start)
    life = sheet.fact("life of hardware", ("", "", "whole quarters"), "years", life_of(book))
    book.keep("life", life)
    for building in (False, True):
        if building not in _tables(book):
            continue
        rule = ("", "building" if building else "equipment", book.source.tables[building])
        values = book.source.write_off[building]
        book.keep(
            f"write-off {building}",
            sheet.frozen(
                "tax write-off of year n", rule, "fraction", values, "derived", total=True
            ),
        )
    classes = dict.fromkeys(book.basis.values())
    for asset in classes:
        if asset is AssetClass.LAND:
            _land(book)
        else:
            _class(book, asset)
    sheet.heading("All classes")
    for name, label in (
        ("bought", "purchases"),
        ("written", "tax write-off"),
        ("book charge", "book depreciation"),
    ):
        rows = [book.rows[f"{name} {asset}"] for asset in classes]
        book.keep(f"{name} all", sheet.line(label, (book.side, "", ""), "USD", added(rows)))
    _property_tax(book)


def _tables(book: Book) -> set[bool]:
    """Return the depreciation tables in use: of equipment, of buildings, or both."""
    return {x is AssetClass.BUILDING for x in book.basis.values() if x is not AssetClass.LAND}


def _class(book: Book, asset: AssetClass) -> None:
    """Write the purchases, the tax write-off and the book value of a class."""
    sheet, year = book.depreciation, book.rows["year number"]
    key = (book.side, asset.value)
    sheet.heading(asset.value)
    lines = [row for row, known in book.basis.items() if known is asset]
    paid = added(summed_where(book.rows["year"], year, row) for row in lines)
    bought = book.keep(
        f"bought {asset}", sheet.line("purchases", (*key, "by year of payment"), "USD", paid)
    )
    shares = book.rows[f"write-off {asset is AssetClass.BUILDING}"]
    parts = []
    for v in np.flatnonzero(bought.values):
        since = int(v) + 1
        price = picked(bought, number(since))
        row = sheet.line(
            f"write-off of the purchases of year {since}",
            (*key, "price x share"),
            "USD",
            price * picked(shares, year - (since - 1)),
        )
        parts.append(row)
    written = book.keep(
        f"written {asset}", sheet.line("tax write-off", (*key, ""), "USD", total(parts))
    )
    left = bought.so_far() - written.so_far()
    sheet.line("tax value at the end of the year", (*key, ""), "USD", left, total=False)
    life = life_of_class(book, sheet, asset)
    ends = straight(book, lines, year * MONTHS_PER_YEAR, life, at_once=False)
    value = sheet.line(
        "book value at the end of the year", (*key, "straight line"), "USD", ends, total=False
    )
    charge = before(value) + bought - value
    book.keep(f"book charge {asset}", sheet.line("book depreciation", (*key, ""), "USD", charge))


def _land(book: Book) -> None:
    """Write the purchases of land, which keep their cost for tax and in the books."""
    sheet, year, asset = book.depreciation, book.rows["year number"], AssetClass.LAND
    key = (book.side, asset.value)
    sheet.heading(asset.value)
    lines = [row for row, known in book.basis.items() if known is asset]
    paid = added(summed_where(book.rows["year"], year, row) for row in lines)
    bought = sheet.line("purchases", (*key, "by year of payment"), "USD", paid)
    book.keep(f"bought {asset}", bought)
    none = np.zeros(book.source.axis.years)
    for name, label in (("written", "tax write-off"), ("book charge", "book depreciation")):
        row = sheet.frozen(label, (*key, "none: land"), "USD", none, "derived", total=True)
        book.keep(f"{name} {asset}", row)
    rule = (*key, "at cost")
    sheet.line("book value at the end of the year", rule, "USD", bought.so_far(), total=False)


def life_of_class(book: Book, sheet: Sheet, asset: AssetClass) -> Row:
    """Return the service life of a class, written on a sheet if it is not that of hardware.

    Raises
    ------
    ValueError
        When the answer has no such life.
    """
    life = book.term(sheet, LIVES[asset]) if asset in LIVES else book.rows["life"]
    if life is None:
        msg = f"the workbook needs the service life of {asset}"
        raise ValueError(msg)
    return life


def straight(book: Book, lines: list[Row], month: Operand, life: Operand, *, at_once: bool) -> Term:
    """Return the straight-line book value of purchases at the start of a month.

    The purchases of that month itself count only with ``at_once``.
    """
    paid, at = book.rows["month"].span(), month.term()
    years = life.term()
    columns = np.atleast_1d(np.asarray(at.number, dtype=np.float64))
    found = []
    for row in lines:
        texts, values = [], []
        for t, now in enumerate(columns):
            here = Term(float(now), lambda _, t=t: at.text(t))  # type: ignore[misc]
            left = number(1.0) - (here - paid) / MONTHS_PER_YEAR / years
            there = flag(paid <= here) if at_once else flag(here > paid)
            term = dot(row.span(), there * flag(left > 0) * left)
            texts.append(term.text())
            values.append(term.value)
        found.append(Term(np.array(values), lambda t, texts=texts: texts[t]))  # type: ignore[misc]
    return added(found)


def _property_tax(book: Book) -> None:
    """Write the property tax on book values at the start of each year: equipment, then plants."""
    sheet, start = book.depreciation, book.rows["year start"]
    sheet.heading("Property tax")
    due = []
    for site, parts in book.taxed.items():
        place = f", {site or OTHER_SITES}" if book.at_site else ""
        for what, (term, kinds, life) in _kinds(book).items():
            lines = [row for row, asset in parts.items() if asset in kinds]
            rate = book.term(sheet, term, site)
            if rate is not None and lines:
                due.append(_taxed(book, f"{what}{place}", lines, life(), rate))
    if not due:
        sheet.heading(NOT_GIVEN)
        return
    months = number(book.source.axis.horizon) - start
    part = sheet.line(
        "share of the year in the horizon",
        (book.side, "", ""),
        "",
        _at_most_one(months / MONTHS_PER_YEAR),
        total=False,
    )
    whole = added(due) * part
    book.keep(
        "property tax",
        sheet.line("property tax", (book.side, "", "rate x value x share"), "USD", whole),
    )


def _kinds(book: Book) -> dict[str, tuple[BookTerm, frozenset[AssetClass], Callable[[], Row]]]:
    """Return the rate, the classes and the life of equipment and of each class of plant."""
    sheet, gear = book.depreciation, EQUIPMENT | {AssetClass.SALES_TAX}
    found: dict[str, tuple[BookTerm, frozenset[AssetClass], Callable[[], Row]]] = {
        "equipment and sales tax": (BookTerm.PROPERTY_TAX, gear, lambda: book.rows["life"])
    }
    for asset, term in TAXES.items():
        life = functools.partial(life_of_class, book, sheet, asset)
        found[asset.value] = term, frozenset({asset}), life
    return found


def _taxed(book: Book, what: str, lines: list[Row], life: Row, rate: Row) -> Row:
    """Write the book value at the start of each year of what bears a rate, and the tax of a year."""
    worth = book.depreciation.line(
        "book value at the start of the year, with purchases of its first month",
        (book.side, what, "straight line"),
        "USD",
        straight(book, lines, book.rows["year start"], life, at_once=True),
        total=False,
    )
    label, key = f"tax of a year on {what}", (book.side, what, "rate x value")
    return book.depreciation.line(label, key, "USD", rate * worth, total=False)


def _at_most_one(term: Term) -> Term:
    return Term(np.minimum(term.number, 1.0), lambda t: f"MIN({term.text(t)}, 1)")
