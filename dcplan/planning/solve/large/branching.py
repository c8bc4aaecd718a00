"""Branch and bound over counts: number, reach, site and time of halls.

HiGHS branches on single columns, and its presolve removes sums of columns. Large models are divided
by sums: whether any new hall is open by a quarter, whether any fabric of a hall reaches further.
Each node is the linear relaxation with bounds on some sums, solved from the basis of its parent.
Sums of integers are integers, so the lowest open node is a bound. The choice of the sum to branch
on follows from earlier gains, first from short trials (strong branching).
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

from dcplan.planning.solve.highs import loaded
from dcplan.planning.solve.matrix import Matrix, Vector

TRIALS, TRIAL_STEPS = 6, 100
"""Number of sums tried at a node without known gains, and simplex steps of a trial."""
NODE_STEPS, AGAIN_STEPS = 3_000, 100_000
"""Maximum simplex steps of a node, which needs hundreds from its parent's basis; and of a node
re-solved without a basis."""
NODE_S = 60.0
"""Maximum time of a node from its parent's basis. Simplex steps end nodes; this limit is for a
solver that does not count them. [s]"""
DEVEX = 1
"""HiGHS's edge weights with initial value 1; its default weights are probably recomputed for every
given basis. The first integral node of 4 x 12 x 14 x 6 x 16 took 26 s of CPU time with the default
and 15 s with these, with the same result."""
FAR = 2.0
"""Maximum rise of a node's bound, as a factor, before the node is closed: HiGHS 1.15 continued for
minutes in such a case."""
WHOLE = 1e-5
LEAST_GAIN = 1e-4
CLOSED_GAIN = 0.1
"""Assumed gain of a closed branch, as a share of the bound."""
DOWN, UP = 0, 1

Range = tuple[float, float]
Bounds = Mapping[int, Range]


@dataclass(frozen=True)
class Count:
    """A sum of integer columns; sums of a lower rank are branched on first."""

    name: str
    columns: tuple[int, ...]
    rank: int = 0


@dataclass(frozen=True)
class Node:
    """A part of the program: its bound, the ranges of the sums, and the relaxation's solution."""

    bound: float
    ranges: Bounds
    basis: highspy.HighsBasis
    sums: Sequence[float]
    values: Vector


