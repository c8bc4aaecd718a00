"""Hours of samples, idle periods, medians: calculations by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.demand.counters import hours_by, idle_samples, spans_of, value_quantile

LIMITS = {"below_frac": 0.01, "longer_s": 600.0}


def test_a_gap_counts_one_interval_and_the_rest_is_not_seen() -> None:
    """Two accelerators, 60 s apart. The first lacks 5 samples, the second starts 120 s late.

    First: at 0, 60, 420, 480 s. 4 samples x 60 s = 240 s seen; the pause of 360 s has a gap of 300 s.
    Second: at 120 to 480 s, 7 samples, 420 s seen. The window is 0 to 540 s for both: 1,080 s.
    """
    device = np.repeat([0, 1], [4, 7])
    at = np.array([0, 60, 420, 480, *range(120, 481, 60)], dtype=float)
    found = spans_of(device, at)
    assert found.seen_h * 3600 == pytest.approx(660.0, rel=1e-12)
    assert found.window_h * 3600 == pytest.approx(1080.0, rel=1e-12)
    assert found.gaps.tolist() == [2]
    assert (found.gap_h * 3600).tolist() == pytest.approx([300.0])
    assert found.follows.tolist() == [False, True, False, True, False] + [True] * 6


def test_jitter_of_the_interval_is_no_gap() -> None:
    """Distances of 55 to 70 s are below 1.5 times their median of 60 s: all time is seen."""
    at = np.cumsum([0.0, 60.0, 55.0, 70.0, 60.0])
    found = spans_of(np.zeros(5, int), at)
    assert not len(found.gaps)
    assert found.seen_h == pytest.approx(found.window_h)
    assert found.window_h * 3600 == pytest.approx(245.0 + 60.0)


def test_each_accelerator_has_its_own_interval() -> None:
    """One is sampled each 15 s, one each 60 s; neither has a gap. A single sample has the median."""
    at = np.array([0, 15, 30, 45, 0, 60, 120, 30], dtype=float)
    found = spans_of(np.repeat([0, 1, 2], [4, 3, 1]), at)
    assert not len(found.gaps)
    assert found.interval_s.tolist() == [15.0, 60.0, 15.0]
    assert found.seen_h * 3600 == pytest.approx(60.0 + 180.0 + 15.0)


def test_single_samples_have_no_time() -> None:
    with pytest.raises(ValueError, match="no accelerator has two samples"):
        spans_of(np.arange(3), np.zeros(3))


def test_unknown_is_not_zero() -> None:
    """Hours 1, 2, 3 with shares 0.5, unknown, 0: 0.5 h of 4 known h, not of 6."""
    part, known = hours_by(
        np.array([1.0, 2.0, 3.0]), np.array([0.5, np.nan, 0.0]), np.zeros(3, int), 1
    )
    assert (part[0], known[0]) == (0.5, 4.0)


def test_exactly_ten_minutes_do_not_count() -> None:
    """10 samples of 60 s are 600 s, which is not longer than 600 s; 11 are."""
    ten = spans_of(np.zeros(10, int), np.arange(10) * 60.0)
    assert not idle_samples(ten, np.zeros(10), np.zeros(10, int), **LIMITS).any()
    eleven = spans_of(np.zeros(11, int), np.arange(11) * 60.0)
    assert idle_samples(eleven, np.zeros(11), np.zeros(11, int), **LIMITS).all()


@pytest.mark.parametrize("broken", [0.01, np.nan])
def test_work_and_unknown_activity_end_a_period(broken: float) -> None:
    """11 idle minutes, one with work or without a value, 5 idle minutes: only the 11 count."""
    sm = np.zeros(17)
    sm[11] = broken
    spans = spans_of(np.zeros(17, int), np.arange(17) * 60.0)
    found = idle_samples(spans, sm, np.zeros(17, int), **LIMITS)
    assert found.tolist() == [True] * 11 + [False] * 6


def test_a_gap_ends_a_period() -> None:
    """8 idle minutes, an hour without samples, 8 idle minutes: nothing counts."""
    at = np.concatenate([np.arange(8) * 60.0, 4020.0 + np.arange(8) * 60.0])
    spans = spans_of(np.zeros(16, int), at)
    assert not idle_samples(spans, np.zeros(16), np.zeros(16, int), **LIMITS).any()


def test_the_median_is_over_hours_not_over_samples() -> None:
    """Three short samples of 99 (3 x 15 s) and one long of 0 (60 s): more than half of 105 s is 0."""
    hours = np.array([15.0, 15.0, 15.0, 60.0]) / 3600
    assert value_quantile(hours, np.array([99.0, 99.0, 99.0, 0.0]), 0.5) == 0.0
    assert value_quantile(np.ones(4), np.array([99.0, 99.0, 99.0, 0.0]), 0.5) == 99.0
