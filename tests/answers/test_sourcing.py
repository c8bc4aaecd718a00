"""Plans that tco prices: what they pay, own and rent, by hand and by option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.plan import sourcing
from dcplan.answers.plan.plan_cost import fleet_plan, plan_cost
from dcplan.answers.plan.sourcing import Sourcing, SourcingPlan, SourcingPlans, sourcing_plans
from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup, Unit
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import load
from tests.planning.test_cloud_terms import HOURS, rented_menu
from tests.planning.test_existing import existing_problem
from tests.research import BOTH, EARLY

OFFER = "aws-p5en-48xlarge"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SourcingPlans:
    file = tmp_path_factory.mktemp("work") / "work.yaml"
    file.write_text(BOTH, encoding="utf-8")
    return sourcing_plans(load(file), 0.05, 120.0)


def flows_of(plan: SourcingPlan) -> tuple[Flow, ...]:
    assert plan.cost is not None
    return plan.cost.flows


def test_what_is_rented_in_hours_by_hand() -> None:
    """10 accelerators in the first of two quarters, none in the second."""
    problem = rented_menu((10.0, 0.0))
    d = Decisions(rented={("research", "o", 0): 10.0})
    cost = plan_cost(problem, d, make_accounts(problem, d).flows)
    assert cost.rented_hours == pytest.approx(10 * HOURS)
    assert (cost.owned_accelerators, cost.quarters) == (0, 2)


def test_accelerators_that_are_sold_are_not_owned_at_the_end() -> None:
    """Two racks in service; one is sold in the second quarter."""
    problem = existing_problem()
    each = next(p.accelerators for p in problem.placements if p.key == problem.existing[0].key)
    kept, sold = (
        plan_cost(problem, Decisions(disposed=gone), []) for gone in ({}, {("old", 1): 1})
    )
    assert (kept.owned_accelerators, sold.owned_accelerators) == (2 * each, each)


def test_a_fleet_is_paid_for_in_whole_racks() -> None:
    """1,000 accelerators in nodes of 8 and racks of 4 nodes: 31.25 racks, so 32 with 1,024."""
    fleet = fleet_plan(load("own-or-rent-1024-h200", sets=["fleet.accelerators=1000"]))
    assert (fleet.accelerators, fleet.paid_accelerators) == (1000, 1024)
    assert fleet.cost.owned_accelerators == 1024
    assert fleet.cost.rented_hours == 0.0
    racks = [f.usd for f in fleet.cost.flows if (f.group, f.asset) == ("capex", AssetClass.RACKS)]
    assert sum(racks) == pytest.approx(128 * 350_000)


def test_each_option_takes_its_accelerators_where_it_may(made: SourcingPlans) -> None:
    by_name = {plan.name: plan for plan in made.plans}
    single = {f"rented.{OFFER}.{term}" for term in ("on-demand", "reserved-1y")}
    assert set(by_name) == {"hybrid", "owned", "rented"} | single
    assert not [f for f in flows_of(by_name["owned"]) if f.offer]
    assert any(f.asset is AssetClass.RACKS for f in flows_of(by_name["owned"]))
    for plan in made.plans:
        if plan.sourcing is Sourcing.RENTED:
            flows = flows_of(plan)
            assert not [f for f in flows if f.asset is AssetClass.RACKS]
            assert {f.offer for f in flows if f.group is FlowGroup.CLOUD} == {OFFER}
    for term in ("on-demand", "reserved-1y"):
        rent = [f for f in flows_of(by_name[f"rented.{OFFER}.{term}"]) if f.offer]
        paid = {f.term for f in rent if f.goods and f.goods.unit is Unit.ACCELERATOR_HOUR}
        assert paid == {term}


def test_an_option_without_a_plan_says_so(tmp_path: Path) -> None:
    """Work in the first quarter comes before any hardware: renting alone can do it."""
    file = tmp_path / "early.yaml"
    file.write_text(EARLY, encoding="utf-8")
    plans = {plan.name: plan for plan in sourcing_plans(load(file), 0.05, 60.0).plans}
    assert plans["owned"].cost is None
    assert plans["owned"].infeasible
    assert plans["rented"].cost is not None
    assert not plans["rented"].infeasible


def test_where_all_offers_together_are_no_plan_none_is_solved_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One instance cannot do the work; hybrid, owned and rented are solved, the two terms are not."""
    file = tmp_path / "small.yaml"
    file.write_text(BOTH, encoding="utf-8")
    solved: list[int] = []

    def counted(*given: Any) -> Solved:
        solved.append(len(given[0].offers))
        return solve_problem(*given)

    monkeypatch.setattr(sourcing, "solve_problem", counted)
    small = ["cloud.max_accelerators=8", "cloud.max_accelerators_per_offer=8"]
    found = sourcing_plans(load(file, sets=small), 0.05, 120.0)
    rented = [plan for plan in found.plans if plan.sourcing is Sourcing.RENTED]
    assert solved == [1, 0, 1]
    assert [plan.name for plan in rented] == [
        "rented",
        f"rented.{OFFER}.on-demand",
        f"rented.{OFFER}.reserved-1y",
    ]
    assert all(plan.infeasible and plan.proved and plan.cost is None for plan in rented)
