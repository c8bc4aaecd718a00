r"""A bound by branching that is a bound of similar programs, too: leaves with their row prices.

Each leaf of a tree is a linear program with other bounds of columns. For any row prices y, the
Lagrangian bound of a leaf is a lower bound of its program, whatever its costs, coefficients and right
sides are (Geoffrion 1974, Lagrangean relaxation for integer programming, section 2):

.. math:: L(y) = \sum_i \min_{r_i} y_i r_i + \sum_j \min_{x_j} (c_j - y^T A_j)\, x_j

with the rows and columns within their bounds. The smallest of the leaves is a bound of the program. So a
what-if first evaluates the leaves of the program before it, in milliseconds. Leaves that are too low are
solved again from their basis, and divided further where that is not enough.
"""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import highspy
import numpy as np
import numpy.typing as npt

from dcplan.planning.solve.large.branch.branching import TRIALS, Branching, Side, Split
from dcplan.planning.solve.large.branch.node_program import (
    MOST_DELAYS,
    Bounds,
    End,
    Known,
    NodeProgram,
)
from dcplan.planning.solve.large.branch.pseudo_costs import PseudoCosts
from dcplan.planning.solve.matrix import Matrix, Vector

NODES, MORE_NODES = 100, 60
"""Most nodes of a new tree, and those by which the leaves of a similar program are divided."""
BRANCH_GAP = 0.003
"""Gain that a side without a solution counts as, relative to the bound of its parent."""
DUAL_EPS = 1e-7
"""Reduced cost of HiGHS' tolerance, which a column without a bound in its direction may have."""
RAY_EPS = 1e-7
"""Least excess of a ray, relative to its terms, that proves a leaf without a solution."""

UNCUT = (-math.inf, math.inf)
"""Cuts of a column that no branching divides."""

Enough = Callable[[float], bool]
"""Function of a bound that returns whether it is high enough."""


@dataclass(frozen=True)
class Leaf:
    """A part of a program: bounds of columns, and what proves its bound."""

    bound: float
    """Infinite without a solution."""
    cuts: Bounds
    """Bounds by branching; an end without a cut is infinite, so that a similar program has its own there."""
    prices: Vector | None
    """Prices of rows, each times the scale of its row; those of a ray without a solution."""
    basis: highspy.HighsBasis
    split: Split


class ProofTree:
    """Leaves of one program, by which its bound rises."""

    def __init__(
        self,
        matrix: Matrix,
        whole: npt.NDArray[np.bool_],
        *,
        until_s: float,
        stop: Callable[[], bool] | None = None,
        costs: PseudoCosts | None = None,
        trials: int = TRIALS,
    ) -> None:
        """Begin without leaves; ``until_s`` is the time on the monotonic clock at which every solve ends.

        ``costs`` are those of a similar program, and ``trials`` the columns without known gains that are
        tried at a leaf.
        """
        self.matrix, self.scale = matrix, row_scales(matrix)
        self.whole = np.flatnonzero(whole & matrix.integer)
        self.until_s, self.stop, self.trials = until_s, stop, trials
        self.costs = costs or PseudoCosts()
        self.leaves: list[Leaf] = []
        self.nodes = 0

    @functools.cached_property
    def program(self) -> NodeProgram:
        """Return the solver of the leaves, which is loaded when it is first needed."""
        return NodeProgram(self.matrix, until_s=self.until_s, stop=self.stop)

    @functools.cached_property
    def branching(self) -> Branching:
        """Return the choice of columns to branch on."""
        return Branching(self.program, self.whole, BRANCH_GAP, self.costs, self.trials)

    @property
    def bound(self) -> float:
        """Return the bound of the program."""
        return min((leaf.bound for leaf in self.leaves), default=-math.inf)

    def grown(self, enough: Enough, most: int = NODES, known: Known | None = None) -> float:
        """Return the bound of a new tree that ends where it is enough, or after ``most`` programs.

        ``known`` is the basis of an optimum of the linear relaxation.
        """
        found = self.program.root(known)
        if found.end not in (End.OPTIMAL, End.CUT):
            return -math.inf
        self.leaves = [self._ended(found.end, found.objective, {})]
        return self._divided(enough, most)

    def taken_over(self, leaves: Sequence[Leaf], enough: Enough) -> float:
        """Return the bound of the leaves of a similar program, solved again and divided where needed.

        The columns that the leaves divide must be integers of this program, too.
        """
        values = evaluated(leaves, self.matrix)
        self.leaves = [
            replace(leaf, bound=float(value)) if enough(value) else self._again(leaf, float(value))
            for leaf, value in zip(leaves, values, strict=True)
        ]
        return self._divided(enough, MORE_NODES)

    def _divided(self, enough: Enough, most: int) -> float:
        """Divide the lowest leaf until the bound is enough."""
        open_ = [(leaf.bound, n, leaf) for n, leaf in enumerate(self.leaves)]
        heapq.heapify(open_)
        made = len(open_)
        last = self.nodes + most
        while not enough(open_[0][0]) and open_[0][2].split and self.nodes < last:
            _, _, leaf = heapq.heappop(open_)
            bounds = within(leaf.cuts, self.matrix)
            sides = self.branching.sides(bounds, leaf.bound, leaf.split, leaf.basis, math.inf)
            for side in sides:
                cuts = {**leaf.cuts, side.column: self._cut(leaf, side)}
                child = self._again(replace(leaf, cuts=cuts), leaf.bound)
                if math.isfinite(child.bound):
                    self.branching.learn(side, child.bound - leaf.bound)
                made += 1
                heapq.heappush(open_, (child.bound, made, child))
        self.leaves = [leaf for *_, leaf in open_]
        return self.bound

    def _again(self, leaf: Leaf, least: float) -> Leaf:
        """Return a leaf solved from its basis; its bound is at least ``least``."""
        self.nodes += 1
        bounds = within(leaf.cuts, self.matrix)
        if any(low > high for low, high in bounds.values()):  # no values of this program
            return replace(leaf, bound=math.inf, prices=None, split={})
        found = self.program.solve(bounds, leaf.basis, math.inf, last=False)
        for n in reversed(range(MOST_DELAYS)):
            if found.end is End.SHORT:
                found = self.program.solve(bounds, None, math.inf, last=not n)
        if found.end not in (End.OPTIMAL, End.CUT):
            return replace(leaf, bound=least, split={})
        ended = self._ended(found.end, found.objective, leaf.cuts)
        return ended if ended.bound >= least else replace(ended, bound=least)

    @staticmethod
    def _cut(leaf: Leaf, side: Side) -> tuple[float, float]:
        """Return the cut of a side of a leaf; its other end stays that of the leaf."""
        low, high = leaf.cuts.get(side.column, UNCUT)
        return (side.to[0], high) if side.up else (low, side.to[1])

    def _ended(self, end: End, objective: float, cuts: Bounds) -> Leaf:
        """Return the leaf of the last solve."""
        solver = self.program.solver
        if end is End.CUT:
            _, there, ray = solver.getDualRay()
            prices = np.array(ray) * self.scale if there and np.any(ray) else None
            if prices is not None:
                prices /= np.abs(prices).max()  # a ray has any length, and RAY_EPS is for one
            return Leaf(math.inf, cuts, prices, self.program.basis(), {})
        prices = np.array(solver.getSolution().row_dual) * self.scale
        split = self.branching.split(self.program.values())
        return Leaf(objective, cuts, prices, self.program.basis(), split)


