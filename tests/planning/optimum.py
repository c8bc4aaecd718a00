"""The proven optimum of a small problem, as HiGHS finds it in the model without a strategy, and its audit."""

from __future__ import annotations

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.run import settled
from dcplan.planning.check_ids import CheckId
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


def judged(problem: PlanningProblem, d: Decisions) -> tuple[Decisions, float, list[CheckId]]:
    """The settled decisions, their audited cost in USD, and the checks that they violate."""
    d = settled(problem, d)
    books = make_accounts(problem, d)
    broken = [c.id for c in all_checks(problem, d, books) if not c.holds]
    return d, npv_usd(books.flows, problem.finance.discount_rate), broken


def planned(problem: PlanningProblem) -> tuple[Decisions, float, float]:
    """The audited decisions of the optimum, their cost in USD, and the bound of the model."""
    outcome, found = optimum(problem)
    assert found is not None
    d, usd, broken = judged(problem, found)
    assert broken == []
    return d, usd, outcome.objective * 1e6
