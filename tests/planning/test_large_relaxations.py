"""Relaxations of large plans: strong rows, merged demands and work in place of runs keep the optimum."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from dcplan.planning.goal import COMPUTE, COST, OWN_CARBON, TIME, Goal, Limit
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.large.aggregate import with_work
from dcplan.planning.solve.large.merged import merged, of_merged
from dcplan.planning.solve.large.sums import with_sums
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.solve.strong import HALL_SHARE, strengthened
from dcplan.scenario.load import load
from tests.bench.instances import instance
from tests.planning.brute import best_cost
from tests.planning.small import small_menu
from tests.planning.test_large import _matrix, _refined
from tests.planning.tiny import tiny_menu

MENUS = [
    pytest.param(small_menu(), id="small"),
    *(pytest.param(tiny_menu(s), id=f"tiny-{s}") for s in range(12)),
]


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


def test_runs_that_a_limit_tells_apart_stay_runs() -> None:
    """Work would hide which of them ends early."""
    problem = build(load("retrofit-air-hall", sets=["objective=min_time"])).problem
    base = _matrix(replace(problem, goal=Goal(TIME)))
    owned = {c.job for c in problem.run_options if not c.on_cloud}
    assert owned
    relaxed = with_work(base, problem)
    assert sum(c.name == "run" for c in relaxed.columns) > 0.9 * len(problem.run_options)


@pytest.mark.parametrize("seed", range(40))
def test_strong_rows_and_merged_demands_exclude_no_least_cost(seed: int) -> None:
    """The integer optimum is that of the enumeration; the linear bound is at least as high."""
    problem = tiny_menu(seed)
    base = compile_model(build_model(problem)[0])
    strong = strengthened(of_merged(base, problem, merged(problem)), problem)
    best = best_cost(problem)
    found = highs.solve(strong, gap=0.0, time_limit_s=60)
    assert found.objective * 1e6 == pytest.approx(best, rel=1e-6, abs=1.0)
    plain, point = highs.relaxation(base), highs.relaxation(strong)
    if plain is not None and point is not None:
        assert plain.objective - 1e-7 <= point.objective <= found.objective + 1e-7


@pytest.mark.parametrize("seed", range(40))
def test_sums_as_columns_change_no_optimum(seed: int) -> None:
    problem = tiny_menu(seed)
    base = compile_model(build_model(problem)[0])
    summed = with_sums(base, problem)
    found = highs.solve(summed, gap=0.0, time_limit_s=60, presolve=False)
    assert found.objective * 1e6 == pytest.approx(best_cost(problem), rel=1e-6, abs=1.0)


def test_two_demands_that_differ_in_utilization_are_one(tmp_path: Path) -> None:
    """Accelerators at 0.6 serve twice as much of a demand as those at 0.3, so the sum counts the second
    twice; the linear optimum is that of both, and a third of another model stays apart."""
    found = instance(1, 4, 4, 2, 6)
    first, second, third = found["workloads"]["capacity"]
    assert second["reference"] != first["reference"]
    third["reference"] = second["reference"]
    second["reference"], second["utilization_frac"] = first["reference"], 0.3
    file = tmp_path / "i.yaml"
    file.write_text(yaml.safe_dump(found), encoding="utf-8")
    problem = build(load(file)).problem
    base = _matrix(problem)
    lean = merged(problem)
    one = of_merged(base, problem, lean)
    assert highs.relaxation(_matrix(lean)).objective == pytest.approx(
        highs.relaxation(one).objective, rel=1e-9
    )
    serving = {key.ids[0] for key in one.columns if key.name == "serving"}
    assert serving == {first["id"], third["id"]}
    limit = {key: float(x) for key, x in zip(one.rows, one.row_lower, strict=True)}
    row = Key("demand_met", (first["id"], 2))
    assert limit[row] == pytest.approx(
        first["pflops_delivered"][2] + 2 * second["pflops_delivered"][2], rel=1e-6
    )
    whole, less = highs.relaxation(base), highs.relaxation(one)
    assert whole is not None
    assert less is not None
    assert less.objective == pytest.approx(whole.objective, rel=1e-9)


@pytest.mark.parametrize("goal", [Goal(COMPUTE), Goal(COST, (Limit(COMPUTE, -1.0),))])
def test_strong_rows_of_demands_are_not_for_compute(goal: Goal) -> None:
    """Most compute serves more than a demand, so its share in a hall may exceed one."""
    problem = build(load("retrofit-air-hall")).problem
    base = _matrix(problem)
    rows = {key.ids[0] for key in strengthened(base, problem).rows if key.name == HALL_SHARE}
    other = replace(problem, goal=goal)
    kept = {key.ids[0] for key in strengthened(base, other).rows if key.name == HALL_SHARE}
    assert kept == {job.id for job in problem.jobs} & rows
    assert kept < rows
    limited = replace(problem, goal=Goal(TIME, (Limit(OWN_CARBON, 1.0),)))
    also = {key.ids[0] for key in strengthened(base, limited).rows if key.name == HALL_SHARE}
    assert also == rows
