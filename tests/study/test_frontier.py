"""The frontier of two metrics: ends are the best of each, points never cross, wrong axes are
refused."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.engine.engines import Processes
from dcplan.errors import EXIT_INCOMPLETE, EXIT_OK, InputError
from dcplan.planning.problem.build import build
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import load
from dcplan.scenario.ref import ScenarioRef
from dcplan.study.frontier import point, run
from dcplan.study.frontier.point import Step
from dcplan.study.frontier.proof import undominated, with_common_bounds
from dcplan.study.frontier.request import FrontierRequest
from dcplan.study.frontier.run import frontier
from dcplan.study.frontier.steps import Steps
from dcplan.study.lines import Runner
from dcplan.study.point import SCREENED
from dcplan.study.store import Store

FILE = "train-405b-in-90-days"


def test_cost_against_days() -> None:
    asked = FrontierRequest(FILE, x="cost.npv_usd", y="train.flagship.days", points=4, gap=0.01)
    found = frontier(asked)
    rows = found.tables["frontier"].records()
    assert found.status == "ok"
    assert 3 <= len(rows) <= 4
    costs = [float(str(r["cost.npv_usd"])) for r in rows]
    days = [float(str(r["train.flagship.days"])) for r in rows]
    gap = max(float(str(r["gap_frac"])) for r in rows)
    assert gap <= 0.01
    assert days == sorted(days, reverse=True)
    assert all(later >= sooner * (1 - gap) for sooner, later in itertools.pairwise(costs))
    # the first end costs at most what plan finds, within both gaps: its menu has more sizes of the run
    found_usd = plan(FILE, gap=0.002).value("cost.npv_usd")
    assert 0.98 * found_usd <= costs[0] <= 1.012 * found_usd
    # a run as short as the last costs what plan with that deadline costs
    short = plan(
        FILE, sets=[f"workloads.training.flagship.deadline_days={days[-1] + 0.01}"], gap=0.002
    )
    assert costs[-1] <= short.value("cost.npv_usd") * 1.012
    # the price of a day is the difference over the difference
    assert rows[1]["x_per_y"] == pytest.approx((costs[1] - costs[0]) / (days[0] - days[1]))
    assert [r["unit"] for r in rows] == [None, *["USD/day"] * (len(rows) - 1)]
    assert f"from {days[0]:.6g} days to {days[-1]:.6g} days; " in found.headline


@pytest.mark.parametrize(("gap_frac", "said"), [(0.005, True), (0.3, False)])
def test_one_point_is_no_trade_off_only_within_the_gap(
    gap_frac: float, said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that is far from the best of one metric says nothing of the other."""
    solved = run._solved

    def one(steps: Steps, count: int) -> list[dict[str, Any]]:
        first = solved(steps, count)[0]
        return [{**first, "bound": (1 - gap_frac) * first["x"], "gap_frac": gap_frac}]

    monkeypatch.setattr(run, "_solved", one)
    asked = FrontierRequest(FILE, x="cost.npv_usd", y="train.flagship.days", points=2, gap=0.01)
    found = frontier(asked)
    notes = " ".join(x["message"] for x in found.warnings)
    assert ("no trade-off" in notes) == said


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"x": "cost.npv", "y": "carbon.operational_t"},
            "cost.npv: not a metric that can be minimized",
        ),
        ({"x": "cost.npv_usd", "y": "cost.npv_usd"}, "both axes are identical"),
        ({"x": "cost.npv_usd", "y": "train.nobody.days"}, "train.nobody.days"),
        ({"x": "cost.npv_usd", "y": "time.total_completion_days", "points": 1}, "from 2 to 200"),
    ],
)
def test_wrong_axes_are_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        frontier(FrontierRequest(FILE, **asked))
    assert any(words in p.cause for p in caught.value.problems)


def test_an_infeasible_scenario_has_no_frontier() -> None:
    asked = FrontierRequest(
        FILE,
        x="cost.npv_usd",
        y="time.total_completion_days",
        points=3,
        sets=("sites.ashburn.utility_mw=0.5",),
    )
    assert frontier(asked).exit_code == 3


def test_the_cost_after_taxes_needs_taxes_or_debt() -> None:
    with pytest.raises(InputError) as caught:
        frontier(FrontierRequest(FILE, x="cost.after_tax_npv_usd", y="power.peak_facility_mw"))
    assert "needs finance.tax, finance.debt or" in caught.value.problems[0].cause


def test_compute_needs_something_to_count_it_on() -> None:
    with pytest.raises(InputError) as caught:
        frontier(FrontierRequest(FILE, x="cost.npv_usd", y="compute.pflop_days", points=3))
    assert "needs workloads.capacity" in caught.value.problems[0].cause


def test_ends_are_not_dominated() -> None:
    """Least carbon first: among plans of that carbon the cheapest stands at the end."""
    x, y = "carbon.operational_t", "cost.npv_usd"
    found = frontier(FrontierRequest(FILE, x=x, y=y, points=3, gap=0.02))
    rows = [r for r in found.tables["frontier"].records() if r[x] is not None]
    at = [(float(str(r[x])), float(str(r[y]))) for r in rows]
    for (carbon, cost), (later_carbon, later_cost) in itertools.pairwise(at):
        assert later_cost <= cost + 1.0
        assert later_carbon >= carbon * (1 - 0.02)


def tight(at: tuple[float, float], bound: float, status: str = SCREENED) -> dict[str, Any]:
    gap = (at[0] - bound) / at[0]
    return {"x": at[0], "y": at[1], "bound": bound, "gap_frac": gap, "status": status}


