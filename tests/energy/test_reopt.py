"""Published test cases of REopt.jl that need no network: runtests.jl at commit 029db01.

The others take PV and wind from PVWatts and the Wind Toolkit, or tariffs from URDB, over the network.
"""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import OnsitePower
from dcplan.economics.discounting import discount_factor
from dcplan.economics.loans import annuity_factor
from dcplan.energy.cuts import cut_hours
from dcplan.energy.dispatch import Battery, Source, dispatch
from dcplan.energy.sizing import size_sources
from dcplan.energy.sizing_program import Option

HHV_KWH_PER_GAL, EFFICIENCY, USD_PER_GAL = 40.7, 0.3232898, 3.0
"""Diesel and generator of off_grid.json; the fuel price is 22.57 USD / 7.52 gal."""
KW = 1e-3
"""MW of one kW."""


def generator(least_kw: float = 100.0) -> Option:
    """100 kW, fixed, 700 USD/kW; energy at 3 USD/gal."""
    usd_per_mwh = USD_PER_GAL / (HHV_KWH_PER_GAL * EFFICIENCY) / KW
    return Option("generator", np.ones(120), 0.0, usd_per_mwh, 100 * KW, least_kw * KW)


def test_off_grid_2_generator_alone() -> None:
    """100 kWh a year, 0.99 of it served: 99 kWh, 7.52 gal, 22.57 USD, 205.35 USD over the life, and a
    replacement in year 10 of 324.235442 USD/kW before tax. The shape of the load has no effect."""
    shape = np.random.default_rng(1).uniform(0.2, 1.0, 120)
    load_mw = 100 * KW * shape / shape.sum()
    found = size_sources(load_mw, [generator()], served_frac=0.99)
    assert found.mw["generator"] == pytest.approx(100 * KW)
    made_kwh = found.served_frac * 100
    assert made_kwh == pytest.approx(99.0, rel=1e-6)
    gal = made_kwh / (HHV_KWH_PER_GAL * EFFICIENCY)
    assert round(gal, 2) == 7.52
    assert round(found.usd_per_year, 2) == 22.57
    # 20 years, fuel + 2.7 % a year, discount 8 %, tax 26 %
    factor = float(annuity_factor(1.08 / 1.027 - 1, 20))
    assert found.usd_per_year * (1 - 0.26) * factor == pytest.approx(205.35, abs=0.02)
    assert 700 * discount_factor(0.08, 10) == pytest.approx(324.235442, abs=1e-6)
    assert 100 * 700 + 3000 == 73_000  # initial capital with the other costs of 3,000 USD


def test_off_grid_3_the_reserve_needs_more_generator() -> None:
    """A flat load of 100 kW, all of it served, with 10 % ready: 100 kW are not enough."""
    load_mw = np.full(120, 100 * KW)
    assert size_sources(load_mw, [generator()]).served_frac == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no sizes within their limits"):
        size_sources(load_mw, [generator()], reserve_frac=0.1)


@pytest.mark.parametrize(("charge_frac", "hours"), [(1.0, 100), (0.9, 90), (0.8, 80)])
def test_backup_reliability_battery_alone(charge_frac: float, hours: int) -> None:
    """4 MW of critical load, a battery of 4 MW and 400 MWh without losses or failures: it survives
    its energy over 4 MW and not an hour longer. REopt asks that its two methods agree on this."""
    battery = Battery(4.0, 400.0 * charge_frac, 1.0)
    for outage, short in ((hours, 0.0), (hours + 1, 4.0)):
        cut = cut_hours(outage, 1, 20, 300, 400)
        grid = Source("grid", np.where(cut, 0.0, 20.0), 50.0)
        assert dispatch(np.full(400, 4.0), [grid], battery).short_mwh == pytest.approx(short)


def test_blended_tariff() -> None:
    """10,000 kWh in a flat load at 0.1 USD/kWh: 1,000 USD; 10 USD a kW and month on it: 136.99."""
    load_mw = np.full(8760, 10_000 / 8760 * KW)
    found = dispatch(load_mw, [Source("grid", 1.0, 0.1 / KW)])
    assert found.usd == pytest.approx(1000.0, rel=1e-6)
    assert round(float(load_mw.max()) / KW * 10 * 12, 2) == 136.99


def test_cost_constants() -> None:
    """PV of 10 to 100 MW 1,239 USD/kW and 17 USD/kW a year; large wind 2,896 and 42; planned outages
    of an engine 9 periods with 432 h, of a turbine 264 h."""
    rows = load().table("onsite", OnsitePower)
    pv, wind = rows["solar-pv"], rows["onshore-wind"]
    assert (pv.capex_usd_per_kw.value, pv.fixed_usd_per_kw_year.value) == (1239, 17)
    assert (wind.capex_usd_per_kw.value, wind.fixed_usd_per_kw_year.value) == (2896, 42)
    hours = [
        rows[name].planned_outage_h_per_year
        for name in ("reciprocating-engine-gas", "aeroderivative-turbine")
    ]
    assert [h.value if h else None for h in hours] == [432, 264]


def test_wind_with_net_metering() -> None:
    """Flat 0.2 USD/kWh both ways: the size makes the 10 GWh of the load, 3,752 kW at the capacity factor
    of the Wind Toolkit. Its life cycle cost is 1,874 USD/kW and 35 USD/kW a year + 0.1 % over 25 years
    at 7 %: 8,577 kUSD; REopt has 8,591 (0.17 % more)."""
    real = 1.07 / 1.001 - 1
    cost = 3752 * (1874 + 35 * float(annuity_factor(real, 25)))
    assert cost == pytest.approx(8.591017e6, rel=0.002)


def test_pv_that_land_and_roof_limit() -> None:
    """Solar and Storage, OffGrid 1: the size is the limit of 6 acres/MW and 10 W/ft2 at 5,000 ft2."""
    roof_kw = 5000 * 10 * KW
    assert 1 / 6 / KW + roof_kw == pytest.approx(216.6667, abs=1e-4)
    assert 30 / 6 / KW + roof_kw == pytest.approx(5050.0)
