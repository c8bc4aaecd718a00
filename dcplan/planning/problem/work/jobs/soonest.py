"""Starts of runs without a deadline: as soon as the hardware of their place can serve.

Hardware that is bought later has a higher residual value at the end of the horizon, so the cheapest plan
of a run without a deadline buys and trains as late as possible. A planned start is no permission to
wait: such starts are left out (:func:`planned`), unless the run has ``may_wait``, or no plan starts as
early (:func:`with_later_starts`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER


def planned(problem: PlanningProblem) -> PlanningProblem:
    """Return the problem without starts that are later than the hardware of their place can serve.

    The starts left out are in ``later``. A run keeps all its starts if none is early enough.
    """
    soon: dict[str, list[RunOption]] = defaultdict(list)
    late: dict[str, list[RunOption]] = defaultdict(list)
    for job in problem.jobs:
        for run in (x for x in problem.run_options if x.job == job.id):
            waits = not job.may_wait and run.start_month > max(
                job.first_month, MONTHS_PER_QUARTER * first_quarter(problem, run)
            )
            (late if waits else soon)[job.id].append(run)
    later = tuple(run for job, runs in late.items() if soon[job] for run in runs)
    gone = {id(run) for run in later}
    kept = tuple(run for run in problem.run_options if id(run) not in gone)
    return replace(problem, run_options=kept, later=later)


def with_later_starts(problem: PlanningProblem) -> PlanningProblem:
    """Return the problem with the starts that :func:`planned` left out, after all others."""
    return replace(problem, run_options=problem.run_options + problem.later, later=())


def planned_together(problems: Sequence[PlanningProblem]) -> list[PlanningProblem]:
    """Return problems of variants that share decisions, each with the starts that any of them has.

    Hardware that serves later in one variant must not make its run impossible in another.
    """
    latest: dict[tuple[str, str, str], int] = defaultdict(int)
    for problem in problems:
        for run in problem.run_options:
            key = run.job, run.place, run.system
            latest[key] = max(latest[key], run.start_month)
    found = []
    for problem in problems:
        also = [
            run
            for run in problem.later
            if run.start_month <= latest.get((run.job, run.place, run.system), -1)
        ]
        gone = {id(run) for run in also}
        later = tuple(run for run in problem.later if id(run) not in gone)
        found.append(replace(problem, run_options=(*problem.run_options, *also), later=later))
    return found


def first_quarter(problem: PlanningProblem, run: RunOption) -> int:
    """Return the first quarter in which the hardware of a run can serve, without other work.

    A start in this quarter may still be impossible, because other work needs the same limits.
    """
    if run.on_cloud:
        return 0
    placed = [p for p in problem.placements if (p.hall, p.system) == (run.place, run.system)]
    return min((_first_of(problem, run, p) for p in placed), default=problem.quarters)


def _first_of(problem: PlanningProblem, run: RunOption, placed: Placement) -> int:
    hall = problem.hall(run.place)
    site = problem.site(hall.site)
    racks = math.ceil(run.accelerators / placed.accelerators)
    racks_mw = racks * placed.rated_kw / KW_PER_MW
    site_mw = racks_mw * hall.cooling(placed.cooling).peak_pue
    built = max(hall.available_from, site.block_lead if hall.needs_blocks else 0)
    own_mw = math.inf if site.onsite else 0.0
    vendors = [x.racks for x in problem.supply if x.system == run.system]
    for t in range(problem.quarters):
        ordered = max(t - placed.lead + 1, 0)
        bought = min(
            (sum(most[placed.first_order : ordered]) for most in vendors), default=math.inf
        )
        if ordered <= placed.first_order or placed.system not in problem.orderable:
            bought = 0.0
        powered = t >= built and site.utility_mw[t] + own_mw >= site_mw
        if powered and _owned(problem, placed, t) + bought >= racks:
            return t
    return problem.quarters


def _owned(problem: PlanningProblem, placed: Placement, t: int) -> float:
    """Return the racks of a placement that a plan begins with, in service in a quarter."""
    fleet = problem.fleet
    given = 0.0
    if fleet and (fleet.hall, fleet.system) == (placed.hall, placed.system):
        given = fleet.accelerators / placed.accelerators
    return given + sum(
        x.racks for x in problem.existing if x.key == placed.key and x.first <= t < x.last
    )
