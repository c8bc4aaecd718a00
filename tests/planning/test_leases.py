"""Leases of racks in place of purchases: against enumeration, by hand, and in every account."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dcplan.planning.goal import AFTER_TAX, Goal
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from tests.planning.brute_leases import after_tax_usd, before_tax_usd, choices, lease_menu, taxed

SEEDS = range(24)


def optimum(problem: PlanningProblem) -> tuple[float, float]:
    """Optimum of the model in USD, and the racks that it leases."""
    matrix = compile_model(build_model(problem)[0])
    found = highs.solve(matrix, gap=0.0, time_limit_s=60)
    assert found.values is not None
    return 1e6 * found.objective, sum(float(found.values[i]) for i in matrix.of(["leased"]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("budget", [False, True])
def test_the_optimum_before_taxes_is_the_least_of_all_choices(seed: int, budget: bool) -> None:
    problem = lease_menu(seed, budget=budget)
    least = min(before_tax_usd(problem, x) for x in choices(problem))
    assert not math.isinf(least)
    assert optimum(problem)[0] == pytest.approx(least, rel=1e-7, abs=1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimum_after_taxes_is_the_least_of_all_choices(seed: int) -> None:
    problem = replace(taxed(lease_menu(seed), seed), goal=Goal(AFTER_TAX))
    least = min(after_tax_usd(problem, x) for x in choices(problem))
    assert optimum(problem)[0] == pytest.approx(least, rel=1e-7, abs=1.0)
