"""Lead times of purchases with their sources, and the division of a price into payments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from dcplan.answers.common.long_lead import HALL_LEAD, lead_time
from dcplan.answers.plan.calendar import first_day, month_at
from dcplan.catalog.schema import OnsitePower, Row, System
from dcplan.economics.cash_flow import AssetClass, Flow
from dcplan.economics.monthly.payments import Milestones
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.upgrades import upgrade_bought
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.terms.links import link_of
from dcplan.provenance import Status
from dcplan.scenario.load import Question
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_WEEK, MONTHS_PER_QUARTER

BY_MILESTONES = frozenset({AssetClass.RACKS, AssetClass.NETWORK, AssetClass.STORAGE})
"""Equipment that this plan orders; an order of before the plan has its own payments."""
BUILT = frozenset({AssetClass.COOLING, AssetClass.BUILDING, AssetClass.POWER})


@dataclass(frozen=True)
class Lead:
    """Lead time of a purchase, and the month of its order."""

    months: float | None
    source: str
    order_month: str
    """As YYYY-MM; empty if it was ordered before the plan."""


@dataclass(frozen=True)
class Paid:
    """Payments of one purchase [USD], and their months from the start of the plan."""

    terms: str
    balance_usd: float
    balance_month: int
    deposit_usd: float = 0.0
    deposit_month: int | None = None
    acceptance_usd: float = 0.0
    acceptance_month: int | None = None


def paid(f: Flow, usd: float, serves: int, due: Milestones | None) -> Paid:
    """Divide a price into deposit, payment on delivery, and acceptance payment.

    Without payment terms the whole price is due in the quarter in which the plan pays.

    Parameters
    ----------
    usd : float
        Price of the purchase [USD].
    serves : int
        First quarter in service; its first month is that of the delivery.

    Examples
    --------
    30 % six months early and 10 % two months late of 100, in service from the second quarter:

    >>> from dcplan.economics.cash_flow import FlowGroup
    >>> racks = Flow(0, FlowGroup.CAPEX, "racks", 100.0, asset=AssetClass.RACKS)
    >>> x = paid(racks, 100.0, 1, Milestones(0.3, 6, 0.1, 2))
    >>> x.deposit_usd, x.deposit_month, x.balance_usd, x.balance_month
    (30.0, -3, 60.0, 3)
    >>> x.acceptance_usd, x.acceptance_month, x.terms
    (10.0, 5, '30% deposit, 60% on delivery, 10% after acceptance')
    """
    if due is None or f.asset not in BY_MILESTONES:
        terms = "on arrival" if f.asset is AssetClass.EXISTING else "in full"
        return Paid(terms, usd, f.quarter * MONTHS_PER_QUARTER)
    delivery = serves * MONTHS_PER_QUARTER
    shares = {
        "deposit": due.deposit_frac,
        "on delivery": 1.0 - due.deposit_frac - due.acceptance_frac,
        "after acceptance": due.acceptance_frac,
    }
    deposit, accepted = due.deposit_frac * usd, due.acceptance_frac * usd
    return Paid(
        ", ".join(f"{100 * x:.4g}% {name}" for name, x in shares.items() if x > 0),
        usd - deposit - accepted,
        delivery,
        deposit,
        delivery - due.deposit_months_before if deposit else None,
        accepted,
        delivery + due.acceptance_months_after if accepted else None,
    )


def lead_of(
    problem: PlanningProblem, question: Question, log: InputLog, f: Flow, serves: int
) -> Lead:
    """Return the lead time of a purchase with its source, and the month of its order."""
    ordered = month_at(problem, f.quarter * MONTHS_PER_QUARTER)
    item = f.goods.item if f.goods else ""
    months = float((serves - f.quarter) * MONTHS_PER_QUARTER)
    if f.asset is AssetClass.EXISTING:
        return Lead(None, "vendor's date of the order, from the scenario", "")
    if f.asset is AssetClass.RACKS:
        row = question.catalog.find("systems", item, System)
        return Lead(months, _source(log, f"systems.{item}.lead_quarters", row), ordered)
    link = link_of(f, problem.links)
    if link is not None:
        source = f"scenario: links.{link.id}.lead_quarters" if link.lead else "none given"
        ordered = month_at(problem, (serves - link.lead) * MONTHS_PER_QUARTER)
        return Lead(float(link.lead * MONTHS_PER_QUARTER), source, ordered)
    upgrade = upgrade_bought(f, problem.halls)
    if upgrade is not None:
        key = f"sites.{f.site}.halls.{f.shared.place[0].partition('/')[2]}.upgrades.{upgrade.id}"
        source = f"scenario: {key}.lead_quarters and works_quarters" if months else "none given"
        ordered = month_at(problem, (f.quarter - upgrade.lead) * MONTHS_PER_QUARTER)
        whole = upgrade.lead + upgrade.works
        return Lead(float(whole * MONTHS_PER_QUARTER), source, ordered)
    if f.asset in BY_MILESTONES:
        return Lead(months, "with the racks of the hall", ordered)
    plant = question.catalog.find("onsite", item, OnsitePower)
    if f.asset is AssetClass.POWER and plant is not None:
        key = f"sites.{f.site}.onsite.{item}.lead_quarters"
        return Lead(months, _source(log, key, plant), ordered)
    if f.asset not in BUILT:
        return Lead(None, "", ordered)
    return _built(problem, log, f, serves) or Lead(None, "none in the catalog", ordered)


def _source(log: InputLog, key: str, row: System | OnsitePower | None) -> str:
    """Return the origin of a lead time: scenario, catalog row or default."""
    used = log.rows.get(key)
    if used is None:
        return "given by the scenario"
    in_catalog = row.lead_quarters if row is not None else None
    if isinstance(row, Row) and in_catalog is not None and in_catalog == used.value:
        return f"catalog: {row.source}"
    return used.source or "scenario" if used.status == Status.DEFAULT else "scenario"


def _built(problem: PlanningProblem, log: InputLog, f: Flow, serves: int) -> Lead | None:
    """Return the longest lead time of a new hall's equipment; None for a hall that exists."""
    site = problem.site(f.site)
    if f.asset is AssetClass.POWER and site.block_lead:
        quarters = site.block_lead * MONTHS_PER_QUARTER
        ordered = month_at(problem, (serves - site.block_lead) * MONTHS_PER_QUARTER)
        return Lead(float(quarters), "scenario", ordered)
    hall = next((h for h in problem.halls if f.goods and h.id == f.goods.place), None)
    if hall is not None and hall.lead:
        ordered = month_at(problem, (serves - hall.lead) * MONTHS_PER_QUARTER)
        source = f"scenario: sites.{hall.site}.halls.{hall.name}.lead_quarters"
        return Lead(float(hall.lead * MONTHS_PER_QUARTER), source, ordered)
    if f.asset is not AssetClass.POWER and (hall is None or not hall.needs_blocks):
        return None
    leads = {x: lead_time(x, log) for x in HALL_LEAD}
    name = max(leads, key=lambda x: (leads[x].weeks, x))
    lead = leads[name]
    by = first_day(problem, serves) - timedelta(weeks=lead.weeks)
    months = lead.weeks * DAYS_PER_WEEK / DAYS_PER_MONTH
    return Lead(months, f"{name}, the longest of a new hall: {lead.source}", f"{by:%Y-%m}")
