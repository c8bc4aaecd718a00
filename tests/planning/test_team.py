"""Several searches of one problem: the best plan with the highest bound that holds, and every way to end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from dcplan.engine.dask_cluster import Dask
from dcplan.engine.engines import (
    CRASHED,
    DONE,
    ERROR,
    Chain,
    Done,
    Ended,
    Engine,
    Processes,
    Stop,
    Work,
)
from dcplan.engine.request import Team
from dcplan.errors import InputError
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs, team
from dcplan.planning.solve.large import search as large
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.request import SolveRequest, SolveSession
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import Phase, SolveEvent, SolveStatus
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import Question, load
from tests.bench.instances import instance
from tests.cli.conftest import TINY
from tests.planning.small import small_menu

GAP = 0.01


@dataclass(frozen=True)
class Given(Solved):
    """An answer with a given value in place of an audited plan."""

    cost: float = math.inf

    @property
    def value(self) -> float:
        return self.cost


def given(
    bound: float,
    cost: float = math.inf,
    status: SolveStatus = SolveStatus.LIMIT,
    *,
    seed: int = 0,
    timed: bool = False,
) -> Given:
    none = np.zeros(0)
    matrix = Matrix(
        *(none, 0.0, none, none, none.astype(bool), [], none, none, []),
        *(none.astype(np.int32), none.astype(np.int32), none),
    )
    return Given(
        *(status, None, None, bound, 1.0, 10, matrix, small_menu()),
        seed=seed,
        timed=timed,
        cost=cost,
    )


def test_the_lowest_plan_has_the_highest_bound_of_all() -> None:
    # plans of 100 and 98, bounds of 97 and 95: 98 is the plan, and no plan is below 97
    best = team.combined([given(97.0, 100.0, timed=True), given(95.0, 98.0, seed=1)])
    assert (best.value, best.bound, best.seed) == (98.0, 97.0, 1)
    assert (best.nodes, best.searches_ended, best.timed) == (20, 2, True)


def test_a_bound_of_a_search_without_a_plan_holds_too() -> None:
    assert team.combined([given(90.0, 98.0), given(96.0, seed=1)]).bound == 96.0


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (98.00001, 98.0),  # above the plan by 1e-7 of it: the tolerance of the solver
        (98.01, 95.0),  # above by 1e-4 of it: the plan proves it wrong
    ],
)
def test_a_bound_above_the_best_plan_is_wrong(bound: float, expected: float) -> None:
    assert team.combined([given(bound, 100.0), given(95.0, 98.0)]).bound == expected


def test_without_a_bound_that_holds_there_is_none() -> None:
    assert team.combined([given(99.0, 98.0)]).bound == -math.inf


def test_one_proof_that_there_is_no_plan_is_enough_but_a_plan_refutes_it() -> None:
    none = given(math.inf, status=SolveStatus.INFEASIBLE)
    open_ = given(95.0, seed=1)
    assert team.combined([open_, none]).status is SolveStatus.INFEASIBLE
    refuted = team.combined([none, given(95.0, 98.0, seed=1)])
    assert (refuted.status, refuted.value, refuted.bound) == (SolveStatus.LIMIT, 98.0, 95.0)


def test_without_a_plan_the_highest_bound_stays_and_more_time_may_help() -> None:
    rounding = given(96.0, status=SolveStatus.ROUNDING)
    assert team.combined([rounding]).status is SolveStatus.ROUNDING
    best = team.combined([rounding, given(95.0, seed=1)])
    assert (best.status, best.bound, best.value) == (SolveStatus.LIMIT, 96.0, math.inf)


class Fake:
    """An engine that ends searches as a test says: with an answer, or an error."""

    def __init__(self, ends: Mapping[int, Solved | tuple[str, str]]) -> None:
        self.ends, self.asked, self.closed = ends, list[team.Search](), False

    def run(self, chains: Sequence[Chain], work: Work, stop: Stop) -> Ended:
        self.asked = [task for chain in chains for task in chain.tasks]
        try:
            for task in self.asked:
                stop()
                end = self.ends.get(task.seed)
                if isinstance(end, Solved):
                    yield Done(task, DONE, team.packed(replace(end, seed=task.seed)))
                elif end is not None:
                    yield Done(task, end[0], message=end[1])
        finally:
            self.closed = True


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[PlanningProblem, Question, Solved]:
    file = tmp_path_factory.mktemp("team") / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    question = load(str(file))
    problem = build(question).problem
    return problem, question, solve_problem(problem, question, SolveRequest(GAP, 60.0))


def asked(tiny: Any, engine: Engine, count: int = 2, **more: Any) -> Solved:
    problem, question, _ = tiny
    request = SolveRequest(GAP, 60.0, team=Team(engine, count), **more)
    return team.solve_together(problem, question, request)


def open_(found: Solved, share: float) -> Solved:
    """The same plan with a bound of a share of its cost."""
    bound = found.value - (1 - share) * abs(found.value)
    return replace(found, bound=bound, status=SolveStatus.LIMIT, timed=True)


def test_the_search_that_proves_the_gap_ends_the_others(tiny: Any) -> None:
    engine = Fake(dict.fromkeys(range(3), tiny[2]))
    found = asked(tiny, engine, 3)
    assert engine.closed
    assert (found.status, found.searches, found.searches_ended) == (SolveStatus.OPTIMAL, 3, 1)
    assert not found.reproducible  # on another machine another search may end first


def test_two_searches_with_open_gaps_prove_it_together(tiny: Any) -> None:
    # a plan 5 % above its bound, and the same plan with a bound 0.5 % below it; 1 % was requested
    found = asked(tiny, Fake({0: open_(tiny[2], 0.95), 1: open_(tiny[2], 0.995)}))
    assert found.status is SolveStatus.OPTIMAL
    assert found.gap_frac == pytest.approx(0.005)
    assert found.searches_ended == 2


def test_searches_that_all_end_with_an_open_gap_leave_it_open(tiny: Any) -> None:
    found = asked(tiny, Fake({0: open_(tiny[2], 0.95), 1: open_(tiny[2], 0.97)}))
    assert found.status is SolveStatus.LIMIT
    assert found.gap_frac == pytest.approx(0.03)


@pytest.mark.parametrize(("share", "status"), [(0.95, "interrupted"), (0.995, "optimal")])
def test_after_a_stop_the_answers_that_are_there_count(
    tiny: Any, share: float, status: str
) -> None:
    found = asked(tiny, Fake({0: open_(tiny[2], share)}), stop=lambda: True)
    assert found.status == status
    assert found.value == tiny[2].value
    assert found.audit is not None
    assert not found.reproducible


@pytest.mark.parametrize(("stopped", "status"), [(True, "interrupted"), (False, "limit")])
def test_without_an_answer_there_is_no_plan(tiny: Any, *, stopped: bool, status: str) -> None:
    found = asked(tiny, Fake({}), stop=lambda: stopped)
    assert (found.status, found.value, found.bound) == (status, math.inf, -math.inf)
    assert (found.searches, found.searches_ended) == (2, 0)
    # the size of the model that is reported: the tiny one without its steps of switches
    assert set() < set(found.matrix.columns) < set(tiny[2].matrix.columns)


def test_a_search_with_an_error_is_named_and_the_other_counts(tiny: Any) -> None:
    found = asked(tiny, Fake({0: (ERROR, "AuditError: x"), 1: open_(tiny[2], 0.97)}))
    assert (found.seed, found.searches_ended) == (1, 1)
    assert found.lost == ("search 0: AuditError: x",)


def test_without_any_search_left_the_errors_are_the_answer(tiny: Any) -> None:
    with pytest.raises(team.NoSearchError, match="search 0: A: x; search 1: died"):
        asked(tiny, Fake({0: (ERROR, "A: x"), 1: (CRASHED, "died")}))
    with pytest.raises(InputError, match="give fewer --searches") as error:
        asked(tiny, Fake({0: (CRASHED, "died"), 1: (CRASHED, "died")}))
    assert [p.code for p in error.value.problems] == ["DC050"]


def test_late_searches_are_not_awaited(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    question = tiny[1]
    run = team._Run(SolveSession.of(question, SolveRequest(GAP, 60.0)), 2)
    spent = [2 * 60.0 + 29.0]
    monkeypatch.setattr(run.session.clock, "spent", lambda: spent[0])
    assert not run.ending()
    spent[0] = 2 * 60.0 + 31.0
    assert run.ending()


def test_workers_receive_no_callbacks_and_the_progress_is_shown_here(tiny: Any) -> None:
    shown: list[SolveEvent] = []
    engine = Fake({0: open_(tiny[2], 0.95), 1: open_(tiny[2], 0.97)})
    asked(tiny, engine, progress=shown.append, stop=lambda: False)
    request = team.unpacked(engine.asked[0].inputs)[2]
    assert (request.progress, request.stop, request.team) == (None, None, None)
    assert shown[0] == SolveEvent(Phase.SEARCHES)


def test_every_search_has_a_seed_and_odd_ones_are_not_restricted(
    tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, question, found = tiny
    seen = []

    def solve(_: PlanningProblem, __: Question, request: SolveRequest) -> Solved:
        seen.append((request.seed, request.restrict))
        return found

    monkeypatch.setattr(team, "solve_problem", solve)
    inputs = team.packed((problem, question, SolveRequest(GAP, 60.0)))
    seeds = [team.unpacked(team.search(team.Search(inputs, n), None)).seed for n in range(3)]
    assert seen == [(0, True), (1, False), (2, True)]
    assert seeds == [0, 1, 2]


@pytest.mark.parametrize("restrict", [True, False])
def test_a_search_without_restriction_begins_with_all_systems(
    monkeypatch: pytest.MonkeyPatch, *, restrict: bool
) -> None:
    calls = []
    monkeypatch.setattr(large, "RESTRICT_COLUMNS", 0)
    monkeypatch.setattr(
        large.HallSearch, "_restricted", lambda *_: calls.append("restricted") or {}
    )
    question = load("retrofit-air-hall")
    request = SolveRequest(0.005, 60.0, restrict=restrict)
    assert solve_problem(build(question).problem, question, request).audit is not None
    assert calls == ["restricted"] * restrict


def test_the_seed_of_a_request_reaches_the_solver(
    tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = set()
    real: Callable[..., Any] = highs.loaded

    def loaded(*arguments: Any) -> Any:
        solver = real(*arguments)
        seeds.add(solver.getOptionValue("random_seed")[1])
        return solver

    monkeypatch.setattr(highs, "loaded", loaded)
    problem, question, _ = tiny
    solve_problem(problem, question, SolveRequest(GAP, 60.0, seed=7))
    assert seeds == {7}


@pytest.mark.slow
@pytest.mark.parametrize("make", [Processes, lambda n: Dask(None, n)], ids=["processes", "dask"])
def test_searches_on_every_engine_are_those_of_this_process(
    make: Callable[[int], Engine], tmp_path: Path
) -> None:
    """Each search of this instance proves the gap, so the first that ends may end the others."""
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump(instance(3, 2, 3, 1, 2), sort_keys=False), encoding="utf-8")
    question = load(str(file))
    problem = build(question).problem
    plain = SolveRequest(gap=1e-4, time_limit_s=60.0)
    alone = [
        solve_problem(problem, question, replace(plain, seed=n, restrict=n % 2 == 0))
        for n in range(3)
    ]
    found = team.solve_together(problem, question, replace(plain, team=Team(make(3), 3)))
    assert found.lost == ()
    assert 1 <= found.searches_ended <= 3
    assert found.audit is not None
    assert found.audit.passed
    assert found.value in {x.value for x in alone}
    assert found.bound in {x.bound for x in alone}
    assert found.value == alone[found.seed].value
    assert found.status is SolveStatus.OPTIMAL
    assert found.value <= found.bound * (1 + 1e-4)
