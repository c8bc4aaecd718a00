"""Branch and bound over halls, fabrics, sites and their sums with the dual simplex method.

HiGHS' own search of a program of halls spends its time on the root: cuts, heuristics and strong
branching of the sums. Here each node is a linear program from the basis of its parent. The search
plunges into the cheaper child until a node ends, and goes on with the node of the lowest bound (Linderoth and
Savelsbergh 1999, A computational study of search strategies for mixed integer programming, INFORMS
Journal on Computing 11(2)). ``branching`` chooses the column.

A node that takes many iterations is put off with the objective that they reached: most of these nodes
have no good solution, and a better one that is found meanwhile closes them early.

The bound is that of the open nodes, and the cutoff of those that were closed: it is never above the
optimum, whatever ends the search.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import highspy
import numpy as np
import numpy.typing as npt

from dcplan.planning.solve.highs import UNWATCHED, Outcome, Watch
from dcplan.planning.solve.large.branch.branching import Branching, Side, Split
from dcplan.planning.solve.large.branch.node_program import (
    MOST_DELAYS,
    Bounds,
    End,
    Known,
    Linear,
    NodeProgram,
)
from dcplan.planning.solve.large.branch.pseudo_costs import PseudoCosts
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.status import SolveStatus

SLOW_NODES, SLOW_SHARE = 8, 0.5
"""Nodes after which the tree ends if their mean iterations exceed this share of the root's."""
ROUNDS = 10
"""Most times that what a start leaves open is rounded up."""
REPORT_S = 0.5
"""Time between two reports. [s]"""


@dataclass(frozen=True)
class Grown:
    """End of a tree; a slow one ends early, because another method is faster."""

    outcome: Outcome
    slow: bool


@dataclass(order=True, frozen=True)
class _Node:
    rank: float
    """Bound, or the objective that its iterations reached, which is an estimate."""
    number: int
    bound: float = field(compare=False)
    bounds: Bounds = field(compare=False)
    basis: highspy.HighsBasis | None = field(compare=False, default=None)
    """Basis of the parent, or of the last iteration of this node; None for the solver's own."""
    side: Side | None = field(compare=False, default=None)
    delays: int = field(compare=False, default=0)
    """How many times it was put off."""


