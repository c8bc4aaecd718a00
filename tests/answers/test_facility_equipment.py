"""Equipment schedules, one power chain in PUE and tables, and the hours of a year."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dcplan import facility
from dcplan.answers.facility.answer import facility_hours
from dcplan.answers.facility.request import FacilityRequest
from dcplan.errors import InputError
from tests.answers.test_facility_weather import _epw
from tests.cli.conftest import spawn

NVL = {
    "site": "us-phoenix",
    "cooling": "direct-liquid-dry-cooler",
    "system": "gb300-nvl72",
    "it_mw": 50.0,
}


@pytest.mark.parametrize("rule", ["n", "n+1", "2n", "4n/3"])
def test_losses_in_pue_are_those_of_the_table(rule: str) -> None:
    """Compute and network by their share: sum of share x (1 / chain - 1)."""
    found = facility(**NVL, redundancy=rule, other_redundancy=rule)
    rows = found.frame("power_blocks").set_index("class")
    by_hand = sum(
        share * (1.0 / rows.loc[name, "chain_frac"] - 1.0)
        for name, share in (("compute", 0.9), ("network and storage", 0.1))
    )
    assert found.value("power.electrical_loss_frac") == pytest.approx(by_hand)
    row = rows.loc["compute"]
    product = row["transformer_frac"] * row["ups_frac"] * row["busway_frac"]
    assert row["chain_frac"] == pytest.approx(product)


def test_redundancy_changes_pue_by_the_losses() -> None:
    """Medians of 256 samples: the change of PUE is that of the printed losses within 0.001."""
    base, other = (facility(**NVL, redundancy=r, other_redundancy=r) for r in ("n+1", "2n"))
    losses, pue = (
        other.value(key) - base.value(key)
        for key in ("power.electrical_loss_frac", "power.annual_pue")
    )
    assert abs(losses) > 0.002
    assert pue == pytest.approx(losses, abs=0.001)


def test_table_of_pue_has_the_losses_of_the_chain() -> None:
    """Lei et al., zone 4A, large: 1.176 with a UPS of 94.5 % and 1 % behind it, 0.0689 of IT."""
    asked = {"climate_zone": "4A", "cooling": "airside-economizer-air-chiller", "it_mw": 20.0}
    found, hers = facility(**asked), facility(**asked, electrical_losses="class")
    assert hers.value("power.annual_pue") == 1.176
    assert hers.value("power.electrical_loss_frac") == pytest.approx(1 / 0.945 / 0.99 - 1)
    expected = 1.176 - (1 / 0.945 / 0.99 - 1) + found.value("power.electrical_loss_frac")
    assert found.value("power.annual_pue") == pytest.approx(expected)
    assert any("not of the table" in w["message"] for w in found.warnings)


def test_a_row_of_another_class_has_the_losses_of_that_class() -> None:
    """A large hall with air chillers repeats the value of midsize halls: 87 % and 3.5 %."""
    asked = {"climate_zone": "5A", "cooling": "air-chiller", "it_mw": 20.0}
    found, hers = facility(**asked), facility(**asked, electrical_losses="class")
    inside = 1 / 0.87 / 0.965 - 1
    change = found.value("power.annual_pue") - hers.value("power.annual_pue")
    assert change == pytest.approx(found.value("power.electrical_loss_frac") - inside)


def test_electrical_schedule_by_hand() -> None:
    """45 MW in 19 blocks of 2.5 MW under N+1.

    A full block takes 2.5 / 0.99010 / 0.96983 = 2,603 kW behind its transformer: 2,741 kVA at 0.95,
    next 3,150; 3,150 kVA at 415 V are 4,382 A, next 5,000; 3,000 kW of generator; two UPS of
    1,250 kW each.
    """
    found = facility(**NVL).frame("electrical_schedule").set_index("tag")
    for tag, count, column, rating in (
        ("TX-C", 19, "rating_kva", 3150),
        ("SWG-C", 19, "rating_amps", 5000),
        ("GEN-C", 19, "rating_kw", 3000),
        ("UPS-C", 38, "rating_kw", 1250),
    ):
        assert (found.loc[tag, "count"], found.loc[tag, column]) == (count, rating), tag
    assert found.loc["UPS-C", "load_frac"] == pytest.approx(45.0 / 47.5)
    ups_in_kw = 45_000 / 0.990615 / 0.970198
    assert found.loc["GEN-C", "load_frac"] == pytest.approx(ups_in_kw / 57_000, rel=1e-4)
    assert found.loc["TX-C", "load_frac"] == pytest.approx(ups_in_kw / 0.95 / 59_850, rel=1e-4)
    assert "pumps and fans" in found.loc["UPS-M", "not_sized"]


def test_busway_of_a_row() -> None:
    """Two sides, each for the row's load at 80 % of its rating: no run is above 1,250 A."""
    found = facility(**NVL)
    rows = found.value("floor.rows")
    bus = found.frame("electrical_schedule").set_index("tag").loc["BUS-C"]
    row_amps = 45_000 / rows / 0.95 / (3**0.5 * 0.415)
    runs = -(-row_amps / 0.8 // 1250)
    assert bus["count"] == rows * runs * 2
    assert bus["load_frac"] == pytest.approx(row_amps / (runs * 2 * bus["rating_amps"]))
    assert bus["load_frac"] <= 0.4
    plain = facility(site="us-phoenix", cooling="direct-liquid-tower").frame("electrical_schedule")
    bare = plain.set_index("tag").loc["BUS-C"]
    assert "--system" in bare["not_sized"]


def test_mechanical_schedule_by_hand() -> None:
    """50 MW over 7.5 K of water: 50,000 / (4.186 x 7.5) = 1,592.6 L/s = 5,733 m3/h at 165 kPa, which
    takes 50,000 x 165 / (0.7 x 4,186 x 7.5) = 375 kW: six pumps of at most 1,000 m3/h and 62.6 kW, next
    motor 75 kW, and one spare; 9.5 MW of air in fan walls of 500 kW: 20."""
    found = facility(**NVL)
    rows = found.frame("mechanical_schedule").set_index("tag")
    pump = rows.loc["P-FW"]
    assert (pump["count"], pump["motor_kw"]) == (7, 75.0)
    assert pump["load_frac"] == pytest.approx(6 / 7)
    assert pump["flow_m3_per_h"] == pytest.approx(50_000 / (4.186 * 7.5) * 3.6 / 6, rel=1e-6)
    assert (pump["head_bar"], pump["shaft_kw"]) == pytest.approx((1.65, 375.4), rel=1e-3)
    assert rows.loc["AHU", "count"] == 20
    assert rows.loc["AHU", "load_frac"] == pytest.approx(0.95)
    assert rows.loc["CDU", "count"] == found.value("cooling.cdu_count")
    assert (rows.loc["CDU", "rating_kw"], rows.loc["CDU", "head_bar"]) == (1368.0, 2.44)
    plant = found.frame("plant").set_index("equipment")
    for tag, name in (("DC", "dry-cooler"), ("CH", "chiller")):
        unit = plant.loc[name]
        assert rows.loc[tag, "count"] == unit["units_with_spare"]
        expected = unit["design_heat_mw"] / (unit["units_with_spare"] * unit["unit_mw"])
        assert rows.loc[tag, "load_frac"] == pytest.approx(expected)


def test_pumps_and_exchangers_over_towers() -> None:
    """Heat of the plant table over 5 K of condenser water; exchangers of 5 MW for 50 MW, one spare;
    two pumps in each distribution unit share its flow of 1,200 L/min."""
    found = facility(**(NVL | {"cooling": "direct-liquid-tower"}))
    rows = found.frame("mechanical_schedule").set_index("tag")
    heat_mw = found.frame("plant").set_index("equipment").loc["tower", "design_heat_mw"]
    flow = heat_mw * 1000 / (4.186 * 5) * 3.6
    pump = rows.loc["P-CW"]
    running = -(-flow // 1000)
    assert pump["count"] == running + 1
    assert pump["flow_m3_per_h"] == pytest.approx(flow / running)
    shaft = heat_mw * 1000 * 200 / (0.7 * 4186 * 5) / running
    assert shaft <= pump["motor_kw"] < 1.3 * shaft
    assert (rows.loc["HX", "count"], rows.loc["HX", "load_frac"]) == (11, pytest.approx(50 / 55))
    inside, unit = rows.loc["P-TCS"], rows.loc["CDU"]
    assert inside["count"] == 2 * unit["count"]
    assert inside["flow_m3_per_h"] == pytest.approx(36.0)
    running_kw = inside["shaft_kw"] / (inside["count"] * inside["load_frac"])
    assert running_kw <= inside["motor_kw"] < 1.5 * running_kw


def test_each_class_has_transformers_of_its_own() -> None:
    """Loads of the transformers add up to the site's design day, less their own losses."""
    found = facility(**NVL)
    lines = found.frame("electrical_schedule").set_index("tag")
    blocks = found.frame("power_blocks").set_index("class")
    other = lines.loc["TX-M", "load_kw"]
    assert other == pytest.approx(1000 * blocks.loc["cooling and lighting", "load_mw"])
    before = sum(
        lines.loc[tag, "load_kw"] / blocks.loc[name, "transformer_frac"]
        for tag, name in (("TX-C", "compute"), ("TX-N", "network and storage"))
    )
    assert (before + other) / 1000 == pytest.approx(found.value("power.peak_facility_mw"), rel=2e-3)


@pytest.mark.parametrize("cooling", ["air-chiller", "rear-door-tower", "immersion-single-tower"])
def test_what_is_not_sized_says_why(cooling: str) -> None:
    found = facility(site="us-phoenix", cooling=cooling)
    for name in ("electrical_schedule", "mechanical_schedule"):
        for row in found.frame(name).to_dict("records"):
            assert row["count"] == row["count"] or row["not_sized"], row


def test_hours_of_a_file_are_in_order(tmp_path: Path) -> None:
    """8,760 hours at 20 C: every hour has the year's PUE, and power adds up."""
    file = str(_epw(tmp_path / "x.epw"))
    asked = {"epw": file, "cooling": "direct-liquid-tower", "it_mw": 20.0, "load_frac": 0.5}
    table, found = facility_hours(FacilityRequest(**asked)), facility(**asked)
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [r["hour"] for r in rows] == list(range(1, 8761))
    assert {r["dry_bulb_c"] for r in rows} == {20.0}
    mean = sum(r["pue"] for r in rows) / 8760
    assert mean == pytest.approx(found.value("power.annual_pue"))
    water = sum(r["water_m3_per_h"] for r in rows) * 8766 / 8760
    assert water == pytest.approx(found.value("water.annual_m3"), rel=1e-6)
    for r in rows[::1000]:
        assert r["it_kw"] == 10_000.0
        assert r["it_kw"] + r["losses_kw"] + r["cooling_kw"] == pytest.approx(r["facility_kw"])
        assert r["pue"] == pytest.approx(r["facility_kw"] / r["it_kw"])


def test_hours_of_packaged_weather_are_bins(tmp_path: Path) -> None:
    """Bins of a quarter have no order: no hour number, 8,760 h together; hotter bins cost more."""
    flags = "facility --site us-phoenix --cooling direct-liquid-dry-cooler --system gb300-nvl72"
    ran = spawn(*flags.split(), "--hours", "hours.csv", "-q", cwd=tmp_path)
    assert ran.code == 0, ran.err
    with (tmp_path / "hours.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {r["hour"] for r in rows} == {""}
    assert sum(float(r["duration_h"]) for r in rows) == pytest.approx(8760)
    hot = max(rows, key=lambda r: float(r["dry_bulb_c"]))
    cold = min(rows, key=lambda r: float(r["dry_bulb_c"]))
    assert float(hot["cooling_kw"]) > 3 * float(cold["cooling_kw"])


def test_hours_of_a_table_are_refused() -> None:
    with pytest.raises(InputError, match="has no hours"):
        facility_hours(FacilityRequest(site="us-phoenix", cooling="air-chiller"))


def test_supply_by_hand() -> None:
    """59.8 MW at 0.95 are 62.9 MVA, next 63; 63 MVA at 13.8 kV are 2,636 A, next 3,150; one of two
    sections carries all of it. Behind 11 %: 2.636 x 1.066 / (0.95 x 0.11) = 26.9 kA, next 31.5.
    Behind a transformer of 3,150 kVA and 7 %: 4.382 x 1.042 / (0.95 x 0.07) = 68.7 kA, next 80."""
    found = facility(**NVL, utility_kv=138.0)
    rows = found.frame("electrical_schedule").set_index("tag")
    kva = facility(**NVL).value("power.peak_facility_mw") * 1e3 / 0.95
    main, bus, feeder = (rows.loc[tag] for tag in ("TX-U", "MVS", "MVF"))
    assert (main["count"], main["rating_kva"]) == (2, 63_000)
    assert (main["supply_volts"], main["line_volts"]) == (138_000, 13_800)
    assert main["load_frac"] == pytest.approx(kva / 126_000)
    assert (bus["count"], bus["rating_amps"], bus["short_circuit_ka"]) == (2, 3150, 31.5)
    assert bus["load_frac"] == pytest.approx(kva / (3**0.5 * 13.8) / 6300)
    assert (feeder["count"], feeder["rating_amps"]) == (19 + 3 + 4, 630)
    assert rows.loc["SWG-C", "short_circuit_ka"] == 80
    assert rows.loc["TX-C", "supply_volts"] == 13_800


@pytest.mark.parametrize(
    ("flags", "volts", "sections", "amps"),
    [
        ({}, 13_800, 2, 3150),
        ({"utility_kv": 33.0}, 33_000, 2, 1250),
        ({"medium_kv": 11.0}, 11_000, 3, 2000),
        ({"utility_kv": 132.0, "medium_kv": 33.0}, 33_000, 2, 1250),
        ({"redundancy": "n"}, 13_800, 1, 3150),
        ({"redundancy": "2n", "medium_kv": 11.0}, 11_000, 4, 2000),
    ],
)
def test_sections_of_the_supply(
    flags: dict[str, object], volts: int, sections: int, amps: int
) -> None:
    """62.9 MVA are 2,633 A at 13.8 kV, 1,101 A at 33 kV, and 3,303 A at 11 kV, which two sections
    of at most 3,150 A carry: 1,652 A each. Behind 63 MVA at 33 kV: 1,102 A."""
    found = facility(**NVL, **flags)
    rows = found.frame("electrical_schedule").set_index("tag")
    bus = rows.loc["MVS"]
    assert (bus["line_volts"], bus["count"], bus["rating_amps"]) == (volts, sections, amps)
    assert ("TX-U" in rows.index) == (flags.get("utility_kv", 0.0) == 132.0)
    assert bus["load_frac"] <= 1.0
    stated = "utility_kv" in flags or "medium_kv" in flags
    assert isinstance(rows.loc["TX-C", "not_sized"], str) != stated
    if "TX-U" not in rows.index:
        assert "short-circuit rating" in bus["not_sized"]


def test_main_transformers_lose_by_hand() -> None:
    """62.9 MVA on two transformers of 63: x = 0.4996, 126,000 x (0.00045 + 0.0034 x 0.2496) = 163.6 kW,
    0.0033 of 50 MW. In the mean 50 x 1.111 / 0.95 = 58.5 MVA, x = 0.464: 148.9 kW, 0.0030."""
    bare, fed = facility(**NVL), facility(**NVL, utility_kv=138.0)
    for key, more in (
        ("power.peak_pue", 0.00327),
        ("power.annual_pue", 0.00298),
        ("power.electrical_loss_frac", 0.00327),
    ):
        assert fed.value(key) - bare.value(key) == pytest.approx(more, abs=2e-5), key
    plants = [x.frame("plant").drop(columns="basis") for x in (bare, fed)]
    assert plants[0].equals(plants[1])
    rows = [x.frame("electrical_schedule").set_index("tag") for x in (bare, fed)]
    for name in ("load_kw", "count"):  # what stands behind main transformers does not change
        assert rows[1].loc["TX-M", name] == rows[0].loc["TX-M", name]
        assert rows[1].loc["MVS", name] == rows[0].loc["MVS", name]


def test_hours_have_the_losses_of_main_transformers() -> None:
    asked = dict(NVL, cooling="direct-liquid-dry-cooler")
    bare, fed = (
        facility_hours(FacilityRequest(**asked, **more)) for more in ({}, {"utility_kv": 138.0})
    )
    columns = bare.columns
    at = {name: columns.index(name) for name in ("losses_kw", "cooling_kw", "it_kw", "facility_kw")}
    for before, after in zip(bare.rows, fed.rows, strict=True):
        assert after[at["losses_kw"]] - before[at["losses_kw"]] == pytest.approx(149, abs=2)
        assert after[at["cooling_kw"]] == pytest.approx(before[at["cooling_kw"]], abs=30)
        parts = sum(after[at[name]] for name in ("it_kw", "losses_kw", "cooling_kw"))
        assert parts == pytest.approx(after[at["facility_kw"]])


def test_a_supply_below_the_distribution_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        facility(**NVL, utility_kv=10.0, medium_kv=13.8)
    assert "10 kV from the utility is below the 13.8 kV" in str(caught.value)
    for flag in ("utility_kv", "medium_kv"):
        with pytest.raises(InputError) as caught:
            facility(site="us-phoenix", compare=True, it_mw=20.0, **{flag: 33.0})
        assert "is not used with --compare" in str(caught.value)
