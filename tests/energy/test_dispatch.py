"""Hourly dispatch: by hand, conservation of energy, cheapest first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.energy.dispatch import Battery, Source, dispatch

QUICK = settings(max_examples=30, deadline=None)


def test_battery_by_hand() -> None:
    """10 and 30 MW, 20 from the grid at 50 USD: without losses 10 MWh are carried over and nothing
    is short."""
    load, grid = np.array([10.0, 30.0]), Source("grid", 20.0, 50.0)
    alone, helped = dispatch(load, [grid]), dispatch(load, [grid], Battery(20.0, 40.0, 1.0))
    assert alone.short_mwh == pytest.approx(10.0)
    assert (helped.short_mwh, helped.battery_mwh, helped.usd) == pytest.approx((0.0, 10.0, 2000.0))
    # at 0.64 there and back, 10 MWh out cost 15.6 in: 5.6 more than the first hour has to spare
    lossy = dispatch(load, [grid], Battery(20.0, 40.0, 0.64))
    assert lossy.short_mwh == pytest.approx(10 - 10 * 0.64)


def test_interrupted_grid() -> None:
    load, grid = np.full(4, 10.0), np.array([10.0, 0.0, 10.0, 10.0])
    found = dispatch(load, [Source("grid", grid, 40.0), Source("engine", 10.0, 100.0, 450.0)])
    assert found.mwh == {"grid": 30.0, "engine": 10.0}
    assert (found.usd, found.t_co2) == pytest.approx((2200.0, 4.5))


def test_hours_count_as_long_as_they_stand_for() -> None:
    load, grid = np.array([10.0, 30.0]), Source("grid", 20.0, 50.0)
    found = dispatch(load, [grid], hours=np.array([1.0, 1.5]))
    assert found.mwh == {"grid": 40.0}  # 10 + 20 x 1.5
    assert (found.short_mwh, found.usd) == pytest.approx((15.0, 2000.0))


@given(
    st.lists(st.floats(0, 50), min_size=1, max_size=12),
    st.lists(st.tuples(st.floats(0, 30), st.floats(1, 200)), min_size=1, max_size=3),
)
@QUICK
def test_every_hour_is_served_or_said_short(
    load: list[float], units: list[tuple[float, float]]
) -> None:
    sources = [Source(f"s{i}", mw, usd) for i, (mw, usd) in enumerate(units)]
    found = dispatch(np.array(load), sources)
    assert sum(found.mwh.values()) + found.short_mwh == pytest.approx(sum(load), abs=1e-5)
    # merit order by hand, hour by hour
    usd = 0.0
    for need in load:
        left = need
        for source in sorted(sources, key=lambda s: s.usd_per_mwh):
            used = min(left, float(np.asarray(source.mw)))
            usd, left = usd + used * source.usd_per_mwh, left - used
    assert found.usd == pytest.approx(usd, rel=1e-6, abs=1e-4)
