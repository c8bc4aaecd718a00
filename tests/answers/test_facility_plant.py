"""`dcplan facility`: central plant, water permit, long-lead equipment, footprint of a run, rack
floor."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.errors import InputError
from dcplan.report.svg.floor import floor_svg

NVL: dict[str, Any] = {
    "site": "us-ashburn",
    "cooling": "direct-liquid-tower",
    "system": "gb300-nvl72",
    "it_mw": 50.0,
}


def _plant(**asked: Any) -> dict[str, dict[str, Any]]:
    frame = facility(**asked).frame("plant").set_index("equipment")
    return {str(name): dict(row) for name, row in frame.iterrows()}


def test_towers_reject_what_the_hall_and_the_chillers_leave() -> None:
    """Energy: towers reject the IT heat and the compressors' work, so more than IT and less than
    the site's power."""
    rows = _plant(**NVL)
    site_mw = facility(**NVL).value("power.peak_facility_mw")
    assert 50.0 < rows["tower"]["design_heat_mw"] < site_mw
    # on the design day the chillers' COP lies between 2 and 8
    work = rows["tower"]["design_heat_mw"] - 50.0
    assert 2.0 < rows["chiller"]["design_heat_mw"] / work < 8.0


def test_warm_water_leaves_chillers_the_room_air_alone() -> None:
    """At 40 C of water cold plates need no chillers: 0.19 of the heat, that of room air, may."""
    rows = _plant(**NVL | {"supply_c": 40.0})
    assert rows["chiller"]["design_heat_mw"] <= 0.19 * 50.0 + 1e-9


def test_units_with_one_to_spare() -> None:
    """Dry coolers of 0.8 MW for 50 MW and the work of the room air's chillers: at most 9.5 MW of
    heat at a COP above 2.5 add less than 4 MW; one unit more than ceil(heat / 0.8)."""
    rows = _plant(
        climate_zone="5B", cooling="direct-liquid-dry-cooler", system="gb300-nvl72", it_mw=50.0
    )
    row = rows["dry-cooler"]
    assert 50.0 < row["design_heat_mw"] < 54.0
    assert row["units_with_spare"] == math.ceil(row["design_heat_mw"] / 0.8) + 1
    assert row["unit_mw"] == pytest.approx(
        row["design_heat_mw"] / (row["units_with_spare"] - 1), rel=1e-12
    )
    assert row["basis"] == "model"


def test_tabulated_chillers_move_the_hall() -> None:
    """Midsize: losses of the chain, lighting of 3.5 % and fans of 5.85 % on 5 MW."""
    found = facility(climate_zone="2B", cooling="air-chiller", it_mw=5.0)
    row = found.frame("plant").set_index("equipment").loc["chiller"]
    before = found.value("power.electrical_loss_frac")
    assert row["design_heat_mw"] == pytest.approx(5 * (1 + before + 0.035 + 0.0585), rel=1e-6)
    assert row["basis"] == "estimate"


def test_permit_of_water_a_day() -> None:
    """The design day's water is in proportion to IT power: a permit of half of it carries half."""
    day = facility(**NVL).value("water.peak_day_m3")
    found = facility(**NVL, water_permit_m3_per_day=day / 2)
    assert found.value("water.permit_it_mw") == pytest.approx(25.0)
    assert any("exceeds the permit" in w["message"] for w in found.warnings)
    within = facility(**NVL, water_permit_m3_per_day=day * 2)
    assert any("within the permit" in w["message"] for w in within.warnings)


def test_permit_of_a_tabulated_option_is_said_to_be_unchecked() -> None:
    found = facility(
        climate_zone="4A", cooling="water-chiller", it_mw=5.0, water_permit_m3_per_day=10.0
    )
    assert found.metrics["water.permit_it_mw"].value is None
    assert any("not checked" in w["message"] for w in found.warnings)


def test_last_days_to_order() -> None:
    """2028-01-01 less 128 weeks (896 days) is 2025-07-19; less 144 weeks 2025-03-29."""
    row = (
        facility(**NVL, energization_date="2028-01-01")
        .frame("lead_times")
        .set_index("equipment")
        .loc["power-transformer"]
    )
    assert (row["order_by"], row["order_by_if_slow"]) == ("2025-07-19", "2025-03-29")
    assert "lead_times" not in facility(**NVL).tables


def test_a_date_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="2028-13"):
        facility(**NVL, energization_date="2028-13-01")


def test_two_sides_run_half_loaded() -> None:
    """2N: either side carries all, so blocks are even and half loaded at most, where a UPS loses
    more of its load."""
    row = facility(**NVL, redundancy="2n").frame("power_blocks").set_index("class").loc["compute"]
    assert row["blocks"] % 2 == 0
    assert row["block_load_frac"] <= 0.5
    single = facility(**NVL, redundancy="n").frame("power_blocks").set_index("class").loc["compute"]
    assert row["ups_frac"] < single["ups_frac"]


