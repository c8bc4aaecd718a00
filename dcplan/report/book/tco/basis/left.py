"""Share of the price left of equipment, buildings and existing hardware."""

from __future__ import annotations

import numpy as np

from dcplan.report.book.calc import Calc
from dcplan.report.book.cost import LOT_LEFT
from dcplan.report.book.data.amounts import LOT_AGE
from dcplan.report.book.data.term import Term, largest, when
from dcplan.report.book.grid import NOWHERE, Row
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.terms import picked, rounded
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, QUARTERS_PER_YEAR

CHART_ROWS = 22
"""Empty rows at the top of the break-even sheet, for the chart."""


def shares_left(book: Book) -> None:
    """Write the share of the price left at the end, by quarter of purchase, live where it can be."""
    c, source, even = book.calc, book.source, book.even
    if not book.with_rent:  # the curves of options share a chart
        even.gap(CHART_ROWS)
    even.heading("Resale value of equipment")
    life = book.term(even, BookTerm.LIFE)
    worth = book.term(even, BookTerm.RESIDUAL)
    k = np.arange(source.axis.horizon + 1, dtype=np.float64)
    age = even.frozen("month", ("", "", "end of the month"), "", k, "derived", total=False)
    book.keep("age", age)
    label = "share of the price left at this age"
    if worth is not None and life is not None:
        whole = even.fact("life in whole quarters", ("", "", ""), "years", life_of(book))
        left = _straight(age / MONTHS_PER_YEAR, whole, worth)
        rule = ("", "equipment", "straight line to the residual at the end of life")
        row = even.line(label, rule, "fraction", left, total=False)
    else:
        rule = ("", "equipment", "residual value curve of the catalog, fixed")
        row = even.frozen(label, rule, "fraction", source.left, "derived", total=False)
    book.keep("left", row)
    quarters = c.source.length
    ages = np.maximum(c.source.horizon - np.arange(quarters), 0) * float(MONTHS_PER_QUARTER)
    c.decisions.heading("Share of the price left at the end of the horizon, by quarter of purchase")
    months = c.decisions.frozen("age at the end", NOWHERE, "months", ages, "derived", total=False)
    if worth is not None and life is not None:
        c.keep_left("hardware", _straight(months / MONTHS_PER_YEAR, life, worth))
    else:
        c.keep_left("hardware", picked(row, months + 1))
    for kind, name in (
        ("building", BookTerm.BUILDING_LIFE),
        ("cooling", BookTerm.COOLING_LIFE),
        ("power", BookTerm.POWER_LIFE),
    ):
        given = book.term(even, name)
        if given is not None:
            c.keep_left(kind, largest(0, 1 - months / MONTHS_PER_YEAR / given))
    if worth is not None and life is not None:
        _lots_left(c, life, worth)
    c.decisions.heading("Racks, pieces and units")


def _lots_left(c: Calc, life: Row, worth: Row) -> None:
    """Write the share of the price left of existing hardware when it is sold, or at the end."""
    keys = c.source.keys(LOT_AGE)
    if not keys:
        return
    c.decisions.heading("Existing hardware when it is sold, or at the end of the horizon")
    for key in keys:
        years = c.decision(LOT_AGE, key)
        left = largest(1 - (1 - worth) * years / life, worth)
        row = c.decisions.line("share of the price left", key, "fraction", left, total=False)
        c.keep(LOT_LEFT, row)


def _straight(years: Term, life: Row, end: Row) -> Term:
    """Return the share of the price left on a straight line to the residual, 0 after the life."""
    return when(years <= life, largest(1 - (1 - end) * years / life, end), 0)


def life_of(book: Book) -> Term:
    """Return the service life of hardware in whole quarters, in years.

    Raises
    ------
    KeyError
        When the answer has no service life.
    """
    life = book.rows[f"{book.even.name} {BookTerm.LIFE}"]
    return rounded(life * QUARTERS_PER_YEAR) / QUARTERS_PER_YEAR
