"""Compiled programs of this process, kept for problems that differ from them in demands only.

A what-if often changes a demand alone. A demand without replicas is the right side of its rows and
nothing else, so the program of the last problem is used again with other right sides. A program for
equal problems is used again as it is.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.strong import DEMAND

WITHOUT_SITE = "without_site"
"""Row of a demand without one site in a quarter."""
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
            found = _of_demands(problem, before, matrix)
            if found is not None:
                self.kept.move_to_end(number)
                return found
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


def _of_demands(problem: PlanningProblem, before: PlanningProblem, matrix: Matrix) -> Matrix | None:
    """Return the program with the demands of a problem; None if more than demands differs."""
    if len(problem.demands) != len(before.demands):
        return None
    same = tuple(
        replace(d, wanted=old.wanted)
        for d, old in zip(problem.demands, before.demands, strict=True)
    )
    if replace(problem, demands=same) != before:
        return None
    if all(d.wanted == o.wanted for d, o in zip(problem.demands, before.demands, strict=True)):
        return matrix
    if any(d.replica for d in problem.demands):  # their number of replicas depends on the demand
        return None
    rows = {key: i for i, key in enumerate(matrix.rows)}
    lower, now, old = matrix.row_lower.copy(), _limits(problem), _limits(before)
    for key, value in now.items():
        if value == old[key]:
            continue
        i = rows.get(key)
        if i is None or (lower[i], matrix.row_upper[i]) != (old[key], np.inf):
            return None  # a demand that nothing serves has no row, or one of constants
        lower[i] = value
    return replace(matrix, row_lower=lower)


def _limits(problem: PlanningProblem) -> dict[Key, float]:
    """Return the right side of each row of a demand."""
    found = {}
    for d in problem.required:
        for t, wanted in enumerate(d.wanted):
            found[Key(DEMAND, (d.id, t))] = wanted
            if d.kept_frac_without_site:
                kept = d.kept_frac_without_site * wanted
                found |= {Key(WITHOUT_SITE, (d.id, s.id, t)): kept for s in problem.sites}
    return found
