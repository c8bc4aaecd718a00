"""Published sizes of PV, wind, battery and engine: the island of Ouessant by P. Haessig.

P. Haessig, Microgrids.JuMP (commit e3f1db3), cvx_article_experiments.csv: least cost of a microgrid over
8,760 hours with fixed lifetimes, a linear program in JuMP. The manuscript is hal-05052473. Prices are those of
example/Microgrid_Wind-Solar_data.jl with fuel at 2 USD/L. The series are in data/ouessant-2016.csv.source.

Its battery loses 5 % of the power in each direction; here the round trip of 0.95 / 1.05 has equal parts.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dcplan import facility
from dcplan.economics.loans import annuity_factor
from dcplan.energy.sizing import size_sources
from dcplan.energy.sizing_program import Option, Storage

FILE = Path(__file__).parent / "data" / "ouessant-2016.csv"
RATE, ENGINE_LIFE_H, PLANT_LIFE = 0.05, 15_000, 25
ROUND_TRIP = 0.95 / 1.05
FUEL_USD_PER_MWH = 2.0 * 0.240 * 1000
"""2 USD/L times 0.240 L/kWh."""


@dataclass(frozen=True)
class Case:
    """A row of the file: its assumptions, its sizes in kW and kWh, and its cost."""

    battery_years: float
    engine_h: float
    """Hours a year that the engine is assumed to run: its life and its maintenance follow."""
    engine: float
    battery: float
    pv: float
    wind: float
    usd_per_mwh: float


CASES = {
    "Fixed lifetime, round & reasonable": Case(
        10, 2000, 1186.3757, 3495.2466, 2198.1938, 1484.4915, 248.7521
    ),
    "Fixed lifetime, matching rgain=2": Case(
        10.687, 1809, 1169.6743, 3823.2798, 2265.8420, 1479.3223, 245.9858
    ),
    "Fixed lifetime, optimistic 15y": Case(
        15, 2000, 1128.9396, 4840.5333, 2589.1113, 1452.1542, 241.5375
    ),
    "Fixed lifetime, convergence": Case(
        7.877, 2760, 1227.3658, 2705.7565, 2072.7827, 1477.0745, 259.5022
    ),
}


def yearly(usd: float, years: float) -> float:
    """Annual cost of a price over a life."""
    return usd / float(annuity_factor(RATE, years))


def series() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Load [kW], and capacity factors of PV and of a turbine of 52 m and 900 kW.

    Wind speeds are raised by 1.059 to those of a mast. Without saturation the turbine gives
    1/2 x 0.521 x 1.225 v^3 over its rating of 900 kW / (pi 26^2 m2); a smooth minimum with 1 (3.1) follows,
    and above 25 m/s it stops.
    """
    rows = list(csv.DictReader(FILE.read_text(encoding="utf-8").splitlines()))
    load, pv, wind = (
        np.array([float(r[name]) for r in rows])
        for name in ("load_kw", "pv_w_per_kw", "wind_m_per_s")
    )
    speed = 1.059 * wind
    free = 0.5 * 0.521 * 1.225 * speed**3 / (900e3 / (np.pi * 26**2))
    soft = -np.log(np.exp(-3.1) + np.exp(-3.1 * free)) / 3.1
    return load, pv / 1000, np.where((soft < 0) | (speed > 25), 0.0, soft)


def test_the_series_are_those_of_the_island() -> None:
    """6.775 GWh a year up to 1,707 kW; capacity factors 11.8 and 39.7 %."""
    load, pv, wind = series()
    assert load.size == 8760
    assert load.sum() == pytest.approx(6_774_979)
    assert load.max() == pytest.approx(1707)
    assert (pv.mean(), wind.mean()) == pytest.approx((0.1183, 0.3970), abs=5e-5)
    # printed in Microgrid_JuMP-BB_comparison.ipynb
    assert wind[:3] == pytest.approx([0.03184904690521816, 0.1104932647748532, 0.24596484619739856])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_sizes_at_least_cost(name: str) -> None:
    """Sizes within 1.5 % and cost within 0.1 % of the published ones: the same program in two tools."""
    case, (load, pv, wind) = CASES[name], series()
    maintenance = 0.02 * case.engine_h
    engine_year = yearly(400, ENGINE_LIFE_H / case.engine_h) + maintenance
    options = [
        Option("engine", np.ones(8760), engine_year * 1e3, FUEL_USD_PER_MWH, 10.0),
        Option("pv", pv, (yearly(1200, PLANT_LIFE) + 20) * 1e3, 0.0, 20.0, dispatched=False),
        Option("wind", wind, (yearly(3500, PLANT_LIFE) + 100) * 1e3, 0.0, 20.0, dispatched=False),
    ]
    battery_year = (yearly(350, case.battery_years) + 10) * 1e3
    found = size_sources(
        load / 1e3, options, Storage(0.0, battery_year, ROUND_TRIP, 50.0, hours=1.0)
    )
    sizes = [found.mw["engine"], found.battery_mwh, found.mw["pv"], found.mw["wind"]]
    published = [case.engine, case.battery, case.pv, case.wind]
    assert np.array(sizes) * 1e3 == pytest.approx(published, rel=0.016)
    assert found.usd_per_year / load.sum() * 1e3 == pytest.approx(case.usd_per_mwh, rel=0.001)


