"""Checks of demands, and of accelerators that they share with jobs."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.planning.audit.accounts import overlap_days
from dcplan.planning.audit.check import RELATIVE, Check
from dcplan.planning.audit.measures import served
from dcplan.planning.audit.work.pools import pool_average
from dcplan.planning.audit.work.services import service_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER


def sharing_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check that jobs and demands fit together on the accelerators of each place."""
    for place in problem.placements:
        for t in range(problem.quarters):
            always = d.training.get((*place.key, t), 0.0) + d.paused.get((*place.key, t), 0.0)
            busy = always + max(
                sum(d.reserved(c, place.key, t) for c in problem.demands if c.active(p))
                for p in range(len(problem.periods))
            )
            if busy:
                there = d.powered(problem, place.key, t) * place.accelerators
                yield Check(CheckId.ACCELERATORS_BUSY, "/".join(place.key), t, busy, there)
    halls = {(p.hall, p.system) for p in problem.placements}
    for hall, system in sorted(halls):
        runs = [r for r in d.runs if (r.place, r.system) == (hall, system)]
        for t in range(problem.quarters):
            need = (
                sum(
                    r.accelerators
                    * r.training_frac
                    * overlap_days(r.start_month * DAYS_PER_MONTH, r.days, t)
                    for r in runs
                )
                / DAYS_PER_QUARTER
            )
            need += pool_average(problem, runs, t)
            got = sum(x for (h, _, k, q), x in d.training.items() if (h, k, q) == (hall, system, t))
            if need or got:
                yield Check(
                    CheckId.TRAINING_BOOKED,
                    f"{hall} {system}",
                    t,
                    abs(need - got),
                    RELATIVE * max(1.0, need),
                )


def demand_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check the services, and that every demand is served."""
    yield from service_checks(problem, d)
    for demand in problem.required:
        for t, wanted in enumerate(demand.wanted):
            given_up = d.unmet.get((demand.id, t), 0.0) if demand.unmet_usd is not None else 0.0
            yield Check(
                CheckId.DEMAND_MISSING,
                demand.id,
                t,
                wanted - given_up,
                sum(served(problem, d, demand, t)),
                subject=demand.unit,
            )
