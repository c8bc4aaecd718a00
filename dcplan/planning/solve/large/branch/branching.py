"""Choice of the column to branch on: by pseudo-costs, after trials of columns without known gains.

A trial solves both sides of a column with few iterations (reliability branching: Achterberg, Koch and
Martin 2005, Branching rules revisited, Operations Research Letters 33(1)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from dcplan.planning.keys import Key
from dcplan.planning.solve.large.branch.node_program import Bounds, End, NodeProgram
from dcplan.planning.solve.large.branch.pseudo_costs import PseudoCosts
from dcplan.planning.solve.matrix import Vector

TRIALS, TRIAL_ITERATIONS = 16, 100
"""Columns without known gains that are tried at a node, and iterations of each side."""
WHOLE_EPS = 1e-6
"""Distance from an integer that counts as none."""

Split = dict[int, float]
"""Columns that should be integers and are not, with their values."""


@dataclass(frozen=True)
class Side:
    """How a node differs from its parent: a column with other bounds."""

    column: int
    key: Key
    to: tuple[float, float]
    distance: float
    """Distance from the parent's value."""
    up: bool


class Branching:
    """Choice of columns of one program, with the pseudo-costs seen so far."""

    def __init__(
        self,
        program: NodeProgram,
        whole: npt.NDArray[np.int64],
        gap: float,
        costs: PseudoCosts,
        trials: int = TRIALS,
    ) -> None:
        """Begin with known pseudo-costs; ``whole`` are the columns that must be integers."""
        self.trials = trials
        self.program, self.whole, self.gap, self.costs = program, whole, gap, costs

    def split(self, values: Vector) -> Split:
        """Return the columns that should be integers and are not."""
        of = values[self.whole]
        apart = np.flatnonzero(np.abs(of - np.round(of)) > WHOLE_EPS)
        return {int(self.whole[n]): float(of[n]) for n in apart}

    def learn(self, side: Side, gain: float) -> None:
        """Note what a side adds to the objective."""
        self.costs.learn(side.key, gain, side.distance, up=side.up)

    def sides(
        self,
        bounds: Bounds,
        objective: float,
        split: Split,
        basis: highspy.HighsBasis,
        cutoff: float,
    ) -> tuple[Side, Side]:
        """Return both sides of the best column, the cheaper one first."""
        keys = {self.program.matrix.columns[i]: i for i in split}
        values = {key: split[i] for key, i in keys.items()}
        unknown = [x for x in self.costs.ranked(values) if not self.costs.is_known(x)]
        for key in unknown[: self.trials]:
            for side in self._both(bounds, keys[key], values[key]):
                self._try(bounds, objective, basis, cutoff, side)
        key = self.costs.ranked(values)[0]
        below, above = self._both(bounds, keys[key], values[key])
        down, up = self.costs.gains(key, values[key])
        return (below, above) if down <= up else (above, below)

    def _both(self, bounds: Bounds, i: int, value: float) -> tuple[Side, Side]:
        """Return a column rounded down and up."""
        matrix, below, above = (
            self.program.matrix,
            float(math.floor(value)),
            float(math.ceil(value)),
        )
        low, high = bounds.get(i, (float(matrix.lower[i]), float(matrix.upper[i])))
        key = matrix.columns[i]
        return (
            Side(i, key, (low, below), value - below, up=False),
            Side(i, key, (above, high), above - value, up=True),
        )

    def _try(
        self, bounds: Bounds, objective: float, basis: highspy.HighsBasis, cutoff: float, side: Side
    ) -> None:
        """Learn the gain of a side from few iterations.

        A side without a solution below the cutoff counts as one at the cutoff, or as the gap without one.
        """
        there = {**bounds, side.column: side.to}
        tried = self.program.trial(there, basis, cutoff, TRIAL_ITERATIONS)
        if tried.end in (End.OPTIMAL, End.SHORT, End.CUT):
            beyond = objective + max(self.gap, WHOLE_EPS) * abs(objective)
            most = cutoff if math.isfinite(cutoff) else beyond
            self.learn(side, min(tried.objective, most) - objective)
