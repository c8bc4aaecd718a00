"""Four meanings of utilization, one product, unit costs on top of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.utilization import (
    LEVELS,
    Utilization,
    delivered_pflop_days,
    usd_per_accelerator_hour,
    usd_per_delivered_pflop_day,
    usd_per_million_trained_tokens,
)

QUICK = settings(max_examples=60, deadline=None)
PART = st.floats(0.01, 1.0)
USE = Utilization(allocated_frac=0.8, busy_frac=0.5, goodput_frac=0.5, mfu_frac=0.4)


def test_levels_by_hand() -> None:
    assert [USE.hours_frac(level) for level in LEVELS] == pytest.approx([1.0, 0.8, 0.4, 0.2])
    assert USE.delivered_frac == pytest.approx(0.08)
    assert Utilization().delivered_frac == 1.0


def test_unit_costs_by_hand() -> None:
    # 1,000 USD, 10 accelerators, 100 h: 1 USD an owned hour, 1.25 an allocated, 2.5 a busy, 5 a
    # good one
    costs = [usd_per_accelerator_hour(1000.0, 10, 100, USE, level) for level in LEVELS]
    assert costs == pytest.approx([1.0, 1.25, 2.5, 5.0])
    # 10 x 2 PFLOP/s x 5 days x 0.08 = 8 PFLOP-days
    assert delivered_pflop_days(10, 2.0, 5, USE) == pytest.approx(8.0)
    assert usd_per_delivered_pflop_day(1000.0, 10, 2.0, 120, USE) == pytest.approx(125.0)


@given(PART, PART, PART, PART)
@QUICK
def test_each_part_counts_once_and_in_order(a: float, b: float, g: float, m: float) -> None:
    use = Utilization(a, b, g, m)
    assert use.delivered_frac == pytest.approx(a * b * g * m)
    parts = [use.hours_frac(level) for level in LEVELS]
    assert parts == sorted(parts, reverse=True)
    # cost of a good hour over peak PFLOP and MFU is the cost of delivered work: no part enters
    # twice
    hour = usd_per_accelerator_hour(7.0, 3, 24, use, "good")
    work = usd_per_delivered_pflop_day(7.0, 3, 2.0, 24, use)
    assert work == pytest.approx(hour * 24 / (2.0 * m))


def test_tokens_by_hand() -> None:
    # 1 PFLOP-day = 8.64e19 FLOP; at 8.64e9 FLOP a token 1e10 tokens; 100 USD / 1e4 million
    assert usd_per_million_trained_tokens(100.0, 8.64e9) == pytest.approx(0.01)


def test_samples_pass() -> None:
    use = Utilization(allocated_frac=np.array([0.5, 1.0]))
    assert usd_per_accelerator_hour(10.0, 1, 10, use, "allocated").tolist() == [2.0, 1.0]
    assert delivered_pflop_days(1, 1.0, 1, use).tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Utilization(allocated_frac=85), "allocated_frac must be from 0 to 1, got 85"),
        (lambda: Utilization(mfu_frac=-0.1), "mfu_frac must be from 0 to 1"),
        (
            lambda: usd_per_accelerator_hour(1.0, 1, 1, Utilization(allocated_frac=0.0), "busy"),
            "accelerator-hours must be above 0",
        ),
        (
            lambda: usd_per_delivered_pflop_day(1.0, 1, 1, 1, Utilization(mfu_frac=0.0)),
            "delivered PFLOP-days must be above 0",
        ),
        (lambda: usd_per_million_trained_tokens(1.0, 0.0), "flop_per_token must be above 0"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
