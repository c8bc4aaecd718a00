"""Forecasts: known series, coverage of intervals on many series, refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dcplan.demand.log.forecast import forecast, least_weeks, weekly_use
from dcplan.demand.log.jobs import Array
from dcplan.demand.log.work import work_of

Process = Callable[[np.random.Generator, int], Array]


def test_growth_is_followed_and_a_level_is_not_made_a_trend() -> None:
    """2 % a week for 80 weeks: the middle of the next quarter is 7 weeks after the last one, and 20 the
    next; a level stays."""
    weeks = np.arange(80)
    growing = forecast(10.0 * 1.02**weeks, 2)
    middle = 10.0 * 1.02 ** (79.0 + np.array([7.0, 20.0]))
    assert growing.level == pytest.approx(middle, rel=0.02)
    assert growing.moving_frac > 0.9
    noise = np.random.default_rng(1).lognormal(0.0, 0.05, 80)
    flat = forecast(10.0 * noise, 2)
    assert flat.level == pytest.approx([10.0, 10.0], rel=0.05)
    assert flat.error_frac < 0.05
    assert flat.high[0] / flat.low[0] < 1.1


def test_intervals_grow_with_the_horizon() -> None:
    random = np.random.default_rng(2)
    found = forecast(np.exp(np.cumsum(random.normal(0.0, 0.05, 120))), 4)
    widths = found.high / found.low
    assert np.all(np.diff(widths) >= -1e-12)
    assert np.log(widths[3]) > 1.3 * np.log(widths[0])


def noise(random: np.random.Generator, weeks: int) -> Array:
    return random.lognormal(1.0, 0.3, weeks)


def returning(random: np.random.Generator, weeks: int) -> Array:
    """AR(1) with 0.9, at its stationary spread from the start."""
    level = [random.normal(0.0, 0.1 / np.sqrt(1.0 - 0.9**2))]
    for move in random.normal(0.0, 0.1, weeks - 1):
        level.append(0.9 * level[-1] + move)
    return np.exp(np.array(level))


def walk_with_weekly_season(random: np.random.Generator, weeks: int) -> Array:
    """Random walk of days with a weekend of 0.5 times the other days, summed to weeks."""
    days = np.exp(np.cumsum(random.normal(0.0, 0.05, 7 * weeks)))
    return np.asarray((days.reshape(weeks, 7) * np.array([1, 1, 1, 1, 1, 0.5, 0.5])).sum(axis=1))


def shifts(random: np.random.Generator, weeks: int) -> Array:
    """A level that moves once in 20 weeks, by a factor of 2 as the standard deviation."""
    moves = np.where(random.random(weeks) < 0.05, random.normal(0.0, np.log(2.0), weeks), 0.0)
    return np.exp(np.cumsum(moves) + random.normal(0.0, 0.15, weeks))


def heavy(random: np.random.Generator, weeks: int) -> Array:
    """Student's t with three degrees of freedom: some weeks are far from all others."""
    return np.exp(0.3 * random.standard_t(3, weeks))


@pytest.mark.parametrize("process", [noise, returning, walk_with_weekly_season, shifts, heavy])
@pytest.mark.parametrize("weeks", [18, 30])
def test_intervals_cover_the_unseen_quarter_of_known_processes(
    process: Process, weeks: int
) -> None:
    """50 series each; the 13 weeks after them are unseen. The standard error of a share of 0.8 is 0.057:
    0.8 +- 0.18 is three of them."""
    assert inside(process, weeks, 50) == pytest.approx(0.8, abs=0.18)


def test_intervals_cover_seven_to_nine_tenths_of_all_processes_together() -> None:
    """Goal: 70 % to 90 %. 300 series; the standard error of the share is 0.02."""
    shares = [
        inside(process, 24, 60)
        for process in (noise, returning, walk_with_weekly_season, shifts, heavy)
    ]
    assert 0.70 <= float(np.mean(shares)) <= 0.90


def test_the_share_that_is_said_is_that_of_many_series() -> None:
    """Outcomes of a walk in its own past intervals: the mean of 40 series is near the 0.8 of the interval."""
    said = [
        forecast(walk_with_weekly_season(np.random.default_rng([9, k]), 40), 1).covered_frac
        for k in range(40)
    ]
    assert float(np.mean(said)) == pytest.approx(0.8, abs=0.12)


def test_errors_on_unseen_weeks_correct_a_spread_that_is_too_small() -> None:
    """Long waves, which no model has: a period of 60 weeks and little noise. The models alone cover less
    than the corrected interval, whose factor is above 1."""
    random = np.random.default_rng(5)
    weekly = np.exp(np.sin(np.arange(150) / 60.0 * 2.0 * np.pi) + random.normal(0.0, 0.05, 150))
    found = forecast(weekly, 1)
    assert found.factor > 1.2
    short = forecast(weekly[:60], 1)  # 44 origins: fewer than four quarters that do not overlap
    assert short.factor == 1.0


def inside(process: Process, weeks: int, series: int) -> float:
    """Return the share of series whose unseen 13 weeks are in the interval."""
    held = []
    for k in range(series):
        weekly = process(np.random.default_rng([3, weeks, k]), weeks + 13)
        found = forecast(weekly[:weeks], 1)
        held.append(found.low[0] <= weekly[weeks:].mean() <= found.high[0])
    return float(np.mean(held))


def test_a_short_log_is_refused_with_the_weeks_that_it_needs() -> None:
    assert least_weeks(2) == 30
    with pytest.raises(ValueError, match="30 weeks are needed"):
        forecast(np.ones(29), 2)
    with pytest.raises(ValueError, match="weeks without demand"):
        forecast(np.array([1.0] * 20 + [0.0]), 1)


def test_a_week_has_the_hours_of_the_jobs_that_came_in_it() -> None:
    week = 604_800.0
    submit = [0.0, 0.5 * week, 1.2 * week, 2.0 * week]
    work = work_of(submit, [0.5 * week, 0.25 * week, 2.0 * week, 1.0], [2, 4, 1, 9])
    assert weekly_use(work).tolist() == [2.0, 2.0]  # 2 x 0.5 + 4 x 0.25; 1 x 2