def evaluated(leaves: Sequence[Leaf], matrix: Matrix) -> Vector:
    """Return the Lagrangian bound of each leaf in a program with the same rows and columns.

    It is minus infinite where the prices of the leaf prove nothing.

    Parameters
    ----------
    leaves : sequence of Leaf
        Leaves of a program with the same rows and columns, at least one.
    matrix : Matrix
        The program; its costs, coefficients and bounds may be other ones.
    """
    none = np.zeros(len(matrix.rows))
    scale = row_scales(matrix)
    prices = np.array([none if x.prices is None else x.prices / scale for x in leaves])
    empty = np.array([math.isinf(x.bound) for x in leaves])
    least = np.where(np.isfinite(matrix.row_lower), matrix.row_lower, 0.0)
    most = np.where(np.isfinite(matrix.row_upper), matrix.row_upper, 0.0)
    prices = np.where((prices > 0) & np.isinf(matrix.row_lower), 0.0, prices)
    prices = np.where((prices < 0) & np.isinf(matrix.row_upper), 0.0, prices)
    of_rows = np.maximum(prices, 0.0) * least + np.minimum(prices, 0.0) * most
    reduced = np.where(empty[:, None], 0.0, matrix.cost)
    used = np.flatnonzero(np.diff(matrix.start))
    reduced[:, used] -= np.add.reduceat(
        prices[:, matrix.index] * matrix.value, matrix.start[used], axis=1
    )
    lower, upper = (np.tile(x, (len(leaves), 1)) for x in (matrix.lower, matrix.upper))
    for n, leaf in enumerate(leaves):
        for column, (low, high) in within(leaf.cuts, matrix).items():
            lower[n, column], upper[n, column] = low, high
    ends = np.where(reduced > 0, lower, upper)
    reduced[np.isinf(ends) & (np.abs(reduced) <= DUAL_EPS)] = 0.0
    of_columns = reduced * np.where(reduced == 0, 0.0, ends)
    found = of_rows.sum(axis=1) + of_columns.sum(axis=1)
    terms = np.abs(of_rows).sum(axis=1) + np.abs(of_columns).sum(axis=1)
    proved = np.isfinite(terms) & (found > RAY_EPS * terms)
    found = np.where(empty, np.where(proved, math.inf, -math.inf), found + matrix.offset)
    found = np.where([x.prices is None for x in leaves], -math.inf, found)
    return np.where((lower > upper).any(axis=1), math.inf, found)


def within(cuts: Bounds, matrix: Matrix) -> Bounds:
    """Return the bounds of cut columns in a program; the lower one is above the upper one without values.

    Examples
    --------
    A cut to at most 3, where the program asks for at least 1:

    >>> from types import SimpleNamespace
    >>> within({0: (-math.inf, 3.0)}, SimpleNamespace(lower=[1.0], upper=[8.0]))
    {0: (1.0, 3.0)}
    """
    lower, upper = matrix.lower, matrix.upper
    return {
        i: (max(low, float(lower[i])), min(high, float(upper[i])))
        for i, (low, high) in cuts.items()
    }


def row_scales(matrix: Matrix) -> Vector:
    """Return the coefficient of the first column without an upper bound in each row, without its sign.

    A row may be given in other units in a similar program, such as shares of another demand. Its price
    times this scale is then the same.
    """
    scale = np.ones(len(matrix.rows))
    entries = np.flatnonzero(np.isinf(matrix.upper)[matrix.owner] & (matrix.value != 0.0))[::-1]
    scale[matrix.index[entries]] = np.abs(matrix.value[entries])
    return scale
