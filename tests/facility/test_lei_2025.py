"""Model against model: medians of Lei et al. 2025 (Resources, Conservation & Recycling 219, 108310)
in 15 zones.

The same parameter ranges go into our components over the zone cities' weather. PUE medians are
known to 0.016 and WUE medians to 0.03. Measured sites stand in
``test_measured_sites`` and are not fitted.
"""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.answers.facility.answer import facility
from dcplan.catalog.loader import load
from dcplan.catalog.schema import CoolingOption
from dcplan.facility.pue import sizes
from dcplan.inputs.cooling.performance import performance
from dcplan.inputs.cooling.setting import Performance, Setting
from dcplan.inputs.cooling.weather import weather_of
from dcplan.inputs.log import InputLog

ZONES = ("1A", "2A", "2B", "3A", "3B", "3C", "4A", "4B", "4C", "5A", "5B", "5C", "6A", "6B", "7")
# cases 15_2, 2 and 16_2: median PUE and WUE by zone
TOWER = (
    (
        1.210,
        1.175,
        1.138,
        1.156,
        1.135,
        1.138,
        1.138,
        1.123,
        1.129,
        1.124,
        1.115,
        1.125,
        1.124,
        1.115,
        1.122,
    ),
    (
        2.001,
        1.971,
        1.969,
        1.983,
        1.942,
        1.952,
        1.984,
        1.943,
        1.969,
        1.940,
        1.953,
        1.982,
        2.004,
        1.934,
        1.945,
    ),
)
WATERSIDE = (
    (
        1.143,
        1.145,
        1.123,
        1.130,
        1.118,
        1.113,
        1.119,
        1.112,
        1.110,
        1.115,
        1.113,
        1.117,
        1.117,
        1.112,
        1.115,
    ),
    (
        2.216,
        2.209,
        2.185,
        2.203,
        2.189,
        2.184,
        2.166,
        2.189,
        2.163,
        2.196,
        2.191,
        2.183,
        2.185,
        2.201,
        2.201,
    ),
)
DRY = (
    (
        1.098,
        1.099,
        1.098,
        1.098,
        1.095,
        1.101,
        1.099,
        1.097,
        1.097,
        1.099,
        1.102,
        1.098,
        1.100,
        1.094,
        1.098,
    ),
    (
        0.000,
        0.074,
        0.199,
        0.164,
        0.282,
        0.096,
        0.147,
        0.295,
        0.220,
        0.138,
        0.211,
        0.223,
        0.101,
        0.240,
        0.113,
    ),
)


LARGE = sizes(100.0)
"""The size class of the study's tables."""
HERS = {"electrical_losses": "class"}
"""UPS and distribution of the study, by size class."""


def _found(option: str, zone: str, air_frac: float, **at: float) -> Performance:
    catalog = load()
    row = catalog.get("cooling", option, CoolingOption)
    setting = Setting(zone, zone, weather_of(f"zone-{zone}", None, None), LARGE, air_frac, **at)
    return performance(row, setting, InputLog(catalog))


@pytest.mark.parametrize(
    ("option", "air_frac", "table", "pue_within", "wue_within"),
    [
        ("direct-liquid-tower", 0.13, TOWER, 0.02, 0.25),
        ("waterside-economizer", 1.0, WATERSIDE, 0.03, 0.25),
        ("direct-liquid-dry-cooler", 0.13, DRY, 0.02, 0.05),
    ],
)
def test_medians_by_climate_zone(
    option: str,
    air_frac: float,
    table: tuple[tuple[float, ...], ...],
    pue_within: float,
    wue_within: float,
) -> None:
    found = [_found(option, zone, air_frac) for zone in ZONES]
    pue = np.array([f.pue.value for f in found]) - table[0]
    wue = np.array([f.wue_l_per_kwh.value if f.wue_l_per_kwh else np.nan for f in found]) - table[1]
    assert np.abs(pue).max() <= pue_within, dict(zip(ZONES, pue.round(4).tolist(), strict=True))
    assert np.abs(wue).max() <= wue_within, dict(zip(ZONES, wue.round(3).tolist(), strict=True))


MIDSIZE_WATERSIDE = (
    1.415,
    1.417,
    1.370,
    1.385,
    1.359,
    1.356,
    1.371,
    1.371,
    1.376,
    1.360,
    1.356,
    1.363,
    1.366,
    1.362,
    1.370,
)


def test_midsize_waterside_halls() -> None:
    """Case 4: the ranges of halls of 1 to 10 MW (air rise, chillers, UPS, lighting) alone make the
    difference."""
    found = [
        facility(climate_zone=z, cooling="waterside-economizer", it_mw=5, **HERS) for z in ZONES
    ]
    pue = np.array([f.value("power.annual_pue") for f in found]) - MIDSIZE_WATERSIDE
    assert np.abs(pue).max() <= 0.03, dict(zip(ZONES, pue.round(4).tolist(), strict=True))


@pytest.mark.parametrize(
    ("option", "pooled"),
    # pooled P5 and P95 of cases 15_2 and 16_2: the spread of draws must be like theirs
    [("direct-liquid-tower", (1.066, 1.222)), ("direct-liquid-dry-cooler", (1.053, 1.143))],
)
def test_spread_of_the_draws(option: str, pooled: tuple[float, float]) -> None:
    found = [_found(option, zone, 0.13).pue for zone in ZONES]
    low, high = (float(np.median([getattr(f, side) for f in found])) for side in ("low", "high"))
    assert low == pytest.approx(pooled[0], abs=0.02)
    assert high == pytest.approx(pooled[1], abs=0.03)


@pytest.mark.parametrize(("zone", "pue"), [("1A", 1.267), ("4A", 1.176), ("6B", 1.120)])
def test_airside_options_are_the_table(zone: str, pue: float) -> None:
    """Case 0: outside air with an air-cooled chiller behind is tabulated.

    docs/decisions.md says why: components are off by up to 0.08.
    """
    found = facility(climate_zone=zone, cooling="airside-economizer-air-chiller", it_mw=20, **HERS)
    assert found.value("power.annual_pue") == pue


@pytest.mark.parametrize(
    ("zone", "low", "high"),
    # NREL ESIF: warm water, no chiller, zone 5B, PUE 1.034 of 888 kW; Microsoft's and AWS's fleets
    # 1.14 to 1.17
    [("5B", 1.034, 1.15), ("4A", 1.034, 1.19)],
)
def test_measured_sites_are_in_reach_of_the_spread(zone: str, low: float, high: float) -> None:
    """Not fitted: a warm-water hall without chillers comes near ESIF, and is not better than the
    best measured site."""
    warm = facility(climate_zone=zone, cooling="direct-liquid-tower", it_mw=20, supply_c=32)
    assert low <= warm.metrics["power.annual_pue"].low <= high  # type: ignore[operator]
    assert warm.value("power.annual_pue") <= high
    assert warm.value("cooling.chiller_heat_frac") == pytest.approx(0.0, abs=0.01)


def test_a_year_takes_little_time() -> None:
    """The goal is 20 ms for one site and option: 256 draws over a year's bins."""
    import time

    catalog = load()
    row = catalog.get("cooling", "direct-liquid-tower", CoolingOption)
    at = Setting("x", "4A", weather_of("us-ashburn", None, None), LARGE, 0.13)
    performance(row, at, InputLog(catalog))
    times = []
    for _ in range(5):
        began = time.process_time()
        performance(row, at, InputLog(catalog))
        times.append(time.process_time() - began)
    assert min(times) < 0.1, "no timed goal here: five times the goal would be another algorithm"
