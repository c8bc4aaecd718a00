"""Starts of runs without a deadline: as soon as own hardware can serve.

Hardware that is bought later has a higher residual value at the end of the horizon, so the cheapest plan
of a run without a deadline buys and trains as late as possible. A planned start is no permission to
wait: a run starts by the first quarter in which any own hardware that can run it can serve
(:func:`planned`), unless it has ``may_wait``. Where no plan starts all runs as early, they wait as few
months in all as they must (:func:`allowing`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dcplan.planning.problem.terms import Placement, PlanningProblem, SiteTerms
from dcplan.planning.problem.work.terms import JobTerms, RunOption
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER


def planned(problem: PlanningProblem) -> PlanningProblem:
    """Return the problem without the starts at which a run waits.

    The starts left out are in ``later``. A run keeps all its starts if it always waits.
    """
    first = {job.id: job.first_month for job in problem.jobs}
    own: dict[str, int] = {}
    quarters: dict[tuple[object, ...], int] = {}
    seen: set[tuple[object, ...]] = set()
    for run in problem.run_options:
        if run.part is None:
            same = (run.job, *_needs(run))
            if same in seen:
                continue
            seen.add(same)
        if not run.on_cloud and run.leads:
            parts = (
                [problem.run_options[i] for i in problem.spans[run.part.run]] if run.part else [run]
            )
            needs = [_needs(part) for part in parts]
            for key, part in zip(needs, parts, strict=True):
                if key not in quarters:
                    quarters[key] = first_quarter(problem, part)
            quarter = max((quarters[key] for key in needs), default=problem.quarters)
            month = max(first[run.job], MONTHS_PER_QUARTER * quarter)
            own[run.job] = min(own.get(run.job, month), month)
    return _divided(problem, first | own)


def _needs(run: RunOption) -> tuple[object, ...]:
    """Return what the first quarter of a run depends on; most run options differ only in their start."""
    links = run.part.links if run.part is not None else ()
    return run.place, run.system, run.accelerators, run.ramp_mw > 0.0, links


def planned_together(problems: Sequence[PlanningProblem]) -> list[PlanningProblem]:
    """Return problems of variants that share decisions, each with the latest planned starts of all.

    Hardware that serves later in one variant must not make its run impossible in another.
    """
    latest: dict[str, int] = defaultdict(int)
    for job in (job for problem in problems for job in problem.jobs):
        latest[job.id] = max(latest[job.id], job.planned_month)
    return [_divided(problem, latest) for problem in problems]


def allowing(problem: PlanningProblem, months: Mapping[str, int]) -> PlanningProblem:
    """Return the problem with the later starts that wait at most some months, by job."""
    late = {x for x in months if not months[x]}
    kept = [run for run in problem.later if run.job not in late]
    return _with(problem, [run for run in kept if wait_months(problem, run) <= months[run.job]])


def with_later_starts(problem: PlanningProblem) -> PlanningProblem:
    """Return the problem with the starts that :func:`planned` left out, after all others."""
    return _with(problem, problem.later)


def wait_months(problem: PlanningProblem, run: RunOption) -> int:
    """Return the months from the planned start of a job to the start of a run; 0 if it may wait."""
    return _wait_months(next(x for x in problem.jobs if x.id == run.job), run)


def _wait_months(job: JobTerms, run: RunOption) -> int:
    return 0 if job.may_wait else max(run.start_month - job.planned_month, 0)


def _divided(problem: PlanningProblem, months: Mapping[str, int]) -> PlanningProblem:
    """Return the problem with planned starts by job, and without the starts after them."""
    jobs = tuple(replace(job, planned_month=months[job.id]) for job in problem.jobs)
    options = problem.run_options + problem.later
    problem = replace(problem, jobs=jobs, run_options=(), later=options)
    of_run = {job.id: job for job in jobs}
    at_once = [not _wait_months(of_run[run.job], run) for run in options]
    soon = {run.job for run, now in zip(options, at_once, strict=True) if now}
    kept = (run for run, now in zip(options, at_once, strict=True) if now or run.job not in soon)
    return _with(problem, list(kept))


def _with(problem: PlanningProblem, runs: Iterable[RunOption]) -> PlanningProblem:
    """Return the problem with some of the later starts, after its run options."""
    taken = tuple(runs)
    gone = {id(run) for run in taken}
    later = tuple(run for run in problem.later if id(run) not in gone)
    return replace(problem, run_options=problem.run_options + taken, later=later)


def first_quarter(problem: PlanningProblem, run: RunOption) -> int:
    """Return the first quarter in which the own hardware of a run can serve, without other work.

    A start in this quarter may still be impossible, because other work needs the same limits. It is
    the number of quarters of the horizon if the hardware never serves.
    """
    placed = [p for p in problem.placements if (p.hall, p.system) == (run.place, run.system)]
    named = run.part.links if run.part is not None else ()
    linked = max((link.first for link in problem.links if link.id in named), default=0)
    return max(linked, min((_first_of(problem, run, p) for p in placed), default=problem.quarters))


def _first_of(problem: PlanningProblem, run: RunOption, placed: Placement) -> int:
    hall = problem.hall(run.place)
    site = problem.site(hall.site)
    racks = math.ceil(run.accelerators / placed.accelerators)
    site_mw = racks * placed.rated_kw / KW_PER_MW * problem.cooled(placed.key).peak_pue
    built = max(hall.opens(placed.cooling), site.block_lead if hall.needs_blocks else 0)
    if run.ramp_mw:
        built = max(
            built, next(x.lead for x in site.onsite if site.ramp and x.id == site.ramp.battery)
        )
    vendors = [x.racks for x in problem.supply if x.system == run.system]
    for t in range(built, problem.quarters):
        ordered = max(t - placed.lead + 1, 0)
        bought = min(
            (sum(most[placed.first_order : ordered]) for most in vendors), default=math.inf
        )
        if ordered <= placed.first_order or placed.system not in problem.orderable:
            bought = 0.0
        enough = _owned(problem, placed, t) + bought >= racks
        if enough and _site_mw(site, t) >= site_mw:
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


def _site_mw(site: SiteTerms, t: int) -> float:
    """Return the most power of a site in a quarter: firm, interruptible and from its own plants."""
    own_mw = sum(x.unit_mw * x.most_units for x in site.onsite if x.firm and x.lead <= t)
    return site.utility_mw[t] + sum(x.mw[t] for x in site.tranches) + own_mw
