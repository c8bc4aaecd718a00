"""Immersion: power without fans, limits of a tank, refusals, and the catalog's tanks."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.answers.facility.answer import facility
from dcplan.catalog.loader import load
from dcplan.catalog.schema import CoolingOption, System
from dcplan.errors import InputError
from dcplan.facility.immersion import fluid_usd, tank_ride_through_s, without_fans_kw
from dcplan.facility.racks import nodes_per_rack, split_heat_kw
from dcplan.inputs.heat_paths import conversion, in_tank, misfit, rack_limits, tank_notes
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity

TANKS = ("immersion-single-tower", "immersion-single-dry-cooler", "immersion-two-phase-tower")
CATALOG = load()


def option(key: str = TANKS[0]) -> CoolingOption:
    return CATALOG.get("cooling", key, CoolingOption)


def system(key: str = "dgx-h100", **change: Any) -> System:
    return CATALOG.get("systems", key, System).model_copy(update=change)


def test_a_dgx_h100_without_15_percent_of_fans_uses_8_67_kw() -> None:
    # 10.2 kW x (1 - 0.15) = 8.67 kW
    own = system(fan_frac=Quantity(value=0.15))
    row = in_tank(own, option(), InputLog(CATALOG))
    assert row.rated_kw is not None
    assert row.rated_kw.value == pytest.approx(8.67)
    assert row.cooling_modes == ("immersion",)


def test_the_class_share_of_fans_applies_without_a_share_of_the_system() -> None:
    # class value 0.12: 10.2 x 0.88 = 8.976 kW
    log = InputLog(CATALOG)
    row = in_tank(system(), option(), log)
    assert row.rated_kw is not None
    assert row.rated_kw.value == pytest.approx(8.976)
    assert {"facility.server-fan-air-frac", "facility.tank-conversion-usd"} <= set(log.rows)


@given(st.floats(0.5, 50.0), st.floats(0.0, 0.4))
@settings(max_examples=60, deadline=None)
def test_the_fluid_takes_all_heat_of_a_converted_server(rated_kw: float, fans: float) -> None:
    own = system(rated_kw=Quantity(value=rated_kw), fan_frac=Quantity(value=fans))
    row = in_tank(own, option(), InputLog(CATALOG))
    assert row.rated_kw is not None
    assert row.liquid_frac is not None
    air, liquid = split_heat_kw(row.rated_kw.value, row.liquid_frac.value, liquid_cooled_hall=True)
    assert air == pytest.approx(0.0, abs=1e-9)
    assert air + liquid == pytest.approx(without_fans_kw(rated_kw, fans))


def test_an_air_hall_leaves_a_server_as_it_is() -> None:
    air, row = option("air-chiller"), system()
    assert in_tank(row, air, InputLog(CATALOG)) is row
    assert conversion(row, air, InputLog(CATALOG)).usd == 0.0


@pytest.mark.parametrize(
    ("rack_kw", "rack_kg", "node_kw", "nodes", "limit"),
    [
        # 42 U over 8 U: five
        (42.0, math.inf, 8.976, 5, "height of the tank"),
        # two positions of 12 kW: 24 / 8.976 = 2.67
        (12.0, math.inf, 8.976, 2, "rack_kw_max"),
        # 110 kW of the tank over 30 kW: three
        (math.inf, math.inf, 30.0, 3, "heat of the tank"),
        # 2 x 700 - 862 kg of the filled tank = 538 kg over 130.45 kg: four
        (42.0, 700.0, 8.976, 4, "rack_kg_max"),
        # 2 x 400 kg is less than the filled tank
        (42.0, 400.0, 8.976, 0, "rack_kg_max"),
    ],
)
def test_limits_of_a_tank(
    rack_kw: float, rack_kg: float, node_kw: float, nodes: int, limit: str
) -> None:
    limits = rack_limits(option(), system(), electrical_kw=rack_kw, weight_kg=rack_kg)
    fit = nodes_per_rack(limits, node_kw, 0.0, node_kw, 130.45, 8.0)
    assert (fit.nodes, fit.limit) == (nodes, limit)


def test_a_rack_with_cold_plates_needs_the_makers_statement() -> None:
    rack = system("gb200-nvl72")
    found = misfit(rack, option())
    assert found is not None
    assert found.cause == "needs cold plates; the maker does not state that it runs in a tank"
    stated = {"allowed": True, "source": "a statement"}
    assert (
        misfit(System.model_validate(rack.model_dump() | {"immersion": stated}), option()) is None
    )


def test_a_makers_refusal_holds_for_an_air_cooled_server() -> None:
    stated = {
        "allowed": False,
        "source": {"title": "Terms of warranty", "url": "https://x.example"},
    }
    row = System.model_validate(system().model_dump() | {"immersion": stated})
    found = misfit(row, option())
    assert found is not None
    assert found.cause == "the maker does not allow a tank (Terms of warranty (https://x.example))"


def test_only_single_servers_are_converted() -> None:
    found = misfit(system("mi350x-64-air"), option())
    assert found is not None
    assert "complete rack" in found.cause


@pytest.mark.parametrize(
    ("cooling", "key", "words"),
    [
        (
            "rear-door-tower",
            "mi350x-64-air",
            "125 kW of air heat per rack; a rear door carries at most 75 kW; use liquid cooling",
        ),
        (
            "immersion-single-tower",
            "gb200-nvl72",
            "the maker does not state that it runs in a tank",
        ),
        ("air-chiller", "gb200-nvl72", "needs liquid cooling, but air-chiller provides air"),
        (
            "direct-liquid-tower",
            "dgx-h100",
            "dgx-h100 is air-cooled: 100% of the heat goes into air",
        ),
    ],
)
def test_refusals_name_heat_limit_and_next_step(cooling: str, key: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        facility(site="us-ashburn", cooling=cooling, system=key, it_mw=10)


def test_a_tank_hall_by_hand() -> None:
    """10 MW of IT: 1 MW of network and storage, 9 MW of tanks.

    A tank has 5 x 8.976 = 44.88 kW: 9,000 / 44.88 = 200.5, so 200 tanks of 946 L and 1,000 servers.
    """
    found = facility(
        site="us-ashburn", cooling="immersion-single-tower", system="dgx-h100", it_mw=10
    )
    assert found.value("tanks.count") == 200
    assert found.value("tanks.rack_positions") == 400
    assert found.value("tanks.node_kw") == pytest.approx(8.976)
    assert found.value("tanks.node_air_kw") == 10.2
    assert found.value("tanks.fluid_l") == pytest.approx(189_200)
    assert found.value("tanks.fluid_usd") == pytest.approx(189_200 * 35)
    assert found.value("tanks.conversion_usd") == pytest.approx(1_000 * 1500)
    # 862 kg + 5 x 130.45 kg
    assert found.value("tanks.tank_kg") == pytest.approx(1514.25)
    # 946 L x 1.77 kJ/L/K x 10 K / 44.88 kW
    assert found.value("tanks.ride_through_s") == pytest.approx(373.1, abs=0.1)
    assert found.value("power.itue") == 1.0
    kinds = {row["kind"]: row["racks"] for row in found.tables["racks"].records()}
    assert kinds["tank"] == 200
    assert any("warranty" in w["message"] for w in found.warnings)
    air, liquid = (
        next(r["heat_kw"] for r in found.tables["heat"].records() if r["path"] == p)
        for p in ("air", "liquid")
    )
    assert (air, liquid) == (pytest.approx(1000.0), pytest.approx(9000.0))


def test_the_comparison_has_tanks_and_their_servers_have_no_fans() -> None:
    found = facility(site="us-phoenix", system="dgx-h100", it_mw=10, compare=True)
    rows = {r["cooling"]: r for r in found.tables["options"].records()}
    for key in TANKS:
        assert rows[key]["why_not"] is None
        assert rows[key]["tue"] == rows[key]["annual_pue"]
    # the same PFLOP/s need 12 % less IT power in tanks
    air, tank = rows["rear-door-tower"], rows[TANKS[0]]
    ratio = tank["facility_kw_per_pflops"] / tank["annual_pue"]
    assert ratio == pytest.approx(0.88 * air["facility_kw_per_pflops"] / air["annual_pue"])


@pytest.mark.parametrize("site", ["us-ashburn", "us-phoenix"])
def test_warm_tanks_need_less_than_cold_plates_at_the_same_site(site: str) -> None:
    """Facility water of 32 C in tanks and 26 C for cold plates: fewer hours with chillers."""
    tank = facility(site=site, cooling=TANKS[0], system="dgx-h100", it_mw=10)
    plates = facility(site=site, cooling="direct-liquid-tower", system="gb200-nvl72", it_mw=10)
    assert tank.value("power.annual_pue") <= plates.value("power.annual_pue")
    assert tank.value("power.annual_pue") > 1.05, "vendors' 1.02 to 1.03 leaves out the power chain"


def test_a_boiling_fluid_limits_the_water_and_says_that_its_supply_ends() -> None:
    with pytest.raises(InputError, match="tanks need at most 26"):
        facility(site="us-ashburn", cooling=TANKS[2], it_mw=10, supply_c=32)
    notes = tank_notes(option(TANKS[2]), system())
    assert any("PFAS" in note for note in notes)
    assert not any("PFAS" in note for note in tank_notes(option(), system()))


def test_the_price_of_fluid_is_the_sources_share_of_the_fit_out() -> None:
    """A public review: fluid is 8 to 15 % of the fit-out; here per kW of a tank of five servers."""
    tank = option().tank
    assert tank is not None
    per_kw = fluid_usd(1, tank.fluid_l.value, tank.fluid_usd_per_l.value) / (5 * 8.976)
    share = 0.9 * per_kw / option().fit_out_usd_per_kw.value
    assert 0.08 <= share <= 0.15


def test_ride_through_is_fluid_heat_over_power() -> None:
    assert tank_ride_through_s(1000.0, 50.0, 2.0, 10.0) == pytest.approx(400.0)


@pytest.mark.parametrize("key", TANKS)
def test_a_tank_belongs_to_immersion_alone(key: str) -> None:
    row = option(key)
    assert row.accepts == ("immersion",)
    with pytest.raises(ValueError, match="needs a tank"):
        CoolingOption.model_validate(row.model_dump() | {"tank": None})
    assert row.source.title
    assert CATALOG.get("cooling", "immersion-tower", CoolingOption).id == TANKS[0]
