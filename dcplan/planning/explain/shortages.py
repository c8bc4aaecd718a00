"""What an infeasible problem lacks, and what it serves at most: elastic linear relaxations."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.planning.decision_specs import BUY, FITTED, RUN
from dcplan.planning.explain.elastic import SLACK, elastic
from dcplan.planning.keys import Key
from dcplan.planning.limits import DEMAND_MET, WITHOUT_SITE
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import Matrix, Row, compile_model
from dcplan.planning.solve.status import SolveStatus

JOB_RUNS = "job_runs_once"
ONE_OPTION = "one_option"
WIDE = 10.0
"""Factor of a bound that repeats a limit."""
TINY = 1e-6
GAP = 0.02


@dataclass(frozen=True)
class Relaxed:
    """End of an elastic program: its solution, or no solution with any violation of its rows."""

    status: SolveStatus

    lacks: Mapping[Key, float]
    """Violation of every row that is violated, in its unit."""
    values: Mapping[Key, float]
    """Value of every column of the problem that is not 0."""
    found: bool = True
    """Whether there is a solution."""


def relaxed(
    matrix: Matrix,
    price_of: Callable[[Key], float | None],
    time_limit_s: float,
    *,
    kept: Container[str] | None = (),
    fixed: Mapping[int, float] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Relaxed:
    """Return the smallest priced violation of rows with which a solution exists.

    Parameters
    ----------
    price_of : callable
        Price of one unit of a row; None if the row must hold.
    kept : container of str
        Variables whose integers stay integers; None: all.
    """
    soft = elastic(matrix, price_of)
    free = None if kept is None else np.array([key.name not in kept for key in soft.columns])
    found = highs.solve(
        soft,
        gap=GAP,
        time_limit_s=time_limit_s,
        relaxed=free,
        fixed=fixed,
        watch=highs.Watch(stop=stop),
    )
    if found.values is None:
        return Relaxed(found.status, {}, {}, found=False)
    lacks: dict[Key, float] = {}
    values: dict[Key, float] = {}
    for key, value in zip(soft.columns, found.values, strict=True):
        if key.name == SLACK and value > TINY:
            lacks[key.ids[1]] = lacks.get(key.ids[1], 0.0) + float(value)
        elif key.name != SLACK and value:
            values[key] = float(value)
    return Relaxed(found.status, lacks, values)


def most_served(
    problem: PlanningProblem,
    matrix: Matrix,
    time_limit_s: float,
    stop: Callable[[], bool] | None = None,
) -> Relaxed:
    """Return the solution that serves the largest share of demands and jobs within all limits.

    Each demand and quarter counts by its share, and each job as one. The violation of the row of a
    demand is what is not served. Racks, halls and networks are integers unless that takes too long;
    a job may run in part. It uses one of its options: parts of several
    options at different times would need less power than any run.
    """
    wanted = {d.id: d.wanted for d in problem.required}

    def price_of(row: Key) -> float | None:
        if row.name == JOB_RUNS:
            return 1.0
        if row.name in (DEMAND_MET.row, WITHOUT_SITE.row):
            return 1.0 / max(float(wanted[row.ids[0]][row.ids[-1]]), TINY)
        return None

    program = _one_option(problem, matrix)
    whole = {key.name for key in matrix.columns} - {RUN.variable} | {ONE_OPTION}
    found = relaxed(program, price_of, time_limit_s / 2.0, kept=whole, stop=stop)
    if found.status is SolveStatus.OPTIMAL:
        return found
    return relaxed(program, price_of, time_limit_s / 2.0, kept=(ONE_OPTION,), stop=stop)


def _one_option(problem: PlanningProblem, matrix: Matrix) -> Matrix:
    """Return a program in which a job may use parts of only one of its run options."""
    at = {key.ids[0]: i for i, key in enumerate(matrix.columns) if key.name == RUN.variable}
    chosen = {i: len(matrix.columns) + n for n, i in enumerate(at)}
    rows = [Row(Key(ONE_OPTION, (i,)), {at[i]: 1.0, chosen[i]: -1.0}, upper=0.0) for i in at]
    for job in problem.jobs:
        runs = problem.run_options
        mine = [i for i in at if runs[i].job == job.id and runs[i].leads]
        rows.append(Row(Key(ONE_OPTION, (job.id,)), {chosen[i]: 1.0 for i in mine}, upper=1.0))
    if not at:
        return matrix
    return matrix.with_integers([Key(ONE_OPTION, (i,)) for i in at], [1.0] * len(at)).with_rows(
        rows
    )


def expressible(problem: PlanningProblem) -> PlanningProblem:
    """Return the problem without the jobs and demands that no option can serve.

    The model of such a job or demand cannot be written.
    """
    able = {c.job for c in problem.run_options}
    lost = {
        d.id
        for d in problem.required
        if d.unmet_usd is None
        and any(d.wanted)
        and not any(x.each for x in problem.demand_parts(d.id))
    }
    gone = {x.id for d in lost for x in problem.demand_parts(d)} | lost
    return replace(
        problem,
        jobs=tuple(j for j in problem.jobs if j.id in able),
        demands=tuple(d for d in problem.demands if d.id not in gone),
        pairs=tuple(p for p in problem.pairs if not {p.prefill, p.decode} & gone),
    )


def is_expressible(problem: PlanningProblem) -> bool:
    """Return whether the model can be written.

    Every job and demand needs an option to be served, and a given fleet needs a place.
    """
    return expressible(problem) == problem and _fleet_has_place(problem)


def relaxation_of(problem: PlanningProblem) -> Matrix | None:
    """Return the program of a problem without rounding margins.

    It is None if a given fleet has no place.
    """
    if not _fleet_has_place(problem):
        return None
    return compile_model(build_model(replace(problem, margin_factor=0.0))[0])


def without_bounds(problem: PlanningProblem, matrix: Matrix) -> Matrix:
    """Return a program whose orders and halls are limited by its rows alone.

    The bounds of these columns repeat limits of the user, which an elastic program would not see.
    A bound of a frozen decision of an earlier plan stays.
    """
    if problem.earlier is not None:
        return matrix
    upper = matrix.upper.copy()
    for i in matrix.of([BUY.variable]):
        upper[i] = WIDE * (upper[i] + 1.0)
    for i in matrix.of([FITTED.variable]):
        upper[i] *= WIDE
    return replace(matrix, upper=upper)


def _fleet_has_place(problem: PlanningProblem) -> bool:
    fleet = problem.fleet
    return fleet is None or any(
        (p.hall, p.system) == (fleet.hall, fleet.system) for p in problem.placements
    )
