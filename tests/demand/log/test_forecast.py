"""Forecasts: known series, coverage of intervals on many series, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.demand.log.forecast import forecast, least_weeks, weekly_use
from dcplan.demand.log.work import work_of


def test_growth_is_followed_and_a_level_is_not_made_a_trend() -> None:
    """2 % a week for 80 weeks: the next quarter is above the last week; a level stays."""
    weeks = np.arange(80)
    growing = forecast(10.0 * 1.02**weeks, 2)
    assert "trend" in growing.model
    assert growing.level[0] > 10.0 * 1.02**79
    assert growing.level[1] > growing.level[0]
    noise = np.random.default_rng(1).lognormal(0.0, 0.05, 80)
    flat = forecast(10.0 * noise, 2)
    assert flat.level == pytest.approx([10.0, 10.0], rel=0.05)
    assert flat.error_frac < 0.05


def test_intervals_grow_with_the_horizon() -> None:
    random = np.random.default_rng(2)
    found = forecast(np.exp(np.cumsum(random.normal(0.0, 0.05, 120))), 4)
    widths = found.high / found.low
    assert np.all(np.diff(widths) >= -1e-12)


def test_intervals_cover_four_fifths_of_the_outcomes_of_many_series() -> None:
    """300 random series of 65 weeks, independent weeks around a level: the next 13 weeks are unseen.
    Goal: 70 % to 90 % of the outcomes in the interval."""
    random = np.random.default_rng(3)
    inside, said = [], []
    for _ in range(300):
        weekly = random.lognormal(1.0, 0.3, 78)
        found = forecast(weekly[:65], 1)
        outcome = weekly[65:].mean()
        inside.append(found.low[0] <= outcome <= found.high[0])
        said.append(found.covered_frac)
    assert 0.70 <= float(np.mean(inside)) <= 0.92
    assert float(np.mean(said)) == pytest.approx(0.8, abs=0.1)


def test_a_short_log_is_refused_with_the_weeks_that_it_needs() -> None:
    assert least_weeks(2) == 30
    with pytest.raises(ValueError, match="30 weeks are needed"):
        forecast(np.ones(29), 2)


def test_a_week_has_the_hours_of_the_jobs_that_came_in_it() -> None:
    week = 604_800.0
    submit = [0.0, 0.5 * week, 1.2 * week, 2.0 * week]
    work = work_of(submit, [0.5 * week, 0.25 * week, 2.0 * week, 1.0], [2, 4, 1, 9])
    assert weekly_use(work).tolist() == [2.0, 2.0]  # 2 x 0.5 + 4 x 0.25; 1 x 2