class Tree:
    """Branch and bound of one program; ``whole`` are its columns that must be integers."""

    def __init__(
        self,
        matrix: Matrix,
        whole: npt.NDArray[np.bool_],
        *,
        gap: float,
        time_limit_s: float,
        costs: PseudoCosts | None = None,
        watch: Watch = UNWATCHED,
        seed: int = 0,
    ) -> None:
        """Load the program.

        Parameters
        ----------
        matrix : Matrix
            The program.
        whole : array of bool
            Columns that must be integers.
        gap : float
            Relative gap at which the search ends.
        time_limit_s : float
            Wall time. [s]
        costs : PseudoCosts, optional
            Gains of a similar program.
        watch : Watch
            Callbacks.
        seed : int
            Random seed of HiGHS.
        """
        self.matrix, self.gap, self.watch = matrix, gap, watch
        self.began = time.monotonic()
        self.program = NodeProgram(
            matrix, until_s=self.began + time_limit_s, stop=watch.stop, seed=seed
        )
        self.costs = costs or PseudoCosts()
        self.branching = Branching(self.program, np.flatnonzero(whole), gap, self.costs)
        self.open: list[_Node] = []
        self.best = math.inf
        self.values: Vector | None = None
        self.floor, self.plunged = -math.inf, math.inf
        """Bounds of the root, and of the node from which the search plunges."""
        self.nodes, self.iterations, self.made = 0, 0, 0
        self.reported, self.lost = self.began, False

    def grown(self, start: Mapping[int, float] | None = None, known: Known | None = None) -> Grown:
        """Search from a partial solution until the gap is proved or time ends."""
        root = self.program.root(known)
        if root.end is End.CUT:
            return self._end(SolveStatus.INFEASIBLE)
        if root.end is not End.OPTIMAL:
            return self._end(self._late(), slow=root.end is End.LOST)
        self.floor = root.objective
        basis = self.program.basis()
        if start:
            self._follow(start)
        self._push(_Node(root.objective, 0, root.objective, {}, basis))
        slow = False
        while self.open and not slow:
            if self._proved():
                return self._end(SolveStatus.OPTIMAL)
            node = heapq.heappop(self.open)
            self.plunged = node.bound
            going = self._plunge(node)
            self.plunged = math.inf
            if not going:
                return self._end(self._late(), slow=self.lost)
            slow = self._slow()
        if slow and self.open:
            return self._end(self._late(), slow=True)
        done = SolveStatus.OPTIMAL if self.values is not None else SolveStatus.INFEASIBLE
        return self._end(done)

    @property
    def cutoff(self) -> float:
        """Return the objective from which a node cannot improve the best solution by the gap."""
        return self.best - self.gap * abs(self.best) if math.isfinite(self.best) else math.inf

    @property
    def bound(self) -> float:
        """Return a bound that no solution is below: that of the open nodes, and the cutoff."""
        if math.isinf(self.floor):
            return -math.inf
        lowest = min((node.bound for node in self.open), default=math.inf)
        return max(self.floor, min(lowest, self.plunged, self.cutoff))

    def _plunge(self, node: _Node) -> bool:
        """Solve a node and always its cheaper child; return whether the search may go on."""
        while True:
            if node.bound >= self.cutoff:
                return True
            last = node.delays >= MOST_DELAYS
            found = self.program.solve(node.bounds, node.basis, self.cutoff, last=last)
            if found.end is End.SHORT:
                self._put_off(node, found)
                return True
            if found.end not in (End.OPTIMAL, End.CUT):
                self.lost = found.end is End.LOST
                self._push(node)
                return False
            self.nodes, self.iterations = self.nodes + 1, self.iterations + found.iterations
            self._report()
            if found.end is End.CUT:
                return True
            if (side := node.side) is not None:
                self.branching.learn(side, found.objective - node.bound)
            values = self.program.values()
            split = self.branching.split(values)
            if not split:
                self._keep(found.objective, values)
                return True
            near, far = self._children(node, found.objective, split)
            self._push(far)
            if self.nodes >= SLOW_NODES and self._slow():
                self._push(near)
                return True
            node = near

    def _put_off(self, node: _Node, found: Linear) -> None:
        """Keep a node for later, from where its iterations ended."""
        self.iterations += found.iterations
        rank = max(node.rank, found.objective)
        basis = self.program.basis()
        self._push(replace(node, rank=rank, basis=basis, delays=node.delays + 1))

    def _children(self, node: _Node, objective: float, split: Split) -> tuple[_Node, _Node]:
        """Return the cheaper child and the other one."""
        basis = self.program.basis()
        sides = self.branching.sides(node.bounds, objective, split, basis, self.cutoff)
        bound = max(objective, node.bound)
        near, far = (
            _Node(bound, self._number(), bound, {**node.bounds, x.column: x.to}, basis, x)
            for x in sides
        )
        return near, far

    def _follow(self, start: Mapping[int, float]) -> None:
        """Make a solution of a partial one: what it leaves open is rounded up."""
        bounds = {i: (float(round(v)), float(round(v))) for i, v in start.items()}
        for _ in range(ROUNDS):
            found = self.program.apart(bounds)
            if found.end is not End.OPTIMAL:
                return
            values = self.program.values()
            split = self.branching.split(values)
            if not split:
                self._keep(found.objective, values)
                return
            for i, value in split.items():
                bounds[i] = (math.ceil(value), float(self.matrix.upper[i]))

    def _keep(self, objective: float, values: Vector) -> None:
        if objective >= self.best:
            return
        self.best, self.values = objective, values
        if self.watch.improved is not None:
            self.watch.improved(values)

    def _proved(self) -> bool:
        """Return whether the bound is high enough to end."""
        bound = self.bound
        enough = self.values is not None and bound >= self.cutoff
        return enough or (self.watch.proved is not None and self.watch.proved(bound))

    def _slow(self) -> bool:
        if self.nodes < SLOW_NODES:
            return False
        return self.iterations > SLOW_SHARE * self.nodes * self.program.root_iterations

    def _late(self) -> SolveStatus:
        return SolveStatus.INTERRUPTED if self.program.guard.stopped else SolveStatus.LIMIT

    def _push(self, node: _Node) -> None:
        heapq.heappush(self.open, node)

    def _number(self) -> int:
        """Return the number of a new node: of equal ones, the last is first."""
        self.made -= 1
        return self.made

    def _report(self) -> None:
        now = time.monotonic()
        if self.watch.progress is not None and now - self.reported >= REPORT_S:
            self.reported = now
            self.watch.progress(now - self.began, self.best, self.bound, self.nodes)

    def _end(self, status: SolveStatus, *, slow: bool = False) -> Grown:
        bound = math.inf if status is SolveStatus.INFEASIBLE else self.bound
        seconds = time.monotonic() - self.began
        outcome = Outcome(status, self.best, bound, self.values, seconds, self.nodes)
        return Grown(outcome, slow)
