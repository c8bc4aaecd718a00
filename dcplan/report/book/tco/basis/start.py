"""A comparison's book with its sheets, the months and the cost of the plan by quarter."""

from __future__ import annotations

import numpy as np

from dcplan.report.book.cost import cost_sheet
from dcplan.report.book.data.term import Array, number, power
from dcplan.report.book.fabric import fabric_sheet
from dcplan.report.book.grid import NOWHERE, Row, Sheet
from dcplan.report.book.power import power_sheet
from dcplan.report.book.sheets import empty
from dcplan.report.book.tco.basis.left import shares_left
from dcplan.report.book.tco.book import HALVES, LABELS, OWNED, Book
from dcplan.report.book.tco.source import TcoSource
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR

OWN, RENT, PAYMENTS = "Own", "Rent", "Payments"
NEAR = np.arange(-1.0, 2.0, 0.05)
FAR = (-12.0, -8.0, -5.0, -3.0, -2.0, -1.5), (2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.7)
RATES = np.expm1(np.concatenate([FAR[0], NEAR, FAR[1]]))
"""Yearly rates at which present values are computed: they cover all returns, most of them near 0."""
STATED = (
    "Costs are positive in the result. Owners pay in what is due, so there is no balance of cash; at "
    "the end of the horizon all is sold and debt is paid back."
)


def started(source: TcoSource, side: str = OWNED, prefix: str = "", *, whole: bool = False) -> Book:
    """Return a book with the cost of a plan by quarter, and the months of the axis.

    The plan is that of the owned fleet, of a sourcing option, or of the verb plan. A prefix of the
    sheet names tells options apart. A whole plan has its rent among its payments.
    """
    book = _sheets(source, side, prefix, whole=whole)
    _timing(book)
    shares_left(book)
    fabric_sheet(book.calc)
    power_sheet(book.calc)
    cost_sheet(book.calc)
    return book


def _sheets(source: TcoSource, side: str, prefix: str, *, whole: bool) -> Book:
    """Return a book of empty sheets, each with its title, its note and its columns."""
    months, n = source.axis.names, source.axis.horizon
    years = tuple(f"year {y + 1}" for y in range(source.axis.years))

    def by_month(name: str, title: str, note: str) -> Sheet:
        return Sheet(prefix + name, title, note, months, labels=LABELS)

    return Book(
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