OVERLAY = """onsite:
  - {{id: island-engine, name: Engine, kind: engine, fuel: diesel, capex_usd_per_kw: 400,
     fixed_usd_per_kw_year: {maintenance}, variable_usd_per_mwh: 480, heat_rate_gj_per_mwh: 1.0e-9,
     g_co2_per_kwh: 0, life_years: {engine_years}, lead_quarters: 0, source: {source}}}
  - {{id: island-pv, name: PV, kind: solar, capex_usd_per_kw: 1200, fixed_usd_per_kw_year: 20,
     variable_usd_per_mwh: 0, life_years: 25, lead_quarters: 0, source: {source}}}
  - {{id: island-wind, name: Wind, kind: wind, capex_usd_per_kw: 3500, fixed_usd_per_kw_year: 100,
     variable_usd_per_mwh: 0, life_years: 25, lead_quarters: 0, source: {source}}}
  - {{id: island-battery, name: Battery, kind: battery, capex_usd_per_kw: 350,
     fixed_usd_per_kw_year: 10, variable_usd_per_mwh: 0, life_years: {battery_years}, hours: 1,
     round_trip_frac: {round_trip}, lead_quarters: 0, source: {source}}}
"""


def overlay(folder: Path, case: Case) -> str:
    """Catalog of the case; 1 kW of the island is 1 MW here, so that whole units do not matter."""
    source = "{title: Microgrids.JuMP, as_of: 2024}"
    for name in ("power", "finance"):
        (folder / name).mkdir()
    (folder / "power" / "onsite.yaml").write_text(
        OVERLAY.format(
            source=source,
            maintenance=0.02 * case.engine_h,
            engine_years=ENGINE_LIFE_H / case.engine_h,
            battery_years=case.battery_years,
            round_trip=ROUND_TRIP,
        )
    )
    (folder / "finance" / "parameters.yaml").write_text(
        "finance:\n  - {id: discount-rate, name: rate, unit: fraction per year, "
        f"value: {{value: {RATE}}}, source: {source}}}\n"
    )
    return str(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_sizes_that_facility_chooses(tmp_path: Path, name: str) -> None:
    """``dcplan facility --size-onsite --load-hours`` is within 5 % of every published size and of the cost."""
    case, (load, pv, wind) = CASES[name], series()
    written = {"load": load, "island-pv": pv, "island-wind": wind}
    files = {key: tmp_path / f"{key}.csv" for key in written}
    for key, file in files.items():
        file.write_text("\n".join(f"{x:.9f}" for x in written[key]) + "\n")
    folder = tmp_path / "catalog"
    folder.mkdir()
    found = facility(
        climate_zone="4A",
        cooling="direct-liquid-dry-cooler",
        it_mw=1.0,
        utility_mw=0.0,
        onsite=[
            "island-engine=4000",
            "island-pv=20000",
            "island-wind=9000",
            "island-battery=20000",
        ],
        profile=[f"{key}={files[key]}" for key in ("island-pv", "island-wind")],
        load_hours=str(files["load"]),
        size_onsite=True,
        catalogs=(overlay(folder, case),),
    )
    chosen = found.frame("onsite").set_index("source")["chosen_mw"]
    assert chosen["island-engine"] == pytest.approx(case.engine, rel=0.05)
    assert chosen["island-battery"] == pytest.approx(case.battery, rel=0.05)  # one hour
    assert chosen["island-pv"] == pytest.approx(case.pv, rel=0.05)
    assert chosen["island-wind"] == pytest.approx(case.wind, rel=0.05)
    cost = found.value("onsite.annual_usd") / 1e3 / load.sum() * 1e3
    assert cost == pytest.approx(case.usd_per_mwh, rel=0.05)
    assert found.value("onsite.served_frac") == pytest.approx(1.0, abs=1e-6)
