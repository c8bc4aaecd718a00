"""Units of a plant: temperature, planned and forced outages, cuts, order of hours."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dcplan.energy.cuts import cut_hours
from dcplan.energy.dispatch import Source, dispatch, starts
from dcplan.energy.order import ordered_bins
from dcplan.energy.plants import (
    Plant,
    derated_frac,
    failed_chances,
    mean_mw,
    outage_risk,
    planned_out,
    units_needed,
)


def test_the_curve_of_a_turbine() -> None:
    """rotating-machinery.com: 0.83 of the ISO power at 40 C, 0.89 at 1,000 m, 0.80 at 1,800 m."""
    per_k, per_m = 0.0068, 0.00011
    assert derated_frac(np.array([40.0]), 15.0, per_k)[0] == pytest.approx(0.83, abs=0.005)
    high = [derated_frac(np.array([15.0]), 15.0, per_k, z, per_m)[0] for z in (1000.0, 1800.0)]
    assert high == pytest.approx([0.89, 0.80], abs=0.005)
    # cold air gives no more than the rating, and a site below the sea no more than one at the sea
    assert derated_frac(np.array([-19.0]), 15.0, per_k, -50.0, per_m)[0] == 1.0


def test_a_hot_day_needs_one_more_unit() -> None:
    """45 MW of 35 MW turbines: at 15 C two run (70 MW); at 43.6 C each has 28.2, so two; 60 MW need
    three."""
    share = float(derated_frac(np.array([43.6]), 15.0, 0.0068)[0])
    assert share == pytest.approx(1 - 0.0068 * 28.6)
    assert [units_needed(mw, 35.0 * share) for mw in (45.0, 60.0)] == [2, 3]
    assert units_needed(60.0, 35.0) == 2
    with pytest.raises(ValueError, match="without power"):
        units_needed(1.0, 0.0)


def test_planned_outages_take_all_hours_of_all_units() -> None:
    """5 units of 432 h from hour 2,160: 2,160 hours with one out; 50 units overlap."""
    few = planned_out(5, 432.0, 2160, 8760)
    assert (few.sum(), few.max(), few[2159], few[2160], few[4320]) == (2160, 1, 0, 1, 0)
    many = planned_out(50, 432.0, 2160, 8760)
    assert (many.sum(), many.min(), many.max()) == (21_600, 2, 3)


def test_the_mean_over_failures_is_that_of_all_cases() -> None:
    """Four units, three needed, one in planned outage in the second hour: enumerated by hand."""
    plant = Plant(3, 4, np.array([10.0, 9.0]), np.array([0, 1]), 0.08)
    expected = [0.0, 0.0]
    for hour, (mw, out) in enumerate(zip(plant.unit_mw, plant.out, strict=True)):
        for works in itertools.product((0, 1), repeat=4 - int(out)):
            chance = np.prod([0.92 if w else 0.08 for w in works])
            expected[hour] += chance * min(sum(works), 3) * mw
    assert mean_mw(plant) == pytest.approx(expected, rel=1e-6)
    assert failed_chances(4, 0.08).sum() == pytest.approx(1.0)
    assert failed_chances(0, 0.5) == pytest.approx([1.0])


def test_the_risk_of_two_plants_is_that_of_all_cases() -> None:
    """2 + 1 units with the grid at 5 MW against 22 MW of load."""
    one = Plant(2, 2, np.array([10.0]), np.array([0]), 0.1)
    two = Plant(1, 1, np.array([4.0]), np.array([0]), 0.3)
    chance, short = 0.0, 0.0
    for a, b, c in itertools.product((0, 1), repeat=3):
        likely = (0.9 if a else 0.1) * (0.9 if b else 0.1) * (0.7 if c else 0.3)
        lacking = max(22.0 - 5.0 - 10 * (a + b) - 4 * c, 0.0)
        chance, short = chance + likely * (lacking > 0), short + likely * lacking
    found = outage_risk(np.array([22.0]), np.array([5.0]), [one, two])
    assert [float(x[0]) for x in found] == pytest.approx([chance, short], rel=1e-6)


def test_cuts_are_the_hours_asked() -> None:
    one = cut_hours(200, 1, 4344, 2208, 8760)
    assert np.flatnonzero(one).tolist() == list(range(4344, 4544))
    split = cut_hours(200.5, 7, 4344, 2208, 8760)
    assert [int(split.sum()), int((np.diff(split.astype(int)) == 1).sum())] == [201, 7]
    over = cut_hours(3000, 3, 4344, 2208, 8760)  # beyond the quarter: over the whole year
    assert int(over.sum()) == 3000
    assert over[4344 + 2920]
    assert cut_hours(8760, 1, 4344, 2208, 8760).all()
    with pytest.raises(ValueError, match="cannot have"):
        cut_hours(2, 3, 0, 2208, 8760)


def test_one_long_cut_leaves_no_energy_for_the_battery() -> None:
    """Load 55, turbine 45, battery 20 MW of 80 MWh, 200 h without grid (notes, F10): 200 x 10 MW are
    missing less what the battery holds once, 80 MWh x sqrt(0.88)."""
    from dcplan.energy.dispatch import Battery

    load, cut = np.full(600, 55.0), cut_hours(200, 1, 200, 400, 600)
    sources = [Source("grid", np.where(cut, 0.0, 60.0), 80.0), Source("turbine", 45.0, 45.0)]
    found = dispatch(load, sources, Battery(20.0, 80.0, 0.88))
    assert found.short_mwh == pytest.approx(2000.0 - 80.0 * 0.88**0.5, rel=1e-6)


def test_starts_of_units() -> None:
    """0, 2, 1, 3 units, and again from the end of the year: 2 + 2 starts."""
    assert starts(np.array([0.0, 15.0, 10.0, 25.0]), np.full(4, 10.0)) == 4
    assert starts(np.full(4, 15.0), np.full(4, 10.0)) == 0


def test_the_order_keeps_the_hours_of_every_bin() -> None:
    """Three bins a quarter with 600, 1,000 and the remaining hours; the warmest fall at 15:00."""
    lengths = (2160, 2184, 2208, 2208)
    quarter = np.repeat(np.arange(4), 3)
    dry = np.array([-5.0, 0, 5, 5, 10, 15, 15, 20, 30, 0, 8, 12])
    hours = np.concatenate([[600.0, 1000.0, n - 1600.0] for n in lengths])
    bins = ordered_bins(quarter, dry, hours, lengths, 10.0, 15.0)
    assert np.bincount(bins, minlength=12).tolist() == hours.tolist()
    year = dry[bins].reshape(365, 24).mean(axis=0)
    assert (int(year.argmax()), int(year.argmin())) in {(15, 3), (14, 3), (15, 2), (14, 2), (15, 4)}
    with pytest.raises(ValueError, match="no hours in one"):
        ordered_bins(quarter[:9], dry[:9], hours[:9], lengths, 10.0, 15.0)
