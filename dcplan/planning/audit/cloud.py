"""Rented accelerators of a plan, recomputed.

It covers use by month, use under commitments, every payment and every limit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup
from dcplan.inputs.cloud_prices import OfferTerms, cloud_place, offer_of
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import DAYS_PER_MONTH, HOURS_PER_MONTH, HOURS_PER_QUARTER, MONTHS_PER_QUARTER

TINY_USD = 1e-3
"""Smaller amounts are rounding errors of a month that commitments cover."""


def uses(problem: PlanningProblem, d: Decisions, offer: str) -> dict[tuple[str, int], float]:
    """Return the average accelerators of an offer by use and month."""
    found: dict[tuple[str, int], float] = defaultdict(float)
    for (demand, o, t), x in d.rented.items():
        if o == offer:
            for month in range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER):
                found[demand, month] += x
    for r in d.runs:
        if r.place != cloud_place(offer):
            continue
        first = r.start_month * DAYS_PER_MONTH
        for month in range(problem.quarters * MONTHS_PER_QUARTER):
            begin = month * DAYS_PER_MONTH
            days = min(first + r.days, begin + DAYS_PER_MONTH) - max(first, begin)
            if days > 0:
                found[r.job, month] += r.accelerators * days / DAYS_PER_MONTH
    return found


def in_force(d: Decisions, offer: OfferTerms, t: int) -> int:
    """Return the committed accelerators of an offer in a quarter."""
    length = {c.term: c.quarters for c in offer.committed}
    nodes = (n for (o, c, q), n in d.committed.items() if o == offer.id and q <= t < q + length[c])
    return sum(nodes) * offer.node_accelerators


def rented_usd_per_hour(problem: PlanningProblem, d: Decisions, place: str) -> float:
    """Return the cost of an accelerator-hour of an offer in this plan [USD/h].

    It is the sum of all payments divided by the total use.
    """
    offer = next(o for o in problem.offers if cloud_place(o.id) == place)
    hours = sum(uses(problem, d, offer.id).values()) * HOURS_PER_MONTH
    return (
        sum(f.usd for f in cloud_flows(replace(problem, offers=(offer,)), d)) / hours
        if hours
        else 0.0
    )


def use_by_month(problem: PlanningProblem, d: Decisions, offer: OfferTerms) -> dict[int, float]:
    """Return the average accelerators of an offer by month."""
    total: dict[int, float] = defaultdict(float)
    for (_, month), x in uses(problem, d, offer.id).items():
        total[month] += x
    return total


def covered(problem: PlanningProblem, d: Decisions, offer: OfferTerms) -> dict[int, float]:
    """Return the share of each month's use that commitments cover."""
    total = use_by_month(problem, d, offer)
    return {
        month: min(1.0, in_force(d, offer, month // MONTHS_PER_QUARTER) / x)
        for month, x in total.items()
        if x > 0
    }


def cloud_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return payments for on-demand use, by use, and for commitments, used or not.

    They include payments after the horizon.
    """
    flows = []
    for offer in problem.offers:
        share = covered(problem, d, offer)
        by_quarter: dict[tuple[str, int], float] = defaultdict(float)
        for (who, month), x in uses(problem, d, offer.id).items():
            t = month // MONTHS_PER_QUARTER
            hours = x * HOURS_PER_MONTH * (1.0 - share.get(month, 0.0))
            by_quarter[who, t] += hours * offer.usd_per_accelerator_hour[t]
        flows += [
            Flow(
                t,
                FlowGroup.CLOUD,
                f"{who} on {offer.id}",
                usd,
                asset=AssetClass.OTHER,
                offer=offer.id,
                term=offer.term,
            )
            for (who, t), usd in by_quarter.items()
            if usd > TINY_USD
        ]
        for commit in offer.committed:
            for t, nodes in (
                (q, n) for (o, c, q), n in d.committed.items() if (o, c) == (offer.id, commit.term)
            ):
                usd = (
                    nodes
                    * offer.node_accelerators
                    * HOURS_PER_QUARTER
                    * commit.usd_per_accelerator_hour[t]
                )
                flows += [
                    Flow(
                        q,
                        FlowGroup.CLOUD if q < problem.quarters else FlowGroup.POST_HORIZON,
                        f"{offer.id} {commit.term}",
                        usd,
                        asset=AssetClass.OTHER,
                        offer=offer.id,
                        term=commit.term,
                    )
                    for q in range(t, t + commit.quarters)
                ]
    return flows


def cloud_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check the accelerators of each offer and of all offers in their busiest month.

    Commitments must be within the offer, and use within the commitments.
    """
    existing: dict[tuple[str, int], float] = defaultdict(float)
    for (_, name, t), x in d.rented.items():
        for month in range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER):
            existing[name, month] += x
    for r in d.runs:
        if r.on_cloud:
            for month in range(r.start_month, r.start_month + r.months):
                existing[offer_of(r.place), month] += r.accelerators
    for offer in problem.offers:
        months = {m: x for (o, m), x in existing.items() if o == offer.id}
        if months:
            worst = max(months, key=lambda m: months[m])
            yield Check(
                CheckId.OFFER_ACCELERATORS,
                offer.id,
                worst // MONTHS_PER_QUARTER,
                months[worst],
                offer.max_accelerators,
            )
    if problem.cloud_max_accelerators is not None and existing:
        by_month: dict[int, float] = defaultdict(float)
        for (_, month), x in existing.items():
            by_month[month] += x
        worst = max(by_month, key=lambda m: by_month[m])
        yield Check(
            CheckId.CLOUD_ACCELERATORS,
            "cloud",
            worst // MONTHS_PER_QUARTER,
            by_month[worst],
            problem.cloud_max_accelerators,
        )
    for offer in problem.offers:
        yield from _commitment_checks(problem, d, offer)


def _commitment_checks(
    problem: PlanningProblem, d: Decisions, offer: OfferTerms
) -> Iterable[Check]:
    for t in range(problem.quarters if offer.committed else 0):
        yield Check(CheckId.COMMITTED, offer.id, t, in_force(d, offer, t), offer.max_accelerators)
    for month, x in use_by_month(problem, d, offer).items() if not offer.on_demand else ():
        t = month // MONTHS_PER_QUARTER
        yield Check(CheckId.BEYOND_COMMITMENTS, offer.id, t, x, in_force(d, offer, t))
