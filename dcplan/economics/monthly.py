"""One side of a comparison: monthly cash flows of a plan, with taxes and debt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.economics.cash_flow import NO_CASH, AssetClass, Flow, FlowGroup
from dcplan.economics.depreciation import book_value_usd, straight_line_usd, tax_depreciation_usd
from dcplan.economics.loans import amortization
from dcplan.economics.ranges import Array
from dcplan.economics.taxes import income_tax, property_tax_usd
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR


@dataclass(frozen=True)
class Line:
    """One line of a side: text for tables, and asset class for rules."""

    label: str
    asset: AssetClass = AssetClass.OTHER


SALES_TAX = Line("sales tax", AssetClass.SALES_TAX)
PROPERTY_TAX = Line("property tax")
INCOME_TAX = Line("income tax")
MILESTONES = Line("payment milestones")
GOODPUT_LOSS = Line("goodput loss")


@dataclass(frozen=True)
class Side:
    """Cash out by line and month (money in is negative), and values at the end of the last month.

    All values are in USD.
    """

    lines: Mapping[Line, Array]
    end_usd: Mapping[Line, float] = field(default_factory=dict)
    """Residual value at the end, by line; not negative."""
    outside: Mapping[Line, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    """Payments of a line before the first month (negative months) or after the last, as month and
    USD."""

    @property
    def months(self) -> int:
        """Return the number of months of the horizon."""
        return len(next(iter(self.lines.values())))

    @property
    def cash_usd(self) -> Array:
        """Return the sum of all lines, by month."""
        return np.asarray(sum(self.lines.values()))

    @property
    def outside_usd(self) -> dict[int, float]:
        """Return the payments before and after the horizon, by month."""
        found: dict[int, float] = {}
        for pairs in self.outside.values():
            for month, usd in pairs:
                found[month] = found.get(month, 0.0) + usd
        return found

    def of(self, classes: Collection[AssetClass]) -> list[Line]:
        """Return the lines of these asset classes."""
        return [line for line in self.lines if line.asset in classes]

    def sum_usd(self, line: Line) -> float:
        """Sum the payments of a line undiscounted, including those outside the horizon. [USD]."""
        inside = float(self.lines[line].sum()) if line in self.lines else 0.0
        return inside + sum(usd for _, usd in self.outside.get(line, ()))

    def npv_usd(self, rate_per_year: float) -> float:
        """Return the present cost of all payments minus the residual value at the end. [USD].

        Payments are in the middle of their months, the residual value is at the end of the last one.
        """
        paid = sum(self.npvs_usd(rate_per_year).values())
        return paid + sum(self.end_npvs_usd(rate_per_year).values())

    def npvs_usd(self, rate_per_year: float) -> dict[Line, float]:
        """Return the present cost of the payments by line. [USD]."""
        factors = month_factors(rate_per_year, self.months)
        found = {line: float(cash @ factors) for line, cash in self.lines.items()}
        for line, pairs in self.outside.items():
            worth = sum(
                usd * (1.0 + rate_per_year) ** (-(month + 0.5) / MONTHS_PER_YEAR)
                for month, usd in pairs
            )
            found[line] = found.get(line, 0.0) + worth
        return found

    def end_npvs_usd(self, rate_per_year: float) -> dict[Line, float]:
        """Return the present value of the residual values by line, as money in. [USD]."""
        factor = (1.0 + rate_per_year) ** (-self.months / MONTHS_PER_YEAR)
        return {line: -usd * factor for line, usd in self.end_usd.items() if usd}


def month_factors(rate_per_year: float, months: int) -> Array:
    """Return the discount factor of the middle of each month for an effective annual rate.

    Examples
    --------
    >>> month_factors(0.10, 2).round(6).tolist()
    [0.996037, 0.988157]
    """
    return np.asarray((1.0 + rate_per_year) ** (-(np.arange(months) + 0.5) / MONTHS_PER_YEAR))


def owned_side(flows: Iterable[Flow], quarters: int) -> Side:
    """Spread quarterly flows over months.

    Capital cost is in the first month of its quarter, running cost is divided by three.

    Examples
    --------
    >>> racks = Line("racks", AssetClass.RACKS)
    >>> side = owned_side(
    ...     [
    ...         Flow(0, FlowGroup.CAPEX, "racks", 90.0, asset=AssetClass.RACKS),
    ...         Flow(0, FlowGroup.OPEX, "staff", 30.0, asset=AssetClass.OTHER),
    ...         Flow(0, FlowGroup.RESIDUAL, "racks", -9.0, at_end=True, asset=AssetClass.RACKS),
    ...     ],
    ...     1,
    ... )
    >>> side.lines[racks].tolist(), side.lines[Line("staff")].tolist(), side.end_usd[racks]
    ([90.0, 0.0, 0.0], [10.0, 10.0, 10.0], 9.0)
    """
    months = quarters * MONTHS_PER_QUARTER
    lines: dict[Line, Array] = {}
    end: dict[Line, float] = {}
    for flow in flows:
        first, line = flow.quarter * MONTHS_PER_QUARTER, Line(flow.line, flow.asset)
        if flow.group is FlowGroup.RESIDUAL and flow.at_end:
            end[line] = end.get(line, 0.0) - flow.usd
        elif flow.group not in NO_CASH or flow.group is FlowGroup.RESIDUAL:
            cash = lines.setdefault(line, np.zeros(months))
            if flow.group in (FlowGroup.CAPEX, FlowGroup.RESIDUAL):
                cash[first] += flow.usd
            else:
                cash[first : first + MONTHS_PER_QUARTER] += flow.usd / MONTHS_PER_QUARTER
    return Side(lines, end)


def by_year(cash_usd: Array) -> Array:
    """Sum each twelve months; the last year may be shorter.

    Examples
    --------
    >>> by_year(np.ones(15)).tolist()
    [12.0, 3.0]
    """
    return np.add.reduceat(cash_usd, np.arange(0, len(cash_usd), MONTHS_PER_YEAR))


def _at_year_ends(values_usd: Array, months: int) -> Array:
    """Place annual amounts in the last month of each year."""
    cash = np.zeros(months)
    for year, value in enumerate(values_usd):
        cash[min((year + 1) * MONTHS_PER_YEAR, months) - 1] += value
    return cash


def book_by_year(cash_usd: Array, life_years: float) -> Array:
    """Return the book value at the start of each year, written off evenly. [USD].

    It covers earlier purchases. Purchases in the first month count from the first year.
    """
    months = len(cash_usd)
    starts = np.arange(0, months, MONTHS_PER_YEAR)
    bought = np.arange(months)
    age = np.maximum((starts[:, None] - bought) / MONTHS_PER_YEAR, 0.0)
    there = bought[None, :] <= starts[:, None]
    return np.asarray((there * np.maximum(1.0 - age / life_years, 0.0)) @ cash_usd)


def with_property_tax(
    side: Side, taxed: Sequence[Line], rate_frac: float, life_years: float
) -> Side:
    """Add property tax at the end of each year on the book value at its start.

    It counts the taxed capital lines. The months of a last, shorter year are taxed in proportion.
    """
    value = book_by_year(np.asarray(sum(side.lines[line] for line in taxed)), life_years)
    begun = side.months - np.arange(0, side.months, MONTHS_PER_YEAR)
    share = np.minimum(begun / MONTHS_PER_YEAR, 1.0)
    cash = _at_year_ends(property_tax_usd(value, rate_frac) * share, side.months)
    return replace(side, lines={**side.lines, PROPERTY_TAX: cash})


def with_sales_tax(side: Side, taxed: Sequence[Line], rate_frac: float) -> Side:
    """Add sales tax in the months in which the taxed capital lines are paid."""
    cash = rate_frac * np.asarray(sum(side.lines[line] for line in taxed))
    return replace(side, lines={**side.lines, SALES_TAX: cash})


@dataclass(frozen=True)
class Milestones:
    """Payment milestones of a purchase.

    A deposit is paid before, an acceptance payment after, and the rest in the month of service.
    """

    deposit_frac: float
    deposit_months_before: int
    acceptance_frac: float
    acceptance_months_after: int


def with_milestones(side: Side, bought: Sequence[Line], due: Milestones) -> Side:
    """Add the line of differences from full payment on delivery.

    It counts the capital lines of the purchases. Payments before or after the horizon are recorded
    outside it, in their own month.

    Examples
    --------
    30 % six months early and 10 % two months late of 100 in the first month:

    >>> racks = Line("racks", AssetClass.RACKS)
    >>> paid = Side({racks: np.array([100.0, 0, 0])})
    >>> moved = with_milestones(paid, [racks], Milestones(0.3, 6, 0.1, 2))
    >>> moved.lines[MILESTONES].tolist(), moved.outside[MILESTONES]
    ([-40.0, 0.0, 10.0], ((-6, 30.0),))
    """
    months = side.months
    cash = np.maximum(np.asarray(sum(side.lines[line] for line in bought)), 0.0)
    moved = 0.0 - (due.deposit_frac + due.acceptance_frac) * cash
    outside: list[tuple[int, float]] = []
    for share, shift in (
        (due.deposit_frac, -due.deposit_months_before),
        (due.acceptance_frac, due.acceptance_months_after),
    ):
        for month in np.flatnonzero(cash):
            at, usd = int(month) + shift, float(share * cash[month])
            if 0 <= at < months:
                moved[at] += usd
            elif usd:
                outside.append((at, usd))
    more = {MILESTONES: tuple(outside)} if outside else {}
    return replace(side, lines={**side.lines, MILESTONES: moved}, outside={**side.outside, **more})


def with_lost_goodput(side: Side, loss_frac: float) -> Side:
    """Add the cost of hours whose work is lost.

    The cost is that of the additional fleet that would replace the lost work.

    Examples
    --------
    >>> racks = Line("racks", AssetClass.RACKS)
    >>> more = with_lost_goodput(Side({racks: np.array([90.0, 10.0])}, {racks: 20.0}), 0.02)
    >>> more.lines[GOODPUT_LOSS].tolist(), round(more.end_usd[GOODPUT_LOSS], 9)
    ([1.8, 0.2], 0.4)
    """
    end = {**side.end_usd, GOODPUT_LOSS: loss_frac * sum(side.end_usd.values())}
    more = (
        {GOODPUT_LOSS: tuple((m, loss_frac * usd) for m, usd in side.outside_usd.items())}
        if side.outside
        else {}
    )
    return Side(
        {**side.lines, GOODPUT_LOSS: loss_frac * side.cash_usd}, end, {**side.outside, **more}
    )


@dataclass(frozen=True)
class Loan:
    """Cash flows of a loan by month; ``drawn`` is money in. [USD].

    The remaining balance is paid at the end.
    """

    drawn: Array
    payments: Array
    interest: Array
    end_balance_usd: float
    """Balance after the last payment, in the middle of the last month."""
    rate_per_month: float = 0.0

    @property
    def owed_at_end_usd(self) -> float:
        """Return the payoff of the loan at the end of the last month, half a month later."""
        return float(self.end_balance_usd * (1.0 + self.rate_per_month) ** 0.5)


def loan_of(capital_usd: Array, share_frac: float, rate_per_year: float, term_months: int) -> Loan:
    """Borrow a share of each month's capital, repaid in level payments from the month after.

    The monthly rate is the nominal rate / 12.
    """
    months = len(capital_usd)
    drawn = share_frac * np.maximum(capital_usd, 0.0)
    payments, interest, balance = np.zeros(months), np.zeros(months), 0.0
    for first in np.flatnonzero(drawn):
        plan = amortization(float(drawn[first]), rate_per_year / MONTHS_PER_YEAR, term_months)
        last = min(term_months, months - 1 - int(first))
        payments[first + 1 : first + 1 + last] += plan.payment_usd[1 : last + 1]
        interest[first + 1 : first + 1 + last] += plan.interest_usd[1 : last + 1]
        balance += float(plan.balance_usd[last])
    return Loan(drawn, payments, interest, balance, rate_per_year / MONTHS_PER_YEAR)


@dataclass(frozen=True)
class TaxYears:
    """Income tax of a side by year of the horizon, with what it follows from. [USD]."""

    running_usd: Array
    """Payments that are deducted in their year: all lines but capital."""
    depreciation_usd: Array
    interest_usd: Array
    disposal_usd: Array
    """Residual value less the tax value not yet written off, in the last year."""
    tax_usd: Array

    @property
    def taxable_usd(self) -> Array:
        """Return the taxable income; negative is a loss, used at once elsewhere."""
        return np.asarray(
            self.disposal_usd - self.running_usd - self.depreciation_usd - self.interest_usd
        )


def tax_years(
    side: Side, capital: Mapping[Line, Sequence[float]], rate_frac: float, interest_usd: Array
) -> TaxYears:
    """Return income tax by year; arguments as :func:`with_income_tax`.

    Examples
    --------
    100 of racks, written off half in the year of payment, and 10 a month of running cost:

    >>> racks = Line("racks", AssetClass.RACKS)
    >>> side = Side({racks: np.eye(1, 12)[0] * 100.0, Line("staff"): np.full(12, 10.0)})
    >>> found = tax_years(side, {racks: [0.5, 0.5]}, 0.2, np.zeros(12))
    >>> found.taxable_usd.tolist(), found.tax_usd.tolist()
    ([-220.0], [-44.0])
    """
    months = side.months
    years = -(-months // MONTHS_PER_YEAR)
    running = sum(
        (cash for line, cash in side.lines.items() if line not in capital), np.zeros(months)
    )
    written, basis = np.zeros(years), 0.0
    for line, shares in capital.items():
        for year, usd in enumerate(by_year(side.lines[line])):
            if usd:
                part = tax_depreciation_usd(abs(float(usd)), shares)[: years - year] * np.sign(usd)
                written[year : year + len(part)] += part
                basis += float(usd)
    paid, disposal = by_year(np.asarray(running)), np.zeros(years)
    disposal[-1] = sum(side.end_usd.values()) - (basis - written.sum())
    interest = by_year(interest_usd)
    tax = income_tax(
        disposal - paid, written, interest, rate_frac=rate_frac, losses="used-at-once"
    ).tax_usd
    return TaxYears(paid, written, interest, disposal, np.asarray(tax))


@dataclass(frozen=True)
class BookYears:
    """Book depreciation of purchases by year of the horizon, straight line. [USD]."""

    charge_usd: Array
    value_usd: Array
    """Purchases so far less all charges, at the end of each year."""


def book_years(cash_usd: Array, life_years: float) -> BookYears:
    """Write off purchases evenly over their life, from the month of payment on.

    Parameters
    ----------
    cash_usd : array, shape (months,)
        Purchases by month. [USD]
    life_years : float
        Service life, above 0. [years]

    Examples
    --------
    40,000 in the first month, over three years:

    >>> found = book_years(np.eye(1, 24)[0] * 40_000.0, 3.0)
    >>> found.charge_usd.round(0).tolist(), found.value_usd.round(0).tolist()
    ([13333.0, 13333.0], [26667.0, 13333.0])
    """
    months = len(cash_usd)
    charges, value = np.zeros(months), np.zeros(months)
    for first in np.flatnonzero(cash_usd > 0.0):
        price = float(cash_usd[first])
        each = straight_line_usd(price, life_years * MONTHS_PER_YEAR)[: months - first]
        left = np.zeros(months - first)
        left[: len(each)] = book_value_usd(price, each)
        charges[first : first + len(each)] += each
        value[first:] += left
    ends = np.minimum(np.arange(MONTHS_PER_YEAR, months + MONTHS_PER_YEAR, MONTHS_PER_YEAR), months)
    return BookYears(by_year(charges), value[ends - 1])


def with_income_tax(
    side: Side, capital: Mapping[Line, Sequence[float]], rate_frac: float, interest_usd: Array
) -> Side:
    """Add the saved income tax.

    Running cost, depreciation and interest reduce other taxable income at once; sales are taxed.
    ``capital`` names the capital lines with their yearly shares; each is written off from the year
    it is paid. The remaining basis at the end is deducted from the residual value. Running cost
    outside the horizon saves its tax in its own month.
    """
    tax = tax_years(side, capital, rate_frac, interest_usd).tax_usd
    later = {line: pairs for line, pairs in side.outside.items() if line not in capital}
    saved = tuple((m, -rate_frac * usd) for pairs in later.values() for m, usd in pairs)
    return replace(
        side,
        lines={**side.lines, INCOME_TAX: _at_year_ends(tax, side.months)},
        outside={**side.outside, INCOME_TAX: saved} if saved else side.outside,
    )
