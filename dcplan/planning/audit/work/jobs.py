"""Checks of jobs: dates, accelerators on the busiest day, and links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dcplan.planning.audit.check import Check
from dcplan.planning.audit.work.pools import pool_accelerators
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import DAYS_PER_MONTH, DAYS_PER_QUARTER, MONTHS_PER_QUARTER


def job_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check that every job runs once, in time, on accelerators and links that are there."""
    done = [r.job for r in d.runs if r.leads]
    for job in problem.jobs:
        yield Check(CheckId.JOB_RUNS_ONCE, job.id, 0, abs(done.count(job.id) - 1), 0)
    terms = {j.id: j for j in problem.jobs}
    by_place: dict[tuple[str, str], list[RunOption]] = defaultdict(list)
    for r in d.runs:
        job = terms[r.job]
        start = r.start_month * DAYS_PER_MONTH
        yield Check(CheckId.JOB_START, r.job, 0, job.first_month, r.start_month)
        yield Check(
            CheckId.JOB_END_DAY,
            r.job,
            0,
            start + (r.finish_days if job.dated else r.days),
            job.end_day,
        )
        if r.lead_months and not r.on_cloud:
            there = _accelerators(problem, d, r.place, r.system, r.serving_quarter)
            yield Check(CheckId.SERVING_AHEAD, r.job, r.serving_quarter, r.accelerators, there)
        if job.deadline_days is not None:
            yield Check(CheckId.JOB_DAYS, r.job, 0, r.days, job.deadline_days)
        if not r.on_cloud:
            yield from _link_checks(problem, d, r)
            by_place[r.place, r.system].append(r)
    for (hall, system), runs in by_place.items():
        have = {t: _accelerators(problem, d, hall, system, t) for t in range(problem.quarters)}
        for t, in_use, there in busiest_day(problem, runs, have):
            yield Check(CheckId.ACCELERATORS_FOR_JOBS, f"{hall} {system}", t, in_use, there)


def busiest_day(
    problem: PlanningProblem, runs: Iterable[RunOption], have: dict[int, int]
) -> list[tuple[int, int, int]]:
    """Simulate runs day by day.

    It returns (quarter, maximum accelerators in use at one time with shared spares, accelerators in
    service).
    """
    runs = list(runs)
    result = []
    for t in range(problem.quarters):
        begin, end = t * DAYS_PER_QUARTER, (t + 1) * DAYS_PER_QUARTER
        starts = [r.start_month * DAYS_PER_MONTH for r in runs]
        moments = {begin, *(s for s in starts if begin <= s < end)}
        active = (
            [r for r, s in zip(runs, starts, strict=True) if s <= moment + 1e-9 < s + r.days]
            for moment in moments
        )
        in_use = (
            sum(r.accelerators for r in now) + pool_accelerators(problem, now) for now in active
        )
        result.append((t, max(in_use), have[t]))
    return result


def _link_checks(problem: PlanningProblem, d: Decisions, r: RunOption) -> Iterable[Check]:
    """Check that the fabric of a hall is as fast as the link of a run's step time.

    A hall without a fabric, or with one that does not connect the system, has no link.
    """
    where, t = f"{r.job} {r.place} {r.system}", r.start_month // MONTHS_PER_QUARTER
    classes = {
        p.port_class for p in problem.placements if (p.hall, p.system) == (r.place, r.system)
    }
    chosen = [o for o in problem.fabrics if (o.hall, o.id) == (r.place, d.fabric.get(r.place))]
    links = [o.speeds[c] for o in chosen for c in classes if c in o.shares]
    asked = r.link
    for name, used, there in (
        (CheckId.LINK_GBPS, asked.gbps, [x.gbps for x in links]),
        (CheckId.LINK_EXCHANGE_FRAC, asked.exchange_frac, [x.exchange_frac for x in links]),
        (CheckId.LINK_IN_NETWORK, asked.in_network, [x.in_network for x in links]),
    ):
        yield Check(name, where, t, float(used), float(min(there, default=0.0)))


def _accelerators(problem: PlanningProblem, d: Decisions, hall: str, system: str, t: int) -> int:
    return sum(
        d.powered(problem, p.key, t) * p.accelerators
        for p in problem.placements
        if (p.hall, p.system) == (hall, system)
    )
