"""The optimizer equals brute force over all integer points on random tiny instances."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.solve.status import SolveStatus
from tests.planning.brute import best_cost
from tests.planning.tiny import tiny_menu

SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_optimum_equals_enumeration(seed: int) -> None:
    problem = tiny_menu(seed)
    expected = best_cost(problem)
    model, _ = build_model(problem)
    outcome = highs.solve(compile_model(model), gap=0.0, time_limit_s=60)
    if math.isinf(expected):
        assert outcome.status == SolveStatus.INFEASIBLE
    else:
        assert outcome.status == SolveStatus.OPTIMAL
        assert outcome.objective * 1e6 == pytest.approx(expected, rel=1e-6, abs=1.0)


def with_price_of_unmet(seed: int) -> PlanningProblem:
    """A tiny menu whose demand may be given up, its average load below the peak, and no limit that
    couples choices."""
    problem = tiny_menu(seed)
    usd = float(np.random.default_rng(10_000 + seed).uniform(1e4, 4e5))
    demands = tuple(replace(d, unmet_usd=usd, load_frac=0.4) for d in problem.demands)
    site = replace(problem.sites[0], max_t_per_year=None)
    return replace(
        problem, demands=demands, sites=(site,), finance=replace(problem.finance, budget_usd=None)
    )


@pytest.mark.parametrize("seed", range(25))
def test_demand_is_given_up_where_that_is_cheapest(seed: int) -> None:
    problem = with_price_of_unmet(seed)
    outcome = highs.solve(compile_model(build_model(problem)[0]), gap=0.0, time_limit_s=60)
    expected = best_cost(problem)
    if math.isinf(expected):
        assert outcome.status == SolveStatus.INFEASIBLE
    else:
        assert outcome.objective * 1e6 == pytest.approx(expected, rel=1e-6, abs=1.0)


def test_instances_are_not_all_alike() -> None:
    """The sample holds feasible and infeasible ones, and plans that buy, rent and build."""
    costs = [best_cost(tiny_menu(seed)) for seed in range(20)]
    assert any(math.isinf(c) for c in costs)
    assert sum(c > 1e5 for c in costs if not math.isinf(c)) >= 5
