"""Improvement site by site: other sites keep their racks, and no turn makes the plan worse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import yaml

from dcplan.planning.decision_specs import RUN
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.large.by_site import improved_by_site
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.scenario.load import load
from tests.bench.instances import instance


@pytest.fixture(scope="module")
def two_sites(tmp_path_factory: pytest.TempPathFactory) -> tuple[PlanningProblem, Matrix]:
    file = tmp_path_factory.mktemp("by-site") / "two.yaml"
    file.write_text(yaml.safe_dump(instance(2, 3, 2, 1, 2), sort_keys=False), encoding="utf-8")
    problem = replace(build(load(str(file))).problem, margin_factor=0.0)
    return problem, compile_model(build_model(problem)[0])


def _rough(matrix: Matrix) -> tuple[float, dict[int, float]]:
    """A poor plan: without the system that the optimum uses."""
    columns = [i for i in matrix.of(("racks",)) if matrix.columns[i].ids[2] == "gb200-nvl72"]
    outcome = highs.solve(
        matrix, gap=0.2, time_limit_s=30, presolve=True, fixed=dict.fromkeys(columns, 0.0)
    )
    assert outcome.values is not None
    whole = np.flatnonzero(matrix.integer)
    return outcome.objective, {int(i): float(round(outcome.values[i])) for i in whole}


def test_a_plan_gets_better_one_site_at_a_time(two_sites: tuple[PlanningProblem, Matrix]) -> None:
    problem, matrix = two_sites
    cost, start = _rough(matrix)
    turns: list[set[str]] = []
    costs: list[float] = []

    def solve(fixed: Mapping[int, float], near: Mapping[int, float]) -> highs.Outcome:
        free = [matrix.columns[i] for i in near if i not in fixed]
        turns.append({str(k.ids[0]).split("/")[0] for k in free if k.name != RUN.variable})
        outcome = highs.solve(
            matrix, gap=1e-4, time_limit_s=30, fixed=fixed, start=near, presolve=True
        )
        assert outcome.values is not None
        assert all(round(outcome.values[i]) == v for i, v in fixed.items())
        costs.append(outcome.objective)
        return outcome

    best = improved_by_site(problem, matrix, start, solve, -math.inf)
    assert best is not None
    assert best.objective == min(costs) <= cost + 1e-6
    sites = {s.id for s in problem.sites}
    assert [turn & sites for turn in turns[:2]] == [{"s0"}, {"s1"}]
    whole = highs.solve(matrix, gap=1e-4, time_limit_s=60, presolve=True)
    assert best.objective >= whole.bound - 1e-6 * abs(whole.bound)


def test_the_search_ends_at_a_cost_that_is_low_enough(
    two_sites: tuple[PlanningProblem, Matrix],
) -> None:
    problem, matrix = two_sites
    cost, start = _rough(matrix)
    calls: list[int] = []

    def solve(fixed: Mapping[int, float], near: Mapping[int, float]) -> highs.Outcome:
        calls.append(len(fixed))
        return highs.solve(
            matrix, gap=1e-4, time_limit_s=30, fixed=fixed, start=near, presolve=True
        )

    assert improved_by_site(problem, matrix, start, solve, cost) is not None
    assert len(calls) == 1


def test_one_site_has_no_turns(two_sites: tuple[PlanningProblem, Matrix]) -> None:
    """With one site, or a start that lacks an integer, nothing is solved."""
    problem, matrix = two_sites
    _, start = _rough(matrix)

    def never(*_: object) -> highs.Outcome:
        raise AssertionError

    alone = replace(problem, sites=problem.sites[:1], halls=problem.halls[:2])
    assert improved_by_site(alone, matrix, start, never, -math.inf) is None
    start.popitem()
    assert improved_by_site(problem, matrix, start, never, -math.inf) is None
