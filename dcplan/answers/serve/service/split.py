"""A disaggregated service: replicas for prefill and for decode."""

from __future__ import annotations

import math

import numpy as np

from dcplan.answers.serve.service.outcome import Outcome, Pool, constant
from dcplan.answers.serve.service.rates import RunRates
from dcplan.inputs.serving.sizing.pools import DECODE, PREFILL, Half, Pair, pairs_of
from dcplan.serving.queue.percentiles import Percentiles, open_loop
from dcplan.serving.queue.tandem import independent
from dcplan.serving.tables import Array

WORTH = 1.001
"""Ratio from which a larger replica is better."""
MOST_DECODE = 8
"""Decode replicas of the smallest unit that balances both pools."""


def split_outcome(rates: RunRates) -> Outcome | None:
    """Return the disaggregated service with the fewest accelerators for the load, or None."""
    best: tuple[float, Outcome] | None = None
    for pair in pairs_of(rates.states, rates.states):
        found = _of(rates, pair)
        if found is None:
            continue
        score = found.rate_max if found.run.request.accelerators else found.rate / _size(found)
        if best is None or score > best[0] * WORTH:
            best = (score, found)
    return best[1] if best else None


def _of(rates: RunRates, pair: Pair) -> Outcome | None:
    counts = _counts(rates, pair.prefill, pair.decode)
    return _outcome(rates, pair.prefill, pair.decode, counts, pair.moved_s) if counts else None


def _size(found: Outcome) -> int:
    return found.serving + found.spares


def _counts(rates: RunRates, first: Half, second: Half) -> tuple[int, int, float] | None:
    """Return prefill replicas, decode replicas and the rate."""
    run = rates.run
    if run.request.accelerators is not None:
        return _within(first, second, run.request.accelerators, run.rate)
    if run.rate is not None:
        n, m = (math.ceil(run.rate / x.most) for x in (first, second))
        return n, m, run.rate
    best: tuple[float, int, int, float] | None = None
    for m in range(1, MOST_DECODE + 1):
        for n in {
            max(math.floor(m * second.most / first.most), 1),
            math.ceil(m * second.most / first.most),
        }:
            rate = min(n * first.most, m * second.most)
            value = rate / (n * first.size + m * second.size)
            if best is None or value > best[0] * 1.001:
                best = (value, n, m, rate)
    return best[1:] if best else None


def _within(
    first: Half, second: Half, most: int, rate: float | None
) -> tuple[int, int, float] | None:
    """Return the replicas of a number of accelerators with the highest rate."""
    best: tuple[int, int, float] | None = None
    for n in range(1, most // first.size + 1):
        m = (most - n * first.size) // second.size
        able = min(n * first.most, m * second.most)
        if m > 0 and (best is None or able > best[2]):
            best = (n, m, able)
    if best is None or rate is None:
        return best
    return (best[0], best[1], min(rate, best[2]))


def _outcome(
    rates: RunRates, first: Half, second: Half, counts: tuple[int, int, float], moved: float
) -> Outcome:
    """Return the pools at their load, with the time to first token over both of them."""
    run = rates.run
    n, m, rate = counts
    # a decode pool has no wait for prompt tokens, so the formulas divide by a probability of 0
    with np.errstate(divide="ignore"):
        pools = (_pool(rates, PREFILL, first, n, rate), _pool(rates, DECODE, second, m, rate))
        before = first.stage.times(rate / n / first.copy.copies)
        after = second.stage.times(rate / m / second.copy.copies)

    def of(values: Array) -> Percentiles:
        return _percentiles(values, run.request.quantile)

    fixed = first.copy.ingress_s + first.copy.own_prefill_s + moved
    parts = (
        ("ingress: HTTP, tokenizer, first scheduling", constant(first.copy.ingress_s)),
        ("queue of prefill: prompts ahead", of(before.wait_s)),
        ("prefill", of(before.work_s + first.copy.own_prefill_s)),
        ("transfer of the KV cache and hand-over", constant(moved)),
        ("queue of decode: slot, KV cache", of(after.wait_s)),
        ("first decode step", of(after.work_s)),
    )
    ttft = of(independent(before.total_s + fixed, after.total_s))
    tpot = of(after.tpot_s)
    return Outcome(run, rates.states, rates, pools, rate, parts, ttft, tpot, second.at, "split")


def _pool(rates: RunRates, name: str, half: Half, count: int, rate: float) -> Pool:
    """Return the replicas of one half at the rate of the service."""
    run, stage, copies = rates.run, half.stage, half.copy.copies
    loop = open_loop(
        rate / count / copies,
        *(stage.clock, stage.limits, stage.input_tokens, stage.output_tokens),
        hit_tokens=stage.hit_tokens,
        speculative_tokens=stage.tokens_per_step,
    )
    return Pool(
        name,
        run.layouts[half.at],
        rates.states.one(half.at),
        float(rates.states.found.most_requests[half.at, 0]),
        count,
        run.spare_replicas,
        rate / count,
        half.most,
        rate / count / loop.utilization_frac,
        loop.running * copies,
    )


def _percentiles(values: Array, quantile: float) -> Percentiles:
    kept = values[np.isfinite(values)]
    shares = (50.0, 90.0, 99.0, 100.0 * quantile)
    return Percentiles(float(kept.mean()), *(float(x) for x in np.percentile(kept, shares)))
