"""Steps from the payments of owned hardware to its cost: taxes, debt, milestones, book values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.plan.plan_cost import PlanCost
from dcplan.catalog.schema import DepreciationTable
from dcplan.economics.cash_flow import CAPITAL, AssetClass, Flow, FlowGroup
from dcplan.economics.monthly import (
    SALES_TAX,
    BookYears,
    Line,
    Loan,
    Milestones,
    Side,
    book_years,
    loan_of,
    month_factors,
    with_property_tax,
    with_sales_tax,
)
from dcplan.economics.ranges import Array
from dcplan.inputs.log import InputLog
from dcplan.provenance import Status
from dcplan.scenario.load import Question
from dcplan.scenario.schema.top import Payment, Tax
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, QUARTERS_PER_YEAR

WRITTEN_OFF = CAPITAL | {AssetClass.SALES_TAX}
BUILDING_TABLE = "building-39"
BOOK_TABLE = "straight-line-5"
BOOK_LIVES = {
    AssetClass.BUILDING: "building-life-years",
    AssetClass.POWER: "power-life-years",
    AssetClass.COOLING: "cooling-life-years",
}
"""Catalog parameters of service lives; all other capital has the life of hardware."""


@dataclass
class Steps:
    """The owned side while costs are added to it, and what each step adds."""

    rate: float
    """Nominal discount rate [1/year]."""
    side: Side
    usd: dict[str, float]
    """Present cost that each step adds [USD]."""

    def add(self, name: str, after: Side) -> None:
        """Replace the side by the one after a step."""
        self.usd[name] = after.npv_usd(self.rate) - self.side.npv_usd(self.rate)
        self.side = after

    def add_lines(self, name: str, lines: Mapping[Line, Array]) -> None:
        """Add lines by month [USD]."""
        self.add(name, replace(self.side, lines={**self.side.lines, **lines}))


def add_equipment_taxes(
    steps: Steps, gear: list[Line], tax: Tax, life: float, log: InputLog
) -> None:
    """Add sales tax and property tax of equipment.

    Parameters
    ----------
    steps
        The owned side.
    gear
        Lines of equipment; sales tax becomes one of them, because it is paid with them.
    tax
        Taxes of the scenario.
    life
        Service life of hardware. [years]
    log
        Input log.
    """
    if tax.sales_tax_frac and gear:
        share = log.take("finance.tax.sales_tax_frac", tax.sales_tax_frac)
        steps.add("sales tax", with_sales_tax(steps.side, gear, share))
        gear.append(SALES_TAX)
    if tax.property_tax_frac_per_year and gear:
        each = log.take("finance.tax.property_tax_frac_per_year", tax.property_tax_frac_per_year)
        steps.add("property tax", with_property_tax(steps.side, gear, each, life))


def tax_rate(question: Question, log: InputLog) -> float:
    """Return the income tax rate of the scenario, 0 by default."""
    given = question.scenario.finance.tax.income_rate
    return log.take("finance.tax.income_rate", given) if given else 0.0


def tax_shares(question: Question, log: InputLog, side: Side) -> dict[Line, Sequence[float]]:
    """Return the yearly tax depreciation of each capital line.

    Equipment and fit-out follow the scenario's table, buildings depreciate over 39 years.
    """
    given = question.scenario.finance.tax.depreciation
    name = log.text(
        "finance.tax.depreciation", given or BOOK_TABLE, Status.INPUT if given else Status.DEFAULT
    )
    own = question.catalog.get("depreciation", name, DepreciationTable).share_frac
    house = question.catalog.get("depreciation", BUILDING_TABLE, DepreciationTable).share_frac
    return {
        line: house if line.asset is AssetClass.BUILDING else own for line in side.of(WRITTEN_OFF)
    }


def book_of(side: Side, cost: PlanCost, log: InputLog) -> BookYears:
    """Return the book depreciation of all capital, each class over its service life."""
    hardware = cost.life_quarters / QUARTERS_PER_YEAR
    lives = {asset: log.parameter("finance", key) for asset, key in BOOK_LIVES.items()}
    found = [
        book_years(side.lines[line], lives.get(line.asset, hardware))
        for line in side.of(WRITTEN_OFF)
    ]
    years = -(-side.months // MONTHS_PER_YEAR)
    none = BookYears(np.zeros(years), np.zeros(years))
    return BookYears(
        np.asarray(sum((x.charge_usd for x in found), none.charge_usd)),
        np.asarray(sum((x.value_usd for x in found), none.value_usd)),
    )


def loan_on(question: Question, log: InputLog, side: Side) -> Loan | None:
    """Return the scenario's loan on all capital of a side; None without debt."""
    debt = question.scenario.finance.debt
    if debt is None:
        return None
    months = max(round(log.take("finance.debt.term_years", debt.term_years) * MONTHS_PER_YEAR), 1)
    share, rate = (
        log.take("finance.debt.share", debt.share),
        log.take("finance.debt.rate", debt.rate),
    )
    capital = sum((side.lines[line] for line in side.of(CAPITAL)), np.zeros(side.months))
    return loan_of(capital, share, rate, months)


def loan_npv_usd(loan: Loan, rate: float) -> float:
    """Return the present cost of debt service less the payout, with what is owed at the end [USD].

    ``rate`` is the nominal discount rate [1/year].
    """
    months = len(loan.drawn)
    end = float((1.0 + rate) ** (-months / MONTHS_PER_YEAR))
    owed = loan.owed_at_end_usd * end
    return float((loan.payments - loan.drawn) @ month_factors(rate, months)) + owed


def year_end(values: Array) -> Array:
    """Return yearly sums in the last month of each year, when taxes are paid."""
    cash = np.zeros(len(values))
    for first in range(0, len(values), MONTHS_PER_YEAR):
        last = min(first + MONTHS_PER_YEAR, len(values)) - 1
        cash[last] = values[first : last + 1].sum()
    return cash


def payment_of(payment: Payment, log: InputLog) -> Milestones:
    """Return the scenario's payment schedule."""
    deposit = log.take("finance.payment.deposit_frac", payment.deposit_frac)
    accepted = log.take("finance.payment.acceptance_frac", payment.acceptance_frac)
    return Milestones(
        deposit, payment.deposit_months_before, accepted, payment.acceptance_months_after
    )


def unserved_usd(flows: Sequence[Flow], months: int) -> Array:
    """Return the value of a plan's unserved demand by month [USD]."""
    value = np.zeros(months)
    for flow in flows:
        if flow.group is FlowGroup.UNSERVED:
            first = flow.quarter * MONTHS_PER_QUARTER
            value[first : first + MONTHS_PER_QUARTER] += flow.usd / MONTHS_PER_QUARTER
    return value
