"""A given number of concurrent requests: replicas within the limits, and their percentiles."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dcplan.answers.serve.service.outcome import Outcome, Pool
from dcplan.answers.serve.service.played import percentiles_of
from dcplan.answers.serve.service.rates import RunRates
from dcplan.inputs.serving.sizing.pools import BOTH
from dcplan.inputs.serving.sizing.states import States, loop_at
from dcplan.serving.queue.loop import Replayed
from dcplan.serving.queue.replay import replay_closed
from dcplan.serving.search import BATCH_STEP
from dcplan.serving.tables import Array

TRIED = 4
"""Layouts whose percentiles are computed."""
TRIED_FIXED = 12
"""Layouts whose percentiles are computed for a given number of accelerators."""
MEAN_ERROR = 1.15
"""Rate of the event loop over that of the fixed point of the means, at most."""
GROWTH = 1.15
"""Factor on the replicas while the percentile is above a limit."""
LIVES = 5
"""Requests of the event loop for each concurrent one; the first ones are left out."""
FEWEST, MOST = 48, 3000
STEPS = 33
"""Numbers of requests that are tried between two batches."""


def closed_outcome(rates: RunRates) -> Outcome | None:
    """Return the best service of equal replicas with the given concurrent requests, or None."""
    best: tuple[tuple[float, float], Outcome] | None = None
    fixed = rates.run.request.accelerators is not None
    order = _by_rate(rates) if fixed else _by_size(rates)
    for at, mean_rate in order[: TRIED_FIXED if fixed else TRIED]:
        if fixed and best is not None and mean_rate * MEAN_ERROR < best[0][0]:
            continue
        found = _within(rates, at)
        if found is None:
            continue
        score = (-float(found.serving + found.spares), found.rate / found.serving)
        if fixed:
            score = (found.rate, score[1])
        if best is None or score > best[0]:
            best = (score, found)
    return best[1] if best else None


def _by_size(rates: RunRates) -> list[tuple[int, float]]:
    """Return the layouts within the limits in the mean, those with the fewest accelerators first."""
    states = rates.states
    run, found = rates.run, states.found
    count = float(run.request.concurrency or 1)
    within = (found.steady.tpot_s <= run.tpot_s) & (found.possible > 0)
    within &= found.steady.ttft_s <= run.ttft_s
    most = np.where(within, found.concurrency[None, :], 0.0).max(axis=1)
    size = found.accelerators[:, 0]
    replicas = np.ceil(count / np.maximum(most, 1e-9))
    order = np.lexsort((size, (replicas + run.spare_replicas) * size))
    return [(int(i), 0.0) for i in order if most[i] > 0.0]


def _by_rate(rates: RunRates) -> list[tuple[int, float]]:
    """Return the layouts that a number of accelerators has, with their mean rate, the highest first.

    Those whose means are within both limits come before the others.
    """
    states = rates.states
    run, rows = rates.run, []
    for at in np.flatnonzero(states.fits > 0).tolist():
        replicas = _replicas(rates, at)
        if replicas < 1:
            continue
        one = loop_at(states, at, np.array([(run.request.concurrency or 1) / replicas]))
        late = bool(one.tpot_s[0] > run.tpot_s or one.ttft_s[0] > run.ttft_s)
        rows.append((late, -float(one.requests_per_s[0]) * replicas, at))
    return [(at, -rate) for _, rate, at in sorted(rows)]


def _replicas(rates: RunRates, at: int) -> int:
    """Return the replicas of the given accelerators, at most one for each concurrent request."""
    run = rates.run
    most = (run.request.accelerators or 0) // run.layouts[at].accelerators
    return min(most, run.request.concurrency or 1)


def _within(rates: RunRates, at: int) -> Outcome | None:
    """Return the fewest replicas of a layout whose percentiles are within the limits."""
    states = rates.states
    run, request = rates.run, rates.run.request
    count, seen = request.concurrency or 1, dict[int, Replayed]()

    def meets(replicas: int) -> bool:
        ttft, tpot, seen[replicas] = _played(rates, at, count / replicas)
        if not np.isfinite(ttft).any():  # a request is longer than the cache
            return False
        q = 100.0 * request.quantile
        # a request of one token has no time per output token
        slow = np.isfinite(tpot).any() and np.nanpercentile(tpot, q) > run.tpot_s
        return bool(np.nanpercentile(ttft, q) <= run.ttft_s and not slow)

    if request.accelerators is not None:
        number = _replicas(rates, at)
        able = number if meets(number) else None
    else:
        able = fewest(meets, math.ceil(count / _most_concurrent(states, at)), count)
    return None if able is None else _outcome(rates, at, able, seen[able])


def fewest(meets: Callable[[int], bool], start: int, most: int) -> int | None:
    """Return the lowest number from 1 to ``most`` that meets a rule, near a start; None if none does.

    Examples
    --------
    >>> [fewest(lambda n: n >= 23, start, 100) for start in (1, 20, 23, 60)]
    [23, 23, 23, 23]
    >>> fewest(lambda n: n >= 23, 1, 22) is None
    True
    """
    low, high = 0, min(max(start, 1), most)
    while not meets(high):
        if high >= most:
            return None
        low, high = high, min(max(high + 1, math.ceil(high * GROWTH)), most)
    below = math.ceil(high / GROWTH) - 1
    while below > low and meets(below):
        high, below = below, math.ceil(below / GROWTH) - 1
    low = max(low, below)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def _most_concurrent(states: States, at: int) -> float:
    """Return the concurrent requests of a replica whose mean latencies are within the limits."""
    work, found = states.work, states.found
    ok = (found.steady.tpot_s[at] <= work.limits.tpot_s) & (
        found.steady.ttft_s[at] <= work.limits.ttft_s
    )
    low = float(np.where(ok & (found.possible[at] > 0), found.concurrency, 0.0).max())
    high = min(math.ceil(low * BATCH_STEP), math.floor(float(found.most_requests[at, 0])))
    between = np.unique(np.round(np.linspace(low, max(high, low), STEPS)))
    more = loop_at(states, at, between)
    within = (more.tpot_s <= work.limits.tpot_s) & (more.ttft_s <= work.limits.ttft_s)
    return max(float(np.where(within, between, 0.0).max()), low)


def _played(rates: RunRates, at: int, requests: float) -> tuple[Array, Array, Replayed]:
    """Return TTFT and TPOT of the event loop of one copy of attention, without its start."""
    run, copy = rates.run, rates.copy(at)
    each = max(round(requests / copy.copies), 1)
    size = min(max(LIVES * each, FEWEST), max(MOST, 2 * each))
    inputs, outputs, hits = run.work.requests()
    at_random = np.random.default_rng(0).integers(0, inputs.size, size)
    lengths = outputs[at_random]
    # clients start at any time: without a phase, requests of one length would stay in step forever
    lengths[:each] *= (np.arange(each) + 1.0) / each
    played = replay_closed(
        each,
        np.rint(inputs[at_random]),
        np.maximum(np.rint(lengths), 1.0),
        copy.clock,
        copy.limits,
        hit_tokens=hits[at_random],
        speculative_tokens=run.plan.tokens_per_step,
    )
    own = np.arange(size) >= each
    return played.ttft_s[own] + copy.own_prefill_s, played.tpot_s[own], played


def _outcome(rates: RunRates, at: int, replicas: int, played: Replayed) -> Outcome:
    states = rates.states
    run, copy = rates.run, rates.copy(at)
    count = float(run.request.concurrency or 1)
    own = np.arange(played.ttft_s.size) >= max(round(count / replicas / copy.copies), 1)
    ingress = np.full(int(own.sum()), copy.ingress_s)
    parts = (
        ("ingress: HTTP, tokenizer, first scheduling", percentiles_of(ingress)),
        ("wait for the running step", percentiles_of(played.first_step_s[own])),
        ("queue: slot, KV cache, prompts ahead", percentiles_of(played.queue_s[own])),
        (
            "prefill with the first token",
            percentiles_of(played.prefill_s[own] + copy.own_prefill_s),
        ),
    )
    # Little's law: the clients wait for their requests all the time
    lives = played.e2e_s[own] + copy.own_prefill_s
    rate = count / float(np.nanmean(lives))
    each = rate / replicas
    decoding = each * float(np.nanmean(played.e2e_s[own] - played.ttft_s[own]))
    pool = Pool(
        BOTH,
        run.layouts[at],
        states.one(at),
        float(states.found.most_requests[at, 0]),
        replicas,
        run.spare_replicas,
        each,
        max(rates.most(at), each),
        rates.stable(at),
        decoding,
    )
    return Outcome(
        run,
        states,
        rates,
        (pool,),
        rate,
        parts,
        percentiles_of(played.ttft_s[own] + copy.own_prefill_s, run.request.quantile),
        percentiles_of(played.tpot_s[own], run.request.quantile),
        at,
        "closed",
    )
