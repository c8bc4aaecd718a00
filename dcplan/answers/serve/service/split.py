"""A disaggregated service: replicas for prefill and for decode."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.serve.service.outcome import DECODE, PREFILL, Outcome, Pool, constant, shifted
from dcplan.answers.serve.service.rates import Rates, slots_of
from dcplan.answers.serve.service.states import States
from dcplan.inputs.serving.clocking import Copy, copy_of, decoding_copy
from dcplan.serving.attention import sequence_bytes
from dcplan.serving.queue.percentiles import Percentiles, most_rate, open_loop
from dcplan.serving.search import Split, split
from dcplan.serving.tables import picked
from dcplan.units import MILLI

BUSY_FRAC = 0.8
"""Utilization of the prefill replicas at which the layouts are chosen."""
WORTH = 1.001
"""Ratio from which a larger replica is better."""
MOST_DECODE = 8
"""Decode replicas of the smallest unit that balances both pools."""


@dataclass(frozen=True)
class _Half:
    """One pool of a chosen pair."""

    at: int
    copy: Copy
    most: float
    """Highest request rate of a replica within its limit [1/s]."""
    size: int


def split_outcome(rates: Rates) -> Outcome | None:
    """Return the disaggregated service with the fewest accelerators for the load, or None.

    Small and large replicas are tried apart, because a load needs complete replicas and spares.
    """
    best: tuple[float, Outcome] | None = None
    tried: set[tuple[int, int]] = set()
    for most in sorted({x.accelerators for x in rates.states.run.layouts}):
        chosen = _chosen(rates.states, most)
        if chosen is None or (chosen.prefill, chosen.decode) in tried:
            continue
        tried.add((chosen.prefill, chosen.decode))
        found = _of(rates, chosen)
        if found is None:
            continue
        score = found.rate_max if found.run.request.accelerators else found.rate / _size(found)
        if best is None or score > best[0] * WORTH:
            best = (score, found)
    return best[1] if best else None


def _size(found: Outcome) -> int:
    return found.serving + found.spares


def _chosen(states: States, most: int) -> Split | None:
    """Return the best pair of layouts with at most a number of accelerators each."""
    run = states.run
    at = np.array([i for i, x in enumerate(run.layouts) if x.accelerators <= most])
    found = split(
        replace(states.served, layout=picked(states.served.layout, at)),
        states.memory,
        run.need,
        run.service.most_running,
        run.ttft_s,
        run.tpot_s,
        BUSY_FRAC,
    )
    if found is None:
        return None
    return replace(found, prefill=int(at[found.prefill]), decode=int(at[found.decode]))


def _of(rates: Rates, chosen: Split) -> Outcome | None:
    """Return the service of a pair of layouts, or None if it does not meet the limits."""
    states, run = rates.states, rates.states.run
    moved = _moved_s(states, chosen.prefill)
    rest = run.ttft_s - moved - run.tpot_s
    first, second = _prefill(rates, chosen, rest), _decode(rates, chosen)
    if first is None or second is None:
        return None
    counts = _counts(rates, first, second)
    return _outcome(rates, first, second, counts, moved) if counts else None


def _moved_s(states: States, at: int) -> float:
    """Return the time from the end of a prompt to its first decode step.

    The cache of one layer is sent while the next one is computed, so the last one remains.
    """
    run, one = states.run, states.one(at)
    sent = sequence_bytes(one.model, one.layout, np.array(run.need.input_tokens))
    last = float(np.max(sent / one.model.layers / one.device.nic_bytes_per_s))
    return last + float(np.max(one.terms.handover_ms)) * MILLI


def _prefill(rates: Rates, chosen: Split, limit_s: float) -> _Half | None:
    states, run = rates.states, rates.states.run
    at = chosen.prefill
    inputs, outputs, hits = rates.requests()
    terms = states.served.terms
    faster = terms.prefill_factor * terms.pool_prefill_factor
    own = replace(terms, separate_prefill_frac=np.ones(1), prefill_factor=faster)
    one = replace(states.one(at), terms=own)
    most = float(states.found.most_requests[at, 0])
    copy = copy_of(one, run.need, most, slots_of(run), math.inf)
    limit_s -= copy.own_prefill_s
    if limit_s <= copy.ingress_s:
        return None
    found = most_rate(
        *(copy.clock, copy.limits, inputs, np.ones_like(outputs), limit_s, math.inf),
        run.request.quantile,
        hit_tokens=hits,
    )
    size = run.layouts[at].accelerators
    return _Half(at, copy, found * copy.copies, size) if found > 0.0 else None


def _decode(rates: Rates, chosen: Split) -> _Half | None:
    states, run = rates.states, rates.states.run
    at = chosen.decode
    inputs, outputs, _ = rates.requests()
    most = float(states.found.most_requests[at, 0])
    copy = decoding_copy(states.one(at), run.need, most, slots_of(run), run.plan)
    # a decode pool has no wait for prompt tokens, so the formulas divide by a probability of 0
    with np.errstate(divide="ignore"):
        found = most_rate(
            *(copy.clock, copy.limits, inputs, outputs, math.inf, run.tpot_s),
            run.request.quantile,
            hit_tokens=inputs - 1.0,
            speculative_tokens=run.plan.tokens_per_step,
        )
    size = run.layouts[at].accelerators
    return _Half(at, copy, found * copy.copies, size) if found > 0.0 else None


def _counts(rates: Rates, first: _Half, second: _Half) -> tuple[int, int, float] | None:
    """Return prefill replicas, decode replicas and the rate."""
    run = rates.states.run
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
    first: _Half, second: _Half, most: int, rate: float | None
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
    rates: Rates, first: _Half, second: _Half, counts: tuple[int, int, float], moved: float
) -> Outcome:
    states, run = rates.states, rates.states.run
    n, m, rate = counts
    inputs, outputs, hits = rates.requests()
    before = open_loop(
        rate / n / first.copy.copies,
        *(first.copy.clock, first.copy.limits, inputs, np.ones_like(outputs)),
        hit_tokens=hits,
        quantile=run.request.quantile,
    )
    with np.errstate(divide="ignore"):
        after = open_loop(
            rate / m / second.copy.copies,
            *(second.copy.clock, second.copy.limits, inputs, outputs),
            hit_tokens=inputs - 1.0,
            speculative_tokens=run.plan.tokens_per_step,
            quantile=run.request.quantile,
        )
    steps = run.plan.tokens_per_step
    first_step = Percentiles(*(x * steps for x in _values(after.tpot_s)))
    waits = (_values(x) for x in (before.first_step_s, before.queue_s, after.queue_s))
    wait = Percentiles(*(sum(x) for x in zip(*waits, strict=True)))
    parts = (
        ("ingress: HTTP, tokenizer, first scheduling", constant(before.ingress_s)),
        ("queue: slot, KV cache, prompts ahead", wait),
        ("prefill", shifted(before.prefill_s, first.copy.own_prefill_s)),
        ("transfer of the KV cache and hand-over", constant(moved)),
        ("first decode step", first_step),
    )
    later = moved + first_step.p90 + first.copy.own_prefill_s
    ttft = shifted(before.ttft_s, later)
    pools = tuple(
        Pool(
            name,
            run.layouts[half.at],
            states.one(half.at),
            float(states.found.most_requests[half.at, 0]),
            count,
            run.spare_replicas,
            rate / count,
            half.most,
            rate / count / loop.utilization_frac,
            loop.running * half.copy.copies,
        )
        for name, half, count, loop in ((PREFILL, first, n, before), (DECODE, second, m, after))
    )
    return Outcome(run, states, rates, pools, rate, parts, ttft, after.tpot_s, second.at, "split")


def _values(x: Percentiles) -> tuple[float, ...]:
    return x.mean, x.p50, x.p90, x.p99, x.asked