class Search:
    """Open nodes of a program, best first."""

    def __init__(
        self, matrix: Matrix, counts: Iterable[Count], stopped: Callable[[], bool]
    ) -> None:
        self.counts, self.stopped = list(counts), stopped
        self.first = len(matrix.rows)
        self.solver = loaded(
            matrix, np.zeros(len(matrix.columns), dtype=bool), matrix.lower, matrix.upper
        )
        for count in self.counts:
            columns = np.array(count.columns, dtype=np.int32)
            self.solver.addRow(
                -highspy.kHighsInf, highspy.kHighsInf, len(columns), columns, np.ones(len(columns))
            )
        self._until = math.inf
        self.timed = False
        """Whether time ended a node, so that another machine may branch differently."""
        self.solver.cbSimplexInterrupt += self._watch
        self.nodes = 0
        self.closed = math.inf
        """Lowest bound of closed nodes: cut off, integral, or not solvable."""
        self._ranges: Bounds = {}
        self._gains: dict[tuple[int, int], tuple[float, int]] = {}
        self._open: list[tuple[float, int, Node]] = []
        self._number = itertools.count()
        self._shown: set[tuple[float, ...]] = set()
        root = self._solved({}, None)
        if root is not None:
            self._push(root)
        self.solver.setOptionValue("presolve", "off")
        self.solver.setOptionValue("simplex_iteration_limit", NODE_STEPS)
        self.solver.setOptionValue("simplex_dual_edge_weight_strategy", DEVEX)

    @property
    def bound(self) -> float:
        """Return the lower bound of all solutions; infinite if none exists."""
        return min(self.closed, self._open[0][0] if self._open else math.inf)

    @property
    def lowest(self) -> Node | None:
        """Return the open node with the lowest bound."""
        return self._open[0][2] if self._open else None

    def next(
        self, cutoff: float, most: int, *, deep: bool = False, worth: float = math.inf
    ) -> Node | None:
        """Divide nodes until a new integral node is found; None if all reach ``cutoff``.

        The lowest node comes first. With ``deep`` the search dives from the lowest node always into
        the better half, which soon gives a good integral node; a node that reaches ``worth`` stays
        open and a new dive begins, because its plan would not be searched. A node is integral if
        its counts of rank 0 are; later it is divided by counts of other ranks. The result is also
        None after ``most`` nodes in total, or if the search is stopped: see ``ended``.
        """
        node: Node | None = None
        while self.nodes < most and not self.stopped():
            if node is None:
                if self.ended(cutoff):
                    return None
                node = heapq.heappop(self._open)[2]
            split = self._split(node)
            rank = min((self.counts[i].rank for i in split), default=None)
            if rank != 0 and self._is_new(node):
                self._push(node)
                return node
            if rank is None:
                self.closed = min(self.closed, node.bound)
                node = None
                continue
            halves = self._halves(node, [i for i in split if self.counts[i].rank == rank], cutoff)
            better = min(halves, key=lambda half: half.bound, default=None)
            node = better if deep and better is not None and better.bound < worth else None
            for half in halves:
                if half is not node:
                    self._push(half)
        if node is not None:
            self._push(node)
        return None

    def ended(self, cutoff: float) -> bool:
        """Return whether all nodes reach ``cutoff``, or the search is stopped."""
        return not self._open or self._open[0][0] >= cutoff or self.stopped()

    def _split(self, node: Node) -> list[int]:
        return [i for i, x in enumerate(node.sums) if abs(x - round(x)) > WHOLE]

    def _is_new(self, node: Node) -> bool:
        key = tuple(round(x) for x, c in zip(node.sums, self.counts, strict=True) if c.rank == 0)
        new = key not in self._shown
        self._shown.add(key)
        return new

    def _push(self, node: Node) -> None:
        heapq.heappush(self._open, (node.bound, next(self._number), node))

    def _halves(self, node: Node, split: list[int], cutoff: float) -> list[Node]:
        """Return both branches of the most promising count; branches at the cutoff are closed."""
        self._try(node, split)
        chosen = max((i for i in split if self._known(i)), key=lambda i: self._promise(node, i))
        found = []
        for side in (DOWN, UP):
            half = self._solved(self._bounded(node, chosen, side), node, cutoff)
            self._learn(node, chosen, side, math.inf if half is None else half.bound)
            if half is not None:
                found.append(half)
        return found

    def _try(self, node: Node, split: list[int]) -> None:
        """Try the most fractional counts without known gains, in few simplex steps."""
        new = sorted(
            (i for i in split if not self._known(i)),
            key=lambda i: -abs(node.sums[i] - round(node.sums[i])),
        )
        self.solver.setOptionValue("simplex_iteration_limit", TRIAL_STEPS)
        for i in new[:TRIALS]:
            for side in (DOWN, UP):
                self._run(self._bounded(node, i, side), node)
                kinds = highspy.HighsModelStatus
                closed = self.solver.getModelStatus() in (kinds.kInfeasible, kinds.kObjectiveBound)
                self._learn(node, i, side, math.inf if closed else self._objective())
        self.solver.setOptionValue("simplex_iteration_limit", NODE_STEPS)

    def _bounded(self, node: Node, i: int, side: int) -> Bounds:
        low, high = node.ranges.get(i, (-math.inf, math.inf))
        x = node.sums[i]
        return {**node.ranges, i: (low, math.floor(x)) if side == DOWN else (math.ceil(x), high)}

    def _known(self, i: int) -> bool:
        return (i, DOWN) in self._gains and (i, UP) in self._gains

    def _promise(self, node: Node, i: int) -> float:
        gains = []
        for side in (DOWN, UP):
            total, times = self._gains[i, side]
            gains.append(max(total / times * _way(node.sums[i], side), LEAST_GAIN))
        return math.prod(gains)

    def _learn(self, node: Node, i: int, side: int, bound: float) -> None:
        """Record the gain per unit of a count's branch up or down."""
        most = CLOSED_GAIN * abs(node.bound)
        gain = min(max(bound - node.bound, 0.0), most)
        total, times = self._gains.get((i, side), (0.0, 0))
        self._gains[i, side] = total + gain / max(_way(node.sums[i], side), WHOLE), times + 1

    def _watch(self, event: Any) -> None:
        late = time.monotonic() > self._until
        self.timed |= late
        if late or self.stopped():
            event.interrupt()

    def _run(self, ranges: Bounds, parent: Node | None) -> None:
        for i in self._ranges.keys() | ranges.keys():
            wanted = ranges.get(i, (-math.inf, math.inf))
            if self._ranges.get(i) != wanted:
                self.solver.changeRowBounds(self.first + i, *wanted)
        self._ranges = dict(ranges)
        if parent is not None:
            self.solver.setBasis(parent.basis)
            self._until = time.monotonic() + NODE_S
        self.solver.run()

    def _solved(self, ranges: Bounds, parent: Node | None, cutoff: float = math.inf) -> Node | None:
        """Return the node of these ranges.

        It is None if the node has no solution, reaches the cutoff, or cannot be solved.
        """
        self.nodes += 1
        worst = (
            min(cutoff, parent.bound + FAR * max(abs(parent.bound), 1.0)) if parent else math.inf
        )
        self.solver.setOptionValue("objective_bound", worst)
        self._run(ranges, parent)
        kinds = highspy.HighsModelStatus
        if self.solver.getModelStatus() not in (
            kinds.kOptimal,
            kinds.kInfeasible,
            kinds.kObjectiveBound,
        ):
            self._again()
        status = self.solver.getModelStatus()
        if status != kinds.kOptimal:
            known = (
                math.inf if status == kinds.kInfeasible else parent.bound if parent else -math.inf
            )
            self.closed = min(self.closed, worst if status == kinds.kObjectiveBound else known)
            return None
        found = self.solver.getSolution()
        bound = max(self._objective(), parent.bound if parent else -math.inf)
        if bound >= cutoff:
            self.closed = min(self.closed, bound)
            return None
        sums = [float(x) for x in found.row_value[self.first :]]
        return Node(bound, ranges, self.solver.getBasis(), sums, np.array(found.col_value))

    def _again(self) -> None:
        """Repeat a failed solve without a basis."""
        self.solver.clearSolver()
        self._until = math.inf
        self.solver.setOptionValue("presolve", "choose")
        self.solver.setOptionValue("simplex_iteration_limit", AGAIN_STEPS)
        self.solver.run()
        self.solver.setOptionValue("presolve", "off")
        self.solver.setOptionValue("simplex_iteration_limit", NODE_STEPS)

    def _objective(self) -> float:
        return float(self.solver.getInfo().objective_function_value)


def _way(x: float, side: int) -> float:
    return x - math.floor(x) if side == DOWN else math.ceil(x) - x
