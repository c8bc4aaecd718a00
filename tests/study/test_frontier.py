"""The frontier of two metrics: ends are the best of each, points never cross, wrong axes are
refused."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.engine.engines import Processes
from dcplan.errors import InputError
from dcplan.study.frontier.request import FrontierRequest
from dcplan.study.frontier.run import frontier
from dcplan.study.lines import Runner
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
    # the first end is what plan finds, within both gaps
    assert costs[0] == pytest.approx(plan(FILE, gap=0.002).value("cost.npv_usd"), rel=0.012)
    # a run as short as the last costs what plan with that deadline costs
    short = plan(
        FILE, sets=[f"workloads.training.flagship.deadline_days={days[-1] + 0.01}"], gap=0.002
    )
    assert costs[-1] <= short.value("cost.npv_usd") * 1.012
    # the price of a day is the difference over the difference
    assert rows[1]["x_per_y"] == pytest.approx((costs[1] - costs[0]) / (days[0] - days[1]))


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
