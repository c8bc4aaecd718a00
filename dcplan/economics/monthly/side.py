"""One side of a comparison: cash by line and month, and values at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.economics.cash_flow import CAPITAL, NO_CASH, AssetClass, Flow, FlowGroup
from dcplan.economics.ranges import Array
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR


@dataclass(frozen=True)
class Line:
    """One line of a side: text for tables, and asset class for rules."""

    label: str
    asset: AssetClass = AssetClass.OTHER
    site: str = ""
    """Site with rates of sales and property tax of its own; empty for all others."""


SALES_TAX = Line("sales tax", AssetClass.SALES_TAX)
PROPERTY_TAX = Line("property tax")
INCOME_TAX = Line("income tax")
MILESTONES = Line("payment milestones")
GOODPUT_LOSS = Line("goodput loss")
NOTHING = Line("nothing owned")
"""The line of a side without payments in the horizon."""


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

    advances: Mapping[Line, Array] = field(default_factory=dict)
    """What was paid before the horizon for a line, in the month in which its goods arrive or are
    canceled. It is no payment, but part of the basis of taxes and of the book value."""

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

    def of(self, classes: Collection[AssetClass], site: str | None = None) -> list[Line]:
        """Return the lines of these asset classes, of one site or of all."""
        found = (line for line in self.lines if line.asset in classes)
        return [line for line in found if site is None or line.site == site]

    def basis_usd(self, line: Line) -> Array:
        """Return the payments of a line by month, with what was paid before the horizon. [USD]."""
        return np.asarray(self.lines[line] + self.advances.get(line, 0.0))

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


def owned_side(flows: Iterable[Flow], quarters: int, sites: Collection[str] = ()) -> Side:
    """Spread quarterly flows over months.

    Capital cost is in the first month of its quarter, running cost is divided by three. Rent after
    the horizon is recorded outside it. Unserved demand is not a payment, so it is left out.
    Purchases at ``sites`` have lines of their own, for their rates of tax.

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
    outside: dict[Line, tuple[tuple[int, float], ...]] = {}
    advances: dict[Line, Array] = {}
    for flow in flows:
        bought = flow.group is FlowGroup.CAPEX and flow.asset in CAPITAL and flow.site in sites
        line = Line(flow.line, flow.asset, flow.site if bought else "")
        first = flow.quarter * MONTHS_PER_QUARTER
        if flow.advance_usd:
            advances.setdefault(line, np.zeros(months))[first] += flow.advance_usd
        if flow.group is FlowGroup.RESIDUAL and flow.at_end:
            end[line] = end.get(line, 0.0) - flow.usd
        elif flow.group is FlowGroup.POST_HORIZON:
            later = range(first, first + MONTHS_PER_QUARTER)
            each = flow.usd / MONTHS_PER_QUARTER
            outside[line] = outside.get(line, ()) + tuple((month, each) for month in later)
        elif flow.group not in NO_CASH or flow.group is FlowGroup.RESIDUAL:
            cash = lines.setdefault(line, np.zeros(months))
            if flow.group in (FlowGroup.CAPEX, FlowGroup.RESIDUAL):
                cash[first] += flow.usd
            else:
                cash[first : first + MONTHS_PER_QUARTER] += flow.usd / MONTHS_PER_QUARTER
    return Side(lines or {NOTHING: np.zeros(months)}, end, outside, advances)


def without_sites(side: Side) -> Side:
    """Return the side with one line for the purchases of all sites.

    Examples
    --------
    >>> here, there = (Line("racks", AssetClass.RACKS, x) for x in ("a", "b"))
    >>> found = without_sites(Side({here: np.array([1.0]), there: np.array([2.0])}))
    >>> [(line.site, usd.tolist()) for line, usd in found.lines.items()]
    [('', [3.0])]
    """
    if not any(line.site for line in side.lines):
        return side

    def merged(found: Mapping[Line, Array]) -> dict[Line, Array]:
        whole: dict[Line, Array] = {}
        for line, usd in found.items():
            one = replace(line, site="")
            whole[one] = np.asarray(whole[one] + usd) if one in whole else usd
        return whole

    return replace(side, lines=merged(side.lines), advances=merged(side.advances))


def unserved_usd(flows: Iterable[Flow], months: int) -> Array:
    """Return the value of unserved demand by month, a third of its quarter's. [USD]."""
    value = np.zeros(months)
    for flow in flows:
        if flow.group is FlowGroup.UNSERVED:
            first = flow.quarter * MONTHS_PER_QUARTER
            value[first : first + MONTHS_PER_QUARTER] += flow.usd / MONTHS_PER_QUARTER
    return value


def by_year(cash_usd: Array) -> Array:
    """Sum each twelve months; the last year may be shorter.

    Examples
    --------
    >>> by_year(np.ones(15)).tolist()
    [12.0, 3.0]
    """
    return np.add.reduceat(cash_usd, np.arange(0, len(cash_usd), MONTHS_PER_YEAR))


def at_year_ends(values_usd: Array, months: int) -> Array:
    """Place annual amounts in the last month of each year."""
    cash = np.zeros(months)
    for year, value in enumerate(values_usd):
        cash[min((year + 1) * MONTHS_PER_YEAR, months) - 1] += value
    return cash
