"""Assets and orders: enumeration on tiny menus, hand calculations, the audit's faults, reading a
scenario."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from dcplan.economics.cash_flow import AssetClass, FlowGroup, cash_out_usd, totals_usd
from dcplan.errors import InputError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.decision_specs import DISPOSED
from dcplan.planning.decision_table import columns_of, to_table
from dcplan.planning.decisions import Decisions
from dcplan.planning.model.build import build_model
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import ExistingTerms, PartsTerms, PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.solve.status import SolveStatus
from dcplan.scenario.load import load
from tests.planning.brute import best_cost
from tests.planning.small import HALL, small_menu
from tests.planning.tiny import tiny_menu


def with_held(seed: int) -> PlanningProblem:
    """A tiny menu with one rack of its first system: an asset that may be sold, or an order that
    may be cancelled."""
    rng = np.random.default_rng(20_000 + seed)
    problem = tiny_menu(seed)
    place, n = problem.placements[0], problem.quarters
    price = place.price_usd * float(rng.uniform(0.3, 1.0))
    if seed % 2:
        first = int(rng.integers(0, n))
        existing = ExistingTerms(
            "h",
            place.key,
            1,
            first,
            first + 20,
            0.5 * price,
            due_usd=float(rng.uniform(0.2, 0.9)) * price,
            cancel_usd=float(rng.uniform(-0.2, 0.4)) * price,
        )
        halls = tuple(dataclasses.replace(h, available_from=0) for h in problem.halls)
    else:
        sold = tuple(price * x for x in sorted(rng.uniform(0.3, 0.9, n), reverse=True))
        last = int(rng.integers(1, n + 3))
        existing = ExistingTerms(
            "h", place.key, 1, 0, last, 0.3 * price if last > n else 0.0, sold, in_service=True
        )
        paid = {o.id: place.ports * next(iter(o.shares.values())).usd for o in problem.fabrics}
        halls = tuple(
            dataclasses.replace(
                h,
                available_from=0,
                existing=True,
                needs_blocks=False,
                existing_units={"cool": 1},
                existing_units_usd=paid,
            )
            for h in problem.halls
        )
    return dataclasses.replace(problem, existing=(existing,), halls=halls)


@pytest.mark.parametrize("seed", range(30))
def test_optimum_equals_enumeration(seed: int) -> None:
    problem = with_held(seed)
    expected = best_cost(problem)
    outcome = highs.solve(compile_model(build_model(problem)[0]), gap=0.0, time_limit_s=60)
    if math.isinf(expected):
        assert outcome.status == SolveStatus.INFEASIBLE
    else:
        assert outcome.objective * 1e6 == pytest.approx(expected, rel=1e-6, abs=1.0)


def test_the_enumeration_keeps_and_parts() -> None:
    """The sample holds assets kept, assets sold, orders kept and orders cancelled."""
    ways = set()
    for seed in range(30):
        problem = with_held(seed)
        matrix = compile_model(build_model(problem)[0])
        found = highs.solve(matrix, gap=0.0, time_limit_s=60)
        if found.values is not None:
            gone = any(
                v > 0.5
                for key, v in zip(matrix.columns, found.values, strict=True)
                if key.name == "disposed"
            )
            ways.add((problem.existing[0].in_service, gone))
    assert ways == {(True, False), (True, True), (False, False), (False, True)}


def existing_problem(**changes: object) -> PlanningProblem:
    """The small menu with two old racks of a under wet in one of its two hall units, and no
    demand."""
    problem = small_menu()
    existing = ExistingTerms(
        "old", (HALL, "wet", "a"), 2, 0, 9, 100e3, (300e3, 200e3), in_service=True
    )
    hall = dataclasses.replace(
        problem.halls[0], existing_units={"wet": 1}, existing_units_usd={"eth/2t": 96e3}
    )
    existing = dataclasses.replace(existing, **changes)  # type: ignore[arg-type]
    return dataclasses.replace(
        problem, existing=(existing,), halls=(hall,), jobs=(), run_options=(), demands=()
    )


def test_flows_of_a_kept_and_a_sold_rack_by_hand() -> None:
    problem = existing_problem()
    d = Decisions(
        fitted={(HALL, "wet", 0): 1, (HALL, "wet", 1): 1},
        fabric={HALL: "eth/2t"},
        disposed={("old", 1): 1},
    )
    books = make_accounts(problem, d)
    assert totals_usd(books.flows)["capex"] == pytest.approx(
        0.0
    )  # hall, network and racks are paid
    assert totals_usd(books.flows)["residual"] == pytest.approx(
        -200e3 - 100e3
    )  # one sold in Q2, one left at the end
    assert [books.halls[HALL, t].racks for t in (0, 1)] == [2, 1]
    assert min(cash_out_usd(books.flows, 2)) > 0.0  # a sale never lowers what a budget must cover


def test_flows_of_an_order_by_hand() -> None:
    problem = existing_problem(
        in_service=False, first=1, due_usd=800e3, storage_usd=50e3, cancel_usd=-150e3, resale_usd=()
    )
    problem = dataclasses.replace(
        problem,
        halls=(dataclasses.replace(problem.halls[0], existing_units={}, existing_units_usd={}),),
    )
    units = {(HALL, "wet", 1): 1}
    d = Decisions(
        fitted=units, fabric={HALL: "eth/2t"}, blocks={("s", 1): 3}, disposed={("old", 0): 1}
    )
    flows = [f for f in make_accounts(problem, d).flows if f.group is FlowGroup.CAPEX]
    lines = {(f.line, f.quarter): f.usd for f in flows}
    assert lines["order old", 1] == pytest.approx(750e3)
    assert lines["order old storage", 1] == pytest.approx(50e3)
    assert lines["cancellation old", 0] == pytest.approx(-150e3)  # more was paid ahead than the fee
    classes = {f.line: f.asset for f in flows}
    assert classes["order old"] is classes["order old storage"] is AssetClass.EXISTING
    assert classes["cancellation old"] is AssetClass.OTHER


@pytest.mark.parametrize(
    ("spoil", "name"),
    [
        (lambda d: d.disposed.update({("old", 0): 3}), "racks sold or cancelled"),
        (
            lambda d: d.disposed.update({("gone", 0): 1}),
            "racks sold or cancelled outside the allowed quarters",
        ),
        (lambda d: d.fitted.update({(HALL, "wet", 0): 0}), "hall units in use by assets"),
    ],
)
def test_planted_faults_are_found(spoil: object, name: str) -> None:
    problem = existing_problem()
    d = Decisions(
        fitted={(HALL, "wet", 0): 1, (HALL, "wet", 1): 1},
        fabric={HALL: "eth/2t"},
        blocks={("s", 0): 2, ("s", 1): 2},
    )
    assert not [c for c in all_checks(problem, d, make_accounts(problem, d)) if not c.holds]
    spoil(d)  # type: ignore[operator]
    assert name in {
        c.name for c in all_checks(problem, d, make_accounts(problem, d)) if not c.holds
    }


def test_a_model_with_fewer_fabrics_has_their_cost_alone() -> None:
    """The search of large models keeps one fabric of a hall; the assets' network is known for all."""
    problem = existing_problem()
    more = {"eth/2t": 96e3, "eth/3t": 150e3}
    parts = {"switches": {"eth/2t": 3, "eth/3t": 5}, "transceivers": {"eth/2t": 64, "eth/3t": 96}}
    hall = dataclasses.replace(problem.halls[0], existing_units_usd=more, existing_parts=parts)
    limits = tuple(PartsTerms(x, (100.0, 100.0)) for x in parts)
    both = dataclasses.replace(problem, halls=(hall,), parts=limits)
    costs = [
        highs.solve(compile_model(build_model(x)[0]), gap=0.0, time_limit_s=60).objective
        for x in (problem, both)
    ]
    assert costs[0] == pytest.approx(costs[1])


