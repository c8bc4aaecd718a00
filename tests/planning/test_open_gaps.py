"""What a solve with an open gap proves: its bound after a second search, and what it says of time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.run import Audit
from dcplan.planning.decisions import Decisions, from_solution
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import exact, strategy
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.request import SolveRequest, SolveSession
from dcplan.planning.solve.rounding import Failed
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.scenario.load import Question, load
from tests.planning.small import small_menu

GAP, OPEN = 0.05, 0.9
"""Requested gap; share of the cost that the first search proves, so that its gap is 0.1."""
Change = Callable[[Outcome], Outcome]


@pytest.fixture(autouse=True)
def _passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every plan pass its audit; the systems of the small menu are in no catalog."""

    def passed(
        problem: PlanningProblem,
        matrix: Matrix,
        outcome: Outcome,
        question: Question,
        part: PlanningProblem,
    ) -> tuple[Decisions, Audit]:
        assert outcome.values is not None
        d = from_solution(part, matrix.columns, matrix.rounded(outcome.values).tolist())
        books = make_accounts(problem, d)
        return d, Audit(books, (), npv_usd(books.flows, problem.finance.discount_rate), (), ())

    monkeypatch.setattr(exact, "audited", passed)


def solved(monkeypatch: pytest.MonkeyPatch, *later: Change, timed: bool = False) -> Solved:
    """Solve the small menu; the first search proves a part of its cost, ``later`` change the next.

    ``timed``: time ends the first search.
    """
    real, changes = SolveSession.solve, iter(later)

    def solve(self: SolveSession, matrix: Matrix, gap: float, **more: Any) -> Outcome:
        found = real(self, matrix, 0.0, **more)
        if self.clock not in seen:
            seen.append(self.clock)
            if timed:
                self.clock.note(SolveStatus.LIMIT)
            return replace(found, bound=OPEN * found.objective)
        return next(changes, lambda x: x)(found)

    seen: list[object] = []
    monkeypatch.setattr(SolveSession, "solve", solve)
    request = SolveRequest(gap=GAP, time_limit_s=60.0)
    return strategy.solve_problem(small_menu(), load("retrofit-air-hall"), request)


def without_plan(status: SolveStatus, bound: float) -> Change:
    """A search that ends without a solution."""
    return lambda found: replace(found, status=status, objective=math.inf, bound=bound, values=None)


def test_a_second_search_raises_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """It proves the whole cost of the model, of which the first search proved 0.9."""
    found = solved(monkeypatch)
    assert found.bound == pytest.approx(found.searched)
    assert found.status == SolveStatus.OPTIMAL
    assert found.gap_frac < GAP


@pytest.mark.parametrize(
    ("status", "bound"),
    [(SolveStatus.INFEASIBLE, math.inf), (SolveStatus.LIMIT, 1e3), (SolveStatus.LIMIT, -math.inf)],
)
def test_a_second_search_without_a_solution_keeps_the_bound_of_the_first(
    monkeypatch: pytest.MonkeyPatch, status: SolveStatus, bound: float
) -> None:
    found = solved(monkeypatch, without_plan(status, bound))
    assert found.bound == pytest.approx(OPEN * found.searched, rel=1e-12)
    assert found.decisions is not None
    assert found.solver_gap_frac == pytest.approx(1.0 - OPEN)
    assert found.status == SolveStatus.LIMIT
    assert found.gap_frac > GAP


def margins(monkeypatch: pytest.MonkeyPatch, *, timed: bool) -> Solved:
    """A plan of the full model with margins, after no plan of the first search passed its audit."""
    monkeypatch.setattr(exact, "until_passed", lambda *_: Failed(None))
    return solved(monkeypatch, timed=timed)


def test_a_gap_that_time_did_not_leave_open_is_not_blamed_on_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = margins(monkeypatch, timed=False)
    assert found.status == SolveStatus.LIMIT
    assert found.gap_frac > GAP
    assert found.ended == strategy.ROUNDED
    assert found.reproducible


def test_a_gap_that_time_left_open_is_not_blamed_on_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = margins(monkeypatch, timed=True)
    assert found.status == SolveStatus.LIMIT
    assert found.gap_frac > GAP
    assert (found.ended, found.timed) == ("", True)
    assert not found.reproducible


@pytest.mark.parametrize("timed", [False, True])
def test_a_reason_of_the_search_itself_stays(
    monkeypatch: pytest.MonkeyPatch, *, timed: bool
) -> None:
    first = margins(monkeypatch, timed=False)
    own = replace(first, ended="a reason of its own", timed=timed)
    monkeypatch.setattr(strategy, "exactly", lambda *_: own)
    request = SolveRequest(gap=GAP, time_limit_s=60.0)
    found = strategy.solve_problem(small_menu(), load("retrofit-air-hall"), request)
    assert (found.status, found.ended) == (SolveStatus.LIMIT, "a reason of its own")


def test_a_bound_above_the_plan_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS 1.15 without presolve may prove a bound above a solution (docs/decisions.md)."""
    found = solved(monkeypatch)
    session = SolveSession.of(load("retrofit-air-hall"), SolveRequest(gap=1e-6, time_limit_s=60.0))
    relaxed = strategy._relaxed_bound(found.problem)
    assert 0.0 < relaxed <= found.value * (1 + 1e-9)
    monkeypatch.setattr(strategy, "_relaxed_bound", lambda _: 0.5 * found.value)
    wrong = strategy.judged(replace(found, bound=1.1 * found.value), session)
    assert wrong.status is SolveStatus.LIMIT
    assert wrong.bound == 0.5 * found.value
    assert "bound was above this plan" in wrong.ended
