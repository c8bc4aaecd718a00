"""Limits of rented accelerators, checked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dcplan.inputs.cloud_prices import OfferTerms
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.rent.use import Time, in_force, reserved_by_time, use_by_time
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import MONTHS_PER_QUARTER


def cloud_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check the accelerators of each offer and of all offers in their busiest month.

    Commitments must be within the offer, and use within the commitments.
    """
    existing = reserved_by_time(problem, d)
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
