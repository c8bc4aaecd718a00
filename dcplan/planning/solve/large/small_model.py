"""The small program of chosen halls and fabrics: racks, runs and integer switch counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.planning.decision_specs import FABRIC, FITTED, RUN
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import Point
from dcplan.planning.solve.matrix import Matrix

STRATEGY = (FABRIC.variable, FITTED.variable)
FEW_COLUMNS, FEW_RUNS = 3_000, 500
"""Size above which racks have fewer runs first, and the number of these: the racks of the largest instance
of one seed were better with 500 runs after 6 s than with 1,500 runs after 40 s (docs/decisions.md)."""
USED_EPS = 1e-6


@dataclass(frozen=True)
class SmallModel:
    """A problem with integer switch counts and fewer choices: its model, and its runs in the full problem."""

    problem: PlanningProblem
    matrix: Matrix
    runs: tuple[int, ...]

    def in_full(self, values: Mapping[Key, float]) -> dict[Key, float]:
        """Return integers of a plan by column of the full model."""
        return {
            RUN.key(self.runs[key.ids[0]]) if key.name == RUN.variable else key: value
            for key, value in values.items()
        }

    def of_full(self, values: Mapping[Key, float]) -> dict[int, float]:
        """Return the integers of a plan of the full model by column of this one."""
        found = {}
        for i, key in enumerate(self.matrix.columns):
            full = RUN.key(self.runs[key.ids[0]]) if key.name == RUN.variable else key
            if self.matrix.integer[i] and full in values:
                found[i] = values[full]
        return found


@dataclass(frozen=True)
class Limits:
    """What ends a solve of racks, and whether it first has fewer runs."""

    gap: float | None = None
    """Gap, if not RACK_GAP of the requested one."""
    least_s: float = 0.0
    """Minimum time [s]."""
    enough: float = -math.inf
    """Objective at which a solve ends."""
    few_runs: bool = False
    """Whether a large program first has fewer runs."""

    def with_fewer(self, program: Matrix) -> bool:
        """Return whether a program first has fewer runs."""
        return self.few_runs and len(program.columns) > FEW_COLUMNS

    def of(self, gap: float) -> float:
        """Return the gap, or ``gap`` if there is none."""
        return gap if self.gap is None else self.gap


UNLIMITED = Limits()


def with_few_runs(matrix: Matrix, point: Point) -> Matrix:
    """Return a program with the FEW_RUNS runs nearest to use in its linear optimum; the others are fixed at 0.

    A run that the optimum uses, or that must be, stays. The nearest of the others are those with the
    smallest reduced costs.
    """
    runs = np.array(matrix.of((RUN.variable,)), dtype=np.int64)
    unused = (point.values[runs] < USED_EPS) & (matrix.lower[runs] <= 0.0)
    away = np.where(unused, point.reduced_costs[runs], -np.inf)
    upper = matrix.upper.copy()
    upper[runs[np.argsort(away, kind="stable")[FEW_RUNS:]]] = 0.0
    return replace(matrix, upper=upper)


def with_halls(matrix: Matrix, chosen: Mapping[Key, float]) -> Matrix:
    """Return a model with the chosen fabrics and units of halls, within its limits."""
    lower, upper = matrix.lower.copy(), matrix.upper.copy()
    for i in matrix.of(STRATEGY):
        value = round(chosen.get(matrix.columns[i], 0.0))
        lower[i] = upper[i] = min(max(value, lower[i]), upper[i])
    return replace(matrix, lower=lower, upper=upper)


def racks_of(matrix: Matrix, near: Mapping[Key, float]) -> dict[int, float]:
    """Return the integers of a plan of another model, without its runs, as a start."""
    return {
        i: near[key]
        for i, key in enumerate(matrix.columns)
        if key in near and key.name != RUN.variable
    }
