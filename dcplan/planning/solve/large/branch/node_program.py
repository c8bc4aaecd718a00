"""The linear program of a node, solved with the dual simplex method from the basis of its parent.

HiGHS 1.15 does not end some linear programs that it starts from a basis. A solve that makes no
progress is interrupted, the basis is dropped, and the program is solved from nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import highspy
import numpy as np

from dcplan.planning.solve.highs import loaded
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.status import settled

STALLED_CALLS = 200
"""Calls of HiGHS without a further iteration after which a solve from a basis is interrupted."""
MOST_SHARE = 0.5
"""Most time of a solve from a basis, in that of the first solve from nothing."""
PART_SHARE, MOST_DELAYS = 0.1, 4
"""Iterations after which a node is put off, in those of the first solve, and how many times. Then it is
solved from nothing, with presolve."""
LEAST_ROOT_S, LEAST_ROOT_ITERATIONS = 2.0, 1_000
"""Smallest time [s] and iterations that the first solve counts as."""
DEVEX = 1
"""Dual simplex edge weights of HiGHS; steepest edge, its default, computes them anew for each basis."""

Bounds = Mapping[int, tuple[float, float]]
"""Bounds of columns that differ from those of the program."""


class End(StrEnum):
    """End of a linear program."""

    OPTIMAL = "optimal"
    CUT = "no solution below the cutoff"
    SHORT = "limit of iterations"
    STOPPED = "limit of time, or a request to stop"
    LOST = "no end from a basis, nor from nothing"


@dataclass(frozen=True)
class Linear:
    """End of a linear program; the objective is infinite where there is no solution below the cutoff."""

    end: End
    objective: float
    iterations: int


@dataclass(frozen=True)
class Known:
    """Basis of an optimum of the linear relaxation, and what the solve from nothing took."""

    basis: highspy.HighsBasis | None
    iterations: int
    seconds: float


@dataclass
class Guard:
    """What interrupts a solve: a request to stop, and too many calls without a further iteration."""

    stop: Callable[[], bool] | None = None
    watched: bool = False
    """Whether the solve began from a basis, so that it may not end."""
    last: int = -1
    calls: int = 0
    stopped: bool = False

    def begin(self, *, watched: bool) -> None:
        """Begin a solve."""
        self.watched, self.last, self.calls = watched, -1, 0

    def check(self, event: Any) -> None:
        """Interrupt a solve that should end; HiGHS 1.15 keeps an interrupt until it is taken back."""
        now = int(event.data_out.simplex_iteration_count)
        self.last, self.calls = now, self.calls + 1 if now == self.last else 0
        if self.stop is not None and self.stop():
            self.stopped = True
        event.interrupt(self.stopped or (self.watched and self.calls >= STALLED_CALLS))


class NodeProgram:
    """A linear program in a solver, whose columns get other bounds from node to node."""

    def __init__(
        self,
        matrix: Matrix,
        *,
        until_s: float,
        stop: Callable[[], bool] | None = None,
        seed: int = 0,
    ) -> None:
        """Load the program; ``until_s`` is the time on the monotonic clock at which every solve ends."""
        self.matrix, self.until_s = matrix, until_s
        self.guard = Guard(stop)
        free = np.zeros(len(matrix.columns), dtype=bool)
        self.solver = loaded(matrix, free, matrix.lower, matrix.upper, seed)
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("simplex_dual_edge_weight_strategy", DEVEX)
        self.solver.cbSimplexInterrupt += self.guard.check
        self.changed: set[int] = set()
        self.root_s, self.root_iterations = LEAST_ROOT_S, LEAST_ROOT_ITERATIONS

    def root(self, known: Known | None = None) -> Linear:
        """Solve the program with its own bounds, from nothing or from the known basis of its optimum."""
        began = time.monotonic()
        if known is None:
            found = self._run(math.inf, cold=True)
            known = Known(None, found.iterations, time.monotonic() - began)
        self.root_s = max(known.seconds, LEAST_ROOT_S)
        self.root_iterations = max(known.iterations, LEAST_ROOT_ITERATIONS)
        return found if known.basis is None else self.solve({}, known.basis, math.inf)

    def solve(
        self, bounds: Bounds, basis: highspy.HighsBasis | None, cutoff: float, *, last: bool = True
    ) -> Linear:
        """Solve the program with other bounds from a basis, or from that of the last solve.

        Unless it is the ``last`` try, it may end short of iterations; the objective is then an estimate.
        """
        self._bound(bounds)
        if basis is not None:
            self.solver.setBasis(basis)
        found = self._run(cutoff, most=int(PART_SHARE * self.root_iterations))
        if found.end is End.LOST or (found.end is End.SHORT and last):
            found = self._run(cutoff, cold=True)
        return found

    def apart(self, bounds: Bounds) -> Linear:
        """Solve the program with most of its integers fixed, from nothing: presolve then leaves little."""
        self._bound(bounds)
        return self._run(math.inf, cold=True)

    def trial(self, bounds: Bounds, basis: highspy.HighsBasis, cutoff: float, most: int) -> Linear:
        """Solve it with at most so many iterations; the objective is then an estimate, not a bound."""
        self._bound(bounds)
        self.solver.setBasis(basis)
        found = self._run(cutoff, most=most)
        if found.end is End.LOST:  # from here on HiGHS would go on with that basis
            self.solver.clearSolver()
        return found

    def basis(self) -> highspy.HighsBasis:
        """Return a copy of the basis of the last solve."""
        basis: highspy.HighsBasis = self.solver.getBasis()
        return basis

    def values(self) -> Vector:
        """Return the columns of the last solution."""
        return np.array(self.solver.getSolution().col_value)

    def _bound(self, bounds: Bounds) -> None:
        """Give columns other bounds, and the columns of the last solve their own."""
        columns = sorted(self.changed | bounds.keys())
        if columns:
            own = self.matrix
            pairs = [bounds.get(i, (own.lower[i], own.upper[i])) for i in columns]
            lower, upper = (np.array(x, dtype=np.float64) for x in zip(*pairs, strict=True))
            self.solver.changeColsBounds(
                len(columns), np.array(columns, dtype=np.int32), lower, upper
            )
        self.changed = set(bounds)

    def _run(self, cutoff: float, *, cold: bool = False, most: int | None = None) -> Linear:
        """Run the solver, from its basis unless ``cold``."""
        left_s = self.until_s - time.monotonic()
        if left_s <= 0 or self.guard.stopped:
            return Linear(End.STOPPED, -math.inf, 0)
        if cold:
            self.solver.clearSolver()
        else:
            left_s = min(left_s, MOST_SHARE * self.root_s)
        solver = self.solver
        for name, value in (
            ("objective_bound", math.inf if cold else cutoff),
            ("simplex_iteration_limit", highspy.kHighsIInf if most is None else most),
            ("time_limit", solver.getRunTime() + left_s),
        ):
            solver.setOptionValue(name, value)
        self.guard.begin(watched=not cold)
        solver.run()
        iterations = int(solver.getInfo().simplex_iteration_count)
        return self._ended(settled(solver), cutoff, iterations)

    def _ended(self, status: highspy.HighsModelStatus, cutoff: float, iterations: int) -> Linear:
        kinds = highspy.HighsModelStatus
        if status in (kinds.kInfeasible, kinds.kObjectiveBound):
            return Linear(End.CUT, math.inf, iterations)
        value = float(self.solver.getInfo().objective_function_value)
        if status == kinds.kOptimal:
            end = End.CUT if value >= cutoff else End.OPTIMAL
            return Linear(end, math.inf if end is End.CUT else value, iterations)
        if status == kinds.kIterationLimit:
            return Linear(End.SHORT, value, iterations)
        if self.guard.stopped or time.monotonic() >= self.until_s:
            return Linear(End.STOPPED, -math.inf, iterations)
        return Linear(End.LOST, math.nan, iterations)
