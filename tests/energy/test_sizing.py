"""Sizes at least cost: by hand, against a search over all sizes, and with a reserve."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dcplan.energy.dispatch import Battery, Source, dispatch
from dcplan.energy.sizing import in_blocks, size_sources
from dcplan.energy.sizing_program import Option, Storage

SUN = np.array([1.0, 0.0])


@pytest.mark.parametrize("trip", [1.0, 0.64])
def test_sun_for_half_of_the_time_by_hand(trip: float) -> None:
    """10 MW in a sunny and a dark hour. The dark hour takes 10 / sqrt(n) MWh of the store, which
    take 10 / n MWh of sun: PV 10 + 10 / n MW, battery 10 / n MW and 10 / sqrt(n) MWh."""
    pv = Option("pv", SUN, 100.0, 0.0, 1e3, dispatched=False)
    found = size_sources(np.full(2, 10.0), [pv], Storage(7.0, 3.0, trip, 1e3))
    sizes = (found.mw["pv"], found.battery_mw, found.battery_mwh)
    assert sizes == pytest.approx((10 + 10 / trip, 10 / trip, 10 / trip**0.5), rel=1e-6)
    cost = 100 * (10 + 10 / trip) + 7 * 10 / trip + 3 * 10 / trip**0.5
    assert found.usd_per_year == pytest.approx(cost, rel=1e-6)


def test_a_battery_of_fixed_hours() -> None:
    """Two hours of store for each MW: 10 MWh need 5 MW, but the dark hour needs 10 MW."""
    pv = Option("pv", SUN, 100.0, 0.0, 1e3, dispatched=False)
    found = size_sources(np.full(2, 10.0), [pv], Storage(7.0, 0.0, 1.0, 1e3, hours=2.0))
    assert (found.battery_mw, found.battery_mwh) == pytest.approx((10.0, 20.0))


def test_the_share_that_may_be_unserved_cuts_the_peak() -> None:
    """Load 10, 10, 20: with 75 % an engine of 10 MW is enough; with all of it 20 MW."""
    engine = Option("engine", np.ones(3), 1e5, 50.0, 100.0)
    load = np.array([10.0, 10.0, 20.0])
    part, whole = (size_sources(load, [engine], served_frac=s) for s in (0.75, 1.0))
    assert part.mw["engine"] == pytest.approx(10.0)
    assert part.served_frac == pytest.approx(0.75)
    assert part.usd_per_year == pytest.approx(10 * 1e5 + 30 * 50.0)
    assert whole.mw["engine"] == pytest.approx(20.0)


def test_no_size_of_a_search_is_cheaper() -> None:
    """A day of 12 steps: the cost of the program is not above that of any served point of a grid of
    sizes, each dispatched alone, and near the best of them."""
    rng = np.random.default_rng(3)
    load = rng.uniform(8, 12, 12)
    sun = np.clip(np.sin(np.arange(12) / 12 * 2 * np.pi), 0, 1)
    options = [
        Option("pv", sun, 60.0, 0.0, 40.0, dispatched=False),
        Option("engine", np.ones(12), 150.0, 30.0, 12.0),
    ]
    storage = Storage(5.0, 8.0, 0.81, 20.0)
    found = size_sources(load, options, storage)
    best = np.inf
    for pv, engine, mw, mwh in itertools.product(
        (0.0, 16.0, 32.0, 36.0, 40.0), (0.0, 0.5, 4.0, 12.0), (0.0, 10.0, 20.0), (0.0, 35.0, 70.0)
    ):
        sources = [Source("pv", pv * sun, 0.0), Source("engine", engine, 30.0)]
        one = dispatch(load, sources, Battery(mw, mwh, 0.81))
        if one.short_mwh < 1e-9:
            cost = 60 * pv + 150 * engine + 5 * mw + 8 * mwh + one.usd
            assert found.usd_per_year <= cost + 1e-6
            best = min(best, cost)
    assert best < 1.1 * found.usd_per_year


def test_the_reserve_of_a_battery_has_power_and_energy() -> None:
    """10 MW from PV with a tenth ready: the battery has 1 MW and 1 MWh in store, without losses."""
    pv = Option("pv", np.ones(4), 100.0, 0.0, 1e3, dispatched=False)
    found = size_sources(np.full(4, 10.0), [pv], Storage(7.0, 3.0, 1.0, 1e3), reserve_frac=0.1)
    sizes = (found.mw["pv"], found.battery_mw, found.battery_mwh)
    assert sizes == pytest.approx((10.0, 1.0, 1.0), abs=1e-6)


def test_blocks_are_whole() -> None:
    with pytest.raises(ValueError, match="not a multiple"):
        in_blocks(np.ones(10), 4)
