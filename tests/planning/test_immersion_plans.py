"""Plans of immersion halls: converted power and price, the audit, the workbook, refusals."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import dcplan
from dcplan.planning.audit.facts import differences
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import Placement
from dcplan.result import Result
from dcplan.scenario.load import Question, load
from tests.cli.conftest import TINY

TANK = TINY.replace("airside-economizer-air-chiller", "immersion-single-tower")


def question(folder: Path, text: str = TANK, sets: tuple[str, ...] = ()) -> Question:
    (folder / "tank.yaml").write_text(text, encoding="utf-8")
    return load(str(folder / "tank.yaml"), sets=sets)


def placed(folder: Path, text: str = TANK, sets: tuple[str, ...] = ()) -> Placement:
    (one,) = build(question(folder, text, sets)).problem.placements
    return one


def plan(folder: Path, text: str = TANK, sets: tuple[str, ...] = ()) -> Result:
    (folder / "tank.yaml").write_text(text, encoding="utf-8")
    return dcplan.plan(str(folder / "tank.yaml"), sets=list(sets))


def test_a_tank_of_dgx_h200_by_hand(tmp_path: Path) -> None:
    """8 U each in 42 U: five. Rated 5 x 10.2 x 0.85, training 0.75 and idle 0.25 of it.

    All heat goes into the fluid, pumps use 0.0125 of it. The price has the conversion, the weight
    the filled tank: 862 + 5 x 130.45 kg.
    """
    rack = placed(tmp_path, sets=("prices.dgx-h200.fan_frac=0.15",))
    assert (rack.nodes, rack.slots) == (5, 2)
    assert rack.rated_kw == pytest.approx(43.35)
    assert rack.training_kw == pytest.approx(43.35 * 0.75)
    assert rack.idle_kw == pytest.approx(43.35 * 0.25)
    assert (rack.air_kw, rack.liquid_kw) == (pytest.approx(0.0), pytest.approx(43.35))
    assert rack.overhead_kw == pytest.approx(43.35 * 0.0125)
    assert rack.price_usd == pytest.approx(5 * (350_000 + 1_500))
    assert rack.weight_kg == pytest.approx(1514.25)
    assert "tank on 2 rack positions; 5 nodes: 40 U of 42 U" in rack.fit_reason


def test_the_same_server_in_air_keeps_its_fans(tmp_path: Path) -> None:
    rack = placed(tmp_path, TINY, sets=("prices.dgx-h200.fan_frac=0.15",))
    assert rack.rated_kw / rack.nodes == pytest.approx(10.2)
    assert (rack.conversion_usd, rack.fan_frac) == (0.0, 0.0)


def test_the_weight_of_a_filled_tank_counts(tmp_path: Path) -> None:
    """2 positions of 600 kg less 862 kg are 338 kg: two servers of 130.45 kg."""
    rack = placed(tmp_path, sets=("sites.s.halls.h.rack_kg_max=600",))
    assert rack.nodes == 2


def test_the_audit_recomputes_a_converted_placement(tmp_path: Path) -> None:
    asked = question(tmp_path)
    problem = build(asked).problem
    (rack,) = problem.placements
    assert differences(problem, asked, [rack.key]) == []
    for field in ("rated_kw", "training_kw", "peak_kw", "liquid_kw", "price_usd", "weight_kg"):
        wrong = dataclasses.replace(rack, **{field: getattr(rack, field) * 1.01})
        found = differences(dataclasses.replace(problem, placements=(wrong,)), asked, [rack.key])
        assert len(found) == 1
        assert field in found[0]


def test_a_small_tank_hall_is_planned_with_its_notes(tmp_path: Path) -> None:
    """20 PFLOP/s: two tanks. Racks cost 10 x (350,000 + 1,500), fit-out 2 MW x 5,000 USD/kW.

    Chillers for the share of the heat on the design day cost 233 USD/kW: 11.7 % of 2 MW, 54,308 USD.
    """
    found = plan(tmp_path, sets=("sites.s.halls.h.existing=true",))
    assert found.exit_code == 0
    (row,) = found.tables["racks"].records()
    assert (row["racks"], row["accelerators"]) == (2, 80)
    assert found.value("racks.dgx-h200") == 2, "tanks, not their four rack positions"
    assert "80 accelerators (2 tanks dgx-h200)" in found.headline
    assert row["rated_kw"] == pytest.approx(10 * 8.976)
    assert row["price_usd"] == pytest.approx(10 * 351_500)
    notes = " ".join(w["message"] for w in found.warnings if w["code"] == "tank")
    assert "8.976 kW instead of 10.2 kW" in notes
    assert "conversion normally ends the maker's warranty" in notes
    assert "includes tanks and fluid, 946 L or about USD 33,110" in notes
    lines = {r["line"]: r["usd"] for r in found.tables["cost"].records() if r["usd"] > 0}
    chilled = found.input_value("sites.s.halls.h.immersion-single-tower.peak_chilled_frac")
    assert 0.0 < chilled < 0.2
    assert lines["cooling and fit-out"] == pytest.approx(10e6 + 2_000 * chilled * 233)


def test_the_plan_may_choose_tanks_where_power_is_short(tmp_path: Path) -> None:
    """On the design day, 20 PFLOP/s need 0.151 MW in air (8 servers) and 0.126 MW in two tanks.

    With 4 MW the cheap air hall wins; with 0.14 MW only the tanks fit.
    """
    both = TINY.replace(
        "[airside-economizer-air-chiller]",
        "[airside-economizer-air-chiller, immersion-single-tower]",
    )
    cheap = plan(tmp_path, both)
    assert {r["cooling"] for r in cheap.tables["racks"].records()} == {
        "airside-economizer-air-chiller"
    }
    short = plan(tmp_path, both, sets=("sites.s.utility_mw=0.14",))
    assert short.exit_code == 0
    assert {r["cooling"] for r in short.tables["racks"].records()} == {"immersion-single-tower"}


def test_a_rack_of_cold_plates_is_refused_in_a_tank(tmp_path: Path) -> None:
    found = plan(tmp_path, TANK.replace("[dgx-h200]", "[gb200-nvl72]"))
    assert found.exit_code != 0
    reasons = {r["id"]: r["reason"] for r in found.tables["excluded"].records()}
    assert reasons["gb200-nvl72"] == (
        "needs cold plates; the maker does not state that it runs in a tank; "
        "use direct-liquid-tower or direct-liquid-dry-cooler"
    )


def test_a_rear_door_beyond_its_limit_is_refused_in_words(tmp_path: Path) -> None:
    door = TINY.replace("airside-economizer-air-chiller", "rear-door-tower")
    door = door.replace("rack_kw_max: 42", "rack_kw_max: 200")
    found = build(question(tmp_path, door.replace("[dgx-h200]", "[mi350x-64-air]"))).problem
    assert [x.reason for x in found.excluded if x.id == "mi350x-64-air"] == [
        "125 kW of air heat per rack; a rear door carries at most 75 kW; use liquid cooling"
    ]
