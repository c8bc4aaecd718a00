"""The log-normal run time: quantiles, recovered bounds, refused inputs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.reliability.calendar import P90, Chance, Goodput, RunTime, run_time, with_delays

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
    assert run_time(72.0, 0.1, Goodput(0.9, 0.85, 0.95)).p50_days == pytest.approx(80.0)


@given(st.floats(1.0, 400.0), st.floats(0.0, 1.0), FRAC)
@QUICK
def test_bounds_of_step_time_come_back_as_p10_and_p90(
    clean: float, spread: float, goodput: float
) -> None:
    run = run_time(clean, spread, Goodput(goodput, goodput, goodput))
    # only the step time varies: it reaches from 1/(1+s) to 1+s
    assert run.quantile_days(0.9) == pytest.approx(clean / goodput * (1 + spread), rel=1e-9)
    assert run.quantile_days(0.1) == pytest.approx(clean / goodput / (1 + spread), rel=1e-9)


@given(st.floats(1.0, 400.0), FRAC, FRAC)
@QUICK
def test_bounds_of_effective_time_come_back_as_p10_and_p90(
    clean: float, a: float, b: float
) -> None:
    low, high = sorted((a, b))
    middle = math.sqrt(low * high)
    run = run_time(clean, 0.0, Goodput(middle, low, high))
    # with the middle between its bounds the ends are exact: the best tenth runs at ``high``
    assert run.quantile_days(0.1) == pytest.approx(clean / high, rel=1e-9)
    assert run.quantile_days(0.9) == pytest.approx(clean / low, rel=1e-9)


def test_independent_spreads_add_in_squares() -> None:
    # twice ln(1.29099) is 0.510826, ln(0.95/0.80) = 0.171850; root of squares 0.538957; / (2 x
    # 1.281552) = 0.210275
    run = run_time(50.0, 0.290994, Goodput(0.9, 0.80, 0.95))
    assert run.sigma == pytest.approx(0.210275, abs=2e-6)
    # shares of the variance: 0.510826^2/0.538957^2 and the rest
    assert run.shares["step_time"] == pytest.approx(0.898335, abs=1e-5)
    assert sum(run.shares.values()) == pytest.approx(1.0)


def test_stops_scatter_by_hand() -> None:
    """100 stops of 1,000 s each with up to 600 s between saves, in 50 days.

    E[c^2] = 1e6 + 600^2/12 = 1.03e6 s2; 100 x that is 1.03e8 s2, root 10,149 s = 0.1175 days of 50:
    0.235 %.
    """
    run = run_time(45.0, 0.0, Goodput(0.9, 0.9, 0.9), Chance(2.0, 1000.0, 600.0))
    assert run.sigma == pytest.approx(0.1175 / 50, rel=1e-3)


def test_late_start_by_hand() -> None:
    """10, 20 and 90 days: mean 0.3 x 10 + 0.4 x 20 + 0.3 x 90 = 38; variance 0.3 x 28^2 + 0.4 x
    18^2 + 0.3 x 52^2.

    That is 1176. With a run of exactly 80 days the mean is 118; log-normal sigma^2 = ln(1 +
    1176/118^2) = 0.081081.
    """
    late = with_delays(RunTime(80.0, 0.0, {"step_time": 0.0}), {"delivery": (10.0, 20.0, 90.0)})
    assert late.sigma**2 == pytest.approx(0.081081, abs=1e-5)
    assert late.p50_days == pytest.approx(118 / math.exp(0.081081 / 2), rel=1e-5)
    assert late.shares["delivery"] == pytest.approx(1.0)


@given(st.floats(10.0, 200.0), st.floats(0.01, 0.4), st.floats(0.0, 100.0))
@QUICK
def test_a_slip_makes_the_end_later(p50: float, sigma: float, slip: float) -> None:
    run = RunTime(p50, sigma, {"step_time": 1.0})
    late = with_delays(run, {"energisation": (0.0, slip, 2 * slip)})
    assert late.quantile_days(0.8) >= run.quantile_days(0.8) * (1 - 1e-9)
    assert sum(late.shares.values()) == pytest.approx(1.0)


@given(st.floats(1.0, 400.0), st.floats(0.0, 0.5), st.floats(0.02, 0.97), st.floats(0.0, 0.02))
@QUICK
def test_more_confidence_never_takes_fewer_days(
    p50: float, sigma: float, low: float, more: float
) -> None:
    run = RunTime(p50, sigma)
    assert run.quantile_days(low) <= run.quantile_days(low + more)


@given(st.floats(1.0, 400.0), st.floats(0.0, 0.5), st.floats(0.01, 0.49))
@QUICK
def test_quantiles_mirror_about_the_median(p50: float, sigma: float, tail: float) -> None:
    run = RunTime(p50, sigma)
    assert run.quantile_days(tail) * run.quantile_days(1 - tail) == pytest.approx(p50**2, rel=1e-9)


@pytest.mark.parametrize(
    ("spread", "middle", "low", "high"),
    [
        (-0.01, 0.9, 0.8, 0.95),  # faster than the fastest
        (0.1, 0.9, 0.95, 0.8),  # bounds the wrong way round
        (0.1, 0.7, 0.8, 0.95),  # middle below its bounds
        (0.1, 0.96, 0.8, 0.95),  # middle above
        (0.1, 0.9, 0.0, 0.95),  # never effective
        (0.1, 0.9, 0.8, 1.1),  # more than all the time
        (math.nan, 0.9, 0.8, 0.95),
    ],
)
def test_ratios_outside_their_range_are_refused(
    spread: float, middle: float, low: float, high: float
) -> None:
    with pytest.raises(ValueError, match="ratios must be in"):
        run_time(50.0, spread, Goodput(middle, low, high))


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.5])
def test_certainty_has_no_quantile(confidence: float) -> None:
    with pytest.raises(ValueError, match="p must be in"):
        RunTime(80.0, 0.1).quantile_days(confidence)
