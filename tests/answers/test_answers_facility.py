"""`dcplan facility`: keys, refusals, weather files, comparison, and the plan's own numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.errors import InputError

NVL: dict[str, Any] = {
    "site": "us-ashburn",
    "cooling": "direct-liquid-tower",
    "system": "gb300-nvl72",
    "it_mw": 50.0,
}


def test_keys_of_the_design() -> None:
    found = facility(**NVL)
    keys = (
        "power.annual_pue",
        "power.peak_pue",
        "water.annual_wue_l_per_kwh",
        "power.peak_it_mw",
        "power.peak_facility_mw",
        "cooling.capex_usd",
        "cooling.cdu_count",
        "cooling.flow_l_per_min",
    )
    assert all(found.value(k) > 0 for k in keys)
    pue = found.metrics["power.annual_pue"]
    assert pue.low < pue.value < pue.high  # type: ignore[operator]
    assert found.value("power.peak_facility_mw") == pytest.approx(
        50 * found.value("power.peak_pue")
    )
    assert found.value("power.peak_pue") >= found.value("power.annual_pue")


def test_flow_and_units_of_the_hall() -> None:
    """50 MW, nine tenths in NVL72 with 0.90 into liquid: 40,500 kW x 60 / (4.008 x 10) = 60,629
    L/min.

    Units by flow, ceil(60,629 / 1,200) = 51, are more than by heat, ceil(40,500 / 1,368) = 30; and
    one spare.
    """
    found = facility(**NVL)
    heat = found.frame("heat").set_index("path")["heat_kw"]
    assert heat.sum() == pytest.approx(50_000)
    assert heat["liquid"] == pytest.approx(40_500)
    assert found.value("cooling.flow_l_per_min") == pytest.approx(heat["liquid"] * 60 / 40.08)
    assert found.value("cooling.cdu_count") == 52
    # one rack: 135 kW x 0.9
    assert found.value("cooling.rack_flow_l_per_min") == pytest.approx(121.5 * 60 / 40.08)


def test_warm_water_needs_no_chillers() -> None:
    rows = facility(**NVL).frame("warm_water").set_index("class")
    assert rows["pue"].is_monotonic_decreasing
    assert rows.loc["W17", "chiller_heat_frac"] > 0.3
    # room air has water of 27 C at most, so its share of the heat, 1 - 0.9 x 0.9, needs chillers on
    # some days still
    assert rows.loc["W40", "chiller_heat_frac"] == pytest.approx(
        0.19 * rows.loc["W27", "chiller_heat_frac"], rel=0.01
    )
    assert rows.loc["W40", "peak_pue"] < rows.loc["W27", "peak_pue"]
    assert "W45" not in rows.index  # 49 C of coolant; the system takes 45


@pytest.mark.parametrize("load", [0.05, 0.3, 1.0])
def test_peaks_are_of_the_hall_as_built_whatever_runs(load: float) -> None:
    full, part = (facility(**NVL, load_frac=x) for x in (1.0, load))
    for key in ("power.peak_facility_mw", "power.peak_pue", "water.peak_day_m3"):
        assert part.value(key) == pytest.approx(full.value(key))


@pytest.mark.parametrize("site", ["se-stockholm", "br-saopaulo", "jp-tokyo"])
def test_no_quarter_is_worse_than_the_design_day(site: str) -> None:
    """Sites with their zone city's hours: the design day is the hotter of the two."""
    found = facility(site=site, cooling="waterside-economizer", it_mw=12.0)
    assert found.frame("quarters")["pue"].max() <= found.value("power.peak_pue")


def test_south_of_the_equator_the_first_quarter_is_warm() -> None:
    rows = (
        facility(site="br-saopaulo", cooling="direct-liquid-tower", it_mw=12.0)
        .frame("quarters")
        .set_index("quarter")
    )
    assert rows.loc["Q1", "pue"] > rows.loc["Q3", "pue"]


@pytest.mark.parametrize("site", ["us-phoenix", "us-reno", "us-dallas"])
def test_quarters_average_to_the_year(site: str) -> None:
    found = facility(site=site, cooling="direct-liquid-dry-cooler", it_mw=12.0)
    rows = found.frame("quarters")
    assert rows["wue_l_per_kwh"].mean() == pytest.approx(
        found.value("water.annual_wue_l_per_kwh"), rel=1e-9
    )
    assert rows["pue"].mean() == pytest.approx(found.value("power.annual_pue"), rel=1e-9)


def test_unserved_load_is_the_first_thing_said() -> None:
    found = facility(site="us-ashburn", cooling="direct-liquid-tower", it_mw=10.0, utility_mw=5.0)
    assert any("per year unserved" in w["message"] for w in found.warnings)
    assert any("exceeds all sources" in w["message"] for w in found.warnings)


