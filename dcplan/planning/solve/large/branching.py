"""Branch and bound over counts: how many halls, of what reach, at which sites, when.

HiGHS branches on single columns, and its presolve takes sums of them out again. The questions that
divide large models are sums: is any new hall open by then, does any fabric of this hall reach
further. Each node is the linear relaxation with some sums bounded, solved from its parent's basis.
Sums of whole numbers are whole, so the lowest open node is a bound. Which sum to branch on is
learned from what earlier ones gained, first from short trials (strong branching).
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
"""Sums tried at a node of which nothing is known, and simplex steps of a trial."""
NODE_STEPS, AGAIN_STEPS = 3_000, 100_000
"""Simplex steps of a node, which takes hundreds from its parent's basis; and of one solved again
from nothing."""
NODE_S = 60.0
"""Seconds of a node from its parent's basis. Simplex steps end nodes; this is for a solver that
does not count them."""
DEVEX = 1
"""HiGHS's edge weights that begin at 1; its usual ones are likely computed anew for every basis
that it is given. The first whole node of 4 x 12 x 14 x 6 x 16 took 26 s of CPU with those and 15 s
with these, and was the same."""
FAR = 2.0
"""Times its bound that a node may rise before it is closed: HiGHS 1.15 was seen to walk on for
minutes."""
WHOLE = 1e-5
LEAST_GAIN = 1e-4
CLOSED_GAIN = 0.1
"""Gain that a closed branch counts for, as a share of the bound."""
DOWN, UP = 0, 1

Range = tuple[float, float]
Bounds = Mapping[int, Range]


@dataclass(frozen=True)
class Count:
    """A sum of integer columns; those of a lower rank are branched on first."""

    name: str
    columns: tuple[int, ...]
    rank: int = 0


@dataclass(frozen=True)
class Node:
    """A part of the program: its bound, the sums' ranges, and the relaxation's solution."""

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
        """Whether a node was ended by time, so that another machine may divide otherwise."""
        self.solver.cbSimplexInterrupt += self._watch
        self.nodes = 0
        self.closed = math.inf
        """Least bound of nodes that are done: cut off, whole, or beyond the solver."""
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
        """No solution has less; infinite where none exists."""
        return min(self.closed, self._open[0][0] if self._open else math.inf)

    @property
    def lowest(self) -> Node | None:
        """The open node of the least bound."""
        return self._open[0][2] if self._open else None

    def next(
        self, cutoff: float, most: int, *, deep: bool = False, worth: float = math.inf
    ) -> Node | None:
        """Divide nodes until one is whole that none before was; None when all reach ``cutoff``.

        Lowest first, or ``deep``: from the lowest always into the better half, which soon ends in a
        good whole node; one that reaches ``worth`` is left open and the dive begins again, for its
        plan would not be looked for. A node is whole when its counts of rank 0 are; later it is
        divided by those of other ranks. None, too, when ``most`` nodes are solved in all, or the
        search is stopped: see ``ended``.
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
        """Whether all nodes reach ``cutoff``, or the search is stopped."""
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
        """Both sides of the count that promises most; those at the cutoff are closed."""
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
        """Learn about the most fractional counts of which nothing is known, in few simplex steps."""
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
        """Keep what a unit of a count's way up or down gained."""
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

        None where it has no solution, reaches the cutoff, or is beyond the solver.
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
        """Return a solve that lost its way, once more from nothing."""
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
