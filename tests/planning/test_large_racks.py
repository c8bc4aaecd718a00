"""Racks of large programs: continuous switch counts, completed starts, and limits tightened at one site."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml

from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.large import racks, small_model
from dcplan.planning.solve.large import search as large
from dcplan.planning.solve.large.by_site import of_other_sites
from dcplan.planning.solve.large.racks import Found, RackStage
from dcplan.planning.solve.large.small_model import Limits, with_continuous_switches
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.request import SolveRequest, SolveSession
from dcplan.planning.solve.rounding import Failed
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.starts import SWITCHES
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import Question, load
from tests.bench.instances import instance

GAP = 0.01


@pytest.fixture(scope="module")
def two_sites(tmp_path_factory: pytest.TempPathFactory) -> tuple[Question, PlanningProblem]:
    """Two sites over six quarters: 2,912 columns."""
    file = tmp_path_factory.mktemp("racks") / "two.yaml"
    file.write_text(yaml.safe_dump(instance(2, 6, 3, 2, 3), sort_keys=False), encoding="utf-8")
    question = load(str(file))
    return question, build(question).problem


@pytest.fixture(scope="module")
def caught(two_sites: tuple[Question, PlanningProblem]) -> Caught:
    """The rack stage of a solve in which every small program counts as large."""
    question, problem = two_sites
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(small_model, "FEW_COLUMNS", 0)
        found = Caught(patched)
        found.solved = solve_problem(problem, question, SolveRequest(gap=GAP, time_limit_s=60))
    return found


class Caught:
    """What the rack stage of one solve had and gave."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.stage: RackStage
        self.plans: list[Found] = []
        self.integers: list[set[str]] = []
        self.solved: Solved
        rounds, solve = RackStage.rounds, SolveSession.solve

        def kept(stage: RackStage, *args: Any, **more: Any) -> Found | None:
            self.stage = stage
            found = rounds(stage, *args, **more)
            self.plans += [found] if found else []
            return found

        def seen(session: SolveSession, matrix: Matrix, *args: Any, **more: Any) -> highs.Outcome:
            if more.get("silent"):
                whole = np.flatnonzero(matrix.integer)
                self.integers.append({matrix.columns[i].name for i in whole})
            return solve(session, matrix, *args, **more)

        patched.setattr(RackStage, "rounds", kept)
        patched.setattr(SolveSession, "solve", seen)


def test_a_plan_with_continuous_switch_counts_passes_its_audit(caught: Caught) -> None:
    """Its audit has integer switch counts, so it costs at least what the model says."""
    assert caught.solved.audit is not None
    assert caught.solved.audit.passed
    assert caught.solved.bound <= caught.solved.value
    first = caught.plans[0]
    assert first.value >= first.searched
    assert not caught.integers[0].intersection(SWITCHES)
    assert "racks" in caught.integers[0]
    assert not {key.name for key in first.integer_values}.intersection(SWITCHES)


def test_the_plan_is_as_good_as_with_integer_switch_counts(
    caught: Caught, two_sites: tuple[Question, PlanningProblem]
) -> None:
    """Both are within the gap of one bound; here they are equal to a part of it."""
    question, problem = two_sites
    whole = solve_problem(problem, question, SolveRequest(gap=GAP, time_limit_s=60))
    assert caught.solved.value == pytest.approx(whole.value, rel=GAP)


def test_a_start_is_completed_with_integer_switch_counts(caught: Caught) -> None:
    """Each integer has a value, and these cost at least the plan with continuous switch counts."""
    stage, found = caught.stage, caught.plans[0]
    part = stage._part(found.integer_values)
    assert part is not None
    start, searched = stage._complete(part, found)
    assert set(start) == set(np.flatnonzero(part.matrix.integer).tolist())
    assert searched >= found.searched - 1e-6
    assert searched == pytest.approx(found.value, rel=0.01)
    kept = part.of_full(found.integer_values)
    assert {i: start[i] for i in kept} == kept


def test_limits_tightened_at_one_site_leave_the_other_as_it_is(
    caught: Caught, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that was improved by site is solved again with the integers of the other site fixed."""
    stage, found = caught.stage, caught.plans[0]
    part = stage._part(found.integer_values)
    assert part is not None
    start, searched = stage._complete(part, found)
    solved = highs.solve(part.matrix, gap=GAP, time_limit_s=30, fixed=start, presolve=True)
    row = next(
        i for i, r in enumerate(part.matrix.rows) if r.name == "hall_racks" and r.ids[0][:2] == "s0"
    )
    upper = part.matrix.row_upper.copy()
    upper[row] += 1.0
    tighter = replace(part.matrix, row_upper=upper)
    others = of_other_sites(part.problem, part.matrix, tighter, start)
    assert others
    assert {str(part.matrix.columns[i].ids[0])[:2] for i in others} == {"s1"}
    again: list[highs.Outcome] = []

    def once(problem: object, model: Matrix, first: object, solve: Any, *_: object) -> Failed:
        again.append(solve(tighter, start))
        return Failed(None)

    monkeypatch.setattr(racks, "until_passed", once)
    assert stage.rounds(part, part.matrix, {}, 0.5, first=solved) is None
    assert again[0].values is not None
    assert {i: float(round(again[0].values[i])) for i in others} == others
    assert again[0].objective <= searched + 1e-6


def test_switch_counts_alone_become_continuous(caught: Caught) -> None:
    part = caught.stage._part(caught.plans[0].integer_values)
    assert part is not None
    less = with_continuous_switches(part.matrix)
    changed = np.flatnonzero(less.integer != part.matrix.integer)
    assert {part.matrix.columns[i].name for i in changed} <= set(SWITCHES)
    assert not less.integer[part.matrix.of(SWITCHES)].any()
    assert part.matrix.integer[part.matrix.of(SWITCHES)].all()


def test_the_restricted_program_of_a_divided_one_has_a_small_gap() -> None:
    """Its halls are those of the plan, and the program that is then divided has no better ones."""
    halls = large.HallSearch.__new__(large.HallSearch)
    halls.gap, halls.divides = 0.03, True
    assert halls._gap_of_halls() == pytest.approx(0.0015)
    halls.divides, halls.grows = False, True
    assert halls._gap_of_halls() == pytest.approx(0.009)


@pytest.mark.parametrize("continuous", [True, False])
def test_continuous_switch_counts_end_where_tighter_limits_cost_more_than_the_gap(
    continuous: bool, caught: Caught, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They leave no room for switches, so that limits are tightened far: integer counts come next.

    A program with half a gap more cost is enough, one with twice the gap is not.
    """
    stage, found = caught.stage, caught.plans[0]
    part = stage._part(found.integer_values)
    assert part is not None
    again: list[highs.Outcome] = []

    def once(_: object, model: Matrix, first: highs.Outcome, solve: Any, *__: object) -> Failed:
        factors = (1.0 + 0.5 * GAP, 1.0 + 2.0 * GAP)
        again.extend(solve(replace(model, cost=x * model.cost), {}) for x in factors)
        return Failed(None)

    monkeypatch.setattr(racks, "until_passed", once)
    monkeypatch.setattr(small_model, "FEW_COLUMNS", 0)
    limits = Limits(fewer=True, continuous=continuous)
    assert stage.rounds(part, part.matrix, {}, 0.5, limits) is None
    assert again[0].values is not None
    assert (again[1].values is None) == continuous