def test_peak_is_of_the_hall_as_built() -> None:
    """Site power, units and the peak day's water are for full load, whatever runs."""
    full, part = facility(**NVL), facility(**NVL, load_frac=0.3)
    for key in ("power.peak_facility_mw", "cooling.cdu_count"):
        assert part.value(key) == full.value(key)
    assert part.value("power.annual_pue") > full.value("power.annual_pue")
    assert part.value("cooling.ride_through_plant_s") > full.value("cooling.ride_through_plant_s")
    assert (
        full.value("cooling.ride_through_pumps_s") < 60 < full.value("cooling.ride_through_plant_s")
    )


def test_a_year_of_water_is_of_the_energy_that_runs() -> None:
    """50 MW at half load for 8,766 h are 219.15 GWh of IT; of them the printed L/kWh."""
    found = facility(**NVL, load_frac=0.5)
    litres = found.value("water.annual_wue_l_per_kwh") * 219.15e6
    assert found.value("water.annual_m3") == pytest.approx(litres / 1000, rel=1e-9)


@pytest.mark.parametrize("load", [0.3, 1.0])
def test_the_fit_out_is_bought_for_all_racks_whatever_runs(load: float) -> None:
    """50,000 kW at the printed price of a kW (2,223 USD: 111 M USD)."""
    found = facility(**NVL, load_frac=load)
    key = "cooling.direct-liquid-tower.fit_out_usd_per_kw"
    rows = {row["key"]: row["value"] for row in found.inputs}
    chillers_mw = found.frame("plant").set_index("equipment").loc["chiller", "design_heat_mw"]
    chillers_usd = chillers_mw * 1000 * rows["power.cooling-air-chiller-usd-per-kw"]
    whole = 50_000 * rows[key] + chillers_usd
    assert found.value("cooling.capex_usd") == pytest.approx(whole, rel=1e-12)


def test_dry_coolers_spray_on_the_hottest_day() -> None:
    found = facility(
        site="us-phoenix", cooling="direct-liquid-dry-cooler", system="gb300-nvl72", supply_c=30.0
    )
    mean_day = found.value("water.annual_m3") / 365
    assert found.value("water.peak_day_m3") > 1.5 * mean_day
    water = found.frame("warm_water")["wue_l_per_kwh"]
    assert water.is_monotonic_decreasing, "warmer water is sprayed less"


def test_year_is_the_mean_of_its_quarters() -> None:
    for cooling in ("direct-liquid-tower", "direct-liquid-dry-cooler"):
        found = facility(site="ie-dublin", cooling=cooling)
        rows = found.frame("quarters")
        assert rows["pue"].mean() == pytest.approx(found.value("power.annual_pue"), abs=1e-6)
        assert rows["wue_l_per_kwh"].mean() == pytest.approx(
            found.value("water.annual_wue_l_per_kwh"), abs=1e-3
        )


def test_on_site_power() -> None:
    """10 MW at about 11 of load: 4 MW of engines are two of 2.5 MW, with a spare one. They burn gas
    below the grid's tariff, so they run all year.

    The grid gives the rest, except in 40 dark hours of the quarter with the highest load. The 8,760
    hours of the typical year stand for a year of 8,766. Engines out of service in the mean: three
    times 432 h one is planned out, and of the others 5 % have failed; without a planned outage two
    of three run with 0.95^3 + 3 x 0.05 x 0.95^2 = 0.99275, one with 3 x 0.05^2 x 0.95 = 0.007125;
    with one, two of two run with 0.9025, one with 0.095.
    """
    flags: dict[str, Any] = {
        "site": "us-ashburn",
        "cooling": "direct-liquid-tower",
        "supply_c": 32.0,
    }
    found = facility(
        **flags, utility_mw=8.0, onsite=["reciprocating-engine-gas=4"], grid_outage_h=40.0
    )
    rows = found.frame("onsite").set_index("source")
    engine = rows.loc["reciprocating-engine-gas"]
    assert (engine["units"], engine["spare_units"], engine["mw"]) == (3, 1, 7.5)
    load = found.value("power.annual_pue") * 10 * 8766
    whole = 2.5 * (2 * 0.99275 + 0.007125)
    out = 2.5 * (2 * 0.9025 + 0.095)
    assert engine["mwh"] == pytest.approx((8766 - 1296) * whole + 1296 * out, rel=1e-4)
    assert engine["fuel_gj"] == pytest.approx(engine["mwh"] * 8.06)
    hours = found.frame("onsite_hours")
    dark = hours[hours["grid_cut"]]
    assert len(dark) == 40
    short = float((dark["load_mw"] - dark["reciprocating-engine-gas_mw"]).sum())
    assert found.value("onsite.unserved_mwh") == pytest.approx(short)
    assert rows["mwh"].sum() + found.value("onsite.unserved_mwh") == pytest.approx(load, rel=1e-4)
    assert found.value("onsite.time_to_power_quarters") == 7
    short_mwh = facility(
        **flags, utility_mw=8.0, onsite=["lithium-battery-4h=1"], grid_outage_h=4.0
    ).value("onsite.unserved_mwh")
    assert short_mwh > 0
    for wrong, words in (
        (["engine=3"], "no onsite row"),
        (["reciprocating-engine-gas"], "id=MW is needed"),
    ):
        with pytest.raises(InputError) as caught:
            facility(**flags, onsite=wrong)
        assert words in caught.value.problems[0].cause