def test_a_bound_of_a_looser_limit_holds_for_a_tighter_one() -> None:
    points = [
        tight((100.0, 9.0), 99.5, "optimal"),
        tight((102.0, 8.0), 97.0),  # (102 - 99.5) / 102 = 2.45 %
        {"x": None, "status": "limit"},
        tight((110.0, 7.0), 108.0),  # its own bound is higher: 1.82 %
        tight((111.0, 6.0), 100.0),  # (111 - 108) / 111 = 2.70 %
    ]
    found = with_common_bounds(points, 0.025)
    gaps = [d.get("gap_frac") for d in found]
    assert gaps == pytest.approx([0.005, 2.5 / 102, None, 2 / 110, 3 / 111])
    assert [d["status"] for d in found] == ["optimal", "optimal", "limit", "optimal", SCREENED]


def test_a_point_that_another_beats_is_left_out() -> None:
    """A screened plan under a looser limit may cost more than one under a tighter limit."""
    at = [(10.0, 9.0), (12.0, 8.0), (11.0, 7.0), (11.0, 7.0), (11.0, 6.5), (13.0, 5.0)]
    found = undominated([tight(x, 1.0) for x in at] + [{"x": None}])
    assert [d["x"] and (d["x"], d["y"]) for d in found] == [at[0], at[4], at[5], None]


def test_each_requested_point_is_a_row_or_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 5 points one is met by the plan before it, and one is equal to another one."""
    x, y = "cost.npv_usd", "power.peak_facility_mw"
    at = [(1.0, 9.0), (3.0, 8.0), (3.0, 8.0), (3.0, 8.0), (9.0, 1.0)]
    status = ["optimal", "optimal", "met", "optimal", "optimal"]
    points = [
        tight(place, place[0], how) | {"systems": {}, "total": 0, "reached": place[1]}
        for place, how in zip(at, status, strict=True)
    ]

    def solved(steps: Steps, count: int) -> list[Any]:
        steps.known.update(enumerate(points[1:]))
        steps.known[-1] = points[-1]
        assert count == len(points)
        return [d for d in points if d["status"] != "met"]

    monkeypatch.setattr(run, "_solved", solved)
    found = frontier(FrontierRequest(FILE, x=x, y=y, points=5))
    notes = [w["message"] for w in found.warnings if "left out" in w["message"]]
    assert notes == [
        f"1 of 5 points is left out: the plan of the point before meets the limit on {y} of the "
        "next point, too",
        "1 of 5 points is left out: another point is at least as good in both metrics",
    ]
    assert len(found.tables["frontier"].rows) == 5 - 2


def test_steps_between_the_ends_are_screened_and_the_last_end_is_proved() -> None:
    step = Step(0, "", "", ScenarioRef("x"), "cost.npv_usd", "carbon.operational_t", "")
    steps = Steps(step, Runner(), screen=True)
    assert [s.screen for s in steps.ends()] == [False, True, False]
    between = [s for line in steps.lines("", 9.0, 1.0, 12) for s in line]
    assert [s.screen for s in between] == [True] * 10 + [False]
    proved = [s.screen for line in Steps(step, Runner()).lines("", 9.0, 1.0, 12) for s in line]
    assert not any(proved)


@pytest.mark.parametrize(
    ("status", "next_status"), [(SolveStatus.OPTIMAL, "met"), (SolveStatus.LIMIT, "infeasible")]
)
def test_only_a_proved_plan_past_the_next_limits_replaces_their_points(
    status: SolveStatus, next_status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The unlimited plan emits less than every limit of the line; with an open gap it proves nothing."""
    question = load(FILE)
    built = build(question)
    free = solve_problem(built.problem, question, SolveRequest(gap=0.1, time_limit_s=60.0))
    step = Step(5, "", "", ScenarioRef(FILE), "cost.npv_usd", "carbon.operational_t", "limited")
    line = replace(step, from_y=9e6, to_y=1e6, left=2)
    monkeypatch.setattr(point, "_asked", lambda *_: (question, built))
    answers = [
        replace(free, status=status),
        replace(free, status=SolveStatus.INFEASIBLE, audit=None),
    ]
    monkeypatch.setattr(point, "solve_problem", lambda *_: answers.pop(0))
    first = point.solve_step(line, None)
    assert first["y"] < 1e6
    assert first["reached"] == (first["y"] if status is SolveStatus.OPTIMAL else 5e6)
    assert point.solve_step(replace(line, left=1), first)["status"] == next_status


@pytest.mark.slow
def test_points_between_proved_ends_are_screened() -> None:
    asked = FrontierRequest("retrofit-air-hall", y="carbon.operational_t", points=4, gap=0.02)
    found = frontier(asked)
    rows = found.tables["frontier"].records()
    assert found.exit_code in (EXIT_OK, EXIT_INCOMPLETE)  # 4 if time ended a point
    assert [rows[0]["status"], rows[-1]["status"]] == ["optimal", "optimal"]
    assert {r["status"] for r in rows[1:-1]} <= {SCREENED, "optimal", "limit"}
    assert all(isinstance(r["gap_frac"], float) for r in rows)
    screened = sum(r["status"] == SCREENED for r in rows)
    said = [w["message"] for w in found.warnings if w["code"] == "screened"]
    assert [text.split()[0] for text in said] == ([str(screened)] if screened else [])


def test_engines_and_what_is_kept_change_no_point(tmp_path: Path) -> None:
    asked = FrontierRequest(FILE, y="train.flagship.days", points=10, gap=0.05)
    store = Store(tmp_path)
    first = frontier(asked, Runner(store, Processes(2)))
    solved = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.json")}
    assert len(solved) == 3 + 9  # the ends, and nine points in two lines
    again = frontier(asked, Runner(store))
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.json")} == solved
    assert again.tables == first.tables
    for path in list(solved)[::3]:
        path.unlink()
    assert frontier(asked, Runner(store)).tables == first.tables
