"""Ring collectives: hand calculations and limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.collectives import ring_half_s


def _time(message_gb: float, ranks: float, gb_per_s: float, latency_s: float = 0.0) -> float:
    return float(ring_half_s(np.array(message_gb), np.array(ranks), gb_per_s, latency_s))


@pytest.mark.parametrize(
    ("message_gb", "ranks", "gb_per_s", "latency_s", "seconds"),
    [
        (1.0, 1, 50.0, 1e-3, 0.0),  # one rank sends nothing
        (8.0, 8, 50.0, 0.0, 0.14),  # 7/8 x 8 GB = 7 GB at 50 GB/s
        (8.0, 8, 50.0, 1e-3, 0.147),  # and 7 steps of 1 ms
        (0.0, 5, 50.0, 2e-6, 8e-6),  # latency alone: 4 steps
    ],
)
def test_ring_by_hand(message_gb: float, ranks: int, gb_per_s: float, latency_s: float, seconds: float) -> None:
    assert _time(message_gb, ranks, gb_per_s, latency_s) == pytest.approx(seconds, rel=1e-12)


def test_all_reduce_bus_bandwidth_is_the_link_rate() -> None:
    """Two halves make an all-reduce; busbw = M / t x 2 (n - 1) / n (nccl-tests PERFORMANCE.md)."""
    message, ranks, rate = 16.0, 32.0, 50.0
    seconds = 2 * _time(message, ranks, rate)
    assert message / seconds * 2 * (ranks - 1) / ranks == pytest.approx(rate)


@given(st.floats(0.001, 1e3), st.integers(1, 10_000), st.floats(1.0, 1000.0), st.floats(0.0, 1e-4))
@settings(max_examples=60, deadline=None)
def test_ring_grows_with_ranks_and_stays_under_its_limit(
    message_gb: float, ranks: int, gb_per_s: float, latency_s: float
) -> None:
    here, next_ = (_time(message_gb, n, gb_per_s, latency_s) for n in (ranks, ranks + 1))
    assert here <= next_ * (1 + 1e-12)
    assert here <= message_gb / gb_per_s + (ranks - 1) * latency_s + 1e-12
    assert _time(2 * message_gb, ranks, gb_per_s) == pytest.approx(2 * _time(message_gb, ranks, gb_per_s))


def test_arrays_are_answered_element_by_element() -> None:
    both = ring_half_s(np.array([50.0, 100.0]), np.array([2.0, 4.0]), 50.0)
    assert both == pytest.approx([0.5, 1.5])  # 1/2 x 50 / 50 and 3/4 x 100 / 50
