"""The sheets of a comparison under construction, with the time axis that they share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dcplan.economics.cash_flow import CAPITAL, AssetClass
from dcplan.report.book.calc import Calc
from dcplan.report.book.cost import LOT_LEFT, cost_sheet
from dcplan.report.book.data.amounts import LOT_AGE
from dcplan.report.book.data.term import Array, Term, largest, number, power, when
from dcplan.report.book.fabric import fabric_sheet
from dcplan.report.book.grid import NOWHERE, Row, Sheet
from dcplan.report.book.power import power_sheet
from dcplan.report.book.sheets import empty
from dcplan.report.book.tco.source import TcoSource
from dcplan.report.book.tco.terms import flag, picked, rounded
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, QUARTERS_PER_YEAR

LABELS = ("Line", "Side", "Class", "Rule", "Unit", "Value or total")
OWN, RENT, PAYMENTS = "Own", "Rent", "Payments"
OWNED = "owned"
HALVES = 2
"""Columns of a month on the sheet of returns."""
NEAR = np.arange(-1.0, 2.0, 0.05)
FAR = (-12.0, -8.0, -5.0, -3.0, -2.0, -1.5), (2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.7)
RATES = np.expm1(np.concatenate([FAR[0], NEAR, FAR[1]]))
"""Yearly rates at which present values are computed: all that a return may have, close near 0."""
CHART_ROWS = 22
"""Empty rows at the top of the break-even sheet, for the chart."""

STATED = (
    "Costs are positive in the result. Owners pay in what is due, so there is no balance of cash; at "
    "the end of the horizon all is sold and debt is paid back."
)


@dataclass
class Book:
    """The sheets under construction, and the rows that later sheets refer to."""

    source: TcoSource
    calc: Calc
    own: Sheet
    rent: Sheet
    depreciation: Sheet
    loan: Sheet
    tax: Sheet
    cash: Sheet
    statements: Sheet
    even: Sheet
    back: Sheet
    rates: Sheet
    rows: dict[str, Row] = field(default_factory=dict)
    capital: dict[Row, AssetClass] = field(default_factory=dict)
    """Purchases by month, with their asset class."""
    ahead: dict[Row, AssetClass] = field(default_factory=dict)
    """What was paid before the plan for orders, in the month in which they arrive or are canceled."""
    running: list[Row] = field(default_factory=list)
    """Other payments of the owned side before income tax, by month."""
    lines: list[Row] = field(default_factory=list)
    """All payments of the owned side after tax, by month."""
    ends: dict[str, Row] = field(default_factory=dict)
    """Value at the end of the horizon, by the line of the purchases."""
    values: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    """Present values by side and line."""
    rents: dict[str, list[Row]] = field(default_factory=dict)
    """Payments of each rent before income tax, by month."""
    side: str = OWNED
    """Side of the sheets that have one: owned, or a sourcing option."""
    with_rent: bool = False
    """Whether the rent of a plan is among the payments of its side."""

    def keep(self, name: str, row: Row) -> Row:
        """Remember a row under a name."""
        self.rows[name] = row
        return row

    def term(self, sheet: Sheet, name: BookTerm) -> Row | None:
        """Write the value of a term on a sheet, once; None where the answer did not use it."""
        key = f"{sheet.name} {name}"
        value = self.source.given(name)
        if value is None:
            return None
        if key not in self.rows:
            row = self.source.terms[name]
            note = f"input {row.input}" if row.input else str(row.note or "")
            self.keep(key, sheet.fact(name.value, ("", "", note), str(row.unit or ""), value))
        return self.rows[key]

    def needed(self, sheet: Sheet, name: BookTerm) -> Row:
        """Write the value of a term that every answer has.

        Raises
        ------
        ValueError
            When the answer has no such value.
        """
        row = self.term(sheet, name)
        if row is None:
            msg = f"the workbook needs the value of {name}"
            raise ValueError(msg)
        return row

    @property
    def basis(self) -> dict[Row, AssetClass]:
        """Purchases, and what was paid before the plan for those that arrive."""
        return self.capital | {r: x for r, x in self.ahead.items() if x in CAPITAL}

    @property
    def lost(self) -> list[Row]:
        """What was paid before the plan for canceled orders."""
        return [row for row, asset in self.ahead.items() if asset not in CAPITAL]

    @property
    def inside(self) -> Term:
        """1 in the months of the horizon, else 0."""
        return flag(self.rows["quarter"] > 0)


def started(source: TcoSource, side: str = OWNED, prefix: str = "", *, whole: bool = False) -> Book:
    """Return a book with the cost of a plan by quarter, and the months of the axis.

    The plan is that of the owned fleet, of a sourcing option, or of the verb plan. A prefix of the
    names of their sheets tells options apart. A whole plan has its rent among its payments.
    """
    months, n = source.axis.names, source.axis.horizon
    years = tuple(f"year {y + 1}" for y in range(source.axis.years))

    def by_month(name: str, title: str, note: str) -> Sheet:
        return Sheet(prefix + name, title, note, months, labels=LABELS)

    book = Book(
        source,
        empty(source.base, prefix),
        by_month(
            PAYMENTS if whole else OWN,
            f"Payments of the plan {side}, by month" if whole else "Owning, by month",
            "Payments out are positive. After tax, before debt.",
        ),
        by_month(RENT, "Renting, by month", "The same work. Payments out are positive."),
        Sheet(
            f"{prefix}Depreciation",
            "Depreciation by year and asset class",
            "Years run from the start of the horizon.",
            years,
            labels=LABELS,
        ),
        by_month("Loan", "Loan, by month", "A share of each month's capital, level payments."),
        Sheet(
            f"{prefix}Tax",
            "Income tax by year",
            "A loss saves tax on other income at once. Tax is paid in the last month of its year.",
            years,
            labels=LABELS,
        ),
        by_month("Cash", "Cash by month", "Both sides, after tax and debt; payments positive."),
        by_month("Statements", "Result, cash and balance sheet by month", STATED),
        Sheet(
            f"{prefix}Curve" if whole else "Break_even",
            "Break-even by month",
            "Month 0 is the first day; month k is the end of month k. Discounted.",
            tuple(str(k) for k in range(n + 1)),
            labels=LABELS,
        ),
        Sheet(
            f"{prefix}Return",
            "Return of owning over each rent",
            "Columns are times in months: payments in the middle of a month, the end of the horizon.",
            half_months(source.axis.months, n),
            labels=LABELS,
        ),
        Sheet(
            f"{prefix}Rates",
            "Present value of the money that owning saves, by yearly rate",
            "A return lies where the sign changes. With none or several there is no single return.",
            tuple(f"{rate:.4g}" for rate in RATES),
            labels=LABELS,
        ),
        side=side,
        with_rent=whole,
    )
    _timing(book)
    _shares_left(book)
    fabric_sheet(book.calc)
    power_sheet(book.calc)
    cost_sheet(book.calc)
    return book


def half_months(months: Array, horizon: int) -> tuple[str, ...]:
    """Return the times of half-months, from the middle of the first month to the end of the horizon.

    Examples
    --------
    >>> half_months(np.array([0.0, 1.0]), 2)
    ('0.5', '1', '1.5', '2')
    """
    first, last = float(months[0]) + 0.5, max(float(months[-1]) + 0.5, float(horizon))
    return tuple(f"{first + j / HALVES:g}" for j in range(round((last - first) * HALVES) + 1))


def _timing(book: Book) -> None:
    """Write the months, their quarters and years, and the discount factors."""
    sheet, axis = book.own, book.source.axis
    m, inside = axis.months, axis.inside

    def frozen(name: str, label: str, unit: str, values: Array) -> Row:
        row = sheet.frozen(label, ("", "", "calendar"), unit, values, "derived", total=False)
        return book.keep(name, row)

    sheet.heading("Months")
    rate = book.calc.source.facts[NOWHERE]["discount_rate"]
    inputs = book.source.base.inputs
    key = next(k for k in ("finance.discount_rate", "finance.discount-rate") if k in inputs)
    book.keep("rate", sheet.fact("discount rate", ("", "", f"input {key}"), rate.unit, inputs[key]))
    month = frozen("month", "month, 0 is the first of the horizon", "", m)
    frozen("quarter", "quarter, 0 outside the horizon", "", inside * (m // MONTHS_PER_QUARTER + 1))
    frozen("year", "year, 0 outside the horizon", "", inside * (m // MONTHS_PER_YEAR + 1))
    if book.with_rent and axis.months[-1] >= axis.horizon:
        later = np.where(m >= 0, m // MONTHS_PER_QUARTER + 1, 0.0)
        later = np.where(later > book.calc.source.length, 0.0, later)
        frozen("quarter with later ones", "quarter, with those after the horizon", "", later)
    frozen("first", "first month of a quarter", "", inside * (m % MONTHS_PER_QUARTER == 0))
    ends = inside * ((m % MONTHS_PER_YEAR == MONTHS_PER_YEAR - 1) | (m == axis.horizon - 1))
    frozen("year end", "last month of a year", "", ends)
    rule = ("", "", "middle of the month")
    time = sheet.line(
        "years to the middle of the month",
        rule,
        "years",
        (month + 0.5) / MONTHS_PER_YEAR,
        total=False,
    )
    factor = power(1 + book.rows["rate"], -time)
    book.keep("factor", sheet.line("discount factor", rule, "", factor, total=False))
    end = power(1 + book.rows["rate"], number(-axis.horizon) / MONTHS_PER_YEAR)
    book.keep(
        "end factor", sheet.fact("discount factor, end of the horizon", ("", "", ""), "", end)
    )


def _shares_left(book: Book) -> None:
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
