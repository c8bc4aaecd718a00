"""The proven optimum of a small problem, as HiGHS finds it in the model without a strategy."""

from __future__ import annotations

from dcplan.planning.decisions import Decisions, from_solution
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model


def optimum(problem: PlanningProblem) -> tuple[highs.Outcome, Decisions | None]:
    """The proven optimum, and its decisions if there are any."""
    matrix = compile_model(build_model(problem)[0])
    found = highs.solve(matrix, gap=0.0, time_limit_s=60)
    if found.values is None:
        return found, None
    return found, from_solution(problem, matrix.columns, [float(v) for v in found.values])


def best_plan(problem: PlanningProblem) -> tuple[Decisions, float]:
    """The decisions of the optimum and its objective, in M USD if it is a cost."""
    found, decisions = optimum(problem)
    assert decisions is not None
    return decisions, found.objective
