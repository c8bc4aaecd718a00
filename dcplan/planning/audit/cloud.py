"""Rented accelerators of a plan, recomputed.

It covers use by month, use under commitments, every payment and every limit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.inputs.cloud_prices import OfferTerms, cloud_place, offer_of, row_of
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import DAYS_PER_MONTH, HOURS_PER_MONTH, HOURS_PER_QUARTER, MONTHS_PER_QUARTER

TINY_USD = 1e-3
"""Smaller amounts are rounding errors of a month that commitments cover."""


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


def rented_usd_per_hour(problem: PlanningProblem, d: Decisions, place: str) -> float:
    """Return the cost of an accelerator-hour of an offer in this plan [USD/h].

    It is the sum of all payments divided by the total use.
    """
    offer = next(o for o in problem.offers if cloud_place(o.id) == place)
    hours = rented_hours(problem, d, offer.id)
    return (
        sum(f.usd for f in cloud_flows(replace(problem, offers=(offer,)), d)) / hours
        if hours
        else 0.0
    )


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


def cloud_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return payments for on-demand use, by use, and for commitments, used or not.

    They include payments after the horizon.
    """
    flows = []
    for offer in problem.offers:
        share = covered(problem, d, offer)
        by_quarter: dict[tuple[str, int], float] = defaultdict(float)
        hours: dict[tuple[str, int], float] = defaultdict(float)
        used: dict[int, float] = defaultdict(float)  # hours that commitments cover
        for (who, time), x in uses(problem, d, offer.id).items():
            t = time[0] // MONTHS_PER_QUARTER
            each, part = x * HOURS_PER_MONTH * problem.periods[time[1]], share.get(time, 0.0)
            hours[who, t] += each * (1.0 - part)
            used[t] += each * part
            by_quarter[who, t] += each * (1.0 - part) * offer.usd_per_accelerator_hour[t]
        flows += [
            Flow(
                t,
                FlowGroup.CLOUD,
                f"{who} on {offer.id}",
                usd,
                asset=AssetClass.OTHER,
                offer=offer.id,
                term=offer.term,
                shared=Sharing(Driver.USER, user=who),
                goods=Goods(row_of(offer.id), hours[who, t], Unit.ACCELERATOR_HOUR, offer.region),
            )
            for (who, t), usd in by_quarter.items()
            if usd > TINY_USD
        ]
        for commit in offer.committed:
            for t, nodes in (
                (q, n) for (o, c, q), n in d.committed.items() if (o, c) == (offer.id, commit.term)
            ):
                paid = nodes * offer.node_accelerators * HOURS_PER_QUARTER
                usd = paid * commit.usd_per_accelerator_hour[t]
                flows += [
                    Flow(
                        q,
                        FlowGroup.CLOUD if q < problem.quarters else FlowGroup.POST_HORIZON,
                        f"{offer.id} {commit.term}",
                        usd,
                        asset=AssetClass.OTHER,
                        offer=offer.id,
                        term=commit.term,
                        shared=Sharing(Driver.COMMITTED, serves=(t, t + commit.quarters)),
                        goods=Goods(
                            row_of(offer.id),
                            paid,
                            Unit.ACCELERATOR_HOUR,
                            offer.region,
                            serves_from=t,
                            used=_used(d, offer, q, paid, used),
                        ),
                    )
                    for q in range(t, t + commit.quarters)
                ]
    return flows


def _used(
    d: Decisions, offer: OfferTerms, t: int, paid_h: float, used_h: Mapping[int, float]
) -> float:
    """Return the used hours of a commitment, in proportion to all commitments of its offer."""
    committed_h = in_force(d, offer, t) * HOURS_PER_QUARTER
    return paid_h * min(1.0, used_h.get(t, 0.0) / committed_h)


def cloud_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check the accelerators of each offer and of all offers in their busiest month.

    Commitments must be within the offer, and use within the commitments.
    """
    existing: dict[tuple[str, Time], float] = defaultdict(float)
    periods = range(len(problem.periods))
    terms = {x.id: x for x in problem.demands}
    for (demand, name, t), x in d.rented.items():
        for month in range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER):
            for p in (p for p in periods if terms[demand].active(p)):
                existing[name, (month, p)] += x
    for r in d.runs:
        if r.on_cloud:
            for month in range(r.start_month, r.start_month + r.months):
                for p in periods:
                    existing[offer_of(r.place), (month, p)] += r.accelerators
    for offer in problem.offers:
        times = {m: x for (o, m), x in existing.items() if o == offer.id}
        if times:
            worst = max(times, key=lambda m: times[m])
            yield Check(
                CheckId.OFFER_ACCELERATORS,
                offer.id,
                worst[0] // MONTHS_PER_QUARTER,
                times[worst],
                offer.max_accelerators,
            )
    if problem.cloud_max_accelerators is not None and existing:
        by_time: dict[Time, float] = defaultdict(float)
        for (_, time), x in existing.items():
            by_time[time] += x
        worst = max(by_time, key=lambda m: by_time[m])
        yield Check(
            CheckId.CLOUD_ACCELERATORS,
            "cloud",
            worst[0] // MONTHS_PER_QUARTER,
            by_time[worst],
            problem.cloud_max_accelerators,
        )
    for offer in problem.offers:
        yield from _commitment_checks(problem, d, offer)


def _commitment_checks(
    problem: PlanningProblem, d: Decisions, offer: OfferTerms
) -> Iterable[Check]:
    for t in range(problem.quarters if offer.committed else 0):
        yield Check(CheckId.COMMITTED, offer.id, t, in_force(d, offer, t), offer.max_accelerators)
    for time, x in use_by_time(problem, d, offer).items() if not offer.on_demand else ():
        t = time[0] // MONTHS_PER_QUARTER
        yield Check(CheckId.BEYOND_COMMITMENTS, offer.id, t, x, in_force(d, offer, t))
