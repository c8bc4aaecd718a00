"""Areas of a hall by room, from the footprints of the schedules."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dcplan.answers.facility.answer import facility

HALL: dict[str, Any] = {
    "site": "us-phoenix",
    "cooling": "direct-liquid-dry-cooler",
    "system": "gb300-nvl72",
    "it_mw": 50.0,
}


def area(count: int, footprint: float, space: float) -> float:
    return count * (math.sqrt(footprint) + space) ** 2


def test_transformers_generators_and_pumps_by_hand() -> None:
    """19 transformers of 3.15 MVA x 1.4 m2 with 1.2 m between them; 69 dry coolers, 68 of which share the
    design heat, x 34 m2/MW with 3 m; seven pumps of 955.5 m3/h x 2.5 m2 for 1,000 m3/h."""
    found = facility(**HALL)
    rows = found.frame("rooms")
    first = rows[rows["equipment"] == "transformer"].iloc[0]
    assert (first["room"], first["count"]) == ("electrical rooms", 19)
    assert first["footprint_m2"] == pytest.approx(4.41)
    assert first["area_m2"] == pytest.approx(area(19, 4.41, 1.2))
    assert first["low_m2"] == pytest.approx(area(19, 3.15, 0.9))
    assert first["high_m2"] == pytest.approx(area(19, 3.15 * 2.5, 1.8))
    cooler = rows[rows["equipment"] == "dry-cooler"].iloc[0]
    assert cooler["room"] == "outdoors"
    heat_mw = found.frame("plant").set_index("equipment").loc["dry-cooler", "design_heat_mw"]
    assert cooler["area_m2"] == pytest.approx(area(69, 34.0 * heat_mw / 68, 3.0))
    pump = rows[rows["equipment"] == "facility-pump"].iloc[0]
    assert pump["footprint_m2"] == pytest.approx(0.9555 * 2.5, rel=1e-3)
    handler = rows[rows["equipment"] == "air-handler"].iloc[0]
    assert handler["footprint_m2"] == pytest.approx(5.86)  # Vertiv CA80


def test_rooms_add_up_and_white_space_is_apart() -> None:
    found = facility(**HALL)
    sums = found.frame("rooms").groupby("room")["area_m2"].sum()
    assert sums["white space"] == found.value("floor.area_m2")
    for room, key in (
        ("electrical rooms", "floor.electrical_m2"),
        ("mechanical rooms", "floor.mechanical_m2"),
        ("outdoors", "floor.outdoor_m2"),
    ):
        assert sums[room] == pytest.approx(found.value(key))
    assert sums["electrical rooms"] > 0.3 * sums["white space"]


def test_every_sized_unit_has_a_place() -> None:
    """What is missing stands in the rows of racks or above them."""
    found = facility(**(HALL | {"cooling": "direct-liquid-tower"}))
    placed = set(found.frame("rooms")["equipment"])
    for name in ("electrical_schedule", "mechanical_schedule"):
        lines = found.frame(name)
        missing = set(lines[lines["count"] > 0]["equipment"]) - placed
        assert missing <= {"busway", "cdu", "technology-pump"}


def test_2n_needs_more_electrical_rooms() -> None:
    one, two = (
        facility(**HALL, redundancy=rule).value("floor.electrical_m2") for rule in ("n+1", "2n")
    )
    assert two > 1.5 * one


def test_a_hall_without_racks_has_its_equipment() -> None:
    found = facility(site="us-phoenix", cooling="air-chiller", it_mw=20.0)
    assert "white space" not in set(found.frame("rooms")["room"])
    assert found.value("floor.electrical_m2") > 0


def test_areas_have_bounds() -> None:
    """552 positions in rows of the catalog's pitch: 0.6 to 0.8 m, 2.4 to 3.6 m, 1.8 to 4 m around."""
    found = facility(**HALL)
    white = found.metrics["floor.area_m2"]
    rows = found.value("floor.rows")
    per_row = (white.value / (rows * 3.0 + 4.8) - 4.8) / 0.6
    assert white.low == pytest.approx((per_row * 0.6 + 3.6) * (rows * 2.4 + 3.6))
    assert white.high == pytest.approx((per_row * 0.8 + 8.0) * (rows * 3.6 + 8.0))
    table = found.frame("rooms")
    assert (table["low_m2"] < table["area_m2"]).all()
    assert (table["area_m2"] < table["high_m2"]).all()
    electrical = table[table["room"] == "electrical rooms"]
    metric = found.metrics["floor.electrical_m2"]
    assert (metric.low, metric.high) == pytest.approx(
        (electrical["low_m2"].sum(), electrical["high_m2"].sum())
    )
