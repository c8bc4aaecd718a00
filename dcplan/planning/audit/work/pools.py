"""Spare nodes that the runs of a system in a hall share, recomputed from the runs of a plan."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import MONTHS_PER_QUARTER


def pool_nodes(problem: PlanningProblem, runs: Iterable[RunOption]) -> int:
    """Return the spare nodes that runs share which are on one system of one hall at the same time.

    It is the smallest number k for which the binomial distribution of the nodes in repair is at most k
    for the required share of the time.
    """
    runs = [r for r in runs if r.pooled_nodes]
    if not runs:
        return 0
    from scipy.special import bdtr  # needs most of a second to import

    here = (runs[0].place, runs[0].system)
    rules = [x.pool for x in problem.run_options if x.pool and (x.place, x.system) == here]
    nodes, share = sum(r.pooled_nodes for r in runs), max(x.down_frac for x in rules)
    spares = 0
    while spares < nodes and float(bdtr(spares, nodes, share)) < rules[0].confidence:
        spares += 1
    return spares


def pool_accelerators(problem: PlanningProblem, runs: Iterable[RunOption]) -> int:
    """Return the accelerators of these spare nodes."""
    runs = list(runs)
    each = next((r.pool.node_accelerators for r in runs if r.pool), 0)
    return each * pool_nodes(problem, runs)


def pool_average(problem: PlanningProblem, runs: Iterable[RunOption], t: int) -> float:
    """Return the shared spare accelerators of runs of a system in a hall, average of a quarter.

    A pool is held in the whole months in which one of its runs is active.
    """
    runs, months = list(runs), range(t * MONTHS_PER_QUARTER, (t + 1) * MONTHS_PER_QUARTER)
    total = sum(pool_accelerators(problem, active_in(runs, month)) for month in months)
    return total / MONTHS_PER_QUARTER


def active_in(runs: Iterable[RunOption], month: int) -> list[RunOption]:
    """Return the runs that reserve accelerators in a month."""
    return [r for r in runs if r.start_month <= month < r.start_month + r.months]
