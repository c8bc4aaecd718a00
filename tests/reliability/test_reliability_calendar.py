"""The log-normal run time: quantiles, recovered bounds, refused inputs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.reliability.calendar import P90, RunTime, run_time

QUICK = settings(max_examples=80, deadline=None)
FRAC = st.floats(0.3, 1.0)


def test_p90_is_the_normal_quantile() -> None:
    # standard normal tables: z(0.9) = 1.2816
    assert pytest.approx(1.281552, abs=1e-6) == P90


@pytest.mark.parametrize(
    ("confidence", "days"),
    # 80 e^(0.1 z): z = 0, 0.841621, 1.281552, -1.281552, 2.326348
    [(0.5, 80.0), (0.8, 87.0244), (0.9, 90.9388), (0.1, 70.3770), (0.99, 100.9547)],
)
def test_quantiles_by_hand(confidence: float, days: float) -> None:
    assert RunTime(80.0, 0.1).quantile_days(confidence) == pytest.approx(days, abs=2e-3)


def test_p50_is_clean_days_over_effective_time() -> None:
    # 72 clean days at 90 % effective time are 80 days on the calendar
    assert run_time(72.0, 0.8, 0.9, 0.85, 0.95).p50_days == pytest.approx(80.0)


@given(st.floats(1.0, 400.0), st.floats(0.2, 1.0), FRAC)
@QUICK
def test_bounds_of_speed_come_back_as_p10_and_p90(clean: float, ratio: float, goodput: float) -> None:
    run = run_time(clean, ratio, goodput, goodput, goodput)
    # only speed varies: P90 over P10 is fastest over slowest
    assert run.quantile_days(0.9) / run.quantile_days(0.1) == pytest.approx(1 / ratio, rel=1e-9)


@given(st.floats(1.0, 400.0), FRAC, FRAC)
@QUICK
def test_bounds_of_effective_time_come_back_as_p10_and_p90(clean: float, a: float, b: float) -> None:
    low, high = sorted((a, b))
    middle = math.sqrt(low * high)
    run = run_time(clean, 1.0, middle, low, high)
    # with the middle between its bounds the ends are exact: the best tenth runs at ``high``
    assert run.quantile_days(0.1) == pytest.approx(clean / high, rel=1e-9)
    assert run.quantile_days(0.9) == pytest.approx(clean / low, rel=1e-9)


def test_independent_spreads_add_in_squares() -> None:
    # ln(1/0.6) = 0.510826, ln(0.95/0.80) = 0.171850; root of squares 0.538957; / (2 x 1.281552) = 0.210275
    assert run_time(50.0, 0.6, 0.9, 0.80, 0.95).sigma == pytest.approx(0.210275, abs=2e-6)


@given(st.floats(1.0, 400.0), st.floats(0.0, 0.5), st.floats(0.02, 0.97), st.floats(0.0, 0.02))
@QUICK
def test_more_confidence_never_takes_fewer_days(p50: float, sigma: float, low: float, more: float) -> None:
    run = RunTime(p50, sigma)
    assert run.quantile_days(low) <= run.quantile_days(low + more)


@given(st.floats(1.0, 400.0), st.floats(0.0, 0.5), st.floats(0.01, 0.49))
@QUICK
def test_quantiles_mirror_about_the_median(p50: float, sigma: float, tail: float) -> None:
    run = RunTime(p50, sigma)
    assert run.quantile_days(tail) * run.quantile_days(1 - tail) == pytest.approx(p50**2, rel=1e-9)


@pytest.mark.parametrize(
    ("speed", "middle", "low", "high"),
    [
        (0.0, 0.9, 0.8, 0.95),  # no speed
        (1.01, 0.9, 0.8, 0.95),  # pessimistic above optimistic
        (0.8, 0.9, 0.95, 0.8),  # bounds the wrong way round
        (0.8, 0.7, 0.8, 0.95),  # middle below its bounds
        (0.8, 0.96, 0.8, 0.95),  # middle above
        (0.8, 0.9, 0.0, 0.95),  # never effective
        (0.8, 0.9, 0.8, 1.1),  # more than all the time
        (math.nan, 0.9, 0.8, 0.95),
    ],
)
def test_ratios_outside_their_range_are_refused(speed: float, middle: float, low: float, high: float) -> None:
    with pytest.raises(ValueError, match="ratios must lie in"):
        run_time(50.0, speed, middle, low, high)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.5])
def test_certainty_has_no_quantile(confidence: float) -> None:
    with pytest.raises(ValueError, match="p must be in"):
        RunTime(80.0, 0.1).quantile_days(confidence)
