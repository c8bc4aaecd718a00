"""The cost of a plan by workload: a hand calculation, and sums that hold for any plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, npv_usd
from dcplan.inputs.cloud_prices import CommitTerms
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.allocation import Allocation, Part, allocate, part_of, with_unused
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.uses import EARLIER, UNUSED, Kind, kinds, uses_of
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import ExistingTerms, PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms, ReplicaTerms
from dcplan.units import DAYS_PER_QUARTER, HOURS_PER_QUARTER
from tests.planning.small import HALL, small_menu
from tests.planning.tiny import tiny_menu

KEY = (HALL, "wet", "a")
CENT = 0.01


def tiny_plan() -> tuple[PlanningProblem, Decisions]:
    """One rack of 16 in service in the second quarter: a run has 8 of them for half the quarter, a
    demand has 4 and rents 10 more; 6 hours of 16 remain."""
    problem = small_menu()
    run = replace(problem.run_options[0], accelerators=8, days=DAYS_PER_QUARTER / 2)
    d = Decisions(
        ordered={(*KEY, 0): 1},
        fitted={(HALL, "wet", 1): 1},
        fabric={HALL: "eth/2t"},
        blocks={("s", 1): 1},
        runs=[run],
        training={(*KEY, 1): 4.0},
        serving={("research", *KEY, 1): 4.0},
        rented={("research", "o", 1): 10.0},
    )
    return problem, d


def allocated(problem: PlanningProblem, d: Decisions) -> tuple[Accounts, Allocation]:
    books = make_accounts(problem, d)
    return books, allocate(problem, d, books)


def summed(found: Allocation) -> float:
    return sum(sum(parts.values()) for parts in found.present_usd().values())


def test_a_tiny_plan_is_shared_as_by_hand() -> None:
    problem, d = tiny_plan()
    books, found = allocated(problem, d)
    costs = {name: parts for (name, t), parts in found.by_quarter_usd().items() if t == 1}
    assert {t for _, t in found.by_quarter_usd()} == {1}  # nothing is in service in the first
    # hardware: 1 M USD in the middle of quarter 0, 0.7 M left at the end of quarter 1; the charge
    # at the middle of quarter 1: 1e6 x 1.1^(1/4) - 0.7e6 x 1.1^(-1/8) + 10,000 maintenance
    charge = 1e6 * 1.1**0.25 - 0.7e6 * 1.1**-0.125 + 10_000.0
    # 1,024,113.69 - 691,709.84 + 10,000
    assert charge == pytest.approx(342_403.85, abs=CENT)
    # 16 accelerators: 8 x 1/2 for the run, 4 for the demand, 8 unused
    shares = {"job": 0.25, "research": 0.25, UNUSED: 0.5}
    for name, share in shares.items():
        assert costs[name][Part.HARDWARE] == pytest.approx(share * charge, abs=CENT)
    # network: 16 ports, all of one system, so the same shares
    network = sum(f.usd for f in books.flows if f.asset is AssetClass.NETWORK and f.usd > 0)
    network = network * 1.1**0.25 - 0.7 * network * 1.1**-0.125
    assert costs["job"][Part.NETWORK] == pytest.approx(0.25 * network, abs=CENT)
    # space: building 400 k, fit-out 300 k, one block 80 k in quarter 1, 90 % left at its end;
    # staff 25 k; facility 80 USD/kW x 40 kW
    space = 780e3 - 0.9 * 780e3 * 1.1**-0.125 + 25_000.0 + 3_200.0
    assert costs["research"][Part.SPACE] == pytest.approx(0.25 * space, abs=CENT)
    # energy of the racks: idle 10 kW over 16 accelerators; training 30 kW: 4 x 20 / 16 = 5 kW more;
    # serving 20 kW: 4 x 10 / 16 = 2.5 kW more; network by accelerators; PUE 1.1; 0.08 USD/kWh
    kw = books.halls[HALL, 1].network.kw
    idle = 10.0 + kw
    more = {"job": 5.0, "research": 2.5, UNUSED: 0.0}
    demand_charge = max((40.0 + kw) * 1.2, 0.5 * 600.0) * 10.0 * 3
    for name, share in shares.items():
        energy = (share * idle + more[name]) * 1.1 * HOURS_PER_QUARTER * 0.08
        assert costs[name][Part.ENERGY] == pytest.approx(energy + share * demand_charge, abs=CENT)
    # rent: 10 accelerators at 3 USD/h
    assert costs["research"][Part.CLOUD] == pytest.approx(30.0 * HOURS_PER_QUARTER, abs=CENT)
    assert summed(found) == pytest.approx(npv_usd(books.flows, 0.1), abs=CENT)


def test_replicas_with_spares_are_reserved_and_periods_are_shares_of_the_week() -> None:
    # a period of a quarter of the week with 2 replicas of 8, one of them spare: 16 x 1/4 = 4
    problem, d = tiny_plan()
    replica = ReplicaTerms(8, "tp=8", "engine", "fp8", 1.0)
    peak = DemandTerms(
        "chat@p1",
        (0.0, 1.0),
        {(HALL, "a"): 0.2},
        period=0,
        hours_frac=0.25,
        replica={(HALL, "a"): replica},
        spare_replicas=1,
    )
    problem = replace(problem, demands=(peak,), periods=(0.25, 0.75))
    d = replace(
        d, serving={("chat@p1", *KEY, 1): 8.0}, replicas={("chat@p1", *KEY, 1): 2}, rented={}
    )
    books, found = allocated(problem, d)
    hours = {x.workload: x.accelerator_hours / HOURS_PER_QUARTER for x in found.uses}
    assert hours == pytest.approx({"job": 4.0, "chat": 4.0, UNUSED: 8.0})
    assert summed(found) == pytest.approx(npv_usd(books.flows, 0.1), abs=CENT)


def test_a_commitment_is_shared_by_the_hours_that_it_covers() -> None:
    # 2 nodes of 8 for 4 quarters from quarter 1; the demand has 10 of 16: 10/16, the rest unused;
    # the 3 payments after the horizon follow quarter 1, the only one in force
    problem, d = tiny_plan()
    offer = replace(problem.offers[0], committed=(CommitTerms("reserved-1y", 4, (2.0, 2.0)),))
    problem = replace(problem, offers=(offer,))
    d = replace(d, committed={("o", "reserved-1y", 1): 2})
    books, found = allocated(problem, d)
    paid = 16 * 2.0 * HOURS_PER_QUARTER
    charge = paid * sum(1.1 ** (-q / 4) for q in range(4))
    costs = found.by_quarter_usd()
    assert costs["research", 1][Part.CLOUD] == pytest.approx(charge * 10 / 16, abs=CENT)
    assert costs[UNUSED, 1][Part.CLOUD] == pytest.approx(charge * 6 / 16, abs=CENT)
    assert summed(found) == pytest.approx(npv_usd(books.flows, 0.1), abs=CENT)


def test_unserved_demand_costs_its_own_workload() -> None:
    problem, d = tiny_plan()
    priced = replace(problem.demands[0], unmet_usd=1000.0)
    _, found = allocated(
        replace(problem, demands=(priced,)), replace(d, unmet={("research", 0): 2.0})
    )
    assert found.by_quarter_usd()["research", 0][Part.UNSERVED] == 2000.0


def test_hardware_paid_before_the_plan_has_a_row_of_its_own() -> None:
    problem, d = tiny_plan()
    old = ExistingTerms("old", KEY, 3, 0, 20, 5e4, (9e4, 8e4), in_service=True)
    problem = replace(problem, existing=(old,))
    books, found = allocated(problem, replace(d, disposed={("old", 1): 1}))
    costs = found.present_usd()
    # one rack of three is sold in quarter 1, two keep 50 k each at the end of it
    assert sum(costs[EARLIER].values()) == pytest.approx(
        -8e4 * 1.1**-0.375 - 2 * 5e4 * 1.1**-0.5, abs=CENT
    )
    assert costs["job"][Part.HARDWARE] > 0
    assert summed(found) == pytest.approx(npv_usd(books.flows, 0.1), abs=CENT)


def test_every_payment_of_the_audit_names_who_shares_it() -> None:
    problem, d = tiny_plan()
    flows = make_accounts(problem, d).flows
    assert {f.shared.by for f in flows if f.usd} == {
        Driver.HOURS,
        Driver.PORTS,
        Driver.RATED,
        Driver.PEAK,
        Driver.ENERGY,
        Driver.USER,
    }
    rent = Flow(0, FlowGroup.POST_HORIZON, "x", 1.0, asset=AssetClass.OTHER)
    assert part_of(rent) is Part.CLOUD


def any_plan(seed: int) -> tuple[PlanningProblem, Decisions]:
    """A tiny menu with decisions at random, which may break limits but not use an accelerator twice."""
    problem, rng = tiny_menu(seed), np.random.default_rng(seed + 1)
    d = Decisions(fabric={"s/h": "slow/2t"})
    for t in range(problem.quarters):
        d.fitted["s/h", "cool", t] = 1
        d.blocks["s", t] = 1 + t
    for p in problem.placements:
        for t in range(problem.quarters - p.lead):
            d.ordered[*p.key, t] = int(rng.integers(0, 3))
        for t in range(problem.quarters):
            left = d.racks(problem, p.key, t) * p.accelerators
            for demand in problem.demands:
                d.serving[demand.id, *p.key, t] = left * float(rng.uniform(0, 0.5))
    for demand in problem.demands:
        for t in range(problem.quarters):
            d.rented[demand.id, "o", t] = float(rng.choice([0.0, 8.0]))
    for run in problem.run_options:
        t = run.start_month // 3
        have = sum(
            d.racks(problem, p.key, t) * p.accelerators
            for p in problem.placements
            if p.system == run.system
        )
        if not d.runs and (run.on_cloud or run.accelerators <= have / 2):
            d.runs.append(run)
            if not run.on_cloud:
                busy = run.accelerators * run.days / DAYS_PER_QUARTER
                d.training[run.place, "cool", run.system, t] = busy
    return problem, d


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_the_parts_sum_to_the_whole(seed: int) -> None:
    problem, d = any_plan(seed)
    books, found = allocated(problem, d)
    rate = problem.finance.discount_rate
    npv, present = npv_usd(books.flows, rate), found.present_usd()
    assert summed(found) == pytest.approx(npv, abs=CENT)
    spread = with_unused(present)
    assert sum(spread.values()) == pytest.approx(npv, abs=CENT)
    assert all(spread[x] >= sum(present[x].values()) - CENT for x in spread if x != UNUSED)
    by_quarter = sum(
        sum(parts.values()) * found.factor(t) for (_, t), parts in found.by_quarter_usd().items()
    )
    assert by_quarter == pytest.approx(npv, abs=CENT)
    assert min(present.get(UNUSED, {}).values(), default=0.0) >= -CENT
    # energy and accelerator-hours of the uses are those of the halls
    owned = [x for x in found.uses if not x.place.startswith("cloud:")]
    assert sum(x.energy_mwh for x in owned) == pytest.approx(books.total("facility_mwh"))
    for t in range(problem.quarters):
        have = sum(d.racks(problem, p.key, t) * p.accelerators for p in problem.placements)
        used = sum(x.accelerator_hours for x in owned if x.quarter == t) / HOURS_PER_QUARTER
        assert used == pytest.approx(have)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_names_permute_rows_and_a_workload_without_use_has_no_cost(seed: int) -> None:
    problem, d = any_plan(seed)
    _, found = allocated(problem, d)
    idle = DemandTerms("idle", (0.0,) * problem.quarters, {})
    renamed = replace(
        problem, demands=(*(replace(x, id=f"new-{x.id}") for x in problem.demands), idle)
    )

    def moved(amounts: dict[Any, float]) -> dict[Any, float]:
        return {(f"new-{key[0]}", *key[1:]): x for key, x in amounts.items()}

    there = replace(d, serving=moved(d.serving), rented=moved(d.rented), unmet=moved(d.unmet))
    _, again = allocated(renamed, there)
    new = {x.id: f"new-{x.id}" for x in problem.demands}
    assert again.present_usd() == {new.get(k, k): v for k, v in found.present_usd().items()}
    assert "idle" not in again.present_usd()
    assert kinds(renamed)["idle"] is Kind.CAPACITY


def test_uses_of_a_plan_without_hardware_are_empty() -> None:
    problem = small_menu()
    d = Decisions()
    assert uses_of(problem, d, make_accounts(problem, d)) == []