def test_decisions_come_back() -> None:
    d = Decisions(fitted={(HALL, "wet", 0): 1}, fabric={HALL: "eth/2t"}, disposed={("old", 1): 1})
    values, wrong = columns_of(existing_problem(), to_table(d))
    assert not wrong
    assert values[DISPOSED.key("old", 1)] == 1.0


TEXT = """
dcplan: 1
name: held
horizon: {start: 2027-Q1, quarters: 4}
finance: {hardware_life_years: 5, hardware_price_change_frac_per_year: -0.2, residual: 0.1}
sites:
  - id: frankfurt
    location: de-frankfurt
    utility_mw: 9
    halls:
      - {id: old, existing: true, racks: 60, rack_kw_max: 34, it_mw: 1.8, cooling: [air-chiller]}
      - {id: new, racks: 48, rack_kw_max: 160, it_mw: 6, air_mw: 1.2, cooling: [direct-liquid-dry-cooler]}
systems: [dgx-h200, gb200-nvl72]
fabrics: [ib-ndr-400, eth-800]
supply: [{system: gb200-nvl72, price_usd: [3.0e6, 2.9e6, 2.8e6, 2.7e6]}]
assets:
  - {id: old-h100, system: dgx-h100, hall: old, accelerators: 128, in_service: 2024-Q1, price_usd: 300e3,
     may_sell: true, fabric: ib-ndr-400,
     }
  - {id: spent, system: dgx-h100, hall: old, accelerators: 24, in_service: 2021-Q1, may_sell: true, fabric: ib-ndr-400}
orders:
  - {id: po, system: gb200-nvl72, hall: new, accelerators: 144, placed: 2026-Q4, expected: 2027-Q2,
     slip_days: {p50: 100, p90: 150}, paid_frac: 0.2, cancellation_fee_frac: 0.3, price_usd: 3.0e6}
workloads: {capacity: [{id: hours, accelerator_hours: 2.0e5, utilization_frac: 1}]}
"""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> PlanningProblem:
    file = tmp_path_factory.mktemp("held") / "held.yaml"
    file.write_text(TEXT, encoding="utf-8")
    return build(load(file)).problem


