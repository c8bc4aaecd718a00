"""Large models: the relaxation with work in place of runs, strong rows, merged demands, sums as
columns, the search of halls, room taken for whole switches."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from dcplan.answers.plan.notes import _open_gap, accepting
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.checks import Check
from dcplan.planning.audit.run import Audit
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions, from_solution
from dcplan.planning.goal import TIME, Goal
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs, strategy
from dcplan.planning.solve.large import racks, whole
from dcplan.planning.solve.large import search as large
from dcplan.planning.solve.large import thinned as thinned_runs
from dcplan.planning.solve.large.aggregate import Group, groups_used, with_work, without
from dcplan.planning.solve.large.merged import merged
from dcplan.planning.solve.large.sums import with_sums
from dcplan.planning.solve.large.thinned import thinned
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.request import SolveRequest, SolveSession
from dcplan.planning.solve.rounding import beyond_reach, shortfalls, tightened
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strong import strengthened
from dcplan.scenario.load import load
from tests.planning.brute import best_cost
from tests.planning.small import small_menu
from tests.planning.tiny import tiny_menu


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


def test_strong_rows_lift_the_bound_of_a_real_menu(
    retrofit: tuple[PlanningProblem, Matrix],
) -> None:
    problem, base = retrofit
    plain, point = highs.relaxation(base), highs.relaxation(strengthened(base, problem))
    assert plain is not None
    assert point is not None
    assert point.objective > 1.01 * plain.objective


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_of_halls_and_fabrics_is_below_every_plan(seed: int) -> None:
    problem = tiny_menu(seed)
    base = _matrix(problem)
    one = merged(problem)
    program = with_sums(strengthened(with_work(_matrix(one), one), one), one)
    halls = highs.solve(
        program, gap=0.0, time_limit_s=60, relaxed=~large.is_strategic(program), presolve=False
    )
    plain = highs.solve(base, gap=0.0, time_limit_s=60)
    assert halls.bound <= plain.objective + 1e-7 or plain.status == SolveStatus.INFEASIBLE


@pytest.mark.parametrize("above", [0, 20_000], ids=["tree", "divided-or-highs"])
@pytest.mark.parametrize("restrict", [0, 20_000])
@pytest.mark.parametrize("seed", range(40))
def test_the_search_of_halls_finds_the_optimum(
    seed: int, restrict: int, above: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiny models in the stages of large ones: the plan of the enumeration, and no bound above it.

    Those above the limit of the tree are divided as their restricted program, or solved by HiGHS where
    they have none.
    """
    monkeypatch.setattr(large, "TREE_COLUMNS", above)
    problem = replace(tiny_menu(seed), margin_factor=0.0)
    answer = _searched(problem, problem, restrict, monkeypatch)
    best = best_cost(problem) / 1e6
    if math.isinf(best):
        assert answer.plan is None
        return
    assert answer.bound <= best * (1 + 1e-6) + 1e-6
    assert answer.plan is not None
    assert answer.plan.value == pytest.approx(best, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_the_search_without_the_program_of_all_runs_finds_a_plan(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiny models as those with many runs: a plan where there is one, and no bound above the best."""
    monkeypatch.setattr(thinned_runs, "MANY_RUNS", 0)
    problem = replace(tiny_menu(seed), margin_factor=0.0)
    answer = _searched(problem, merged(thinned(problem)), 0, monkeypatch)
    best = best_cost(problem) / 1e6
    assert (answer.plan is None) == math.isinf(best)
    assert answer.bound <= best * (1 + 1e-6) + 1e-6 or answer.plan is None
    if answer.plan is not None:
        assert best - 1e-6 <= answer.plan.value <= 1.05 * best + 1e-6


def _searched(
    problem: PlanningProblem, lean: PlanningProblem, restrict: int, monkeypatch: pytest.MonkeyPatch
) -> large.Answer:
    """The answer of the search of halls, also with the program of few runs and demands, ``lean``.

    The systems of tiny models are in no catalog, so every plan passes.
    """
    monkeypatch.setattr(racks, "MOST_STEPS", -1)
    monkeypatch.setattr(large, "RESTRICT_COLUMNS", restrict)
    cost: list[float] = []
    monkeypatch.setattr(racks, "measured", lambda *_: cost[-1])

    def passed(
        part: PlanningProblem, matrix: Matrix, outcome: highs.Outcome
    ) -> tuple[Decisions, Audit]:
        assert outcome.values is not None
        decided = from_solution(part, matrix.columns, matrix.rounded(outcome.values).tolist())
        cost.append(outcome.objective)
        return decided, Audit(Accounts(), (), 0.0, (), ())

    request = SolveRequest(gap=1e-6, time_limit_s=60)
    session = SolveSession.of(load("retrofit-air-hall"), request)
    relaxed = lean is not problem
    program = with_work(_matrix(lean), lean) if relaxed else _matrix(lean)
    stage = racks.RackStage(problem, program, passed, session, relaxed)
    return large.HallSearch(lean, program, stage, session).solve()


def test_a_search_that_ends_before_its_time_says_why(
    retrofit: tuple[PlanningProblem, Matrix], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the last stage, whole switches limit the bound; any machine finds the same."""
    problem, _ = retrofit
    monkeypatch.setattr(whole, "MOST_COLUMNS", 0)
    request = SolveRequest(gap=0.002, time_limit_s=120)
    solved = strategy.solve_problem(problem, load("retrofit-air-hall"), request)
    assert solved.audit is not None
    assert solved.audit.passed
    assert solved.bound <= solved.value
    assert solved.status == SolveStatus.LIMIT
    assert "switch counts" in solved.ended
    assert solved.reproducible
    assert not replace(solved, timed=True).reproducible
    assert any("more time would give the same plan" in text for text in _open_gap(solved, 0.002))


def test_a_plan_outlives_a_last_stage_that_finds_none(
    retrofit: tuple[PlanningProblem, Matrix], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, _ = retrofit
    monkeypatch.setattr(whole.highs, "relaxation", lambda *_: None)
    request = SolveRequest(gap=0.002, time_limit_s=60)
    solved = strategy.solve_problem(problem, load("retrofit-air-hall"), request)
    assert solved.status == SolveStatus.LIMIT
    assert solved.audit is not None
    assert solved.bound < solved.value < math.inf


def test_an_open_gap_says_what_ended_the_search(retrofit: tuple[PlanningProblem, Matrix]) -> None:
    problem, _ = retrofit
    request = SolveRequest(gap=0.05, time_limit_s=60)
    solved = strategy.solve_problem(problem, load("retrofit-air-hall"), request)
    assert 0.001 < solved.gap_frac < 0.05
    assert _open_gap(replace(solved, ended="a reason"), 0.05) == []
    late = replace(solved, status=SolveStatus.LIMIT)
    (text,) = _open_gap(late, 0.001)
    assert "the time limit ended the search" in text
    (text,) = _open_gap(replace(late, ended="a reason", timed=True), 0.001)
    assert "a reason; a longer --time-limit may help" in text
    (text,) = _open_gap(replace(late, ended="a reason"), 0.001)
    assert "a reason; more time would give the same plan: accept this gap with --gap 0." in text
    accepted = float(text.split("--gap ")[1])
    assert solved.gap_frac <= accepted <= 1.1 * solved.gap_frac
    assert _open_gap(late, accepted) == []


@pytest.mark.parametrize(
    ("gap_frac", "given"), [(0.00712, "0.0072"), (0.0501, "0.051"), (0.5, "0.5"), (1.234, "1.3")]
)
def test_a_gap_to_accept_is_rounded_up(gap_frac: float, given: str) -> None:
    assert accepting(gap_frac) == f"accept this gap with --gap {given}"


def test_time_that_ends_a_part_is_known() -> None:
    session = SolveSession.of(load("retrofit-air-hall"), SolveRequest(gap=0.01, time_limit_s=60.0))
    assert not session.clock.ended_solve
    session.part(0.5).part(0.5).clock.note(SolveStatus.OPTIMAL)
    assert not session.clock.ended_solve
    session.part(0.5).part(0.5).clock.note(SolveStatus.LIMIT)
    assert session.clock.ended_solve


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
    with monkeypatch.context() as patch:
        patch.setattr(strategy, "SMALL_COLUMNS", 100_000)
        direct = strategy.solve_problem(problem, question, SolveRequest(gap=0.02, time_limit_s=120))
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
    rests = [
        Check(CheckId.PAUSED_MW, "s", 1, 0.03, 0.02),
        Check(CheckId.GRID_MWH, "s", 0, 44.0, 40.0),
    ]
    assert shortfalls(small_menu(), rests) == {
        Key("paused_work", ("s", 1)): pytest.approx(0.0125),
        Key("grid_energy", ("s", 0)): pytest.approx(5.0),
    }
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

    def none(*_: object, **__: object) -> highs.Outcome:
        return highs.Outcome(SolveStatus.LIMIT, math.inf, -math.inf, None, 0.0, 0)

    monkeypatch.setattr(large.HallSearch, "solved", none)
    monkeypatch.setattr(racks.RackStage, "improved", lambda _, found, *__, **___: found)
    monkeypatch.setattr(whole, "MOST_COLUMNS", 0)
    request = SolveRequest(gap=0.005, time_limit_s=60)
    solved = strategy.solve_problem(problem, load("retrofit-air-hall"), request)
    assert solved.status == SolveStatus.LIMIT
    assert solved.audit is not None
    assert solved.audit.passed
    assert solved.bound <= solved.value
    assert solved.value < 2 * solved.bound


def test_a_network_that_does_not_exist_leaves_reach_free() -> None:
    """A fabric with 980 of 1,000 ports is nearly full and keeps 2 %, 20 ports, free; with 900 none."""
    problem = small_menu()
    base = _matrix(problem)
    names = [key for key in base.rows if key.name == "fabric_reach"]
    key = next(k for k in base.of(("fabric",)) if base.columns[k].ids == names[0].ids[:2])
    row = base.rows.index(names[0])
    at = next(k for k in range(base.start[key], base.start[key + 1]) if base.index[k] == row)
    ports = next(
        i
        for i in base.of(("ports_bought",))
        if row in base.index[base.start[i] : base.start[i + 1]]
    )
    full = replace(base, value=base.value.copy())
    full.value[at] = -1_000.0
    values = np.zeros(len(base.columns))
    values[key], values[ports] = 1.0, 980.0
    assert beyond_reach(full, values)[names[0]] == pytest.approx(20.0)
    values[ports] = 900.0
    assert names[0] not in beyond_reach(full, values)


def test_few_runs_give_the_relaxation_of_all(
    retrofit: tuple[PlanningProblem, Matrix], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least work of a group and one run for each quarter give every column and row of its work."""
    problem, base = replace(retrofit[0], margin_factor=0.0), retrofit[1]
    assert thinned(problem) is problem
    monkeypatch.setattr(thinned_runs, "MANY_RUNS", 0)
    few = thinned(problem)
    assert len(few.run_options) < 0.2 * len(problem.run_options)
    all_, less = with_work(base, problem), with_work(_matrix(few), few)
    cloud = {key: few.run_options[key.ids[0]] for key in less.columns if key.name == "run"}
    assert list(cloud.values()) == [
        problem.run_options[key.ids[0]] for key in all_.columns if key.name == "run"
    ]
    assert _entries(less) == _entries(all_)
    other = replace(problem, goal=Goal(TIME))
    assert thinned(other) is other


def _entries(matrix: Matrix) -> dict[str, object]:
    """Columns, rows and entries of a program, without the numbers of its runs."""
    names = [Key("run") if key.name == "run" else key for key in matrix.columns]
    limits = zip(matrix.rows, matrix.row_lower.tolist(), matrix.row_upper.tolist(), strict=True)
    entries = zip(
        (names[i] for i in matrix.owner),
        (matrix.rows[i] for i in matrix.index),
        matrix.value.round(9).tolist(),
        strict=True,
    )
    costs = zip(names, matrix.cost.tolist(), matrix.upper.tolist(), strict=True)
    return {"costs": Counter(costs), "limits": Counter(limits), "entries": Counter(entries)}
