"""A disaggregated service: replicas for prefill and for decode."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.serve.service.outcome import DECODE, PREFILL, Outcome, Pool, constant
from dcplan.answers.serve.service.rates import Rates, slots_of
from dcplan.answers.serve.service.states import States
from dcplan.inputs.serving.clocking import Copy, copy_of, decoding_copy
from dcplan.serving.attention import sequence_bytes
from dcplan.serving.queue.percentiles import Percentiles, open_loop
from dcplan.serving.queue.rates import most_stable_rate
from dcplan.serving.queue.tandem import Stage, independent
from dcplan.serving.search import Split, split
from dcplan.serving.tables import Array, picked
from dcplan.units import MILLI

BUSY_FRAC = 0.8
"""Utilization of the prefill replicas at which the layouts are chosen."""
WORTH = 1.001
"""Ratio from which a larger replica is better."""
DECODE_SHARES = (0.05, 0.2, 0.6)
"""Shares of the time that prefill and transfer leave, for the decode pool: each is tried."""
STEP_SHARES = (0.025, 0.1, 0.4)
"""Decode steps over the limit of the time to first token for which layouts are chosen."""
IDLE_FRAC = 1e-6
"""Utilization of a replica that counts as idle."""
MOST_DECODE = 8
"""Decode replicas of the smallest unit that balances both pools."""


@dataclass(frozen=True)
class _Half:
    """One pool of a chosen pair."""

    at: int
    copy: Copy
    stage: Stage
    most: float
    """Highest request rate of a replica within its limit [1/s]."""
    size: int


def split_outcome(rates: Rates) -> Outcome | None:
    """Return the disaggregated service with the fewest accelerators for the load, or None.

    Small and large replicas are tried apart, because a load needs complete replicas and spares.
    """
    best: tuple[float, Outcome] | None = None
    for chosen in _pairs(rates.states):
        for share in DECODE_SHARES:
            found = _of(rates, chosen, share)
            if found is None:
                continue
            score = found.rate_max if found.run.request.accelerators else found.rate / _size(found)
            if best is None or score > best[0] * WORTH:
                best = (score, found)
    return best[1] if best else None


def _pairs(states: States) -> list[Split]:
    """Return pairs of layouts: for several sizes of replicas, and several times of a decode step.

    A long decode step leaves less of the limit of the time to first token for prefill.
    """
    run = states.run
    steps = {min(run.tpot_s, share * run.ttft_s) for share in STEP_SHARES} | {run.tpot_s}
    found: dict[tuple[int, int], Split] = {}
    for most in sorted({x.accelerators for x in run.layouts}):
        for step in sorted(steps):
            chosen = _chosen(states, most, step)
            if chosen is not None:
                found.setdefault((chosen.prefill, chosen.decode), chosen)
    return list(found.values())


def _size(found: Outcome) -> int:
    return found.serving + found.spares


def _chosen(states: States, most: int, step_s: float) -> Split | None:
    """Return the best pair of layouts with at most a number of accelerators each."""
    run = states.run
    at = np.array([i for i, x in enumerate(run.layouts) if x.accelerators <= most])
    found = split(
        replace(states.served, layout=picked(states.served.layout, at)),
        states.memory,
        run.need,
        run.service.most_running,
        run.ttft_s,
        step_s,
        BUSY_FRAC,
    )
    if found is None:
        return None
    return replace(found, prefill=int(at[found.prefill]), decode=int(at[found.decode]))


def _of(rates: Rates, chosen: Split, share: float) -> Outcome | None:
    """Return the service of a pair of layouts, or None if it does not meet the limits.

    The decode pool gets a share of the time that an idle prefill replica and the transfer leave.
    The prefill pool gets the rest of the limit, with the decode pool at its highest rate.
    """
    run = rates.states.run
    moved = _moved_s(rates.states, chosen.prefill)
    first, second = _prefill(rates, chosen), _decode(rates, chosen)
    fixed = moved + first.copy.own_prefill_s + first.copy.ingress_s
    q, zero = run.request.quantile, np.array(0.0)
    alone = first.stage.times(_idle_rate(first))
    rest = run.ttft_s - fixed - float(np.quantile(alone.total_s, q))
    if rest <= 0.0:
        return None
    with np.errstate(divide="ignore"):
        able = second.stage.most(share * rest, run.tpot_s, q, zero)
        if able <= 0.0:
            return None
        later = second.stage.times(able).total_s
    prompts = first.stage.most(run.ttft_s - fixed, math.inf, q, later)
    if prompts <= 0.0:
        return None
    first = replace(first, most=prompts * first.copy.copies)
    second = replace(second, most=able * second.copy.copies)
    counts = _counts(rates, first, second)
    return _outcome(rates, first, second, counts, moved) if counts else None


def _idle_rate(half: _Half) -> float:
    """Return a rate at which a replica is nearly idle."""
    inputs, hits = half.stage.input_tokens, half.stage.hit_tokens
    work = (half.copy.clock, half.copy.limits, inputs, half.stage.output_tokens, hits)
    return IDLE_FRAC * most_stable_rate(*work)


def _moved_s(states: States, at: int) -> float:
    """Return the time from the end of a prompt to its first decode step.

    The cache of one layer is sent while the next one is computed, so the last one remains.
    """
    run, one = states.run, states.one(at)
    sent = sequence_bytes(one.model, one.layout, np.array(run.need.input_tokens))
    last = float(np.max(sent / one.model.layers / one.device.nic_bytes_per_s))
    return last + float(np.max(one.terms.handover_ms)) * MILLI


def _prefill(rates: Rates, chosen: Split) -> _Half:
    states, run = rates.states, rates.states.run
    at = chosen.prefill
    inputs, outputs, hits = rates.requests()
    terms = states.served.terms
    faster = terms.prefill_factor * terms.pool_prefill_factor
    own = replace(terms, separate_prefill_frac=np.ones(1), prefill_factor=faster)
    one = replace(states.one(at), terms=own)
    most = float(states.found.most_requests[at, 0])
    copy = copy_of(one, run.need, most, slots_of(run), math.inf)
    stage = Stage(copy.clock, copy.limits, inputs, np.ones_like(outputs), hits)
    return _Half(at, copy, stage, 0.0, run.layouts[at].accelerators)


def _decode(rates: Rates, chosen: Split) -> _Half:
    states, run = rates.states, rates.states.run
    at = chosen.decode
    inputs, outputs, _ = rates.requests()
    most = float(states.found.most_requests[at, 0])
    copy = decoding_copy(states.one(at), run.need, most, slots_of(run), run.plan)
    per_step = run.plan.tokens_per_step
    stage = Stage(copy.clock, copy.limits, inputs, outputs, inputs - 1.0, per_step, step_wait=False)
    return _Half(at, copy, stage, 0.0, run.layouts[at].accelerators)


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
    """Return the pools at their load, with the time to first token over both of them."""
    states, run = rates.states, rates.states.run
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
    return Outcome(run, states, rates, pools, rate, parts, ttft, tpot, second.at, "split")


def _pool(rates: Rates, name: str, half: _Half, count: int, rate: float) -> Pool:
    """Return the replicas of one half at the rate of the service."""
    run, stage, copies = rates.states.run, half.stage, half.copy.copies
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