def test_an_asset_ages(read: PlanningProblem) -> None:
    """Three years old: 8 quarters left; a line from 1 to 0.1 over 5 years is 0.4375 half a quarter
    later."""
    asset = next(x for x in read.existing if x.id == "old-h100")
    nodes = next(p.nodes for p in read.placements if p.key == asset.key)
    assert asset.racks * nodes * 8 == 128
    assert (asset.first, asset.last) == (0, 8)
    age = 3 + 0.5 / 4
    assert asset.resale_usd[0] == pytest.approx(300e3 * nodes * (1 - 0.9 * age / 5))
    assert asset.end_usd == pytest.approx(300e3 * nodes * (1 - 0.9 * 4 / 5))
    assert [x.reason for x in read.excluded if x.id == "spent"] == [
        "it is at its end of life when the plan begins"
    ]
    assert read.hall("frankfurt/old").existing_units == {"air-chiller": 1}
    assert all(o.family == "ib-ndr-400" for o in read.fabrics if o.hall == "frankfurt/old")


def test_an_asset_keeps_its_share_at_the_end_of_life(tmp_path: Path) -> None:
    """At the end of its life, which is that of the horizon, 0.1 of its price is left, as of a purchase."""
    file = tmp_path / "held.yaml"
    longer = TEXT.replace("quarters: 4", "quarters: 8")
    longer = longer.replace("[3.0e6, 2.9e6, 2.8e6, 2.7e6]", "3.0e6")
    file.write_text(longer, encoding="utf-8")
    found = build(load(file)).problem
    asset = next(x for x in found.existing if x.id == "old-h100")
    nodes = next(p.nodes for p in found.placements if p.key == asset.key)
    assert asset.last == found.quarters == 8
    assert asset.end_usd == pytest.approx(300e3 * nodes * 0.1)


def test_an_order_slips_by_whole_quarters_and_the_rest_delays_jobs(read: PlanningProblem) -> None:
    """100 days at P50 are one quarter of 91.3 days and 8.7 days: Q2 becomes Q3."""
    order = next(x for x in read.existing if x.id == "po")
    assert order.first == 2
    assert order.cancel_usd == pytest.approx(3.0e6 * (0.3 - 0.2))
    assert order.due_usd == pytest.approx(3.0e6 * 0.8 + order.storage_usd)
    assert order.racks == 2


def test_prices_change_by_order_quarter(read: PlanningProblem) -> None:
    h200 = next(p for p in read.placements if p.system == "dgx-h200")
    assert h200.rack_usd(2) == pytest.approx(h200.price_usd * 0.8**0.5)
    nvl = next(p for p in read.placements if p.system == "gb200-nvl72")
    assert [nvl.rack_usd(t) for t in range(4)] == pytest.approx([3.0e6, 2.9e6, 2.8e6, 2.7e6])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("hall: old, accelerators: 128", "accelerators: 128", "name the hall"),
        ("hall: old, accelerators: 128", "hall: new, accelerators: 128", "not marked existing"),
        ("accelerators: 128", "accelerators: 100", "not a multiple of 8"),
        ("in_service: 2024-Q1", "in_service: 2027-Q2", "not before the start of the horizon"),
        ("expected: 2027-Q2", "expected: 2029-Q2", "outside the horizon"),
        ("placed: 2026-Q4", "placed: 2027-Q2", "not before the start of the horizon"),
        ("id: po,", "id: spent,", "occurs twice"),
        (", fabric: ib-ndr-400,\n", ",\n", "name the fabric"),
        ("{p50: 100, p90: 150}", "{p50: 100, p90: 50}", "p10 <= p50 <= p90"),
        (
            "system: dgx-h100, hall: old, accelerators: 128",
            "system: dgx-h10, hall: old, accelerators: 128",
            "dgx-h10",
        ),
    ],
)
def test_wrong_entries_are_refused_with_the_place(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    file = tmp_path / "held.yaml"
    assert old in TEXT
    file.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load(file)
    assert any(words in p.cause and p.place.line > 1 for p in error.value.problems)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nodes_per_rack: 2, ", "nodes_per_rack: 500, ", "do not fill one rack"),
        ("fabric: ib-ndr-400,\n", "fabric: spectrum-x-800,\n", "no fabric"),
        ("racks: 60,", "racks: 3,", "needs"),
        ("racks: 60,", "available_from: 2027-Q3, racks: 60,", "available only from"),
    ],
)
def test_hardware_that_cannot_stand_there_is_refused_with_the_place(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    file = tmp_path / "held.yaml"
    text = TEXT.replace("in_service: 20", "nodes_per_rack: 2, in_service: 20")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    try:
        problems = presolve(question := load(file), build(question))
    except InputError as error:
        problems = list(error.problems)
    assert any(words in p.cause and p.place.line > 1 for p in problems)


def test_an_order_that_slips_beyond_the_horizon_brings_nothing(tmp_path: Path) -> None:
    file = tmp_path / "held.yaml"
    file.write_text(TEXT.replace("{p50: 100, p90: 150}", "{p50: 300, p90: 400}"), encoding="utf-8")
    problem = build(load(file)).problem
    assert [x.id for x in problem.existing] == ["old-h100"]
    assert any("order po" in w and "after the horizon" in w for w in problem.warnings)
