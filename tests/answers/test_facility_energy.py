"""Power sources of a hall by hour, from the flags of ``dcplan facility``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcplan import facility
from dcplan.errors import InputError

HOT: dict[str, Any] = {
    "site": "us-phoenix",
    "cooling": "direct-liquid-dry-cooler",
    "supply_c": 36.0,
    "it_mw": 48.0,
}


def messages(found: Any) -> str:
    return "\n".join(w["message"] for w in found.warnings)


def test_turbines_lose_power_in_the_heat() -> None:
    """Phoenix, 43.6 C and 337 m on the design day: (1 - 0.0068 x 28.6) x (1 - 0.00011 x 337) =
    0.776 of 35 MW, so 45 MW are two running units and one spare."""
    found = facility(**HOT, utility_mw=0.0, onsite=["aeroderivative-turbine=45"])
    row = found.frame("onsite").set_index("source").loc["aeroderivative-turbine"]
    assert (row["units"], row["spare_units"], row["mw"]) == (3, 1, 105.0)
    assert row["design_mw"] == pytest.approx(2 * 35 * 0.776, rel=2e-3)
    assert "of its rating on the design day" in messages(found)
    hours = found.frame("onsite_hours")
    by_heat = hours.sort_values("outdoor_c")["unserved_mw"].tolist()
    assert by_heat[-1] > 0  # 54 MW for a load near 58
    assert by_heat[0] == 0
    # the load follows the weather, and its sum is the energy of the answer
    pue = found.value("power.annual_pue")
    assert hours["load_mw"].mean() == pytest.approx(48.0 * pue, rel=1e-9)
    assert hours["load_mw"].max() > 1.02 * hours["load_mw"].mean()


def test_outages_say_how_often_the_load_is_short() -> None:
    """One running turbine of two and its spare: without a spare it is short in 264 planned hours
    and 5 % of the rest."""
    flags = {**HOT, "it_mw": 20.0, "utility_mw": 0.0, "onsite": ["aeroderivative-turbine=24"]}
    alone = facility(**flags, spare_units=0)
    expected = 8766 / 8760 * (264 + 0.05 * (8760 - 264))
    assert alone.value("onsite.outage_short_h_per_year") == pytest.approx(expected, rel=1e-6)
    spare = facility(**flags)
    # the spare one fails in 5 % of the planned hours; both fail in 0.25 % of the rest
    hours = 8766 / 8760 * (2 * 264 * 0.05 + 0.05**2 * (8760 - 2 * 264))
    assert spare.value("onsite.outage_short_h_per_year") == pytest.approx(hours, rel=1e-6)


def test_a_row_without_a_curve_says_so() -> None:
    found = facility(**HOT, onsite=["reciprocating-engine-gas=5"])
    assert "no loss of power by outdoor temperature" in messages(found)


@pytest.mark.slow
def test_one_long_cut_is_not_bridged_by_a_battery_for_four_hours() -> None:
    """Notes F10: with cuts of 4 h a day the battery refilled and nothing was short."""
    flags = {**HOT, "onsite": ["reciprocating-engine-gas=45", "lithium-battery-4h=20"]}
    long = facility(**flags, utility_mw=60.0, grid_outage_h=200.0)
    split = facility(**flags, utility_mw=60.0, grid_outage_h=200.0, grid_outage_events=50)
    assert long.value("onsite.unserved_mwh") > 1000
    assert split.value("onsite.unserved_mwh") < long.value("onsite.unserved_mwh") / 5


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"spare_units": 2}, "--spare-units is not used without --onsite"),
        ({"utility_mw": 60.0, "grid_outage_events": 3}, "--grid-outage-events is not used"),
        ({"utility_mw": 60.0, "grid_outage_h": 2, "grid_outage_events": 3}, "3 events cannot"),
    ],
)
def test_flags_without_effect_are_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        facility(**HOT, **flags)


def written(folder: Path, name: str, values: np.ndarray, head: str = "") -> str:
    file = folder / name
    file.write_text(head + "\n".join(f"{x:.9f}" for x in values) + "\n", encoding="utf-8")
    return str(file)


def test_pv_by_hour(tmp_path: Path) -> None:
    """100 MW of PV at full power from 8 to 16 h for a load L of 20 to 30 MW: it serves a third of
    the hours, and the rest of its energy is curtailed."""
    profile = np.tile(np.where((np.arange(24) >= 8) & (np.arange(24) < 16), 1.0, 0.0), 365)
    file = written(tmp_path, "pv.csv", profile, "hour,capacity factor\n")
    flags = {**HOT, "it_mw": 20.0, "profile": [f"solar-pv={file}"]}
    found = facility(**flags, onsite=["solar-pv=100"], utility_mw=40.0)
    hours = found.frame("onsite_hours")
    sunny = profile > 0
    used = float(hours.loc[sunny, "load_mw"].sum()) * 8766 / 8760
    row = found.frame("onsite").set_index("source").loc["solar-pv"]
    assert row["mwh"] == pytest.approx(used, rel=1e-9)
    assert found.value("onsite.curtailed_mwh") == pytest.approx(100 * 8 * 365.25 - used, rel=1e-9)
    assert row["curtailed_mwh"] == found.value("onsite.curtailed_mwh")
    load = float(hours["load_mw"].sum()) * 8766 / 8760
    assert found.value("onsite.renewable_frac") == pytest.approx(used / load)
    assert found.value("onsite.served_frac") == 1.0
    assert (row["capex_usd"], row["energy_usd"]) == pytest.approx((100e3 * 1239, 0.0))
    # PV counts on no power on the design day
    margin = 40.0 - 20.0 * found.value("power.peak_pue")
    assert found.value("onsite.peak_margin_mw") == pytest.approx(margin)


def test_sources_of_a_measured_load(tmp_path: Path) -> None:
    """30 MW by day and 10 MW by night from a file, not the hall's 48 MW times PUE: a grid of 20 MW gives
    20 and 10, and 10 MW of the day are short; without --utility-mw the grid has the peak of the file."""
    day = (np.arange(8760) % 24 >= 8) & (np.arange(8760) % 24 < 20)
    flags = {**HOT, "load_hours": written(tmp_path, "load.csv", np.where(day, 30.0, 10.0))}
    found = facility(**flags, utility_mw=20.0)
    half = 8766 / 2
    assert found.frame("onsite").set_index("source").loc["grid", "mwh"] == pytest.approx(30 * half)
    assert found.value("onsite.unserved_mwh") == pytest.approx(10 * half)
    assert found.value("onsite.peak_load_mw") == 30.0
    assert "the peak of 30.0 MW of the load by hour exceeds all sources by 10.0" in messages(found)
    alone = facility(**flags, onsite=["reciprocating-engine-gas=5"])
    assert alone.value("onsite.peak_margin_mw") == pytest.approx(5.0)
    zero = written(tmp_path, "zero.csv", np.zeros(8760))
    with pytest.raises(InputError, match="the load is 0 in every hour"):
        facility(**{**flags, "load_hours": zero}, onsite=["reciprocating-engine-gas=5"])


def test_a_battery_carries_the_sun_into_the_night(tmp_path: Path) -> None:
    """Without grid: 8 h of sun, 16 h of night. A battery of 16 h x load / sqrt(0.88) serves all of
    it; one of half the energy leaves about half of the nights dark."""
    profile = np.tile(np.where((np.arange(24) >= 8) & (np.arange(24) < 16), 1.0, 0.0), 365)
    flags = {
        **HOT,
        "it_mw": 20.0,
        "utility_mw": 0.0,
        "profile": {"solar-pv": written(tmp_path, "pv.csv", profile)},
    }
    whole = facility(**flags, onsite=["solar-pv=200", "lithium-battery-4h=130"])
    assert whole.value("onsite.unserved_mwh") == pytest.approx(0.0, abs=1e-6)
    assert whole.value("onsite.renewable_frac") == pytest.approx(1.0)
    rows = whole.frame("onsite").set_index("source")
    hours = whole.frame("onsite_hours")
    night = float(hours.loc[profile == 0, "load_mw"].sum()) * 8766 / 8760
    assert rows.loc["lithium-battery-4h", "mwh"] == pytest.approx(night, rel=1e-6)
    into, out = (float(hours[f"{x}_mw"].sum()) for x in ("charged", "discharged"))
    assert out == pytest.approx(into * 0.88, rel=1e-6)
    made = rows.loc["solar-pv", "mwh"]
    load = float(hours["load_mw"].sum()) * 8766 / 8760
    assert made == pytest.approx(load - night + night / 0.88, rel=1e-6)


@pytest.mark.parametrize(
    ("onsite", "lines", "words"),
    [
        (["solar-pv=20"], None, "solar-pv needs its output by hour"),
        (["onshore-wind=20"], [0.5] * 8784, "8,784 values, and a year has 8,760 hours"),
        (["solar-pv=20"], [0.5] * 8759 + [1.2], "'1.200000000' is no capacity factor"),
        (["reciprocating-engine-gas=20"], [0.5] * 8760, "only a PV or wind source"),
    ],
)
def test_profiles_that_cannot_be_used(
    tmp_path: Path, onsite: list[str], lines: list[float] | None, words: str
) -> None:
    name = onsite[0].partition("=")[0]
    profile = [f"{name}={written(tmp_path, 'p.csv', np.array(lines))}"] if lines else []
    with pytest.raises(InputError, match=re.escape(words)):
        facility(**HOT, onsite=onsite, profile=profile)


def test_sizes_of_engines_alone() -> None:
    """Without grid, PV and battery the least cost is the fewest engines that serve the load."""
    flags = {**HOT, "it_mw": 20.0, "utility_mw": 0.0, "onsite": ["reciprocating-engine-gas=60"]}
    found = facility(**flags, size_onsite=True, served_frac=0.999)
    row = found.frame("onsite").set_index("source").loc["reciprocating-engine-gas"]
    assert found.value("onsite.served_frac") >= 0.999
    peak = found.value("onsite.peak_load_mw")
    assert row["chosen_mw"] <= peak * 1.1
    needed = row["units"] - row["spare_units"]
    assert needed * 2.5 >= row["chosen_mw"] > (needed - 1) * 2.5
    # two units less leave more than a thousandth unserved
    less = facility(**{**flags, "onsite": [f"reciprocating-engine-gas={(needed - 2) * 2.5}"]})
    assert less.value("onsite.served_frac") < 0.999
    # 10 % over 25 years: annuity 9.0770
    expected = row["capex_usd"] / 9.0770 + row["fixed_usd_per_year"] + row["energy_usd"]
    assert row["annual_usd"] == pytest.approx(expected, rel=1e-4)
    assert found.value("onsite.annual_usd") == pytest.approx(expected, rel=1e-4)
    with pytest.raises(InputError, match="no sizes within their limits"):
        facility(**{**flags, "onsite": ["reciprocating-engine-gas=15"]}, size_onsite=True)


@pytest.mark.slow
def test_sizes_of_pv_wind_and_battery_serve_the_share(tmp_path: Path) -> None:
    """Sun of 8 h every day and wind of 30 % at all hours: the cheaper mix serves 98 % by hour, and
    costs less than the same share from PV and battery alone."""
    sun = np.tile(np.where((np.arange(24) >= 8) & (np.arange(24) < 16), 1.0, 0.0), 365)
    flags = {**HOT, "it_mw": 20.0, "utility_mw": 0.0, "size_onsite": True, "served_frac": 0.98}
    pv = {"solar-pv": written(tmp_path, "pv.csv", sun)}
    wind = {"onshore-wind": written(tmp_path, "wind.csv", np.full(8760, 0.3))}
    onsite = ["solar-pv=400", "lithium-battery-4h=200"]
    alone = facility(**flags, onsite=onsite, profile=pv)
    mixed = facility(**flags, onsite=[*onsite, "onshore-wind=400"], profile=pv | wind)
    for found in (alone, mixed):
        assert 0.98 - 1e-6 <= found.value("onsite.served_frac") < 0.99
        assert found.value("onsite.renewable_frac") == pytest.approx(1.0)
    assert mixed.value("onsite.annual_usd") < alone.value("onsite.annual_usd")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"size_onsite": True}, "--size-onsite is not used without --onsite"),
        ({"served_frac": 0.9}, "--served-frac is not used without --size-onsite"),
        ({"reserve_frac": 0.1}, "--reserve-frac is not used without --size-onsite"),
    ],
)
def test_flags_of_the_sizing_need_it(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        facility(**HOT, **flags)


def sunny_epw(folder: Path, sun: np.ndarray) -> str:
    """A year at 20 C in Phoenix with the same irradiance each day, half of it diffuse."""
    head = ["LOCATION,Phoenix,AZ,USA,TMY,722780,33.43,-112.02,-7.0,337.0"]
    head += [f"LINE {i}" for i in range(7)]
    months = np.repeat(np.arange(1, 13), [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    body = [
        f"2020,{months[h // 24]},1,{h % 24 + 1},0,?9,20.0,9.0,50,101325,0,0,0,"
        f"{sun[h % 24]:g},{sun[h % 24] / 2:g},{sun[h % 24] / 2:g},0,0,0,0,0,2"
        for h in range(8760)
    ]
    file = folder / "sun.epw"
    file.write_text("\n".join(head + body) + "\n", encoding="utf-8")
    return str(file)


def test_pv_from_the_irradiance_of_a_weather_file(tmp_path: Path) -> None:
    """At noon a tracker is nearly level: irradiance on it is about that on the ground, and power is
    I / 1000 x (1 - 0.0047 (T_c - 25)) x 0.86 x 0.96. Wind needs a profile with a file as well."""
    sun = np.clip(800 * np.sin((np.arange(24) - 5.5) / 13 * np.pi), 0, None)
    flags: dict[str, Any] = {
        **{k: v for k, v in HOT.items() if k != "site"},
        "epw": sunny_epw(tmp_path, sun),
        "utility_mw": 0.0,
    }
    found = facility(**flags, onsite=["solar-pv=10"])
    hours = found.frame("onsite_hours")
    noon = 171 * 24 + 12
    irradiance = sun[12] / 2 * 0.98 + sun[12] / 2  # the sun is 11 degrees off the axis' plane
    cells = 20 + 25 * irradiance / 800
    expected = 10 * irradiance / 1000 * (1 - 0.0047 * (cells - 25)) * 0.86 * 0.96
    assert hours["solar-pv_mw"].tolist()[noon] == pytest.approx(expected, rel=0.02)
    assert hours["solar-pv_mw"].tolist()[noon - 12] == 0.0
    assert hours["outdoor_c"].nunique() == 1
    with pytest.raises(InputError, match="onshore-wind needs its output by hour"):
        facility(**flags, onsite=["onshore-wind=10"])
    flags["epw"] = sunny_epw(tmp_path, np.zeros(24))
    with pytest.raises(InputError, match="no irradiance"):
        facility(**flags, onsite=["solar-pv=10"])
    flags["epw"] = sunny_epw(tmp_path, np.full(24, 9999.0))
    with pytest.raises(InputError, match="field 14 is '9999'"):
        facility(**flags, onsite=["solar-pv=10"])
