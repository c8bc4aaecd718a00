"""Solving of matrices with HiGHS in one thread.

Two problems of highspy 1.15 shape this file: ``threads`` is global to the process, and a second
value makes ``run`` fail without an error; progress callbacks need ``output_flag``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt

from dcplan.planning.keys import Key
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.status import SolverProgress, SolveStatus, settled, unbounded

SMALL_COLUMNS = 1_000
"""Models up to this size are solved with and without presolve. It costs little time there, and HiGHS
1.10 to 1.15 returned wrong optima on tiny instances with either (docs/decisions.md, "presolve")."""

SIMPLEX_COLUMNS = 100_000
"""Larger linear programs are solved with the interior-point method (docs/decisions.md)."""
WRONG_EPS = 1e-5
"""Excess of a bound over a plan, relative to the plan, from which the bound is wrong; integers of HiGHS are
within 1e-6 of whole numbers, so that a smaller excess is one of tolerances."""
AGAIN = (("solver", "simplex"), ("presolve", "off"), ("solver", "ipm"))
"""Options set one after the other where a linear program ends without an answer: with numbers of very
different size HiGHS 1.15 may end with the status Unknown, which the next option settles."""
QUIET = {
    "mip_heuristic_effort": 0.0,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_allow_restart": False,
}
"""Without heuristics for plans, the bound of the retrofit scenario takes 6 s instead of 20 s
(docs/decisions.md)."""


@dataclass(frozen=True)
class Outcome:
    """Result of a solve."""

    status: SolveStatus
    objective: float
    bound: float
    values: Vector | None
    seconds: float
    nodes: int

    @property
    def gap_frac(self) -> float:
        """Return the proven relative gap; infinite without an incumbent."""
        if self.values is None:
            return math.inf
        return max(0.0, self.objective - self.bound) / max(abs(self.objective), 1e-9)


def version() -> str:
    """Return the version of the solver."""
    return str(highspy.Highs().version())


def self_test() -> str:
    """Return ``HiGHS solves``, or its wrong answer for the smallest integer of at least 1.5."""
    solver = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1)):
        solver.setOptionValue(name, value)
    x = solver.addVariable(lb=1.5, type=highspy.HighsVarType.kInteger)
    solver.minimize(x)
    found = list(solver.getSolution().col_value)
    return (
        "HiGHS solves"
        if found and abs(found[0] - 2.0) < 1e-9
        else f"HiGHS answers {found} to min x >= 1.5 integer"
    )


def loaded(
    matrix: Matrix, integer: npt.NDArray[np.bool_], lower: Vector, upper: Vector, seed: int = 0
) -> highspy.Highs:
    """Return a solver with the model and the options of every solve."""
    solver = highspy.Highs()
    for name, value in (
        ("output_flag", True),
        ("log_to_console", False),
        ("threads", 1),
        ("parallel", "off"),
        ("random_seed", seed),
        ("mip_allow_restart", False),
    ):
        solver.setOptionValue(name, value)
    problem = highspy.HighsLp()
    problem.num_col_, problem.num_row_ = len(matrix.cost), len(matrix.rows)
    problem.col_cost_, problem.offset_ = matrix.cost, matrix.offset
    problem.col_lower_, problem.col_upper_ = lower, upper
    problem.row_lower_, problem.row_upper_ = matrix.row_lower, matrix.row_upper
    problem.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    problem.a_matrix_.start_, problem.a_matrix_.index_, problem.a_matrix_.value_ = (
        matrix.start,
        matrix.index,
        matrix.value,
    )
    kinds = [
        highspy.HighsVarType.kInteger if i else highspy.HighsVarType.kContinuous for i in integer
    ]
    problem.integrality_ = kinds
    if solver.passModel(problem) == highspy.HighsStatus.kError:
        msg = "HiGHS rejected the model"
        raise RuntimeError(msg)
    return solver


@dataclass(frozen=True)
class Watch:
    """Callbacks of a solve."""

    progress: SolverProgress | None = None
    stop: Callable[[], bool] | None = None
    """Function that returns whether to end now."""
    improved: Callable[[Vector], None] | None = None
    """Called with the values of each better solution."""
    proved: Callable[[float], bool] | None = None
    """Function of the bound that returns whether it is high enough to end.

    It needs a solve without a start: while HiGHS completes a start, the bound in its callbacks is
    that of the completion, which may be above every plan (docs/decisions.md)."""


UNWATCHED = Watch()


def solve(
    matrix: Matrix,
    *,
    gap: float,
    time_limit_s: float,
    relaxed: npt.NDArray[np.bool_] | None = None,
    fixed: Mapping[int, float] | None = None,
    start: Mapping[int, float] | None = None,
    prove: bool = False,
    presolve: bool | None = None,
    watch: Watch = UNWATCHED,
    seed: int = 0,
) -> Outcome:
    """Solve a program, optionally with relaxed integers, fixed columns and a start.

    The start may be partial. With ``prove`` the start is considered good: time is used for the
    bound, not for better plans. If ``presolve`` is not given, small programs are solved with and
    without it. ``seed`` is the random seed of HiGHS.

    Raises
    ------
    RuntimeError
        If HiGHS ends without a known status, which is a bug.
    """
    request = _Request(gap, relaxed, dict(fixed or {}), dict(start or {}), prove, seed)
    if presolve is not None or len(matrix.columns) > SMALL_COLUMNS:
        return _once(matrix, request, time_limit_s, watch, presolve=presolve is not False)
    first = _once(matrix, request, time_limit_s, watch, presolve=False)
    left_s = max(time_limit_s - first.seconds, 0.1)
    return _agreed(first, _once(matrix, request, left_s, Watch(stop=watch.stop)))


@dataclass(frozen=True)
class _Request:
    """What a solve asks for, without its time."""

    gap: float
    relaxed: npt.NDArray[np.bool_] | None
    fixed: Mapping[int, float]
    start: Mapping[int, float]
    prove: bool
    seed: int


def _once(
    matrix: Matrix, request: _Request, time_limit_s: float, watch: Watch, *, presolve: bool = True
) -> Outcome:
    """Solve a program once, with or without presolve."""
    began = time.monotonic()
    lower, upper = matrix.lower.copy(), matrix.upper.copy()
    for i, value in request.fixed.items():
        lower[i] = upper[i] = value
    relaxed = request.relaxed
    integer = matrix.integer if relaxed is None else matrix.integer & ~relaxed
    solver = loaded(matrix, integer, lower, upper, request.seed)
    solver.setOptionValue("mip_rel_gap", request.gap)
    solver.setOptionValue("time_limit", max(time_limit_s, 0.1))
    solver.setOptionValue("mip_min_logging_interval", 0.5)
    if not presolve:
        solver.setOptionValue("presolve", "off")
    if len(matrix.columns) > SIMPLEX_COLUMNS:
        solver.setOptionValue("mip_lp_solver", "ipx")
    for name, value in QUIET.items() if request.prove else ():
        solver.setOptionValue(name, value)
    start = request.start
    if start:
        index = np.array(list(start), dtype=np.int32)
        solver.setSolution(len(index), index, np.array(list(start.values()), dtype=np.float64))
    interrupted = _watch(solver, watch)
    solver.run()
    if settled(solver) == highspy.HighsModelStatus.kUnbounded:
        raise unbounded(solver, matrix.columns)
    return _outcome(solver, matrix, began, bool(integer.any()), interrupted)


def _agreed(first: Outcome, second: Outcome) -> Outcome:
    """Return the better plan of two solves of a program, with a bound that neither contradicts.

    It is the higher bound, or the lower one where the higher exceeds the better plan, which proves it
    wrong. A program is infeasible only if both find no plan.
    """
    best, other = sorted((first, second), key=lambda x: x.objective)
    bound = best.bound
    if other.values is not None and other.status is SolveStatus.OPTIMAL:
        low, high = sorted((best.bound, other.bound))
        bound = low if contradicted(high, best.objective) else high
    seconds, nodes = first.seconds + second.seconds, first.nodes + second.nodes
    return replace(best, bound=min(bound, best.objective), seconds=seconds, nodes=nodes)


def contradicted(bound: float, value: float) -> bool:
    """Return whether a bound is above a plan, which proves the bound wrong.

    Examples
    --------
    >>> contradicted(21.4, 20.3), contradicted(20.300001, 20.3)
    (True, False)
    """
    return bound > value + WRONG_EPS * max(abs(value), 1.0)


@dataclass(frozen=True)
class Point:
    """Optimum of the linear relaxation."""

    objective: float
    values: Vector
    reduced_costs: Vector
    basis: highspy.HighsBasis
    iterations: int
    """Iterations of the simplex method; 0 of the interior-point method."""
    seconds: float


class OutOfTimeError(Exception):
    """A linear program did not end in its time."""


def relaxation(matrix: Matrix, time_limit_s: float = math.inf) -> Point | None:
    """Solve the linear relaxation; None if it is infeasible.

    Raises
    ------
    OutOfTimeError
        If it does not end in its time.
    UnboundedError
        If the cost falls without limit.
    RuntimeError
        If HiGHS ends without an optimum or a proof that there is none.
    """
    solver = loaded(matrix, np.zeros(len(matrix.columns), dtype=bool), matrix.lower, matrix.upper)
    solver.setOptionValue("time_limit", max(time_limit_s, 0.1))
    if len(matrix.columns) > SIMPLEX_COLUMNS:
        solver.setOptionValue("solver", "ipm")
    solver.run()
    kinds = highspy.HighsModelStatus
    proved = (kinds.kOptimal, kinds.kInfeasible, kinds.kUnbounded)
    if settled(solver) == kinds.kTimeLimit:
        raise OutOfTimeError
    for option, value in AGAIN:
        if solver.getModelStatus() in proved:
            break
        solver.setOptionValue(option, value)
        solver.run()
    status = settled(solver)
    if status == kinds.kTimeLimit:
        raise OutOfTimeError
    if status == kinds.kUnbounded:
        raise unbounded(solver, matrix.columns)
    if status not in proved:
        msg = f"HiGHS ended a linear program with {solver.modelStatusToString(status)}"
        raise RuntimeError(msg)
    if status != kinds.kOptimal:
        return None
    found = solver.getSolution()
    info = solver.getInfo()
    return Point(
        float(info.objective_function_value),
        np.array(found.col_value),
        np.array(found.col_dual),
        solver.getBasis(),
        max(int(info.simplex_iteration_count), 0),
        float(solver.getRunTime()),
    )


def row_prices(matrix: Matrix, fixed: Mapping[int, float]) -> dict[Key, float] | None:
    """Return the change of the objective per unit of each row's right side (shadow price).

    Integers are fixed; it is None without an optimum.
    """
    lower, upper = matrix.lower.copy(), matrix.upper.copy()
    for i, value in fixed.items():
        lower[i] = upper[i] = value
    solver = loaded(matrix, np.zeros(len(matrix.columns), dtype=bool), lower, upper)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return dict(zip(matrix.rows, map(float, solver.getSolution().row_dual), strict=True))


def _watch(solver: highspy.Highs, watch: Watch) -> list[bool]:
    interrupted: list[bool] = []
    progress, stop, improved, proved = watch.progress, watch.stop, watch.improved, watch.proved
    if progress is not None:

        def report(event: Any) -> None:
            data = event.data_out
            progress(
                data.running_time, data.mip_primal_bound, data.mip_dual_bound, data.mip_node_count
            )

        solver.cbMipLogging += report
    if improved is not None:

        def better(event: Any) -> None:
            improved(np.array(event.data_out.mip_solution))

        solver.cbMipImprovingSolution += better
    if stop is not None or proved is not None:

        def check(event: Any) -> None:
            done = proved is not None and proved(float(event.data_out.mip_dual_bound))
            if done or (stop is not None and stop()):
                interrupted.append(True)
                event.interrupt()

        solver.cbMipInterrupt += check
    if stop is not None:

        def check_simplex(event: Any) -> None:
            if stop():
                interrupted.append(True)
                event.interrupt()

        solver.cbSimplexInterrupt += check_simplex
    return interrupted


def _outcome(
    solver: highspy.Highs, matrix: Matrix, began: float, is_mip: bool, interrupted: list[bool]
) -> Outcome:
    status = solver.getModelStatus()
    info = solver.getInfo()
    seconds = time.monotonic() - began
    kinds = highspy.HighsModelStatus
    nodes = int(info.mip_node_count) if is_mip else 0
    if status == kinds.kInfeasible:
        return Outcome(SolveStatus.INFEASIBLE, math.inf, math.inf, None, seconds, nodes)
    if status in (kinds.kNotset, kinds.kModelError, kinds.kSolveError):
        msg = f"HiGHS ended with {solver.modelStatusToString(status)}"
        raise RuntimeError(msg)
    has_plan = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    values = np.array(solver.getSolution().col_value) if has_plan else None
    objective = float(info.objective_function_value) if has_plan else math.inf
    done = status == kinds.kOptimal
    bound = float(info.mip_dual_bound) if is_mip else (objective if done else -math.inf)
    name = (
        SolveStatus.OPTIMAL
        if done
        else SolveStatus.INTERRUPTED
        if interrupted or status == kinds.kInterrupt
        else SolveStatus.LIMIT
    )
    return Outcome(name, objective, bound, values, seconds, nodes)
