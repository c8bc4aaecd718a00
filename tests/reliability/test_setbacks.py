"""Setbacks and ramps of the batch, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.reliability.setbacks import Setbacks, ramp_phases, setback_shares


def test_no_setback_takes_no_time() -> None:
    shares = setback_shares(Setbacks(), 1000.0, 10.0)
    assert (shares.rollbacks, shares.manual_restarts, shares.idle, shares.kept_frac) == (0, 0, 0, 1)


def test_palm_by_hand() -> None:
    # 20 rollbacks of 350 of 255,000 steps repeat 7,000 steps: 2.745 % more
    shares = setback_shares(Setbacks(rollbacks=20, rollback_steps=350), 255_000, 40.0)
    assert 1 / shares.kept_frac == pytest.approx(1 + 7000 / 255_000)


def test_opt_by_hand() -> None:
    # 35 restarts of 12 h are 17.5 days; 33 days of training and these are 50.5; a tenth idle: 56.1
    given_ = Setbacks(manual_restarts=35, manual_restart_h=12, idle_frac=0.1)
    shares = setback_shares(given_, 1e5, 33.0)
    assert 33.0 / shares.kept_frac == pytest.approx(50.5 / 0.9)
    assert shares.idle == 0.1
    assert shares.manual_restarts == pytest.approx(17.5 / (50.5 / 0.9))


def test_bloom_ramp_by_hand() -> None:
    # 192 to 2,048 sequences by 16: 116 batches below the last one, 20e9 / 116 tokens each; the sum
    # of 1 / (192 + 16 k) for k = 0 to 115 is (H(127) - H(11)) / 16 = (5.4254 - 3.0199) / 16
    harmonic = sum(1 / k for k in range(12, 128)) / 16
    assert harmonic == pytest.approx((5.4254 - 3.0199) / 16, rel=1e-3)
    steps = 20e9 / 116 / 2048 * harmonic
    phases = ramp_phases(192 * 2048, 16 * 2048, 2048 * 2048, 20e9, 8)
    assert len(phases) == 8
    assert sum(tokens for tokens, _ in phases) == pytest.approx(20e9)
    assert sum(tokens / batch for tokens, batch in phases) == pytest.approx(steps)


@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 12), st.floats(0.0, 5.0))
@settings(max_examples=60, deadline=None)
def test_joined_phases_take_the_time_of_all_batches(
    first: int, count: int, most: int, fixed: float
) -> None:
    """A step of batch B takes a + B: the time of the phases is that of every batch."""
    tokens = 1e6
    batches = [first + k for k in range(count)]
    exact = sum(tokens / count / b * (fixed + b) for b in batches)
    phases = ramp_phases(first, 1, first + count, tokens, most)
    assert sum(n / b * (fixed + b) for n, b in phases) == pytest.approx(exact)
    assert [b for _, b in phases] == sorted(b for _, b in phases)


@pytest.mark.parametrize(("increment", "end"), [(4.0, 10.0), (5.0, 1.0), (1.0, 1.0)])
def test_increments_that_do_not_reach_the_batch_are_refused(increment: float, end: float) -> None:
    with pytest.raises(ValueError, match="does not lead from"):
        ramp_phases(1.0 if end > 1 else 2.0, increment, end, 100.0, 8)
