"""Share of a tower's heat that leaves as vapor, by climate."""

from __future__ import annotations

from typing import Any

import numpy as np
import psychrolib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.answers.facility.answer import facility
from dcplan.facility import moist
from dcplan.facility.plant import tower_evaporation_frac

SEA_PA = 101_325.0
RISE = np.array(2.3 * 4.186 * 5.0)
HEAT = np.array(2450.0)


def share(dry_c: float, wet_c: float, hot_k: float = 9.75) -> float:
    dry, wet = np.array([dry_c]), np.array([wet_c])
    return float(tower_evaporation_frac(dry, wet, wet + hot_k, RISE, HEAT)[0])


@pytest.mark.parametrize("wet_c", [0.0, 10.0, 20.0, 30.0])
@pytest.mark.parametrize("above_k", [0.0, 5.0, 15.0])
def test_moist_air_is_that_of_ashrae(wet_c: float, above_k: float) -> None:
    """Against psychrolib: the formula of saturation of the WMO leaves the pressure of dry air out, 0.5 %."""
    psychrolib.SetUnitSystem(psychrolib.SI)
    dry = wet_c + above_k
    hers = psychrolib.GetHumRatioFromTWetBulb(dry, wet_c, SEA_PA)
    own = float(moist.humidity_kg_per_kg(np.array(dry), np.array(wet_c)))
    assert own == pytest.approx(max(hers, 0.0), abs=2e-4)
    heat = psychrolib.GetMoistAirEnthalpy(dry, own) / 1000.0
    assert float(moist.enthalpy_kj_per_kg(np.array(dry), np.array(own))) == pytest.approx(
        heat, rel=1e-4
    )


def test_air_that_leaves_saturated_by_hand() -> None:
    """Air of 25 C and 20 C wet bulb, 57.2 kJ/kg, with 48.1 kJ/kg more: saturated air of 105.3 kJ/kg
    has 30.6 C and 28.3 g/kg, but the water enters at 29.75 C: 27.0 g/kg and 98.7 kJ/kg. The air
    enters with 12.6 g/kg: 2450 x 0.0144 / 41.5 = 0.85."""
    psychrolib.SetUnitSystem(psychrolib.SI)
    w_in = psychrolib.GetHumRatioFromTWetBulb(25.0, 20.0, SEA_PA)
    w_out = psychrolib.GetSatHumRatio(29.75, SEA_PA)
    h_in, h_out = (
        psychrolib.GetMoistAirEnthalpy(t, w) / 1000.0 for t, w in ((25.0, w_in), (29.75, w_out))
    )
    assert h_out - h_in < RISE  # the water limits
    by_hand = 2450.0 * (w_out - w_in) / (h_out - h_in)
    assert by_hand == pytest.approx(0.85, abs=0.01)
    assert share(25.0, 20.0) == pytest.approx(by_hand, abs=0.01)


def test_air_that_the_water_does_not_limit() -> None:
    """Warm, humid air: it leaves with all of the 48.1 kJ/kg below the temperature of the water."""
    psychrolib.SetUnitSystem(psychrolib.SI)
    w_in = psychrolib.GetHumRatioFromTWetBulb(32.0, 28.0, SEA_PA)
    h_in = psychrolib.GetMoistAirEnthalpy(32.0, w_in) / 1000.0
    found = share(32.0, 28.0, hot_k=20.0)
    gained = found * 48.139 / 2450.0  # vapor by kg of air
    t_out = next(
        t
        for t in np.arange(28.0, 45.0, 0.01)
        if psychrolib.GetMoistAirEnthalpy(t, psychrolib.GetSatHumRatio(t, SEA_PA)) / 1000.0
        >= h_in + 48.139
    )
    assert psychrolib.GetSatHumRatio(t_out, SEA_PA) - w_in == pytest.approx(gained, rel=0.01)


@given(st.floats(0, 28), st.floats(0, 15))
def test_colder_air_takes_more_heat_without_vapor(wet_c: float, above_k: float) -> None:
    here = share(wet_c + above_k, wet_c)
    assert 0.2 < here < 2.0
    assert share(wet_c + above_k + 1.0, wet_c) >= here - 1e-9  # hotter air takes less heat


HALL: dict[str, Any] = {"cooling": "direct-liquid-tower", "system": "gb300-nvl72", "it_mw": 50.0}


def test_water_of_towers_differs_by_climate() -> None:
    """F15: 1.93 in Dublin and 1.95 in Phoenix before; in a cool climate a fifth to a third is sensible."""
    cool, hot = (
        facility(site=site, **HALL).value("water.annual_wue_l_per_kwh")
        for site in ("ie-dublin", "us-phoenix")
    )
    assert 2 / 3 < cool / hot < 4 / 5


def test_a_range_of_supplies_is_as_in_the_study() -> None:
    """Without a design, all heat evaporates, as in Lei et al."""
    cool, hot = (
        facility(site=site, cooling="direct-liquid-tower", it_mw=50.0).value(
            "water.annual_wue_l_per_kwh"
        )
        for site in ("ie-dublin", "us-phoenix")
    )
    assert cool == pytest.approx(hot, rel=0.06)
