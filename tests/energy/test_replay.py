"""A quarter of a plan by hour: each part by hand, sums, and work that an interruption moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcplan.energy.dispatch import Battery, Source, dispatch
from dcplan.energy.replay import Part, PlantHours, SiteQuarter, Totals, paused, replayed

HALF = np.full(2, 1000.0)
ENGINE = PlantHours(
    "engine",
    2000.0,
    60.0,
    500.0,
    np.full(2, 5.0),
    np.array([5.0, 4.0]),
    np.array([5.0, 2.0]),
    np.array([4.5, 1.8]),
)
SITE = SiteQuarter(
    HALF,
    10.0,
    10.0,
    np.array([8.0, 12.0]),
    50.0,
    50.0,
    np.array([30.0, 70.0]),
    400.0,
    9.0,
    np.array([9.0, 4.0]),
    (ENGINE,),
)


def test_every_part_of_two_hours_by_hand() -> None:
    """The plan: 18,000 MWh x 50 + 2,000 x 60 = 1.02 MUSD; 7,200 + 1,000 t.

    Price: the grid gives 7 and 11 MW, 210 + 770 kUSD instead of 900. By hour the engine runs in the
    second hour alone: 8 x 30 + 5 x 60 + 7 x 70 = 1,030 kUSD. Derated to 4 MW: 240 + 240 + 560. Two
    MW after planned outages: 240 + 120 + 9 x 70, and 1 MW is short. 1.8 MW after forced ones: 108
    instead of 120. The grid falls to 4 MW in the second hour, which has room for 5.8 of 12 MW: the
    first does 2 - 5.8 / 12 of its 8 MW, 12.133: 9 x 30 + 3.133 x 60 + 1.8 x 60 + 4 x 70 = 846.
    """
    found = replayed(SITE)
    assert found.planned == Totals(20_000.0, 1_020_000.0, 8_200.0)
    by_hand = {
        Part.WEATHER: (0.0, 0.0, 0.0),
        Part.PUE: (0.0, 0.0, 0.0),
        Part.LEVEL: (0.0, 0.0, 0.0),
        Part.PRICE: (0.0, 80e3, 0.0),
        Part.OUTPUT: (0.0, 0.0, 0.0),
        Part.PLANTS: (0.0, -70e3, 300.0),
        Part.DERATING: (0.0, 10e3, -100.0),
        Part.PLANNED_OUTAGES: (-1000.0, -50e3, -600.0),
        Part.FORCED_OUTAGES: (-200.0, -12e3, -100.0),
        Part.INTERRUPTIONS: (-866.667, -132e3, -33.333),
    }
    for part, expected in by_hand.items():
        own = found.parts[part]
        assert (own.mwh, own.usd, own.t_co2) == pytest.approx(expected, abs=1e-3), part
    assert found.load_mw == pytest.approx([12.0 + 0.4 / 3, 5.8])
    assert found.found.usd == pytest.approx(846e3)


def test_mean_pue_and_price_of_files_are_parts_of_their_own() -> None:
    """11 MW in the mean of a file's year: 1 MW x 2,000 h x 50. Its quarter has 12: 1 MW more. At 60
    instead of 50 USD/MWh, 11 MW of the grid cost 220 kUSD more."""
    site = replace(
        SITE,
        level_mw=11.0,
        load_mw=np.full(2, 12.0),
        level_usd_per_mwh=60.0,
        usd_per_mwh=np.full(2, 60.0),
    )
    parts = replayed(site).parts
    assert parts[Part.WEATHER].usd == pytest.approx(100e3)
    assert parts[Part.PUE].mwh == pytest.approx(2000.0)
    assert parts[Part.LEVEL].usd == pytest.approx(220e3)
    assert parts[Part.PRICE].usd == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_parts_add_up_and_every_hour_is_balanced(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 2208
    rated = [30.0, 12.0]
    plants = tuple(
        PlantHours(
            f"p{i}",
            float(rng.uniform(0, 20e3)),
            float(rng.uniform(20, 120)),
            450.0,
            np.full(n, mw),
            mw * rng.uniform(0.8, 1.0, n),
            mw * rng.uniform(0.5, 0.8, n),
            mw * rng.uniform(0.3, 0.5, n),
        )
        for i, mw in enumerate(rated)
    )
    prices = rng.normal(60, 40, n)
    weights = np.full(n, 2191.5 / n)
    grid = float(rng.uniform(20, 60))
    site = SiteQuarter(
        weights,
        50.0,
        50.5,
        50.0 * rng.uniform(0.95, 1.1, n),
        55.0,
        float(np.average(prices, weights=weights)),
        prices,
        380.0,
        grid,
        np.where(np.arange(n) < 50, grid / 2, grid),
        plants,
    )
    found = replayed(site)
    for of in ("mwh", "usd", "t_co2"):
        parts = sum(getattr(x, of) for x in found.parts.values())
        whole = getattr(found.found, of) - getattr(found.planned, of)
        assert parts == pytest.approx(whole, rel=1e-9, abs=1e-6)
    # price times load is the covariance of the two
    grid_mw = site.load_mw - sum(p.planned_mwh for p in plants) / 2191.5
    covariance = np.cov(prices, grid_mw, aweights=weights, bias=True)[0, 1]
    assert found.parts[Part.PRICE].usd == pytest.approx(2191.5 * covariance, abs=1e-3)
    flows = found.hours.flows
    served = sum(flows.by_source.values()) + flows.short_mw
    assert served == pytest.approx(found.load_mw)
    # the work of the quarter is that of the plan: what pauses is made up
    assert (found.load_mw / site.load_mw) @ weights == pytest.approx(2191.5)


def test_hours_without_any_variation_are_the_plan() -> None:
    one = np.ones(8)
    flat = SiteQuarter(
        273.9375 * one, 9.7, 9.7, 9.7 * one, 43.0, 43.0, 43.0 * one, 380.0, 20.0, 20.0 * one
    )
    found = replayed(flat)
    assert found.found.usd == pytest.approx(found.planned.usd, rel=1e-9)
    assert max(abs(x.usd) for x in found.parts.values()) < 1e-9 * found.planned.usd


def test_work_without_room_anywhere_is_lost() -> None:
    """Half an hour of work for each of two hours; and 0.5, 0.9 and one free hour: 3 - 1.4 = 1.6."""
    assert paused(np.array([0.5, 0.5]), np.ones(2)) == pytest.approx([0.5, 0.5])
    room = np.array([0.5, 0.9, np.inf])
    assert paused(room, np.ones(3)) == pytest.approx([0.5, 0.9, 1.6])
    # the level passes 1.2 once the first hour is full
    assert paused(np.array([0.2, 1.2, np.inf]), np.ones(3)) == pytest.approx([0.2, 1.2, 1.6])
    assert paused(np.full(3, np.inf), np.ones(3)) == pytest.approx(np.ones(3))


def test_prices_by_hour_change_the_order_of_sources() -> None:
    """The grid costs 50 and 120 USD/MWh, the engine 90: 10 x 50, then 15 x 90 + 15 x 120. A battery
    without loss moves 5 MW of the first hour to the second."""
    load, prices = np.array([10.0, 30.0]), {"grid": np.array([50.0, 120.0])}
    sources = [Source("grid", 20.0, 0.0), Source("engine", 15.0, 90.0)]
    assert dispatch(load, sources, prices=prices).usd == pytest.approx(500 + 1350 + 1800)
    stored = dispatch(load, sources, Battery(5.0, 5.0, 1.0), prices=prices)
    assert stored.usd == pytest.approx(15 * 50 + 1350 + 10 * 120)


FOUR = np.full(2, 4.0)
WIND = PlantHours("wind", 8000.0, 20.0, 400.0, FOUR, FOUR, FOUR, FOUR, by_grid=True)
OVER_WIND = SiteQuarter(
    *(HALF, 10.0, 10.0, np.full(2, 10.0), 30.0, 30.0, np.array([50.0, 10.0]), 400.0, 12.0),
    *(np.full(2, 12.0), (WIND,)),
)


def test_a_contract_takes_power_of_the_grid_and_comes_before_the_tariff() -> None:
    """A contract of 4 MW costs 20 USD/MWh more used than sold. The load uses it at 50 USD/MWh and at 10: only what
    no load takes is sold, so 1,000 h x (4 x 20 + 6 x 50 + 4 x 20 + 6 x 10) = 520 kUSD, which is the plan: 12,000
    MWh x 30 + 8,000 x 20. A grid of 6 MW gives 6 in all, so that 4 MW are short."""
    found = replayed(OVER_WIND)
    assert found.planned == Totals(20_000.0, 520e3, 8000.0)
    flows = found.hours.flows.by_source
    assert flows["wind"].tolist() == pytest.approx([4.0, 4.0])
    assert flows["grid"].tolist() == pytest.approx([6.0, 6.0])
    assert found.found.usd == pytest.approx(520e3)
    assert found.found.t_co2 == pytest.approx(8000.0)
    assert max(abs(x.usd) for x in found.parts.values()) < 1e-6
    little = replayed(replace(OVER_WIND, grid_mw=6.0, open_mw=np.full(2, 6.0)))
    assert little.hours.flows.short_mw.tolist() == pytest.approx([4.0, 4.0])
    assert little.hours.flows.by_source["wind"].tolist() == pytest.approx([4.0, 4.0])


@pytest.mark.parametrize(("by_grid", "name"), [(True, "sun"), (False, "pv")])
def test_output_in_expensive_hours_is_worth_more_than_the_mean_price(
    by_grid: bool, name: str
) -> None:
    """8 MW of sun in the first hour alone, at 50 USD/MWh; the mean is 30. The plan has 8,000 MWh of 20,000 from it:
    12,000 x 30 = 360 kUSD of the tariff. By hour the tariff gives 2 x 50 + 10 x 10, 200 kUSD: each MWh replaces
    energy of 50 USD, 20 more than the mean, and 8,000 x 20 = 160 kUSD."""
    mw = np.array([8.0, 0.0])
    sun = PlantHours(*(name, 8000.0, 0.0, 0.0, mw, mw, mw, mw), by_grid, not by_grid)
    found = replayed(replace(OVER_WIND, plants=(sun,)))
    assert found.planned.usd == pytest.approx(360e3)
    assert found.found.usd == pytest.approx(200e3)
    assert found.parts[Part.OUTPUT].usd == pytest.approx(-160e3)
    assert found.parts[Part.PLANTS].usd == pytest.approx(0.0, abs=1e-6)
    assert found.shaped_mwh == 8000.0


def test_the_output_of_a_contract_comes_after_pv_and_firm_plants_of_the_plan() -> None:
    """2 MW of an engine at constant power leave 8 MW. PV takes 6 of them in the first hour, so that a flat contract
    of 4 MW gives 2 and 4 MW: 2,000 + 4,000 MWh. PV of 6,000 MWh at 50 USD/MWh, 20 above the mean, saves 120 kUSD
    more; the contract saves 2,000 x 20 - 4,000 x 20 = -40 kUSD."""
    six = np.array([6.0, 0.0])
    pv = PlantHours("pv", 6000.0, 0.0, 0.0, six, six, six, six, by_weather=True)
    engine = replace(ENGINE, planned_mwh=4000.0)
    site = replace(OVER_WIND, plants=(replace(WIND, planned_mwh=6000.0), engine, pv))
    assert replayed(site).parts[Part.OUTPUT].usd == pytest.approx(-120e3 + 40e3)


def test_load_that_does_not_pause_stays_on_in_interruptions() -> None:
    """Of 8 and 12 MW, 2 and 3 do not pause. The second hour has 5 MW: 2 of its 9 MW of work, so the first does
    2 - 2 / 9 of its 6 MW: 2 + 6 x 16 / 9 = 12.667 MW. With 2 MW in the second hour, 3 stay on and 1 is short."""
    kept = np.array([2.0, 3.0])
    site = replace(SITE, plants=(), grid_mw=20.0, open_mw=np.array([20.0, 5.0]), kept_mw=kept)
    found = replayed(site)
    assert found.load_mw == pytest.approx([2.0 + 6.0 * 16 / 9, 5.0])
    assert found.hours.short_mwh == pytest.approx(0.0)
    little = replayed(replace(site, open_mw=np.array([20.0, 2.0])))
    assert little.load_mw == pytest.approx([2.0 + 6.0 * 2, 3.0])
    assert little.hours.flows.short_mw == pytest.approx([0.0, 1.0])
    free = replayed(replace(site, open_mw=np.full(2, 20.0)))
    assert free.load_mw == pytest.approx(site.load_mw)
