"""One plan for several worlds: stacked programs against single ones, enumeration of first
decisions, tails."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from dcplan.economics.monthly.financing import Debt, Financing
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.measures import after_tax
from dcplan.planning.audit.run import settled
from dcplan.planning.decisions import from_solution
from dcplan.planning.goal import AFTER_TAX, COST, Goal
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.uncertainty.hedge import cvar, first_of, is_first, stacked
from tests.planning.small import HALL
from tests.planning.test_supply import compute_menu


def variant(peak: float, price: float = 45.0) -> PlanningProblem:
    """Research of so many PFLOP/s in the second quarter: owned racks ordered in the first, or
    rented."""
    problem = compute_menu()
    each = {(HALL, "a"): 0.2, (HALL, "b"): 0.35, ("cloud:o", "chip"): 0.2}
    demand = dataclasses.replace(problem.demands[0], wanted=(0.0, peak), each=each)
    offer = dataclasses.replace(problem.offers[0], usd_per_accelerator_hour=(price, price))
    return dataclasses.replace(problem, demands=(demand,), offers=(offer,))


def matrix_of(problem: PlanningProblem) -> Matrix:
    return compile_model(build_model(problem)[0])


def cost(matrix: Matrix, fixed: dict[str, float] | None = None) -> float:
    existing = {matrix.columns.index(k): v for k, v in (fixed or {}).items()}
    return highs.solve(matrix, gap=0.0, time_limit_s=60, fixed=existing or None).objective


def test_alike_worlds_cost_what_one_does() -> None:
    matrix = matrix_of(variant(8.0))
    stack = stacked([matrix, matrix], [0.4, 0.6], 0)
    found = highs.solve(stack.matrix, gap=0.0, time_limit_s=60)
    assert found.objective == pytest.approx(cost(matrix), rel=1e-9)
    assert found.values is not None
    own = [stack.values(w, found.values) for w in (0, 1)]
    firsts = [i for i, c in enumerate(matrix.columns) if is_first(c, 0)]
    assert np.array_equal(own[0][firsts], own[1][firsts])


def test_nothing_shared_costs_the_expected_cost_of_each_alone() -> None:
    one, two = matrix_of(variant(4.0)), matrix_of(variant(10.0))
    stack = stacked([one, two], [0.5, 0.5], -1)
    shared = {c for c in stack.matrix.columns if c.name != "world"}
    assert {c.name for c in shared} == {"fabric"}  # a hall's fabric is one in every world
    found = highs.solve(stack.matrix, gap=0.0, time_limit_s=60)
    assert found.objective == pytest.approx((cost(one) + cost(two)) / 2, rel=1e-9)


@pytest.mark.parametrize("tail", [1.0, 0.5, 0.25])
def test_first_orders_equal_enumeration(tail: float) -> None:
    """Every number of racks of a and b ordered in the first quarter, each world then at its best."""
    variants, weights = [variant(2.0), variant(8.0), variant(12.0)], [0.5, 0.25, 0.25]
    matrices = [matrix_of(w) for w in variants]
    found = highs.solve(stacked(matrices, weights, 0, tail).matrix, gap=0.0, time_limit_s=60)
    names = [c for c in matrices[0].columns if c.name == "buy"]
    best = np.inf
    for counts in itertools.product(range(4), repeat=len(names)):
        existing = dict(zip(names, map(float, counts), strict=True))
        if sum(counts) <= 4:
            best = min(best, cvar([cost(m, existing) for m in matrices], weights, tail))
    assert found.objective == pytest.approx(best, rel=1e-7)


def test_hedging_lies_between_knowing_and_guessing() -> None:
    variants, weights = [variant(2.0), variant(12.0)], [0.6, 0.4]
    matrices = [matrix_of(w) for w in variants]
    hedged = highs.solve(stacked(matrices, weights, 0).matrix, gap=0.0, time_limit_s=60).objective
    knowing = cvar([cost(m) for m in matrices], weights, 1.0)
    single = highs.solve(matrices[0], gap=0.0, time_limit_s=60)
    assert single.values is not None
    firsts = first_of(dict(zip(matrices[0].columns, np.round(single.values), strict=True)), 0)
    guessing = cvar([cost(m, firsts) for m in matrices], weights, 1.0)
    assert knowing <= hedged + 1e-9
    assert hedged <= guessing + 1e-9
    assert knowing < guessing - 1e-6  # there is something to hedge


def test_what_one_world_does_not_offer_is_ordered_in_none() -> None:
    free, late = variant(8.0), variant(8.0)
    late = dataclasses.replace(
        late,
        placements=tuple(
            dataclasses.replace(p, lead=2) if p.system == "b" else p for p in late.placements
        ),
    )
    matrices = [matrix_of(free), matrix_of(late)]
    stack = stacked(matrices, [0.5, 0.5], 1)
    gone = [
        i
        for i, c in enumerate(stack.matrix.columns)
        if c.name == "world" and c.ids[0] == 0 and c.ids[1].name == "buy" and "b" in c.ids[1].ids
    ]
    assert gone
    assert np.all(stack.matrix.upper[gone] == 0.0)


def test_the_tail_of_weighted_costs_by_hand() -> None:
    """Worst 40 % of 10 (0.2), 20 (0.5), 40 (0.3): 0.3 of 40 and 0.1 of 20, over 0.4: 35."""
    assert cvar([10.0, 20.0, 40.0], [0.2, 0.5, 0.3], 0.4) == pytest.approx(35.0)
    assert cvar([10.0, 20.0, 40.0], [0.2, 0.5, 0.3], 1.0) == pytest.approx(24.0)


PRICE = 23.0
"""Rent of an accelerator-hour at which taxes change the orders [USD]."""
TAXES = Financing(0.1, 5.0, 0.25, (0.5, 0.5), (1 / 39,) * 39, 0.05, 0.01, None, Debt(0.6, 0.08, 24))
"""Income tax of 25 %, equipment written off in two years, sales and property tax, debt of 60 %."""


def taxed(peak: float, price: float = 45.0, measure: str = AFTER_TAX) -> PlanningProblem:
    """The variant after taxes and debt, with integer switch counts as the audit has them.

    Energy is free: the model counts the energy of fractions of switches.
    """
    problem = variant(peak, price)
    finance = dataclasses.replace(problem.finance, financing=TAXES)
    sites = tuple(dataclasses.replace(s, usd_per_kwh=(0.0, 0.0)) for s in problem.sites)
    problem = dataclasses.replace(problem, sites=sites, finance=finance, goal=Goal(measure))
    return with_steps(problem, 10_000, exact=True)


def after_taxes_usd(problem: PlanningProblem, matrix: Matrix, fixed: dict[Key, float]) -> float:
    """The best cost with these first decisions, as the audit recomputes it by month [USD]."""
    existing = {matrix.columns.index(k): v for k, v in fixed.items()}
    found = highs.solve(matrix, gap=0.0, time_limit_s=60, fixed=existing)
    if found.values is None:
        return np.inf
    values = [float(v) for v in matrix.rounded(found.values)]
    d = settled(problem, from_solution(problem, matrix.columns, values))
    return after_tax(problem, make_accounts(problem, d).flows).npv_usd


@pytest.mark.parametrize("tail", [1.0, 0.5])
def test_after_taxes_first_orders_equal_enumerated_audits(tail: float) -> None:
    """Every number of racks ordered in the first quarter; the audit gives each variant's cost.

    The audit adds payments by month after taxes and debt, without the coefficients of the model.
    """
    variants, weights = [taxed(2.0), taxed(8.0), taxed(12.0)], [0.5, 0.25, 0.25]
    matrices = [matrix_of(w) for w in variants]
    found = highs.solve(stacked(matrices, weights, 0, tail).matrix, gap=0.0, time_limit_s=60)
    names = [c for c in matrices[0].columns if c.name == "buy" and c.ids[-1] == 0]
    best = np.inf
    for counts in itertools.product(range(3), repeat=len(names)):
        if sum(counts) > 3:
            continue
        fixed = dict(zip(names, map(float, counts), strict=True))
        usd = [after_taxes_usd(p, m, fixed) for p, m in zip(variants, matrices, strict=True)]
        best = min(best, cvar(usd, weights, tail))
    assert 1e6 * found.objective == pytest.approx(best, rel=1e-6)


def test_taxes_change_the_orders_of_a_hedge() -> None:
    """Orders that are best before taxes cost more after them than the orders of the hedge."""
    peaks, weights = (2.0, 12.0), [0.6, 0.4]
    orders = []
    for measure in (COST, AFTER_TAX):
        matrices = [matrix_of(taxed(x, PRICE, measure)) for x in peaks]
        stack = stacked(matrices, weights, 0)
        found = highs.solve(stack.matrix, gap=0.0, time_limit_s=60)
        assert found.values is not None
        own = dict(zip(matrices[0].columns, stack.values(0, np.round(found.values)), strict=True))
        orders.append({k: v for k, v in own.items() if k.name == "buy" and k.ids[-1] == 0})
    assert orders[0] != orders[1]
    problems = [taxed(x, PRICE) for x in peaks]
    before, after = (
        cvar([after_taxes_usd(p, matrix_of(p), fixed) for p in problems], weights, 1.0)
        for fixed in orders
    )
    assert after < before * (1 - 1e-4)
