"""A fixed plan in futures: as planned it costs what the audit says; otherwise what the accounts of
that world say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dcplan.economics.cash_flow import npv_usd
from dcplan.economics.monthly.financing import Financing
from dcplan.economics.sampling import Marginal
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.measures import after_tax
from dcplan.planning.decisions import Decisions, from_solution
from dcplan.planning.goal import AFTER_TAX, Goal
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.uncertainty.simulation import Evaluator, SampledScenario, sampled
from tests.planning.optimum import best_plan
from tests.planning.small import HALL, small_menu

HOURS = 2191.5


def as_if_exact(problem: PlanningProblem) -> PlanningProblem:
    """Runs whose median is their planned length, so that no future differs by that alone."""
    run_options = tuple(dataclasses.replace(c, days_p50=c.days) for c in problem.run_options)
    return dataclasses.replace(problem, run_options=run_options)


@pytest.fixture(scope="module")
def case() -> tuple[PlanningProblem, Decisions, Evaluator]:
    problem = as_if_exact(small_menu())
    d = best_plan(problem)[0]
    return problem, d, Evaluator(problem, d, make_accounts(problem, d))


def test_as_planned_it_costs_what_the_audit_says(
    case: tuple[PlanningProblem, Decisions, Evaluator],
) -> None:
    problem, d, evaluator = case
    found = evaluator.simulated_outcome(SampledScenario())
    assert found.npv_usd == pytest.approx(npv_usd(make_accounts(problem, d).flows, 0.1), rel=1e-9)


def test_with_that_objective_it_costs_what_the_audit_says_after_taxes(
    case: tuple[PlanningProblem, Decisions, Evaluator],
) -> None:
    problem, d, before = case
    terms = Financing(0.1, 5.0, income_rate_frac=0.25, equipment_shares=(0.5, 0.5))
    finance = dataclasses.replace(problem.finance, financing=terms)
    problem = dataclasses.replace(problem, finance=finance, goal=Goal(AFTER_TAX))
    books = make_accounts(problem, d)
    evaluator = Evaluator(problem, d, books)
    found = evaluator.simulated_outcome(SampledScenario())
    assert found.npv_usd == pytest.approx(after_tax(problem, books.flows).npv_usd, rel=1e-9)
    more = [
        x.simulated_outcome(SampledScenario(cloud_price=1.1)).npv_usd - y
        for x, y in ((evaluator, found.npv_usd), (before, before.base_usd))
    ]
    assert 0.0 < more[0] == pytest.approx(0.75 * more[1], rel=0.05)
    assert max(found.unmet.values()) == pytest.approx(0.0, abs=1e-9)
    assert all(late <= 0 for late in found.late_days.values())


@pytest.mark.parametrize(
    "future",
    [
        SampledScenario(hardware_price=1.3),
        SampledScenario(energy_price=1.8),
        SampledScenario(cloud_price=0.5, demand=1.2),
        SampledScenario(demand=0.5),
        SampledScenario(hardware_price=0.8, energy_price=1.4, cloud_price=1.2, demand=1.3),
    ],
)
def test_other_prices_and_demand_cost_what_the_accounts_of_that_world_say(
    case: tuple[PlanningProblem, Decisions, Evaluator], future: SampledScenario
) -> None:
    """The same racks in a menu with those prices and demands, demands served anew by the
    optimizer, every run kept."""
    problem, _, evaluator = case
    world = dataclasses.replace(
        problem,
        placements=tuple(
            dataclasses.replace(p, price_factor=(future.hardware_price,) * 2)
            for p in problem.placements
        ),
        sites=tuple(
            dataclasses.replace(
                s, usd_per_kwh=tuple(x * future.energy_price for x in s.usd_per_kwh)
            )
            for s in problem.sites
        ),
        offers=tuple(
            dataclasses.replace(
                o,
                usd_per_accelerator_hour=tuple(
                    x * future.cloud_price for x in o.usd_per_accelerator_hour
                ),
            )
            for o in problem.offers
        ),
        demands=tuple(
            dataclasses.replace(x, wanted=tuple(w * future.demand for w in x.wanted))
            for x in problem.demands
        ),
        finance=dataclasses.replace(problem.finance, budget_usd=None),
    )
    matrix = compile_model(build_model(world)[0])
    before = compile_model(build_model(problem)[0])
    solved = highs.solve(before, gap=0.0, time_limit_s=60)
    assert solved.values is not None
    existing = {
        i: float(round(solved.values[i])) for i in range(len(matrix.columns)) if matrix.integer[i]
    }
    found = highs.solve(matrix, gap=0.0, time_limit_s=60, fixed=existing)
    assert found.values is not None
    other = from_solution(world, matrix.columns, [float(v) for v in found.values])
    books = make_accounts(world, other)
    assert not [c for c in all_checks(world, other, books) if not c.holds]
    assert evaluator.simulated_outcome(future).npv_usd == pytest.approx(
        npv_usd(books.flows, 0.1), rel=1e-6
    )


def test_late_hardware_is_missing_until_it_comes() -> None:
    """16 accelerators of a, ordered in Q1, serve Q2: 30 days late they miss 30 / 91.3125 of it."""
    problem = small_menu()
    demand = dataclasses.replace(
        problem.demands[0], wanted=(0.0, 3.2), each={(HALL, "a"): 0.2}, unmet_usd=1e6
    )
    problem = dataclasses.replace(problem, jobs=(), run_options=(), demands=(demand,))
    d = best_plan(problem)[0]
    assert d.racks(problem, (HALL, "wet", "a"), 1) + d.racks(problem, (HALL, "dry", "a"), 1) == 1
    found = Evaluator(problem, d, make_accounts(problem, d)).simulated_outcome(
        SampledScenario(delivery_days=30.0)
    )
    assert found.unmet["research"] == pytest.approx(3.2 * 30 / 91.3125)


def test_a_slower_run_ends_later_and_a_late_delivery_starts_it_later() -> None:
    problem = as_if_exact(small_menu())
    problem = dataclasses.replace(
        problem, run_options=problem.run_options[:1]
    )  # on a, from day 91.3125, 60 days
    d = best_plan(problem)[0]
    evaluator = Evaluator(problem, d, make_accounts(problem, d))
    end = 182.625
    assert evaluator.simulated_outcome(SampledScenario()).late_days["job"] == pytest.approx(
        91.3125 + 60 - end
    )
    slow = evaluator.simulated_outcome(
        SampledScenario(step_time=1.25, tokens=1.1, delivery_days=20.0)
    )
    assert slow.late_days["job"] == pytest.approx(91.3125 + 20 + 60 * 1.25 * 1.1 - end)


def test_more_of_anything_bad_never_costs_less(
    case: tuple[PlanningProblem, Decisions, Evaluator],
) -> None:
    _, _, evaluator = case
    for name, values in {
        "hardware_price": (0.8, 1.0, 1.5),
        "energy_price": (0.5, 1.0, 2.0),
        "cloud_price": (0.5, 1.0, 2.0),
        "demand": (0.0, 0.7, 1.0, 1.6),
        "delivery_days": (0.0, 10.0, 60.0),
    }.items():
        costs = [evaluator.simulated_outcome(SampledScenario(**{name: v})).npv_usd for v in values]
        if name != "delivery_days":  # what is late saves energy, and costs rent
            assert costs == sorted(costs), name


def test_the_sample_has_the_triangular_distribution() -> None:
    """Mean (a + b + c) / 3, variance (a2 + b2 + c2 - ab - ac - bc) / 18 of (0.8, 1.0, 1.5)."""
    values = np.array(
        [f.energy_price for f in sampled({"energy_price": Marginal(0.8, 1.0, 1.5)}, 4000, 3)]
    )
    assert values.mean() == pytest.approx(1.1, abs=1e-4)
    assert values.var() == pytest.approx((0.64 + 1 + 2.25 - 0.8 - 1.2 - 1.5) / 18, rel=1e-3)


def test_same_seed_same_futures() -> None:
    spread = {"demand": Marginal(0.5, 1.0, 2.0), "tokens": Marginal(1.0, 1.0, 1.4)}
    assert sampled(spread, 50, 1) == sampled(spread, 50, 1)
    assert sampled(spread, 50, 1) != sampled(spread, 50, 2)
