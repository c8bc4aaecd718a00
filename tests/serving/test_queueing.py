"""Formulas of the queue: against hand calculations, tables of queueing theory and the replay."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import poisson as scipy_poisson

from dcplan.serving.queue.clock import EngineClock, EngineLimits, prompt_s
from dcplan.serving.queue.draws import POINTS, geometric, hyperexponential, normal, poisson
from dcplan.serving.queue.load import load_of, occupancy, peakedness
from dcplan.serving.queue.percentiles import open_loop
from dcplan.serving.queue.rates import most_rate, most_stable_rate
from dcplan.serving.queue.replay import replay
from dcplan.serving.queue.waits import wait_of

QUICK = settings(max_examples=25, deadline=None)
BATCH = np.array([1.0, 2, 4, 8, 16, 32, 64, 128, 256])
FAST = EngineClock(BATCH, 0.010 + BATCH * 5e-5, 2e-8, 2.5e-5, 1e-9, 0.012, 0.004)
SLOW = EngineClock(BATCH, 0.018 + BATCH * 1e-4, 4e-8, 8e-5, 3e-9, 0.02, 0.010, 0.001)
FLAT = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-5, 0.0, 0.0, 0.0)
WIDE = EngineLimits(4e5, 256, 8192)
COUNT = 12_000


def gamma(mean: float, shape: float) -> np.ndarray:
    rng = np.random.default_rng(int(mean))
    return np.maximum(1, np.rint(rng.gamma(shape, mean / shape, COUNT)))


def uniform(mean: float) -> np.ndarray:
    return np.rint(np.random.default_rng(int(mean)).uniform(0.8 * mean, 1.2 * mean, COUNT))


CASES = {
    "fixed 1000/250": (FAST, WIDE, np.full(COUNT, 1000.0), np.full(COUNT, 250.0)),
    "uniform 900/900": (SLOW, EngineLimits(6e5, 256, 8192), uniform(900), uniform(901)),
    "gamma 1000/200": (SLOW, EngineLimits(6e5, 256, 4096), gamma(1000, 1.0), gamma(200, 1.5)),
    "gamma 2000/300, KV": (SLOW, EngineLimits(1.2e5, 256, 4096), gamma(2000, 1.5), gamma(300, 1.5)),
    "gamma 1000/200, 32 slots": (FAST, EngineLimits(5e5, 32, 2048), gamma(999, 1), gamma(200, 1.5)),
    "short 60/20": (SLOW, WIDE, uniform(60), uniform(20)),
    "long 8000/200": (FAST, EngineLimits(1e6, 256, 2048), uniform(8000), uniform(200)),
    "prefill 2000": (SLOW, WIDE, gamma(2000, 1.5), np.ones(COUNT)),
    "prefill 100": (FAST, WIDE, uniform(100), np.ones(COUNT)),
}


@functools.cache
def replayed(name: str, load: float, cv2: float = 1.0):
    """Replay a case at a share of its largest rate; the first tenth of the requests warms up."""
    clock, limits, inputs, outputs = CASES[name]
    rate = load * most_stable_rate(clock, limits, inputs, outputs)
    gaps = np.random.default_rng(7).gamma(1 / cv2, cv2 / rate, COUNT)
    found = replay(np.cumsum(gaps), inputs, outputs, clock, limits)
    keep = slice(COUNT // 10, None)
    return rate, found.ttft_s[keep], found.tpot_s[keep]


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("name", list(CASES))
def test_percentiles_are_those_of_the_replay(name: str, load: float) -> None:
    """TTFT within 25 %; TPOT within 4 % at p50, 5 % in the mean, 10 % at p90.

    Where prefill takes more than half of the time, p90 of the TPOT is within 17 %.
    """
    clock, limits, inputs, outputs = CASES[name]
    rate, ttft, tpot = replayed(name, load)
    found = open_loop(rate, clock, limits, inputs, outputs)
    assert found.utilization_frac == pytest.approx(load)
    assert found.ttft_s.p50 == pytest.approx(np.percentile(ttft, 50), rel=0.25)
    assert found.ttft_s.p90 == pytest.approx(np.percentile(ttft, 90), rel=0.25)
    if outputs.max() > 1:
        assert found.tpot_s.p50 == pytest.approx(np.nanpercentile(tpot, 50), rel=0.04)
        prompts = prompt_s(clock, inputs)
        most = 0.17 if rate * prompts.mean() > 0.5 else 0.10
        assert found.tpot_s.p90 == pytest.approx(np.nanpercentile(tpot, 90), rel=most)
        assert found.tpot_s.mean == pytest.approx(np.nanmean(tpot), rel=0.05)


@pytest.mark.parametrize("name", ["fixed 1000/250", "gamma 1000/200", "prefill 2000"])
def test_bursty_arrivals(name: str) -> None:
    """Squared CV of 3 at a load of 0.6: p50 and p90 of the TTFT within 30 % of the replay."""
    clock, limits, inputs, outputs = CASES[name]
    rate, ttft, _ = replayed(name, 0.6, 3.0)
    found = open_loop(rate, clock, limits, inputs, outputs, 3.0)
    plain = open_loop(rate, clock, limits, inputs, outputs)
    assert found.ttft_s.p50 == pytest.approx(np.percentile(ttft, 50), rel=0.30)
    assert found.ttft_s.p90 == pytest.approx(np.percentile(ttft, 90), rel=0.30)
    assert found.ttft_s.p90 > plain.ttft_s.p90


@pytest.mark.parametrize("name", ["fixed 1000/250", "gamma 2000/300, KV", "prefill 2000"])
def test_the_largest_rate_is_that_of_a_full_queue(name: str) -> None:
    """All requests wait at time 0. Tolerance 3 %; 10 % where preemption repeats prefill."""
    clock, limits, inputs, outputs = CASES[name]
    found = replay(np.zeros(COUNT), inputs, outputs, clock, limits)
    rate = most_stable_rate(clock, limits, inputs, outputs)
    assert rate == pytest.approx(COUNT / found.span_s, rel=0.10 if found.preemptions else 0.03)


def test_an_idle_replica_has_no_queue() -> None:
    # request 4 ms, prefill 1000 x 25 us + 499,500 pairs x 1 ns = 25.4995 ms, first step none
    found = open_loop(1e-4, FAST, WIDE, np.array([1000.0]), np.array([101.0]))
    assert found.ttft_s.p90 == pytest.approx(0.004 + 0.0254995, rel=1e-6)
    # a decode step of one request with 1 + 1000 + 99 / 2 cached tokens on average
    assert found.tpot_s.p50 == pytest.approx(0.01005 + 2e-8 * 1050.5, rel=1e-6)


def test_decoding_requests_are_poisson_if_steps_have_one_length() -> None:
    """M/G/infinity: without contention the number is Poisson with mean rate x life."""
    clock = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-9, 0.0, 0.0, 0.0)
    load = load_of(clock, WIDE, np.array([10.0]), np.array([101.0]), None, 1.0, 1.0)
    running = occupancy(load, 20.0, clock)  # 20 per second x 100 steps of 10 ms
    expected = scipy_poisson.pmf(np.arange(60), 20.0)
    np.testing.assert_allclose(running[:60], expected, rtol=1e-3, atol=1e-9)


def test_the_wait_for_a_slot_is_erlang_c() -> None:
    """Ten servers with 8 erlang: 0.409 (tables of the Erlang C formula). Tolerance 0.002."""
    clock = EngineClock(np.array([1.0]), np.array([0.01]), 0.0, 1e-9, 0.0, 0.0, 0.0)
    limits = EngineLimits(1e5, 10, 64)
    load = load_of(clock, limits, np.array([1.0]), np.array([101.0]), None, 1.0, 1.0)
    assert load.most == 10
    running = occupancy(load, 8.0, clock)
    assert running[-1] == pytest.approx(0.409, abs=0.002)
    servers, erlang = 10, 8.0
    full = erlang**servers / math.factorial(servers) / (1 - erlang / servers)
    others = sum(erlang**k / math.factorial(k) for k in range(servers))
    assert running[-1] == pytest.approx(full / (full + others), rel=1e-4)


def test_a_prefill_replica_is_an_m_g_1_queue() -> None:
    """Pollaczek-Khinchine with a prompt of 10 ms, load 0.8: 0.8 x 10 / (2 x 0.2) = 20 ms.

    A step holds one prompt, so prompts are served one after the other. Tolerance 3 %.
    """
    limits = EngineLimits(1e5, 8, 1000)
    found = open_loop(80.0, FLAT, limits, np.array([1000.0]), np.array([1.0]))
    assert found.queue_s.mean == pytest.approx(0.020, rel=0.03)
    assert found.prefill_s.p50 == pytest.approx(0.010)
    assert math.isnan(found.tpot_s.p50)
    # exponential prompts double the wait: (1 + 1) / 2 instead of 1 / 2
    lengths = -1000.0 * np.log((np.arange(5000) + 0.5) / 5000)
    spread = open_loop(80.0, FLAT, limits, np.maximum(lengths, 1.0), np.array([1.0]))
    assert spread.queue_s.mean == pytest.approx(0.040, rel=0.05)


def test_the_wait_of_unequal_prompts_has_the_second_moment_of_m_g_1() -> None:
    """Takacs: E[W2] = 2 E[W]2 + rate E[s3] / (3 (1 - load)).

    Prompts of 1 ms (49 of 50) and 50 ms: E[s] = 1.98 ms, E[s2] = 50.98 ms2, E[s3] = 2,500.98 ms3.
    At a load of 0.3: E[W] = 0.3 x 50.98 / (1.98 x 2 x 0.7) = 5.517 ms,
    E[W2] = 2 x 5.517**2 + 0.15152 x 2,500.98 / 2.1 = 241.3 ms2. Tolerance 5 %; an exponential tail
    would have 202.9 ms2.
    """
    lengths = np.array([100.0] * 49 + [5000.0])
    load = load_of(FLAT, EngineLimits(1e5, 8, 5000), lengths, np.array([1.0]), None, 1.0, 1.0)
    rate = 0.3 / 0.00198
    waits = wait_of(
        load, rate, FLAT, EngineLimits(1e5, 8, 5000), occupancy(load, rate, FLAT)
    ).queue_s
    assert waits.mean() == pytest.approx(0.005517, rel=0.05)
    assert (waits**2).mean() == pytest.approx(241.3e-6, rel=0.05)


def test_peakedness_by_hand() -> None:
    # prompts of 10 and 30 ms, 20 per second: load 0.4, followers 0.4 + 400 x 1e-4 = 0.44,
    # index 0.44 / 0.36 + 1 / 0.6 = 2.8889, peakedness (1 + 2.8889) / 2
    lengths = np.array([1000.0, 3000.0])
    load = load_of(FLAT, WIDE, lengths, np.array([100.0]), None, 1.0, 1.0)
    assert peakedness(load, 20.0) == pytest.approx(1.94444, rel=1e-5)
    # prompts longer than a step come one by one
    slim = EngineLimits(4e5, 256, 1024)
    assert peakedness(load_of(FLAT, slim, lengths, np.array([100.0]), None, 1.0, 1.0), 20.0) == 1.0


def test_a_burst_takes_its_prompts_one_after_the_other() -> None:
    """Five prompts of a whole step each, 10 ms: mean 3 x 10 ms."""
    limits = EngineLimits(1e5, 8, 1000)
    found = replay(np.zeros(5), np.full(5, 1000), np.ones(5), FLAT, limits)
    assert found.ttft_s.mean() == pytest.approx((5 + 1) / 2 * 0.010)


def test_hits_and_speculative_tokens() -> None:
    work = (SLOW, WIDE, np.array([1000.0]), np.array([200.0]))
    plain = open_loop(1.0, *work)
    cached = open_loop(1.0, *work, 1.0, np.array([600.0]))
    assert cached.prefill_s.p50 < plain.prefill_s.p50
    double = open_loop(1.0, *work, 1.0, None, 2.0)
    assert double.tpot_s.p50 < 0.55 * plain.tpot_s.p50
    assert most_stable_rate(*work, None, 2.0) > most_stable_rate(*work)


@given(st.floats(0.05, 0.9), st.floats(0.01, 0.05), st.sampled_from(sorted(CASES)))
@QUICK
def test_more_load_never_lowers_a_latency(load: float, more: float, name: str) -> None:
    """Up to 1 % for the points at which a discrete number of prompts changes."""
    clock, limits, inputs, outputs = CASES[name]
    work = (clock, limits, inputs[:500], outputs[:500])
    stable = most_stable_rate(*work)
    few, many = (open_loop(x * stable, *work) for x in (load, load + more))
    for part in ("p50", "p90", "mean"):
        assert getattr(many.ttft_s, part) >= 0.99 * getattr(few.ttft_s, part)
        if outputs.max() > 1:
            assert getattr(many.tpot_s, part) >= 0.99 * getattr(few.tpot_s, part)


@pytest.mark.parametrize(("ttft", "tpot"), [(0.2, 0.05), (5.0, 0.03), (0.15, 0.5)])
def test_the_largest_rate_meets_its_limits_and_no_more(ttft: float, tpot: float) -> None:
    work = CASES["uniform 900/900"]
    rate = most_rate(*work, ttft, tpot, 0.9)
    at = open_loop(rate, *work)
    assert at.ttft_s.p90 <= ttft
    assert at.tpot_s.p90 <= tpot
    above = open_loop(rate * 1.01, *work)
    assert above.ttft_s.p90 > ttft or above.tpot_s.p90 > tpot
    # the replay agrees: at this rate, the share of requests that meet each limit is near 90 %
    gaps = np.random.default_rng(3).exponential(1 / rate, COUNT)
    found = replay(np.cumsum(gaps), work[2], work[3], work[0], work[1])
    met = min(np.mean(found.ttft_s <= ttft), np.mean(found.tpot_s <= tpot))
    assert 0.75 < met < 0.97


def test_limits_that_no_rate_or_every_rate_meets() -> None:
    work = CASES["fixed 1000/250"]
    assert most_rate(*work, 0.02, 1.0, 0.9) == 0.0
    assert most_rate(*work, 0.2, 0.01, 0.9) == 0.0
    assert most_rate(*work, 1e9, 1e9, 0.9) == pytest.approx(most_stable_rate(*work), rel=1e-3)


@pytest.mark.parametrize(
    ("rate", "more", "said"),
    [
        (0.0, {}, "not between 0"),
        (1e6, {}, "not between 0"),
        (1.0, {"speculative_tokens": 0.5}, "at least 1"),
        (1.0, {"arrival_cv2": -1.0}, "at least 0"),
    ],
)
def test_what_has_no_latency_is_refused(rate: float, more: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        open_loop(rate, FAST, WIDE, np.array([1000.0]), np.array([250.0]), **more)


def test_quantiles_are_scipys() -> None:
    u = POINTS[0]
    np.testing.assert_allclose(normal(u), norm.ppf(u), atol=0.01)
    for mean in (0.05, 2.0, 25.0):
        np.testing.assert_array_equal(poisson(np.full_like(u, mean), u), scipy_poisson.ppf(u, mean))
    large = poisson(np.full_like(u, 200.0), u)
    assert large.mean() == pytest.approx(200.0, rel=1e-3)
    assert large.var() == pytest.approx(200.0, rel=0.02)


def test_draws_have_their_moments() -> None:
    """Mean 1 and squared CV c of the phases, mean of the geometric number. Tolerance 3 %."""
    u = (np.arange(100_000) + 0.5) / 100_000
    for cv2 in (1.0, 3.0):
        values = hyperexponential(u, np.full_like(u, cv2))
        assert values.mean() == pytest.approx(1.0, rel=0.03)
        assert values.var() == pytest.approx(cv2, rel=0.03)
    assert geometric(np.full_like(u, 2.0), u).mean() == pytest.approx(2.0, rel=0.03)
    assert not geometric(np.zeros_like(u), u).any()
