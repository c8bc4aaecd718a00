"""The owned side of a comparison by month, step by step from the plan's cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dcplan.answers.plan.plan_cost import PlanCost
from dcplan.answers.tco.conventions import GOODPUT
from dcplan.answers.tco.owned_bill import Bill
from dcplan.economics.cash_flow import AssetClass, FlowGroup, npv_usd
from dcplan.economics.monthly.book import BookYears, book_life_years, book_years
from dcplan.economics.monthly.earlier import Earlier
from dcplan.economics.monthly.financing import WRITTEN_OFF, Financed, financed
from dcplan.economics.monthly.payments import on_delivery
from dcplan.economics.monthly.side import Side, owned_side, unserved_usd
from dcplan.inputs.financing import PLANT_LIFE, financing_of
from dcplan.inputs.log import InputLog
from dcplan.scenario.load import Question
from dcplan.units import MONTHS_PER_YEAR, QUARTERS_PER_YEAR

NOT_PAID = frozenset({FlowGroup.UNSERVED})
NOT_OWNED = NOT_PAID | {FlowGroup.CLOUD, FlowGroup.POST_HORIZON}
LOST_GOODPUT = "goodput-loss-frac-of-owned"


@dataclass(frozen=True)
class Owned(Financed):
    """The owned side, step by step: ``steps`` lead from the plan's cost to the cost of owning."""

    plan_npv_usd: float
    book: BookYears
    """Book depreciation by year."""
    tax_rate_frac: float
    hardware_years: float
    """Service life of hardware."""
    life_years: Mapping[AssetClass, float]
    """Service lives of buildings, cooling and power."""
    earlier: tuple[Earlier, ...] = ()
    """Hardware in service before the plan."""


def owned_of(
    question: Question, cost: PlanCost, log: InputLog, *, bill: Bill | None = None
) -> Owned:
    """Add taxes and debt to the plan's flows by month, and price each step.

    ``bill`` has the conventions of a given fleet, whose rent is another side; a plan has none, and
    its rent counts.
    """
    left_out = NOT_OWNED if bill is not None else NOT_PAID
    flows = [f for f in cost.flows if f.group not in left_out]
    rate, life = cost.discount_rate, cost.life_quarters / QUARTERS_PER_YEAR
    scenario = question.scenario
    terms = financing_of(scenario.finance, scenario.sites, rate, life, log)
    start = npv_usd(flows, rate)
    if terms.milestones is not None:
        flows = on_delivery(flows, cost.quarters)
    side = owned_side(flows, cost.quarters, terms.taxed_sites)
    steps = {"payments by month instead of mid-quarter": side.npv_usd(rate) - start}
    for name, after in bill.steps(side, question, log) if bill is not None else ():
        steps[name] = after.npv_usd(rate) - side.npv_usd(rate)
        side = after
    # the duration of a plan's runs includes goodput; a given fleet has no runs
    counted = bill is not None and bill.conventions.counts_owned(GOODPUT)
    loss = log.parameter("finance", LOST_GOODPUT) if counted else 0.0
    found = financed(side, terms, unserved_usd(cost.flows, side.months), loss)
    lives = {asset: log.parameter("finance", key) for asset, key in PLANT_LIFE.items()}
    return Owned(
        found.before_tax,
        found.after_tax,
        found.loan,
        steps | found.steps,
        found.npv_usd,
        found.shield,
        found.taxes,
        plan_npv_usd=start,
        book=_book(found.before_tax, life, lives),
        tax_rate_frac=terms.income_rate_frac,
        hardware_years=life,
        life_years=lives,
        earlier=cost.earlier,
    )


def _book(side: Side, hardware_years: float, lives: Mapping[AssetClass, float]) -> BookYears:
    """Return the book depreciation of all capital, each class over its service life."""
    found = [
        book_years(side.lines[line], book_life_years(line.asset, lives, hardware_years))
        for line in side.of(WRITTEN_OFF)
    ]
    years = -(-side.months // MONTHS_PER_YEAR)
    none = BookYears(np.zeros(years), np.zeros(years))
    return BookYears(
        np.asarray(sum((x.charge_usd for x in found), none.charge_usd)),
        np.asarray(sum((x.value_usd for x in found), none.value_usd)),
    )