def test_compare_ranks_by_what_reaches_the_chips() -> None:
    """Air-cooled halls have lower PUE than some liquid ones and spend more in server fans."""
    rows = facility(site="us-phoenix", compare=True, it_mw=50).frame("options")
    kept = rows[rows["why_not"].isna()]
    assert kept["tue"].is_monotonic_increasing
    assert not kept["annual_pue"].is_monotonic_increasing
    assert len(kept) == 14


def test_plan_and_verb_agree() -> None:
    """The main example's hall: the plan's PUE is the model's at the option's usual coolant
    temperature, with the air share of MI355X racks, the largest of the systems of the scenario."""
    import dcplan

    plan = dcplan.check("train-405b-in-90-days")
    taken = {row["key"]: row for row in plan.inputs}
    key = next(k for k in taken if k.endswith("direct-liquid-dry-cooler.pue"))
    supply = taken["cooling.direct-liquid-dry-cooler.coolant_supply_c"]["value"] - 4.0
    it_mw = next(row["value"] for k, row in taken.items() if k.endswith("halls.liquid.it_mw"))
    found = facility(
        site="us-ashburn",
        cooling="direct-liquid-dry-cooler",
        it_mw=it_mw,
        supply_c=supply,
        system="mi355x-128-dlc",
    )
    assert taken[key]["value"] == pytest.approx(found.value("power.annual_pue"), abs=1e-9)


def test_swings_of_a_job() -> None:
    """333 racks of 135 kW (45 MW of compute) at half power in waits: 22.4775 MW; network and
    storage do not swing."""
    found = facility(**NVL, job="llama-3.1-70b", ramp_limit_mw_per_s=100.0)
    assert found.value("swing.amplitude_mw") == pytest.approx(22.4775)
    assert found.value("swing.ramp_mw_per_s") == pytest.approx(22.4775 / 0.05)
    rows = found.frame("load_swings").set_index("remedy")
    floor = rows.loc["power floor"]
    assert floor["floor_mw"] == pytest.approx(44.955 - 100 * 0.05)
    calm = facility(**NVL, job="llama-3.1-70b", ramp_limit_mw_per_s=1000.0).frame("load_swings")
    assert calm["remedy"].tolist() == ["no measure necessary: the ramp is within the limit"]
    with pytest.raises(InputError, match="needs a system"):
        facility(site="us-ashburn", cooling="direct-liquid-tower", job="llama-3.1-70b")


def test_power_blocks_by_load_class() -> None:
    """45 MW of compute in 2N blocks of 2.5: 36; 5 MW of network and storage in N+1: 3."""
    rows = facility(**NVL, redundancy="2n").frame("power_blocks").set_index("class")
    assert rows.loc["compute", "blocks"] == 36
    assert rows.loc["network and storage", "blocks"] == 3
    assert (rows["installed_mw"] >= rows["load_mw"]).all()


