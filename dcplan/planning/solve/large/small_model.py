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
from dcplan.planning.solve.starts import SWITCHES

STRATEGY = (FABRIC.variable, FITTED.variable)
FEW_COLUMNS, FEW_RUNS = 3_000, 500
"""Size above which racks have fewer integers, and the number of runs that they have first.

The switch counts are then continuous: with integer ones, which are half of the integers, the racks of the
largest instance cost more after ten times the time (docs/decisions.md).
"""
USED_EPS = 1e-6


@dataclass(frozen=True)
class SmallModel:
    """A problem with integer switch counts and fewer choices: its model, and its runs in the full problem."""

    problem: PlanningProblem
    matrix: Matrix
    runs: tuple[int, ...]

    @property
    def large(self) -> bool:
        """Return whether it is solved with fewer integers."""
        return len(self.matrix.columns) > FEW_COLUMNS

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
    fewer: bool = False
    """Whether a large program first has fewer runs."""
    continuous: bool = False
    """Whether a large program has continuous switch counts."""

    def of_size(self, large: bool) -> Limits:
        """Return the limits of a program: only a large one has fewer integers."""
        return self if large else replace(self, fewer=False, continuous=False)

    def of(self, gap: float) -> float:
        """Return the gap, or ``gap`` if there is none."""
        return gap if self.gap is None else self.gap


UNLIMITED = Limits()


def with_few_runs(matrix: Matrix, point: Point, near: Mapping[int, float]) -> Matrix:
    """Return a program with the FEW_RUNS runs nearest to use in its linear optimum; the others are fixed at 0.

    A run that the optimum or the plan ``near`` uses, or that must be, stays. The nearest of the others are
    those with the smallest reduced costs.
    """
    runs = np.array(matrix.of((RUN.variable,)), dtype=np.int64)
    idle = np.array([near.get(int(i), 0.0) < USED_EPS for i in runs], dtype=bool)
    unused = idle & (point.values[runs] < USED_EPS) & (matrix.lower[runs] <= 0.0)
    away = np.where(unused, point.reduced_costs[runs], -np.inf)
    upper = matrix.upper.copy()
    upper[runs[np.argsort(away, kind="stable")[FEW_RUNS:]]] = 0.0
    return replace(matrix, upper=upper)


def with_continuous_switches(matrix: Matrix) -> Matrix:
    """Return a program whose switch counts are continuous; the audit of its plans has integer ones."""
    integer = matrix.integer.copy()
    integer[matrix.of(SWITCHES)] = False
    return replace(matrix, integer=integer)


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
