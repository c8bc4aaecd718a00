"""Compiled programs of this process, kept for problems that differ from them in demands and limits only.

A what-if often changes a demand alone, and the points of a frontier differ in the limit on a measure. A
demand without replicas and a limit are the right sides of their rows, and a demand is in the
coefficients of rent with a fixed cost. So the program of the last problem is used again with other
values there. A program for equal problems is used again as it is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan import garbage
from dcplan.planning.goal import Goal, Limit
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.matrix import Matrix, Vector, compile_model
from dcplan.planning.solve.strong import DEMAND

WITHOUT_SITE = "without_site"
"""Row of a demand without one site in a quarter."""
GOAL_LIMIT = "goal_limit"
"""Row of the limit on a measure."""
RENTED, RENT_OF_DEMAND = "rented", "rent_of_demand"
"""Column of rented accelerators, and row of the rent of a demand with a fixed cost."""
PEAK_WORK = "peak_work_needed"
"""Row of the work of a demand that fills halls."""
MOST_KEPT = 6
"""Programs kept: of a chain of what-ifs, the complete ones and those of two choices of halls."""
MOST_COLUMNS = 60_000
"""Larger programs are not kept: they take hundreds of megabytes."""


@dataclass
class Programs:
    """The last compiled programs, the newest last."""

    kept: OrderedDict[int, tuple[PlanningProblem, Matrix]] = field(default_factory=OrderedDict)
    count: int = 0

    def compiled(self, problem: PlanningProblem) -> Matrix:
        """Return the program of a problem, compiled or from a kept one."""
        for number in reversed(self.kept):
            before, matrix = self.kept[number]
            found = _with_limits(problem, before, matrix)
            if found is not None:
                self.kept.move_to_end(number)
                return found
        with garbage.paused():
            matrix = compile_model(build_model(problem)[0])
        if len(matrix.columns) <= MOST_COLUMNS:
            for array in vars(matrix).values():
                if isinstance(array, np.ndarray):
                    array.setflags(write=False)  # several solves share it
            self.count += 1
            self.kept[self.count] = problem, matrix
            while len(self.kept) > MOST_KEPT:
                self.kept.popitem(last=False)
        return matrix


PROGRAMS = Programs()
"""Programs of this process."""


def _with_limits(
    problem: PlanningProblem, before: PlanningProblem, matrix: Matrix
) -> Matrix | None:
    """Return the program with the demands and the limits of a problem; None if more differs."""
    if len(problem.demands) != len(before.demands):
        return None
    same = tuple(
        replace(d, wanted=old.wanted)
        for d, old in zip(problem.demands, before.demands, strict=True)
    )
    if replace(problem, demands=same, goal=before.goal) != before:
        return None
    if _unlimited(problem.goal) != _unlimited(before.goal):
        return None
    asked = any(d.wanted != o.wanted for d, o in zip(problem.demands, before.demands, strict=True))
    if asked and not _only_right_sides(problem, before):
        return None
    lower = _moved(matrix, matrix.row_lower, _wanted(before), _wanted(problem))
    upper = _moved(matrix, matrix.row_upper, _most(before), _most(problem))
    if lower is None or upper is None:
        return None
    if lower is matrix.row_lower and upper is matrix.row_upper:
        return matrix
    moved = replace(matrix, row_lower=lower, row_upper=upper)
    return _with_rent(moved, problem, before) if problem.rent_fixed_usd_per_month else moved


def _only_right_sides(problem: PlanningProblem, before: PlanningProblem) -> bool:
    """Return whether other demands change right sides, and coefficients of rent with a fixed cost, alone.

    The number of replicas depends on the demand; another peak quarter is another column of work. A
    quarter without demand has other coefficients of rent.
    """
    if any(d.replica for d in problem.demands):
        return False
    if problem.rent_fixed_usd_per_month:
        pairs = zip(problem.demands, before.demands, strict=True)
        if any(
            (x > 0) != (y > 0) for d, o in pairs for x, y in zip(d.wanted, o.wanted, strict=True)
        ):
            return False
    peaks = [[p.peak_quarter(d) for d in p.demands] for p in (problem, before)]
    return problem.finance.empty_hall_frac >= 1.0 or peaks[0] == peaks[1]


def _moved(
    matrix: Matrix, side: Vector, old: Mapping[Key, float], now: Mapping[Key, float]
) -> Vector | None:
    """Return the right sides of the rows with other values; None if a row is not of its value alone.

    A demand that nothing serves has no row or one of constants, and a measure may have a constant.
    """
    changed = {key: value for key, value in now.items() if value != old[key]}
    if not changed:
        return side
    rows, found = {key: i for i, key in enumerate(matrix.rows)}, side.copy()
    for key, value in changed.items():
        i = rows.get(key)
        one_sided = i is not None and np.isinf([matrix.row_lower[i], matrix.row_upper[i]]).any()
        if i is None or side[i] != old[key] or not one_sided:
            return None
        found[i] = value
    return found


def _with_rent(matrix: Matrix, problem: PlanningProblem, before: PlanningProblem) -> Matrix:
    """Return a program whose rows of rent with a fixed cost have the demands of a problem.

    Such a row divides the rented accelerators by those that serve the whole demand, so its
    coefficients follow the inverse of the demand.
    """
    factor = np.ones(len(matrix.rows))
    for i, key in enumerate(matrix.rows):
        if key.name == RENT_OF_DEMAND:
            demand, t = key.ids[0], key.ids[-1]
            row = problem.demand(demand).row_id
            wanted, old = problem.demand(row).wanted[t], before.demand(row).wanted[t]
            factor[i] = old / wanted if wanted > 0 else 1.0
    rented = np.array([key.name == RENTED for key in matrix.columns])
    value = np.where(rented[matrix.owner], matrix.value * factor[matrix.index], matrix.value)
    return replace(matrix, value=value)


def _unlimited(goal: Goal) -> Goal:
    """Return a goal with the measures of its limits, without their values."""
    return replace(goal, limits=tuple(Limit(x.measure, 0.0) for x in goal.limits))


def _most(problem: PlanningProblem) -> dict[Key, float]:
    """Return the right side of the row of each limited measure and of the work of each demand."""
    found = {Key(GOAL_LIMIT, (x.measure,)): x.most for x in problem.goal.limits}
    if problem.finance.empty_hall_frac < 1.0:
        for d in problem.demands:
            wanted = problem.demand(d.row_id).wanted[problem.peak_quarter(d)]
            found[Key(PEAK_WORK, (d.id,))] = wanted
    return found


def _wanted(problem: PlanningProblem) -> dict[Key, float]:
    """Return the right side of each row of a demand."""
    found = {}
    for d in problem.required:
        for t, wanted in enumerate(d.wanted):
            found[Key(DEMAND, (d.id, t))] = wanted
            if d.kept_frac_without_site:
                kept = d.kept_frac_without_site * wanted
                found |= {Key(WITHOUT_SITE, (d.id, s.id, t)): kept for s in problem.sites}
    return found
