"""Embodied carbon of what a plan buys: sums by hand, class values from the catalog, items of a plan."""

from __future__ import annotations

import dataclasses

import pytest

import dcplan
from dcplan.answers.plan.sustainability.embodied import embodied_metrics, embodied_table
from dcplan.catalog.loader import load
from dcplan.catalog.schema import OnsitePower, Parameter, System
from dcplan.energy.embodied import Footprint, embodied
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.embodied import PLANTS, Footprints, plant_footprint, system_footprint
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.energy import OnsiteTerms
from dcplan.planning.problem.terms import PlanningProblem
from tests.planning.small import HALL, small_menu

ROW = Footprint(1000.0, 800.0, 1200.0)
KW = Footprint(100.0, 50.0, 300.0, by_class=True)


def test_a_class_value_times_rated_power() -> None:
    """GB200 NVL72 has no value of its own: 433 kg/kW (257 to 640) x rated kW; DGX H100 has 3,936 kg."""
    catalog = load()
    log = InputLog(catalog)
    rack = catalog.get("systems", "gb200-nvl72", System)
    assert rack.embodied_kg is None
    assert rack.rated_kw is not None
    found, kw = system_footprint(rack, log), rack.rated_kw.value
    assert found == Footprint(433 * kw, 257 * kw, 640 * kw, by_class=True)
    server = system_footprint(catalog.get("systems", "dgx-h100", System), log)
    assert server == Footprint(3936.0, 2624.0, 5248.0)
    assert "power.embodied-server-kg-per-kw" in log.rows
    assert "systems.dgx-h100.embodied_kg" in log.rows


def test_class_values_follow_from_their_sources() -> None:
    """HGX H100 1,312 kg x 3 over 10.2 kW, HGX B200 1,312 x 0.50 / 0.66 x 2.3 x 3 over 14.3 kW; 9,000 t
    over 50 MW; services of 14 to 60 % beside a building of 180 kg/kW, half for each of two."""
    catalog = load()

    def value(key: str) -> tuple[float, float, float]:
        found = catalog.get("power", key, Parameter).value
        return (found.value, *found.bounds)

    h100, b200 = 1312 * 3 / 10.2, 1312 * 0.50 / 0.66 * 2.3 * 3 / 14.3
    assert value("embodied-server-kg-per-kw") == pytest.approx(
        ((h100 + b200) / 2, h100 * 2 / 3, b200 * 4 / 3), rel=0.003
    )
    assert value("embodied-building-kg-per-kw")[0] == 9_000_000 / 50_000
    low, high = 180 * 0.14 / 0.86 / 2, 180 * 0.6 / 0.4 / 2
    for key in ("embodied-power-kg-per-kw", "embodied-cooling-kg-per-kw"):
        assert value(key) == pytest.approx(((low + high) / 2, low, high), rel=0.02)
    assert value("embodied-storage-kg-per-tb") == pytest.approx(
        ((69.3 / 4 + 3379 / 8 / 3.84) / 2, 69.3 / 4, 3379 / 8 / 3.84), rel=0.01
    )


def test_a_plant_has_the_value_of_its_row_or_the_class_of_its_kind() -> None:
    """A battery of 4 h has 4 x 115 kg/kW in its row; a reactor has the class of nuclear plants."""
    catalog = load()
    log = InputLog(catalog)
    battery = catalog.get("onsite", "lithium-battery-4h", OnsitePower)
    assert plant_footprint(battery, log) == Footprint(4 * 115.0, 4 * 77.0, 4 * 153.0)
    reactor = catalog.get("onsite", "small-modular-reactor", OnsitePower)
    assert plant_footprint(reactor, log) == Footprint(466.0, 224.0, 708.0, by_class=True)
    assert "power.embodied-nuclear-kg-per-kw" in log.rows
    blank = battery.model_copy(update={"embodied_kg_per_kw": None})
    assert plant_footprint(blank, log) is None
    for row in catalog.rows["onsite"].values():
        assert isinstance(row, OnsitePower)
        assert plant_footprint(row, log) is not None, row.id


def test_classes_of_plants_follow_from_their_sources() -> None:
    """A combined cycle of 630 MW (ElectricityLCI) has 136.41 kt CO2, 0.5337 kt CH4 x 28 and 0.00435 kt
    N2O x 265; EnergyScope has 183.8 kg/kW. Heat and power: 1,024 kg per kW of heat at 46 % heat and 44 %
    power, 2,193 at 22 % and 58 %. Capacity emissions of a year times the life: 39.901 x 30 (gas),
    3.735 x 60 (nuclear), 63.246 x 30 (geothermal). NREL: 32.0 g/kWh x 0.8 x 8,760 h x 30."""
    gas_plant = (136.41 + 0.5337 * 28 + 0.00435 * 265) * 1e6 / 630e3
    engine, cell = 1024 * 46 / 44, 2193 * 22 / 58
    reactor, wells = 3.735 * 60, 63.246 * 30
    by_hand = {
        "turbine": ((183.8 + gas_plant) / 2, 183.8, 39.901 * 30),
        "engine": ((gas_plant + engine) / 2, gas_plant, engine),
        "fuel-cell": (cell, cell / 2, 2193),
        "nuclear": ((reactor + 707.9) / 2, reactor, 707.9),
        "geothermal": (wells, wells / 2, 0.032 * 0.8 * 8760 * 30),
    }
    assert by_hand.keys() == PLANTS.keys()
    for kind, values in by_hand.items():
        found = load().get("power", PLANTS[kind], Parameter).value
        assert (found.value, *found.bounds) == pytest.approx(values, rel=0.002), kind


