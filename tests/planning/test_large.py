"""Large models: the relaxation with work in place of runs, branching on counts, room taken for
whole switches."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dcplan.answers.plan.notes import _open_gap
from dcplan.planning.audit.checks import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs, strategy
from dcplan.planning.solve.large import branching
from dcplan.planning.solve.large import search as large
from dcplan.planning.solve.large.aggregate import Group, groups_used, with_work, without
from dcplan.planning.solve.large.branching import Count, Node, Search
from dcplan.planning.solve.large.branching_sums import counts
from dcplan.planning.solve.large.rounding import shortfalls, tightened
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.status import SolveStatus
from dcplan.scenario.load import load
from tests.planning.brute import best_cost
from tests.planning.small import small_menu
from tests.planning.tiny import tiny_menu

MENUS = [
    pytest.param(small_menu(), id="small"),
    *(pytest.param(tiny_menu(s), id=f"tiny-{s}") for s in range(12)),
]


def _matrix(problem: PlanningProblem) -> Matrix:
    return compile_model(build_model(replace(problem, margin_factor=0.0))[0])


@pytest.fixture(scope="module")
def retrofit() -> tuple[PlanningProblem, Matrix]:
    problem = build(load("retrofit-air-hall")).problem
    return problem, _matrix(problem)


def _refined(base: Matrix, problem: PlanningProblem) -> tuple[float, float, int]:
    """Bound with all runs as work, with those as they are that the relaxation uses, and how many
    those are."""
    kept: set[Group] = set()
    bounds = []
    while True:
        relaxed = with_work(base, problem, kept)
        point = highs.relaxation(relaxed)
        bounds.append(math.inf if point is None else point.objective)
        used = set() if point is None else groups_used(relaxed, point.values)
        if not used:
            return bounds[0], bounds[-1], len(kept)
        assert not used & kept
        kept |= used


@pytest.mark.parametrize("problem", MENUS)
def test_work_in_place_of_runs_is_a_relaxation_and_refined_it_is_the_same(
    problem: PlanningProblem,
) -> None:
    base = _matrix(problem)
    point = highs.relaxation(base)
    exact = math.inf if point is None else point.objective
    rough, refined, _ = _refined(base, problem)
    assert rough <= exact + 1e-7
    assert refined == pytest.approx(exact, rel=1e-7) or (point is None and refined >= rough)


def test_few_groups_of_a_real_menu_need_their_runs(
    retrofit: tuple[PlanningProblem, Matrix],
) -> None:
    problem, base = retrofit
    point = highs.relaxation(base)
    assert point is not None
    rough, refined, kept = _refined(base, problem)
    assert 0.99 * point.objective < rough <= point.objective
    assert refined == pytest.approx(point.objective, rel=1e-7)
    assert kept < 10
    small = with_work(base, problem)
    assert len(small.rows) < len(base.rows)
    assert len(small.columns) < len(base.columns)


def test_runs_that_a_limit_tells_apart_stay_runs() -> None:
    """Work would hide which of them ends early."""
    problem = build(load("retrofit-air-hall", sets=["objective=min_time"])).problem
    from dcplan.planning.goal import TIME, Goal

    base = _matrix(replace(problem, goal=Goal(TIME)))
    owned = {c.job for c in problem.run_options if not c.on_cloud}
    assert owned
    relaxed = with_work(base, problem)
    assert sum(c.name == "run" for c in relaxed.columns) > 0.9 * len(problem.run_options)


@pytest.mark.parametrize("seed", range(40))
def test_branching_on_every_integer_finds_the_optimum(seed: int) -> None:
    problem = tiny_menu(seed)
    matrix = compile_model(build_model(problem)[0])
    integer_values = [
        Count(str(matrix.columns[i]), (int(i),)) for i in np.flatnonzero(matrix.integer)
    ]
    sums = [Count("buys", tuple(matrix.of(("buy",))))]
    search = Search(matrix, [*sums, *integer_values], lambda: False)
    best = math.inf
    while (node := search.next(best - 1e-9, 100_000, deep=not math.isfinite(best))) is not None:
        best = min(best, node.bound)
    assert min(best, search.bound) * 1e6 == pytest.approx(best_cost(problem), rel=1e-6, abs=1.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_of_halls_and_fabrics_is_below_every_plan(seed: int) -> None:
    problem = tiny_menu(seed)
    base = _matrix(problem)
    relaxed = with_work(base, problem)
    search = Search(relaxed, counts(relaxed, problem), lambda: False)
    while search.next(math.inf, 100_000) is not None:
        pass
    plain = highs.solve(base, gap=0.0, time_limit_s=60)
    assert search.bound <= plain.objective + 1e-7 or plain.status == SolveStatus.INFEASIBLE
    point = highs.relaxation(relaxed)
    assert point is None or search.bound >= point.objective - 1e-7


def _whole_halls(
    base: Matrix, problem: PlanningProblem, most: int = 2_000
) -> tuple[Search, Node | None]:
    relaxed = with_work(base, problem)
    search = Search(relaxed, counts(relaxed, problem), lambda: False)
    return search, search.next(math.inf, most, deep=True)


@pytest.mark.parametrize("problem", MENUS)
def test_a_dive_ends_in_a_node_whose_halls_and_fabrics_are_whole(problem: PlanningProblem) -> None:
    search, node = _whole_halls(_matrix(problem), problem)
    assert node is not None or search.ended(math.inf)
    if node is not None:
        halls = [x for x, c in zip(node.sums, search.counts, strict=True) if c.rank == 0]
        assert halls == pytest.approx([round(x) for x in halls], abs=1e-4)
        assert search.bound <= node.bound


def test_a_dive_that_runs_out_of_nodes_loses_nothing(
    retrofit: tuple[PlanningProblem, Matrix],
) -> None:
    problem, base = retrofit
    cut, node = _whole_halls(base, problem, most=3)
    assert node is None
    integer_values, last = _whole_halls(base, problem)
    assert last is not None
    assert cut.bound <= integer_values.bound <= last.bound
    assert not cut.timed
    again = cut.next(math.inf, 2_000, deep=True)
    assert again is not None
    assert again.bound >= cut.bound


def test_the_first_node_of_a_dive_gives_a_plan_that_passes_its_audit(
    retrofit: tuple[PlanningProblem, Matrix], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search ends before time does: it says so, and any machine finds the same."""
    problem, _ = retrofit
    search, node = _whole_halls(_matrix(problem), problem)
    assert node is not None
    monkeypatch.setattr(strategy, "DIRECT_COLUMNS", 100)
    monkeypatch.setattr(large, "MOST_NODES", search.nodes + 10)
    solved = strategy.solve_problem(
        problem, load("retrofit-air-hall"), SolveRequest(gap=1e-6, time_limit_s=120)
    )
    assert solved.audit is not None
    assert solved.audit.passed
    assert solved.bound <= solved.value
    assert solved.status == SolveStatus.LIMIT
    assert "nodes" in solved.ended or "left to branch on" in solved.ended
    assert solved.reproducible
    assert not replace(solved, timed=True).reproducible
    assert any("more time would give the same plan" in text for text in _open_gap(solved, 1e-6))


