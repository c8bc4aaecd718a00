"""A problem with few of its runs, whose aggregate relaxation is that of all runs.

The relaxation (``aggregate``) keeps of all runs of a job on a system of a hall their least work, the
quarters that they use, and the most room that one gives for the value of a hall. So the run with the
least work, the largest one, and one run for each quarter, give the same relaxation. Its program has
a fraction of the columns, which are mostly runs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from dcplan.planning.goal import DAYS, TIME, WAIT
from dcplan.planning.model.sets import Sets, make_sets
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import DAYS_PER_QUARTER, MONTHS_PER_QUARTER

MANY_RUNS = 100_000
"""Runs above which the program of all of them is not built: it takes a minute for 500,000."""


def thinned(problem: PlanningProblem) -> PlanningProblem:
    """Return the problem with runs that give the same aggregate relaxation; the problem if it has few.

    Runs stay where an earlier plan, the objective or a limit tells them apart.
    """
    apart = {m for m in problem.goal.measures if m in (TIME, WAIT) or m.startswith(DAYS)}
    if len(problem.run_options) <= MANY_RUNS or problem.earlier is not None or apart:
        return problem
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for i, run in enumerate(problem.run_options):
        groups[run.job, run.place, run.system].append(i)
    sets = make_sets(replace(problem, run_options=()))
    kept = sorted(i for runs in groups.values() for i in _needed(problem, sets, runs))
    return replace(problem, run_options=tuple(problem.run_options[i] for i in kept))


def _needed(problem: PlanningProblem, sets: Sets, runs: list[int]) -> Iterable[int]:
    """Return the runs of a group with the least work and of the largest size, and one for each quarter.

    It is all of them if one has no work.
    """
    if problem.run_options[runs[0]].on_cloud:
        return runs
    least, least_work = runs[0], math.inf
    of_quarter: dict[int, int] = {}
    for i in runs:
        run = problem.run_options[i]
        work, t = 0.0, run.start_month // MONTHS_PER_QUARTER
        while t < problem.quarters and (days := sets.days_in_quarter(run, t)) > 0:
            work += run.accelerators * days / DAYS_PER_QUARTER
            of_quarter.setdefault(t, i)
            t += 1
        if not work:
            return runs
        if work < least_work:
            least, least_work = i, work
    largest = max(runs, key=lambda i: problem.run_options[i].peak_use)
    return {least, largest, *of_quarter.values()}
