"""Use of rented accelerators, recomputed: by month, under commitments, and reserved."""

from __future__ import annotations

from collections import defaultdict

from dcplan.inputs.cloud_prices import OfferTerms, cloud_place, offer_of
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import DAYS_PER_MONTH, HOURS_PER_MONTH, MONTHS_PER_QUARTER

Time = tuple[int, int]
"""Month and period of the week."""


def uses(problem: PlanningProblem, d: Decisions, offer: str) -> dict[tuple[str, Time], float]:
    """Return the average accelerators of an offer by workload, month and period of the week."""
    found: dict[tuple[str, Time], float] = defaultdict(float)
    periods = range(len(problem.periods))
    terms = {x.id: x for x in problem.demands}
    for (demand, o, t), x in d.rented.items():
        if o == offer:
            for month in range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER):
                for p in (p for p in periods if terms[demand].active(p)):
                    found[terms[demand].workload_id, (month, p)] += terms[demand].rent_frac * x
    for r in d.runs:
        if r.place != cloud_place(offer):
            continue
        first = r.start_month * DAYS_PER_MONTH
        for month in range(problem.quarters * MONTHS_PER_QUARTER):
            begin = month * DAYS_PER_MONTH
            days = min(first + r.days, begin + DAYS_PER_MONTH) - max(first, begin)
            for p in periods if days > 0 else ():
                found[r.job, (month, p)] += r.accelerators * days / DAYS_PER_MONTH
    return found


def rented_hours(problem: PlanningProblem, d: Decisions, offer: str) -> float:
    """Return the accelerator-hours rented of an offer for demands and runs [h]."""
    found = uses(problem, d, offer)
    return HOURS_PER_MONTH * sum(x * problem.periods[p] for (_, (_, p)), x in found.items())


def in_force(d: Decisions, offer: OfferTerms, t: int) -> int:
    """Return the committed accelerators of an offer in a quarter."""
    length = {c.term: c.quarters for c in offer.committed}
    nodes = (n for (o, c, q), n in d.committed.items() if o == offer.id and q <= t < q + length[c])
    return sum(nodes) * offer.node_accelerators


def use_by_time(problem: PlanningProblem, d: Decisions, offer: OfferTerms) -> dict[Time, float]:
    """Return the average accelerators of an offer by month and period of the week."""
    total: dict[Time, float] = defaultdict(float)
    for (_, time), x in uses(problem, d, offer.id).items():
        total[time] += x
    return total


def use_by_month(problem: PlanningProblem, d: Decisions, offer: OfferTerms) -> dict[int, float]:
    """Return the average accelerators of an offer by month."""
    total: dict[int, float] = defaultdict(float)
    for (month, p), x in use_by_time(problem, d, offer).items():
        total[month] += x * problem.periods[p]
    return total


def covered(problem: PlanningProblem, d: Decisions, offer: OfferTerms) -> dict[Time, float]:
    """Return the share of the use in each month and period that commitments cover."""
    total = use_by_time(problem, d, offer)
    return {
        (month, p): min(1.0, in_force(d, offer, month // MONTHS_PER_QUARTER) / x)
        for (month, p), x in total.items()
        if x > 0
    }


def months_by_use(problem: PlanningProblem, d: Decisions) -> dict[tuple[str, str, int], float]:
    """Return the accelerator-months of each offer, workload and quarter."""
    found: dict[tuple[str, str, int], float] = defaultdict(float)
    for offer in problem.offers:
        for (who, (month, p)), x in uses(problem, d, offer.id).items():
            found[offer.id, who, month // MONTHS_PER_QUARTER] += x * problem.periods[p]
    return found


def reserved_by_time(problem: PlanningProblem, d: Decisions) -> dict[tuple[str, Time], float]:
    """Return the accelerators of each offer that are reserved in a month and period of the week."""
    found: dict[tuple[str, Time], float] = defaultdict(float)
    periods = range(len(problem.periods))
    terms = {x.id: x for x in problem.demands}
    for (demand, name, t), x in d.rented.items():
        for month in range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER):
            for p in (p for p in periods if terms[demand].active(p)):
                found[name, (month, p)] += x
    for r in d.runs:
        if r.on_cloud:
            for month in range(r.start_month, r.start_month + r.months):
                for p in periods:
                    found[offer_of(r.place), (month, p)] += r.accelerators
    return found