def test_air_cooled_servers_leave_all_heat_in_the_air() -> None:
    rows = (
        facility(site="us-phoenix", compare=True, system="dgx-b300", it_mw=20)
        .frame("options")
        .set_index("cooling")
    )
    assert "100% of the heat goes into air" in rows.loc["direct-liquid-tower", "why_not"]
    found = facility(site="us-phoenix", compare=True, system="dgx-b300", it_mw=20)
    assert found.warnings[0]["code"] == "cost"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({}, "one of --site, --climate-zone and --epw is required, but none"),
        ({"site": "us-ashburn", "climate_zone": "4A"}, "but --site and --climate-zone are given"),
        ({"site": "us-ashborn"}, "no sites row"),
        ({"climate_zone": "0B"}, "zones with weather are 0A"),
        ({"site": "us-ashburn"}, "--cooling or --compare is required"),
        ({"site": "us-ashburn", "cooling": "tower"}, "no cooling row"),
        ({"site": "us-ashburn", "cooling": "air-chiller", "it_mw": 0.0}, "a number from 0.01"),
        ({"site": "us-ashburn", "cooling": "air-chiller", "load_frac": float("nan")}, "nan"),
        ({"site": "us-ashburn", "cooling": "air-chiller", "redundancy": "n+2"}, "one of n, n+1"),
        ({"site": "us-ashburn", "cooling": "air-chiller", "system": "gb300-nvl72"}, "provides air"),
        ({"site": "us-ashburn", "cooling": "crac-dx", "system": "mi355x-64-oci"}, "provides air"),
        (
            {"site": "us-ashburn", "cooling": "air-chiller", "other_redundancy": "none"},
            "one of n, n+1",
        ),
        (
            {
                "site": "us-phoenix",
                "cooling": "direct-liquid-dry-cooler",
                "system": "gb300-nvl72",
                "supply_c": 44.0,
            },
            "the coolant has 48.0 °C (44.0 °C of facility water plus 4 K",
        ),
    ],
)
def test_refusals_name_the_number(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        facility(**flags)
    assert any(words in p.cause for p in caught.value.problems), [
        p.cause for p in caught.value.problems
    ]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"compare": True, "job": "llama-3.1-8b"}, "--job is not used with --compare"),
        ({"compare": True, "cooling": "water-chiller"}, "--cooling is not used with --compare"),
        ({"cooling": "water-chiller", "rack_kw": 20.0}, "--rack-kw is not used without --system"),
        (
            {"cooling": "water-chiller", "ramp_limit_mw_per_s": 0.0},
            "--ramp-limit-mw-per-s is not used without --job",
        ),
        (
            {"cooling": "water-chiller", "grid_outage_h": 5.0},
            "--grid-outage-h is not used without --onsite",
        ),
    ],
)
def test_flags_that_would_change_nothing_are_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        facility(site="us-ashburn", **flags)


def test_a_job_in_a_hall_without_room_is_refused() -> None:
    """45 kW of compute run no rack of 135 kW: no step is invented for it."""
    with pytest.raises(InputError, match="not enough for one gb300-nvl72 of 135 kW"):
        facility(**NVL | {"it_mw": 0.05}, job="llama-3.1-8b")


def test_sources_against_the_design_day() -> None:
    """The margin is to the peak: grid 8 and two engines of 2.5 MW for 4 MW, less 10 MW x peak PUE."""
    flags: dict[str, Any] = {"site": "us-ashburn", "cooling": "direct-liquid-tower", "it_mw": 10.0}
    found = facility(
        **flags, utility_mw=8.0, onsite=["reciprocating-engine-gas=1", "reciprocating-engine-gas=3"]
    )
    assert found.value("onsite.peak_margin_mw") == pytest.approx(
        13.0 - 10.0 * found.value("power.peak_pue")
    )
    rows = found.frame("onsite").set_index("source")
    assert rows.loc["reciprocating-engine-gas", "design_mw"] == 5.0


def test_interruptions_are_the_hours_asked() -> None:
    """No grid, no source for 5 h: 5 h of load are short, not 8; in two events as well."""
    flags: dict[str, Any] = {"site": "us-ashburn", "cooling": "direct-liquid-tower", "it_mw": 10.0}
    for events in (1, 2):
        found = facility(**flags, utility_mw=30.0, grid_outage_h=5.0, grid_outage_events=events)
        hours = found.frame("onsite_hours")
        dark = hours[hours["grid_cut"]]
        assert (len(dark), int((dark["hour"].diff() != 1).sum())) == (5, events)
        assert found.value("onsite.unserved_mwh") == pytest.approx(float(dark["load_mw"].sum()))


def test_an_onsite_row_without_its_heat_rate_is_refused(tmp_path: Path) -> None:
    """No fuel cost is invented for a source that does not say what it burns."""
    (tmp_path / "mine.yaml").write_text(
        "onsite:\n  - {id: mine, name: Mine, kind: engine, capex_usd_per_kw: 900, "
        "fixed_usd_per_kw_year: 10, variable_usd_per_mwh: 5, lead_quarters: 3, source: {title: "
        "mine, as_of: 2026-01}}\n"
    )
    with pytest.raises(InputError) as caught:
        facility(
            site="us-ashburn",
            cooling="direct-liquid-tower",
            onsite=["mine=3"],
            catalogs=[str(tmp_path)],
        )
    assert any("heat_rate_gj_per_mwh" in p.cause for p in caught.value.problems)
