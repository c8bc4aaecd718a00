"""Borrowed capital in the budget: proceeds and service by quarter, by hand and in the model."""

from __future__ import annotations

import dataclasses

import pytest

from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup, debt_usd
from dcplan.economics.loans import level_payment_usd
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.solve.status import SolveStatus
from tests.planning.small import small_menu


def test_service_by_hand() -> None:
    """100 borrowed at half of 200; 9 % over a year, monthly: payment 8.7451, 26.2354 a quarter."""
    each = float(level_payment_usd(1.0, 0.09 / 12, 12))
    assert each * 100 == pytest.approx(8.7451, abs=1e-4)
    drawn, served = debt_usd(
        [Flow(0, FlowGroup.CAPEX, "x", 200.0, asset=AssetClass.RACKS)],
        6,
        0.5,
        (0.0, *[3 * each] * 4, 0.0),
    )
    assert drawn == [100.0, 0, 0, 0, 0, 0]
    assert served == pytest.approx([0, 26.2354, 26.2354, 26.2354, 26.2354, 0], abs=1e-3)
    # discounted at the lender's monthly rate from the end of the draw's quarter, the payments are
    # worth the loan
    value = sum(each * 100 / 1.0075**m for m in range(1, 13))
    assert value == pytest.approx(100.0)


def solved(problem: PlanningProblem) -> highs.Outcome:
    return highs.solve(compile_model(build_model(problem)[0]), gap=0.0, time_limit_s=60)


def borrowed(problem: PlanningProblem, share: float) -> PlanningProblem:
    money = dataclasses.replace(
        problem.finance, debt_share_frac=share, debt_service_frac=(0.0, 0.26)
    )
    return dataclasses.replace(problem, finance=money)


def test_a_loan_opens_a_plan_that_the_budget_alone_does_not() -> None:
    problem = dataclasses.replace(
        small_menu(), run_options=small_menu().run_options[:1]
    )  # the run on owned racks alone
    poor = dataclasses.replace(
        problem, finance=dataclasses.replace(problem.finance, budget_usd=(0.9e6, 1.2e6))
    )
    assert solved(poor).status == SolveStatus.INFEASIBLE
    rich, lent = solved(problem), solved(borrowed(poor, 0.5))
    assert lent.status == SolveStatus.OPTIMAL
    # financing changes what can be paid when, not what the project costs
    assert lent.objective == pytest.approx(rich.objective, rel=1e-9)
