"""Replay: equal to a step-by-step simulation, and cases by hand."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.serving.queue.clock import EngineClock, EngineLimits, decode_step_s, prompt_s
from dcplan.serving.queue.loop import Replayed
from dcplan.serving.queue.replay import replay, replay_closed
from tests.serving.slow import slow_replay

QUICK = settings(max_examples=150, deadline=None)
CLOCK = EngineClock(np.array([1.0, 4.0, 16.0]), np.array([0.010, 0.012, 0.030]), *(
    *(1.7e-6, 2.3e-4, 1.1e-7, 0.0131, 0.0043, 0.0008),
))  # fmt: skip
PLAIN = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-3, 0.0, 0.0, 0.0)
WIDE = EngineLimits(1e6, 64, 4096)


def requests(draw_seed: int, n: int, longest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(draw_seed)
    arrivals = np.cumsum(rng.exponential(0.05, n) * (rng.random(n) < 0.8))
    return arrivals, rng.integers(1, longest, n), rng.integers(1, longest // 2, n)


def compare(fast: Replayed, ones: list, engines: list, place: dict) -> None:
    served = [x for x in ones if x.times]
    assert len(served) == len(ones) - fast.rejected
    for x in served:
        i = x.number
        assert len(x.times) == x.output  # every token comes out, in the slow replay too
        sent = x.ready - CLOCK.request_s
        assert fast.replica[i] == place[i]
        assert fast.arrival_s[i] == pytest.approx(sent, rel=1e-9, abs=1e-9)
        assert fast.ttft_s[i] == pytest.approx(x.times[0] + CLOCK.exit_s - sent, rel=1e-6)
        assert fast.e2e_s[i] == pytest.approx(x.times[-1] + CLOCK.exit_s - sent, rel=1e-6)
        assert fast.prefill_s[i] == pytest.approx(x.times[0] - x.scheduled, rel=1e-6)
    assert fast.steps == sum(e.steps for e in engines)
    assert fast.preemptions == sum(e.preemptions for e in engines)
    assert fast.kv_peak_tokens == pytest.approx(max(e.peak for e in engines))


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    longest=st.sampled_from([6, 40, 150]),
    kv=st.sampled_from([90.0, 250.0, 900.0, 1e5]),
    most=st.integers(1, 12),
    step=st.sampled_from([0, 7, 60, 500]),
    block=st.sampled_from([1, 16]),
    replicas=st.integers(1, 3),
    hits=st.booleans(),
    closed=st.booleans(),
)
@QUICK
def test_equal_to_a_simulation_of_every_step(
    seed, n, longest, kv, most, step, block, replicas, hits, closed
) -> None:
    arrivals, inputs, outputs = requests(seed, n, longest)
    limits = EngineLimits(kv, most, most + step, block)
    cached = np.random.default_rng(seed).integers(0, longest, n) if hits else None
    if closed:
        fast = replay_closed(5, inputs, outputs, CLOCK, limits, replicas, cached)
        slow = slow_replay(np.zeros(n), inputs, outputs, CLOCK, limits, replicas, cached, 5)
    else:
        fast = replay(arrivals, inputs, outputs, CLOCK, limits, replicas, cached)
        slow = slow_replay(arrivals, inputs, outputs, CLOCK, limits, replicas, cached)
    compare(fast, *slow)


def test_the_cases_reach_preemption_rejection_and_long_prompts() -> None:
    arrivals, inputs, outputs = requests(3, 40, 150)
    found = replay(arrivals, inputs, outputs, CLOCK, EngineLimits(180.0, 8, 20, 1))
    assert found.preemptions > 10
    assert found.rejected > 0
    assert np.isnan(found.ttft_s).sum() == found.rejected == (found.replica < 0).sum()
    assert (inputs > 20).sum() > 10


@given(st.integers(0, 10**6), st.floats(1.0, 4.0), st.sampled_from([400.0, 1e5]))
@QUICK
def test_parts_sum_and_no_request_ends_before_its_work(seed: int, per: float, kv: float) -> None:
    arrivals, inputs, outputs = requests(seed, 60, 150)
    limits = EngineLimits(kv, 16, 64)
    found = replay(arrivals, inputs, outputs, CLOCK, limits, 2, None, per)
    again = replay(arrivals, inputs, outputs, CLOCK, limits, 2, None, per)
    np.testing.assert_array_equal(found.e2e_s, again.e2e_s)
    parts = CLOCK.request_s + found.first_step_s + found.queue_s + found.prefill_s + CLOCK.exit_s
    np.testing.assert_allclose(parts, found.ttft_s, rtol=1e-9)
    for part in (found.first_step_s, found.queue_s, found.prefill_s):
        assert np.nanmin(part) >= -1e-9
    own = prompt_s(CLOCK, inputs.astype(float))
    least = np.maximum(own, CLOCK.prefill_floor_s) + CLOCK.request_s + CLOCK.exit_s
    assert np.all((found.ttft_s >= least * (1 - 1e-9)) | np.isnan(found.ttft_s))
    rest = np.ceil((outputs - 1) / per) * float(CLOCK.decode_s[0])
    assert np.all((found.e2e_s >= (found.ttft_s + rest) * (1 - 1e-9)) | np.isnan(found.e2e_s))
    assert 0 < found.busy_frac <= 1
    assert found.kv_peak_tokens <= kv


def test_one_request_by_hand() -> None:
    # 300 prompt tokens in steps of 128: 3 steps, 0.3 s in total; 9 decode steps of 10 ms
    found = replay(np.array([2.0]), [300], [10], PLAIN, EngineLimits(1e4, 8, 128))
    assert found.ttft_s[0] == pytest.approx(0.3)
    assert found.tpot_s[0] == pytest.approx(0.01)
    assert found.e2e_s[0] == pytest.approx(0.39)
    assert found.steps == 12
    assert found.tokens_per_s == pytest.approx(10 / 0.39)
    assert found.kv_peak_tokens == pytest.approx(300 + 9 + 7.5)


def test_a_request_waits_for_the_step_that_runs() -> None:
    # the second becomes ready 4 ms into a decode step of 10 ms; its prefill adds 50 ms
    found = replay(np.array([0.0, 0.124]), [100, 50], [20, 1], PLAIN, WIDE)
    assert found.first_step_s[1] == pytest.approx(0.006)
    assert found.ttft_s[1] == pytest.approx(0.006 + 0.060)
    # the first has 19 decode steps, one of them longer by the prefill
    assert found.e2e_s[0] == pytest.approx(0.1 + 0.19 + 0.05)


def test_a_slot_is_free_when_a_request_ends() -> None:
    found = replay(np.zeros(2), [100, 100], [5, 5], PLAIN, EngineLimits(1e4, 1, 512))
    assert found.ttft_s == pytest.approx([0.1, 0.14 + 0.1])
    assert found.queue_s == pytest.approx([0.0, 0.14])


def test_the_request_admitted_last_is_preempted_and_computed_again() -> None:
    # KV of 25 tokens, prompts of 10: contexts of 11, 12, then 13 + 13 > 25: the second leaves
    # with 3 tokens out, and runs again when the first has ended
    limits = EngineLimits(25.0, 4, 64, 1)
    found = replay(np.zeros(2), [10, 10], [8, 8], PLAIN, limits)
    assert found.preemptions == 1
    assert found.e2e_s[0] == pytest.approx(0.02 + 7 * 0.01)
    # prefill of 10 + 3 tokens, whose step puts out token 4, and 4 decode steps
    assert found.e2e_s[1] == pytest.approx(0.09 + 0.013 + 4 * 0.01)


def test_speculative_tokens_divide_the_steps() -> None:
    one = replay(np.zeros(1), [100], [31], PLAIN, WIDE)
    three = replay(np.zeros(1), [100], [31], PLAIN, WIDE, speculative_tokens=3.0)
    assert one.tpot_s[0] == pytest.approx(0.01)
    assert three.tpot_s[0] == pytest.approx(0.01 / 3.0)


def test_closed_loop_holds_the_closed_formula() -> None:
    """TPOT = t_dec(C) + C/OSL T_pf, without KV reads: 0.01 + 8/100 * 0.05 = 14 ms.

    The running requests are those that are not in prefill: a request of 100 tokens takes
    TTFT + 99 TPOT. Tolerance 2 %.
    """
    found = replay_closed(8, np.full(4000, 50), np.full(4000, 100), PLAIN, WIDE)
    rng = np.random.default_rng(5)
    outputs = rng.integers(60, 141, 4000)
    spread = replay_closed(8, np.full(4000, 50), outputs, PLAIN, WIDE)
    assert spread.tokens_per_s == pytest.approx(8 / 0.014, rel=0.02)
    assert found.tokens_per_s == pytest.approx(8 / 0.014, rel=0.02)


def test_replicas_share_the_load() -> None:
    rng = np.random.default_rng(2)
    arrivals = np.cumsum(rng.exponential(0.02, 4000))
    inputs, outputs = rng.integers(50, 150, 4000), rng.integers(5, 50, 4000)
    four = replay(arrivals, inputs, outputs, CLOCK, EngineLimits(1e5, 16, 256), 4)
    counts = np.bincount(four.replica)
    assert counts.size == 4
    assert counts.max() < 1.1 * counts.min()


def test_100_000_requests_in_ten_seconds() -> None:
    rng = np.random.default_rng(4)
    n = 100_000
    arrivals = np.cumsum(rng.exponential(1 / 40.0, n))
    inputs, outputs = rng.integers(100, 2000, n), rng.integers(10, 500, n)
    batch = np.array([1.0, 256.0])
    clock = EngineClock(batch, np.array([0.010, 0.023]), 2e-8, 2.5e-5, 1e-9, 0.012, 0.004)
    began = time.perf_counter()
    found = replay(arrivals, inputs, outputs, clock, EngineLimits(4e5, 256, 8192), 4)
    assert time.perf_counter() - began < 10.0
    assert found.rejected == 0
    assert not np.isnan(found.e2e_s).any()


def test_decode_time_above_the_grid_has_the_last_slope() -> None:
    # last interval: 0.018 s over 12 requests, 1.5 ms each
    assert decode_step_s(CLOCK, np.array([20.0]))[0] == pytest.approx(0.030 + 4 * 0.0015)


@pytest.mark.parametrize(
    ("inputs", "outputs", "more", "said"),
    [
        ([0], [1], {}, "at least 1"),
        ([5], [0], {}, "at least 1"),
        ([5, 5], [1], {}, "differ"),
        ([5], [1], {"replicas": 0}, "replicas 0"),
        ([5], [1], {"hit_tokens": [-1]}, "at least 0"),
        ([5], [1], {"speculative_tokens": 0.5}, "speculative_tokens 0.5"),
        ([5, 5], [1, 1], {}, "arrivals_s"),
    ],
)
def test_what_cannot_be_replayed_is_refused(inputs, outputs, more, said) -> None:
    with pytest.raises(ValueError, match=said):
        replay(np.zeros(1), inputs, outputs, PLAIN, WIDE, **more)


def test_limits_and_clocks_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="step_tokens 4 is below most_running 8"):
        EngineLimits(1e4, 8, 4)
    with pytest.raises(ValueError, match="increases"):
        EngineClock(np.array([2.0, 1.0]), np.array([0.1, 0.1]), 0, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="differ"):
        EngineClock(np.array([1.0]), np.array([0.1, 0.1]), 0, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="concurrency"):
        replay_closed(0, [5], [5], PLAIN, WIDE)