def test_footprint_of_a_run() -> None:
    """Water and carbon follow its energy: WUE over PUE, and the grid's factor; embodied by time
    over four years."""
    asked = {
        "site": "us-ashburn",
        "cooling": "waterside-economizer",
        "system": "dgx-h100",
        "it_mw": 10.0,
    }
    found = facility(**asked, job="llama-3.1-8b")
    mwh = found.value("train.energy_mwh")
    wue, pue = found.value("water.annual_wue_l_per_kwh"), found.value("power.annual_pue")
    assert found.value("train.water_m3") == pytest.approx(mwh * wue / pue)
    per_mwh = found.value("carbon.operational_t") / found.value("energy.annual_mwh")
    assert found.value("train.carbon_operational_t") == pytest.approx(mwh * per_mwh)
    # 9 MW of compute over racks of 20.4 kW: 441, of two systems of 3,936 kg
    life = next(r["value"] for r in found.inputs if r["key"] == "finance.hardware-life-years")
    kg = 882 * 3936 * found.value("train.days_p50") / (life * 365.25)
    assert found.value("train.carbon_embodied_t") == pytest.approx(kg / 1000)


def test_racks_of_a_hall_by_hand() -> None:
    """18 of 20 MW over 135 kW a rack: 133; 2 MW over 30 kW: 67; rows of 16 for all with the
    distribution units."""
    found = facility(**NVL | {"it_mw": 20.0})
    racks = found.frame("racks").set_index("kind")["racks"]
    cdus = found.value("cooling.cdu_count")
    assert (racks["compute"], racks["network and storage"], racks["cdu"]) == (133, 67, cdus)
    assert found.value("floor.rows") == -(-(200 + cdus) // 16)
    assert found.value("floor.accelerators") == 133 * 72


@pytest.mark.parametrize(
    ("rack_kw", "nodes"),
    # DGX H100 of 10.2 kW and 8U in an air hall that takes 30 kW a rack
    [(None, 2), (45.0, 2), (20.0, 1)],
)
def test_nodes_of_a_rack(rack_kw: float | None, nodes: int) -> None:
    found = facility(
        cooling="waterside-economizer", climate_zone="4A", system="dgx-h100", rack_kw=rack_kw
    )
    assert found.frame("racks")["nodes_per_rack"][0] == nodes


def test_a_rack_feed_too_small_is_refused_with_the_number() -> None:
    with pytest.raises(InputError, match=r"10\.2 kW > 9 kW"):
        facility(cooling="waterside-economizer", climate_zone="4A", system="dgx-h100", rack_kw=9.0)


def test_picture_draws_every_rack() -> None:
    found = facility(**NVL | {"it_mw": 20.0})
    text = floor_svg(found)
    root = ElementTree.fromstring(text)  # noqa: S314 - our own text
    floor = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("height") == "22"]
    assert len(floor) == found.value("floor.racks")
    assert all(float(r.get("x", 0)) + float(r.get("width", 0)) <= 960 for r in floor)


def test_picture_of_a_campus_says_what_it_leaves_out() -> None:
    found = facility(**NVL | {"it_mw": 1000.0})
    assert f"and {found.value('floor.rows') - 60:,.0f} more rows" in floor_svg(found)


def test_picture_without_a_system_is_refused() -> None:
    with pytest.raises(InputError, match="no racks to draw"):
        floor_svg(facility(cooling="waterside-economizer", climate_zone="4A"))


def test_real_sites_of_the_place_come_first() -> None:
    """AWS 2024, N. Virginia: PUE 1.15, 0.12 L/kWh (Green Software Foundation's table)."""
    rows = facility(**NVL).frame("reported_sites")
    ours = rows[rows["same_place"]]
    assert rows["same_place"].iloc[0]
    assert rows["same_place"].is_monotonic_decreasing
    assert ours[ours["site"] == "AWS, N. Virginia"][
        ["pue", "wue_l_per_kwh"]
    ].to_numpy().tolist() == [[1.15, 0.12]]
    assert set(rows["zone"]) == {"4A"}


def test_measured_warm_water_site_stands_beside_its_zone() -> None:
    """NREL ESIF in 5B: 1.034 and 0.70 L/kWh, warm water without chillers."""
    rows = (
        facility(climate_zone="5B", cooling="direct-liquid-dry-cooler")
        .frame("reported_sites")
        .set_index("basis")
    )
    assert rows.loc["measured", "pue"] == 1.034


def test_pods_come_whole() -> None:
    """9 MW of compute hold one TPU v5p pod of 5,591 kW, 8,960 chips; 45 kW hold no NVL72 rack,
    which is said."""
    asked: dict[str, Any] = {
        "climate_zone": "4A",
        "cooling": "direct-liquid-tower",
        "system": "gb300-nvl72",
    }
    assert facility(**asked, it_mw=0.05).value("floor.accelerators") == 0
    assert any(
        "no gb300-nvl72 rack fits" in w["message"] for w in facility(**asked, it_mw=0.05).warnings
    )
    pod = facility(**asked | {"system": "tpu-v5p-pod", "liquid_frac": 0.85}, it_mw=10.0)
    assert pod.value("floor.accelerators") == 8960


@pytest.mark.parametrize(("it_mw", "chillers"), [(3.0, 2), (20.0, 5)])
def test_chillers_are_equal_units_for_the_design_heat(it_mw: float, chillers: int) -> None:
    """Chillers of Ashburn move 0.86 to 0.87 MW a MW of IT. 3 MW: 2.6 MW, one chiller of 2.6 MW and a spare
    one, not two of the class's 5 MW. 20 MW: 17.3 MW, four of 4.3 MW, because three of 5 MW move 15 MW."""
    row = _plant(**NVL | {"it_mw": it_mw})["chiller"]
    assert row["units_with_spare"] == chillers
    assert row["unit_mw"] == pytest.approx(0.865 * it_mw / (chillers - 1), rel=0.01)
