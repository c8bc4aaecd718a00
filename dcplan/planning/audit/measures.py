"""Measures of a plan from its accounts, to compare with the model's bound and limits."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dcplan.economics.cash_flow import Flow, FlowGroup, npv_usd, totals_usd
from dcplan.economics.monthly.financing import Financed, financed
from dcplan.economics.monthly.payments import on_delivery
from dcplan.economics.monthly.side import owned_side, unserved_usd
from dcplan.economics.monthly.weights import FlowWeights, financed_weights, level_weights
from dcplan.inputs.cloud_prices import cloud_place, offer_of
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.onsite import carbon_t
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import AFTER_TAX, CAPEX, CARBON, COMPUTE, COST, DAYS, PEAK, TIME, WAIT
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.jobs.soonest import wait_months
from dcplan.planning.problem.work.terms import PFLOPS, DemandTerms
from dcplan.units import (
    DAYS_PER_MONTH,
    DAYS_PER_QUARTER,
    HOURS_PER_DAY,
    HOURS_PER_QUARTER,
    KG_PER_TONNE,
    USD_PER_MUSD,
)


def measured(name: str, problem: PlanningProblem, d: Decisions, books: Accounts) -> float:
    """Return a recomputed measure of :mod:`dcplan.planning.goal`."""
    of_runs = _of_runs(name, problem, d)
    if of_runs is not None:
        return of_runs
    quarters = range(problem.quarters)
    if name == COST:
        return npv_usd(books.flows, problem.finance.discount_rate) / USD_PER_MUSD
    if name == AFTER_TAX:
        return after_tax(problem, books.flows).npv_usd / USD_PER_MUSD
    if name == CAPEX:
        return totals_usd(books.flows)[FlowGroup.CAPEX] / USD_PER_MUSD
    if name == PEAK:
        return max(
            sum(books.site(problem, s.id, t, "facility_mw") for s in problem.sites)
            for t in quarters
        )
    if name == COMPUTE:
        return -delivered_pflop_days(problem, d)
    own = sum(
        carbon_t(d, s, books.site(problem, s.id, t, "facility_mwh"), t)
        for s in problem.sites
        for t in quarters
    )
    return own + (cloud_carbon_t(problem, d) if name == CARBON else 0.0)


def _of_runs(name: str, problem: PlanningProblem, d: Decisions) -> float | None:
    """Return a measure that is a sum over the runs [days, or months of WAIT]; None for another one."""
    if name.startswith(DAYS):
        return sum(r.days for r in d.whole_runs if r.job == name.removeprefix(DAYS))
    if name == TIME:
        return sum(r.start_month * DAYS_PER_MONTH + r.finish_days for r in d.whole_runs)
    if name == WAIT:
        return sum(wait_months(problem, r) for r in d.whole_runs)
    return None


def cost_usd(problem: PlanningProblem, flows: Iterable[Flow]) -> float:
    """Return the present cost of payments [USD].

    It is after taxes, payment terms and debt if the goal is, otherwise before them.
    """
    if problem.goal.measure == AFTER_TAX:
        return after_tax(problem, flows).npv_usd
    return npv_usd(flows, problem.finance.discount_rate)


def weights_of(problem: PlanningProblem) -> FlowWeights:
    """Return the present cost of one USD by kind and quarter of the payments of the horizon.

    It is after taxes, payment terms and debt if the goal is, otherwise before them.
    """
    terms = problem.finance.financing
    if problem.goal.measure == AFTER_TAX and terms is not None:
        return financed_weights(terms, problem.quarters, 0)
    return level_weights(problem.finance.discount_rate, problem.quarters, 0)


def after_tax(problem: PlanningProblem, flows: Iterable[Flow]) -> Financed:
    """Return payments by month after taxes, payment terms and debt.

    Raises
    ------
    ValueError
        If the problem has no financing.
    """
    terms = problem.finance.financing
    if terms is None:
        msg = "the problem has no taxes, payment terms or debt"
        raise ValueError(msg)
    flows = list(flows)
    if terms.milestones is not None:
        flows = on_delivery(flows, problem.quarters)
    side = owned_side(flows, problem.quarters, terms.taxed_sites)
    return financed(side, terms, unserved_usd(flows, side.months))


def cloud_carbon_t(problem: PlanningProblem, d: Decisions) -> float:
    """Return the operational carbon of rented accelerators [t].

    Not a number if the carbon of a rented offer is unknown.
    """
    each = {
        o.id: math.nan if o.kg_per_accelerator_hour is None else o.kg_per_accelerator_hour
        for o in problem.offers
    }
    jobs = sum(
        r.accelerators * r.days * HOURS_PER_DAY * each[offer_of(r.place)]
        for r in d.runs
        if r.on_cloud
    )
    hours = {x.id: HOURS_PER_QUARTER * x.rented_hours_frac for x in problem.demands}
    return (jobs + sum(x * hours[c] * each[o] for (c, o, _), x in d.rented.items())) / KG_PER_TONNE


def served(
    problem: PlanningProblem, d: Decisions, demand: DemandTerms, t: int
) -> tuple[float, float]:
    """Return the amount of a demand that owned and rented accelerators serve in a quarter.

    It is in the unit of the demand, over its parts.
    """
    parts = {x.id: x for x in problem.demand_parts(demand.id)}
    owned = sum(
        parts[c].share * x * parts[c].each[h, k]
        for (c, h, _, k, q), x in d.serving.items()
        if c in parts and q == t
    )
    rented = sum(
        part.share
        * d.rented.get((part.id, o.id, t), 0.0)
        * part.each.get((cloud_place(o.id), o.accelerator), 0.0)
        for part in parts.values()
        for o in problem.offers
    )
    return owned, rented


def used_accelerators(problem: PlanningProblem, d: Decisions) -> float:
    """Return owned accelerators in use, average of the week, added over the quarters."""
    hours = {x.id: x.hours_frac for x in problem.demands}
    return sum(d.training.values()) + sum(x * hours[c] for (c, *_), x in d.serving.items())


def delivered_pflop_days(problem: PlanningProblem, d: Decisions) -> float:
    """Return the research capacity delivered over the horizon, on the reference jobs [PFLOP-days]."""
    counted = [x for x in problem.required if x.unit == PFLOPS]
    return DAYS_PER_QUARTER * sum(
        x.hours_frac * sum(served(problem, d, x, t))
        for x in counted
        for t in range(problem.quarters)
    )