def test_a_search_knows_that_time_ended_a_node(
    retrofit: tuple[PlanningProblem, Matrix], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, base = retrofit
    monkeypatch.setattr(branching, "NODE_S", -1.0)
    search, _ = _whole_halls(base, problem, most=10)
    assert search.timed
    point = highs.relaxation(base)
    assert point is not None
    assert search.bound >= 0.99 * point.objective


def test_a_search_that_is_stopped_keeps_its_bound() -> None:
    problem = tiny_menu(3)
    base = _matrix(problem)
    search = Search(base, counts(base, problem), lambda: True)
    point = highs.relaxation(base)
    assert point is not None
    assert search.next(math.inf, 100) is None
    assert search.bound == pytest.approx(point.objective)


def test_columns_left_out_are_columns_at_zero(retrofit: tuple[PlanningProblem, Matrix]) -> None:
    _menu, base = retrofit
    gone = base.of(("run",))[20:]
    fewer = highs.relaxation(without(base, gone))
    upper = base.upper.copy()
    upper[gone] = 0.0
    closed = highs.relaxation(replace(base, upper=upper))
    assert (fewer is None) == (closed is None)
    assert fewer is None or closed is None or fewer.objective == pytest.approx(closed.objective)


def test_large_and_direct_solves_agree(
    retrofit: tuple[PlanningProblem, Matrix], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, _ = retrofit
    question = load("retrofit-air-hall")
    direct = strategy.solve_problem(problem, question, SolveRequest(gap=0.02, time_limit_s=120))
    monkeypatch.setattr(strategy, "DIRECT_COLUMNS", 100)
    found = strategy.solve_problem(problem, question, SolveRequest(gap=0.05, time_limit_s=120))
    again = strategy.solve_problem(problem, question, SolveRequest(gap=0.05, time_limit_s=120))
    assert found.audit is not None
    assert direct.audit is not None
    assert found.audit.passed
    assert found.status == SolveStatus.OPTIMAL
    assert found.gap_frac <= 0.05
    assert found.bound <= direct.value
    assert direct.bound <= found.value
    assert found.decisions == again.decisions
    assert found.bound == again.bound
    near = strategy.solve_problem(
        problem, question, SolveRequest(gap=0.05, time_limit_s=120, near=found.integer_values)
    )
    assert near.gap_frac <= 0.05


def test_what_whole_switches_break_is_taken_from_the_row() -> None:
    problem = small_menu()
    base = _matrix(problem)
    broken = [
        Check(CheckId("rack positions"), "s/h", 1, 4.4, 4.0),
        Check(CheckId("utility MW"), "s", 1, 0.3, 0.6),
    ]
    less = shortfalls(problem, broken)
    assert less == {Key("hall_racks", ("s/h", 1)): pytest.approx(0.5)}
    outcome = highs.solve(base, gap=0.0, time_limit_s=60)
    assert outcome.values is not None
    tight = tightened(base, outcome.values, less)
    row = base.rows.index(Key("hall_racks", ("s/h", 1)))
    used = sum(
        base.value[k] * outcome.values[i]
        for i in range(len(base.columns))
        for k in range(base.start[i], base.start[i + 1])
        if base.index[k] == row
    )
    assert tight.row_upper[row] == pytest.approx(used - 0.5)
    assert (np.delete(tight.row_upper, row) == np.delete(base.row_upper, row)).all()


def test_a_check_that_has_nothing_to_do_with_rounding_is_no_shortfall() -> None:
    assert shortfalls(small_menu(), [Check(CheckId("job runs once"), "job", 0, 1.0, 0.0)]) is None
    packed = shortfalls(
        small_menu(), [Check(CheckId("racks without a hall unit"), "s/h", 1, 1.0, 0.0)]
    )
    assert packed is not None
    assert set(packed) == {Key("hall_racks", ("s/h", 1)), Key("hall_it_mw", ("s/h", 1))}


def test_a_search_without_time_still_gives_a_plan(
    retrofit: tuple[PlanningProblem, Matrix], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Halls of the relaxation rounded up, in the time kept for it."""
    problem, _ = retrofit
    monkeypatch.setattr(strategy, "DIRECT_COLUMNS", 100)
    monkeypatch.setattr(large, "MOST_NODES", 0)
    solved = strategy.solve_problem(
        problem, load("retrofit-air-hall"), SolveRequest(gap=0.05, time_limit_s=60)
    )
    assert solved.status in {SolveStatus.LIMIT, SolveStatus.ROUNDING}
    assert solved.audit is not None
    assert solved.audit.passed
    assert solved.bound <= solved.value
