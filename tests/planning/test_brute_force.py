"""The optimizer equals brute force over all integer points on random tiny instances."""

from __future__ import annotations

import math

import pytest

from dcplan.planning.model.build import build_model
from dcplan.planning.solve import highs
from tests.planning.brute import best_cost
from tests.planning.tiny import tiny_menu

SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_optimum_equals_enumeration(seed: int) -> None:
    menu = tiny_menu(seed)
    expected = best_cost(menu)
    model, _ = build_model(menu)
    outcome = highs.solve(highs.compile_model(model), gap=0.0, time_limit_s=60)
    if math.isinf(expected):
        assert outcome.status == highs.INFEASIBLE
    else:
        assert outcome.status == highs.OPTIMAL
        assert outcome.objective * 1e6 == pytest.approx(expected, rel=1e-6, abs=1.0)


def test_instances_are_not_all_alike() -> None:
    """The sample holds feasible and infeasible ones, and plans that buy, rent and build."""
    costs = [best_cost(tiny_menu(seed)) for seed in range(20)]
    assert any(math.isinf(c) for c in costs)
    assert sum(c > 1e5 for c in costs if not math.isinf(c)) >= 5