def test_the_sum_adds_bounds_and_separates_classes() -> None:
    """2 x 1,000 kg of a row and 30 x 100 kg of a class."""
    found = embodied([ROW.times(2), KW.times(30)])
    assert (found.t, found.low_t, found.high_t) == (5.0, 3.1, 11.4)
    assert (found.class_t, found.class_low_t, found.class_high_t) == (3.0, 1.5, 9.0)


def two_racks(known: Footprints) -> tuple[PlanningProblem, Decisions]:
    """Two racks of 2 nodes in one new hall of 0.3 MW with wet cooling, behind two blocks of 0.1 MW."""
    problem = dataclasses.replace(small_menu(), jobs=(), demands=(), footprints=known)
    plan = Decisions(
        ordered={(HALL, "wet", "b", 0): 2},
        fitted={(HALL, "wet", 1): 1},
        fabric={HALL: "eth/2t"},
        blocks={("s", 1): 2},
    )
    return problem, plan


def test_the_goods_of_a_plan_by_hand() -> None:
    """4 nodes x 1,000 kg of the row; 100 kg/kW of 300 kW of cooling, 300 x 1.2 of building, 200 of
    blocks, and of the network. Bounds of the class: 50 and 300 kg/kW."""
    known = Footprints({"b": ROW}, {}, KW, None, KW, KW, KW)
    problem, plan = two_racks(known)
    books = make_accounts(problem, plan)
    rows = {r["group"]: r for r in embodied_table(problem, plan, books).records()}
    network_kw = sum(books.network_kw_bought.values())
    assert network_kw == pytest.approx(books.ordered_networks[HALL, 1].kw)
    assert network_kw > 0.0
    kw = {"cooling": 300.0, "building": 360.0, "power": 200.0, "network": network_kw}
    for group, amount in kw.items():
        row = rows[group]
        assert row["quantity"] == pytest.approx(amount)
        assert row["embodied_t"] == pytest.approx(amount * 0.1)
        assert (row["low_t"], row["high_t"]) == pytest.approx((amount * 0.05, amount * 0.3))
        assert row["value"] == "class of equipment"
    assert (rows["system"]["quantity"], rows["system"]["embodied_t"]) == (2, 4.0)
    assert rows["system"]["value"] == "row of the product"
    found = embodied_metrics(problem, plan, books)
    coarse = sum(kw.values()) * 0.1
    assert found["carbon.embodied_t"].value == pytest.approx(4.0 + coarse)
    assert found["carbon.embodied_t"].low == pytest.approx(3.2 + coarse / 2)
    assert found["carbon.embodied_class_t"].value == pytest.approx(coarse)
    text = f"of which {coarse:,.0f} t are class values ({coarse / 2:,.0f} to {coarse * 3:,.0f})"
    assert text in found["carbon.embodied_t"].label


def test_plants_of_a_class_count_in_the_table_and_both_sums() -> None:
    """Three engines of 50 kW x 100 kg/kW (50 to 300) are 15 t (7.5 to 45), all of it of a class."""
    engine = OnsiteTerms(
        "engine", 0.05, 60e3, 500.0, 90.0, 450.0, lead=0, most_units=8, spare_units=1
    )
    problem, plan = two_racks(Footprints({"b": ROW}, {"engine": KW}))
    site = dataclasses.replace(problem.sites[0], onsite=(engine,))
    problem = dataclasses.replace(problem, sites=(site,))
    plan = dataclasses.replace(plan, onsite={("s", "engine", 1): 3})
    books = make_accounts(problem, plan)
    row = next(r for r in embodied_table(problem, plan, books).records() if r["item"] == "engine")
    assert (row["group"], row["unit"]) == ("plant on site", "kW")
    assert row["quantity"] == pytest.approx(150.0)
    assert (row["embodied_t"], row["low_t"], row["high_t"]) == pytest.approx((15.0, 7.5, 45.0))
    assert row["value"] == "class of equipment"
    found = embodied_metrics(problem, plan, books)
    assert found["carbon.embodied_t"].value == pytest.approx(4.0 + 15.0)
    assert found["carbon.embodied_class_t"].value == pytest.approx(15.0)
    assert found["carbon.embodied_class_t"].high == pytest.approx(45.0)


def test_unknown_items_are_rows_without_a_number() -> None:
    """Without class values those rows are empty, and the metric has the racks alone; without any system
    it is empty."""
    problem, plan = two_racks(Footprints({"b": ROW}))
    books = make_accounts(problem, plan)
    rows = {r["group"]: r for r in embodied_table(problem, plan, books).records()}
    assert (rows["network"]["embodied_t"], rows["network"]["value"]) == (None, "no value known")
    assert embodied_metrics(problem, plan, books)["carbon.embodied_t"].value == 4.0
    bare, _ = two_racks(Footprints())
    assert embodied_metrics(bare, plan, books)["carbon.embodied_t"].value is None


def test_facility_has_the_bounds_of_the_class() -> None:
    """`dcplan facility` spreads the value of the class, and its bounds, over the life of the racks."""
    found = dcplan.facility(
        site="us-ashburn",
        cooling="direct-liquid-dry-cooler",
        system="gb200-nvl72",
        it_mw=10.0,
        job="llama-3.1-8b",
    )
    metric = found.metrics["train.carbon_embodied_t"]
    assert metric.low is not None
    assert metric.high is not None
    assert metric.low / metric.value == pytest.approx(257 / 433)  # type: ignore[operator]
    assert metric.high / metric.value == pytest.approx(640 / 433)  # type: ignore[operator]
