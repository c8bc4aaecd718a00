"""Expectations over many counts: conservation, monotonicity, domains that spare trays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.reliability.job import Machine, Policy
from dcplan.reliability.outlook import Outlook, outlook

RACK = Machine((4e-4, 5e-4, 7e-4), 1.2e-4, 7e-6, 0.95, 4, 18, 200.0)
SERVER = Machine((4e-4, 5e-4, 7e-4), 1.2e-4, 7e-6, 0.95, 8, 1, 25.0)
USUAL = Policy(
    (0.04, 0.13, 0.42), 120.0, 2.0, 300.0, 0.08, (0.0, 0.005, 0.02), 1.0, 44.0, 0.99, 22.0
)
COUNTS = np.array([72.0, 576.0, 1024.0, 1280.0, 4096.0, 16384.0])


def _look(
    machine: Machine, policy: Policy = USUAL, group: float = 8.0, counts: object = COUNTS
) -> Outlook:
    n = np.asarray(counts, dtype=np.float64)
    return outlook(machine, policy, n, 5.7e12, np.full(n.shape, group), 60.0)


@pytest.mark.parametrize("group", [4.0, 8.0, 32.0, 64.0, 72.0])
def test_spares_cover_what_is_down(group: float) -> None:
    """Whatever is spared (nodes, groups, domains, idle trays), waiting stays near the hundredth
    that is allowed."""
    found = _look(RACK, group=group)
    waiting = np.asarray(found.losses.waiting)
    assert (waiting < 0.02).all(), waiting
    assert (np.asarray(found.spares) < 0.3 * COUNTS + 73).all()


def test_one_more_rack_changes_little() -> None:
    near = _look(RACK, group=64.0, counts=np.arange(512.0, 1400.0, 36.0))
    value = np.asarray(near.goodput.value)
    assert np.abs(np.diff(value)).max() < 0.02


@given(st.floats(1e-6, 5e-2), st.floats(1.0, 4.0), st.sampled_from([1.0, 8.0, 64.0]))
@settings(max_examples=60, deadline=None)
def test_losses_and_goodput_are_all_of_the_time(rate: float, factor: float, group: float) -> None:
    machine = Machine((rate, rate, rate * factor), rate / 4, rate / 50, 0.95, 4, 18, 200.0)
    found = _look(machine, group=group)
    lost = found.losses
    parts = [
        np.asarray(x) for x in (lost.saves, lost.lost_work, lost.restarts, lost.slow, lost.waiting)
    ]
    assert all((p >= -1e-12).all() for p in parts)
    assert np.allclose(sum(parts) + np.asarray(lost.goodput_frac), 1.0)
    low, value, high = (
        np.asarray(x) for x in (found.goodput.low, found.goodput.value, found.goodput.high)
    )
    assert (low <= value).all()
    assert (value <= high).all()


def test_more_accelerators_stop_more_often() -> None:
    assert (np.diff(np.asarray(_look(SERVER).stops_per_day)) > 0).all()


def test_given_interval_is_never_below_a_save() -> None:
    from dataclasses import replace

    tier = _look(SERVER, replace(USUAL, interval_s=5.0, save_s=100.0)).recovery.durable
    assert (np.asarray(tier.interval_s) == 100.0).all()
