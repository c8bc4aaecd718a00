"""One step of reinforcement learning: its parts, and every division of the accelerators."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.training.tuning.post_training import (
    StepTerms,
    asynchronous_s,
    colocated_s,
    disaggregated_s,
    divisions,
    fastest_up_to,
    learn_s,
)

TERMS = StepTerms(sync_s=2.0, switch_s=10.0, overhead_s=4.0)


def test_the_trainer_counts_updates_models_and_forward_passes() -> None:
    """4 updates of 6 s: PPO trains two models and has four forward passes of a third of a step.

    4 x 6 x (2 + 4/3) = 80 s; GRPO: 4 x 6 x (1 + 2/3) = 40 s.
    """
    step = np.array([6.0])
    assert learn_s(step, 4, (2.0, 4.0), 1.0 / 3.0)[0] == pytest.approx(80.0)
    assert learn_s(step, 4, (1.0, 2.0), 1.0 / 3.0)[0] == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("step", "seconds"),
    [
        (colocated_s, 60 + 30 + 2 + 10 + 4),
        (disaggregated_s, 60 + 30 + 2 + 4),
        (asynchronous_s, max(60, 30 + 4) + 2),
    ],
)
def test_a_step_by_hand(step, seconds) -> None:  # type: ignore[no-untyped-def]
    assert float(step(np.array(60.0), np.array(30.0), TERMS)) == pytest.approx(seconds)


def test_a_slow_trainer_sets_the_step_of_overlapped_pools() -> None:
    """max(60, 90 + 4) + 2 = 96 s."""
    assert float(asynchronous_s(np.array(60.0), np.array(90.0), TERMS)) == pytest.approx(96.0)


TIMES = st.lists(st.floats(0.1, 1e4), min_size=1, max_size=8)


@given(TIMES)
def test_the_fastest_up_to_a_count_is_that_of_a_loop(times: list[float]) -> None:
    found = fastest_up_to(np.array(times))
    for i, at in enumerate(found.tolist()):
        assert at <= i
        assert times[at] == min(times[: i + 1])


@given(TIMES, TIMES, st.integers(2, 24), st.booleans())
def test_divisions_are_those_of_a_brute_force(
    rollout: list[float], train: list[float], total: int, overlapped: bool
) -> None:
    """Every pair of pools that fits the total, in loops."""
    r = np.arange(1.0, len(rollout) + 1.0) * 2.0
    t = np.arange(1.0, len(train) + 1.0) * 3.0
    made = divisions(
        np.array([float(total)]),
        r,
        np.array(rollout),
        t,
        np.array(train),
        TERMS,
        overlapped=overlapped,
    )
    step = asynchronous_s if overlapped else disaggregated_s
    pairs = [
        float(step(np.array(rollout[i]), np.array(train[j]), TERMS))
        for i, j in itertools.product(range(len(rollout)), range(len(train)))
        if r[i] + t[j] <= total
    ]
    assert float(made.step_s.min()) == pytest.approx(min(pairs, default=np.inf))
    fits = np.isfinite(made.step_s[0])
    assert (r[made.rollout_at[0][fits]] + t[fits] <= total).all()


@given(TIMES, TIMES)
def test_more_accelerators_are_never_slower_and_overlap_never_slower_than_turns(
    rollout: list[float], train: list[float]
) -> None:
    r, t = np.arange(1.0, len(rollout) + 1.0), np.arange(1.0, len(train) + 1.0)
    totals = np.arange(1.0, len(rollout) + len(train) + 3.0)
    best = {
        overlapped: divisions(
            totals, r, np.array(rollout), t, np.array(train), TERMS, overlapped=overlapped
        ).step_s.min(axis=1)
        for overlapped in (False, True)
    }
    for found in best.values():
        assert (found[1:] <= found[:-1]).all()
    assert (best[True] <= best[False]).all()
