"""Screened sweeps: a plan and a bound for every point, and proof for those that are read first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import ROUNDED
from dcplan.scenario.load import load
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.plan.metrics import WAITING_SAVES
from dcplan.study import point as points
from dcplan.study.lines import Runner
from dcplan.study.point import Point, solved_point, well_formed
from dcplan.study.store import Store
from dcplan.study.sweep.layout import Layout
from dcplan.study.sweep.proof import MOST_CHANGES, shown
from dcplan.study.sweep.request import PROVED_ALL, SweepRequest
from dcplan.study.sweep.run import laid_out, sweep
from dcplan.study.sweep.table import sweep_result
from tests.cli.conftest import TINY

RATES = "finance.discount_rate=linspace(0.06,0.10,5)"


def layout_of(documents: list[dict[str, Any]]) -> Layout:
    """A layout of one chain with known documents."""
    question = SimpleNamespace(scenario=SimpleNamespace(objective="min_cost"))
    made = Layout(SweepRequest("x"), question, [], [], None, screen=True)  # type: ignore[arg-type]
    ref = ScenarioRef("x")
    made.lines = [[Point(i, str(i), "", ref, 0.005, 1.0) for i in range(len(documents))]]
    made.known = dict(enumerate(documents))
    return made


def document(cost: float, decisions: str = "a", status: str = "screened") -> dict[str, Any]:
    return {
        "status": status,
        "metrics": {"cost.npv_usd": cost} if status != "infeasible" else {},
        "decisions": decisions,
    }


def test_the_ends_the_lowest_cost_and_changes_of_decisions_are_shown() -> None:
    made = layout_of(
        [document(9), document(7), document(5), document(6), document(8, "b"), document(9, "b")]
    )
    assert sorted(shown(made)) == [0, 2, 4, 5]


def test_points_that_are_proved_or_infeasible_need_no_proof() -> None:
    made = layout_of(
        [document(0, status="infeasible"), document(3, status="ok"), document(4), document(5)]
    )
    assert shown(made) == [3]
    assert shown(layout_of([document(0, status="infeasible")])) == []


def test_many_changes_are_thinned_evenly() -> None:
    made = layout_of([document(10 + n, str(n)) for n in range(40)])
    found = sorted(shown(made))
    assert found == [0, 1, 14, 26, 39]  # ends and lowest cost, and 4 of the 39 changes
    assert len(found) <= MOST_CHANGES + 3


@pytest.mark.parametrize(("prove", "count", "screens"), [
    ("auto", PROVED_ALL, False),
    ("auto", PROVED_ALL + 1, True),
    ("all", 1000, False),
    ("shown", 2, True),
])  # fmt: skip
def test_few_points_are_all_proved(prove: str, count: int, screens: bool) -> None:
    assert SweepRequest("x", prove=prove).screens(count) is screens


def test_a_small_model_is_proved_at_once(tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    both = [
        sweep(laid_out(SweepRequest(str(file), sets=(RATES,), prove=prove)), Runner())
        for prove in ("all", "shown")
    ]
    assert both[0].tables["points"] == both[1].tables["points"]


def test_a_gap_that_time_does_not_change_is_no_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an answer with exit code 4, as that of `plan`, and a retry would not change it."""
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    solve = points.solve_objective

    def open_gap(*args: Any) -> Solved:
        found = solve(*args)
        low = 0.9 * found.value
        parts = {"status": SolveStatus.LIMIT, "bound": low, "ended": ROUNDED, "timed": False}
        return Solved(**(vars(found) | parts))

    monkeypatch.setattr(points, "solve_objective", open_gap)
    made = laid_out(SweepRequest(str(file), sets=(RATES,)))
    result = sweep(made, Runner())
    rows = result.tables["points"].records()
    assert {row["status"] for row in rows} == {"gap"}
    assert all(row["gap_frac"] == pytest.approx(0.1) for row in rows)
    assert all(well_formed(d) for d in made.known.values())
    assert result.exit_code == EXIT_INCOMPLETE
    assert "more time gives the same plans" in " ".join(w["message"] for w in result.warnings)


def test_a_missing_proof_is_said_and_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    made = laid_out(SweepRequest(str(file), sets=(RATES,), prove="shown"))
    assert sweep(made, Runner()).exit_code == EXIT_OK
    made.known = {i: {**d, "status": "screened"} for i, d in made.known.items()}
    made.unproved = {0, 4}
    ended = sweep_result(made, 0.0, stopped=True)
    assert (ended.status, ended.exit_code) == ("interrupted", EXIT_INTERRUPTED)
    assert "Proof is missing for points 1, 5" in ended.warnings[0]["message"]


@pytest.mark.slow
def test_a_sweep_shows_what_later_starts_save_where_points_are_proved() -> None:
    """The plan that waits is one more solve, which a screened point leaves out."""
    name = "train-405b-in-90-days"
    made = laid_out(SweepRequest(name, sets=("finance.discount_rate=0.08,0.10",), gap=0.02))
    table = sweep(made, Runner()).tables["sweep"]
    saved = [float(str(row[WAITING_SAVES.key])) for row in table.records()]
    alone = plan(name, sets=["finance.discount_rate=0.08"], gap=0.02)
    found = float(alone.metrics[WAITING_SAVES.key].value or 0.0)
    assert saved[0] == pytest.approx(found, abs=0.02 * alone.value("cost.npv_usd"))
    assert saved[0] > 0.0
    screened = solved_point(load(name), SolveRequest(gap=0.02, time_limit_s=60.0, screen=True))
    assert WAITING_SAVES.key not in screened["metrics"]


@pytest.mark.slow
def test_a_screened_sweep_is_resumed_and_reported(tmp_path: Path) -> None:
    request = SweepRequest("retrofit-air-hall", sets=(RATES,), prove="shown")
    store = Store(tmp_path)
    made = laid_out(request)
    result = sweep(made, Runner(store))
    rows = result.tables["points"].records()
    assert result.exit_code == EXIT_OK
    assert {rows[0]["status"], rows[-1]["status"]} == {"ok"}
    assert {0, 4} <= made.proved
    assert {row["status"] for row in rows} == {"ok", "screened"}
    assert all(row["gap_frac"] < 0.04 for row in rows)
    proved = [row["gap_frac"] for i, row in enumerate(rows) if i in made.proved]
    assert all(gap <= request.gap for gap in proved)
    again = laid_out(request)
    assert sweep(again, Runner(store)).tables["points"] == result.tables["points"]
    assert not again.seconds
    report = laid_out(
        SweepRequest("retrofit-air-hall", sets=(RATES,), prove="shown", report_only=True)
    )
    assert sweep(report, Runner(store)).tables["points"] == result.tables["points"]
    assert sweep_result(made, 0.0, stopped=False).tables["points"] == result.tables["points"]
