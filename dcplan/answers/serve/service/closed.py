"""A given number of concurrent requests: replicas within the limits, and their percentiles."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dcplan.answers.serve.service.outcome import BOTH, Outcome, Pool
from dcplan.answers.serve.service.played import percentiles_of
from dcplan.answers.serve.service.rates import Rates
from dcplan.answers.serve.service.states import States, loop_at
from dcplan.serving.queue.replay import Replayed, replay_closed
from dcplan.serving.search import BATCH_STEP
from dcplan.serving.tables import Array

TRIED = 4
"""Layouts whose percentiles are computed."""
GROWTH = 1.15
"""Factor on the replicas while the percentile is above a limit."""
ROUNDS = 16
LIVES = 5
"""Requests of the event loop for each concurrent one; the first ones are left out."""
FEWEST, MOST = 48, 3000
STEPS = 33
"""Numbers of requests that are tried between two batches."""


def closed_outcome(rates: Rates) -> Outcome | None:
    """Return the best service of equal replicas with the given concurrent requests, or None."""
    best: tuple[tuple[float, float], Outcome] | None = None
    for at in list(_candidates(rates))[:TRIED]:
        found = _within(rates, at)
        if found is None:
            continue
        score = (-float(found.serving + found.spares), found.rate / found.serving)
        if rates.states.run.request.accelerators is not None:
            score = (found.rate, score[1])
        if best is None or score > best[0]:
            best = (score, found)
    return best[1] if best else None


def _candidates(rates: Rates) -> Iterator[int]:
    """Yield the layouts within the limits in the mean, those with the fewest accelerators first."""
    states = rates.states
    run, found = states.run, states.found
    request, count = run.request, float(run.request.concurrency or 1)
    within = (found.steady.tpot_s <= run.tpot_s) & (found.possible > 0)
    within &= found.steady.ttft_s <= run.ttft_s
    most = np.where(within, found.concurrency[None, :], 0.0).max(axis=1)
    size = found.accelerators[:, 0]
    replicas = np.ceil(count / np.maximum(most, 1e-9))
    if request.accelerators is not None:
        most = np.where(request.accelerators // size * most * 2.0 >= count, most, 0.0)
        order = np.lexsort((size, -most / size))
    else:
        order = np.lexsort((size, (replicas + run.spare_replicas) * size))
    return (int(i) for i in order if most[i] > 0.0)


def _within(rates: Rates, at: int) -> Outcome | None:
    """Return the fewest replicas of a layout whose percentiles are within the limits."""
    states = rates.states
    run, request = states.run, states.run.request
    count, size = request.concurrency or 1, run.layouts[at].accelerators
    most = _most_concurrent(states, at)
    fixed = request.accelerators is not None
    replicas = (request.accelerators or 0) // size if fixed else math.ceil(count / most)
    for _ in range(1 if fixed else ROUNDS):
        played = _played(rates, at, count / replicas)
        if not np.isfinite(played[0]).any():  # a request is longer than the cache
            return None
        q = 100.0 * request.quantile
        if (
            np.nanpercentile(played[0], q) <= run.ttft_s
            and np.nanpercentile(played[1], q) <= run.tpot_s
        ):
            return _outcome(rates, at, replicas, played[2])
        if replicas >= count:
            return None
        replicas = min(max(replicas + 1, math.ceil(replicas * GROWTH)), count)
    return None


def _most_concurrent(states: States, at: int) -> float:
    """Return the concurrent requests of a replica whose mean latencies are within the limits."""
    run, found = states.run, states.found
    ok = (found.steady.tpot_s[at] <= run.tpot_s) & (found.steady.ttft_s[at] <= run.ttft_s)
    low = float(np.where(ok & (found.possible[at] > 0), found.concurrency, 0.0).max())
    high = min(math.ceil(low * BATCH_STEP), math.floor(float(found.most_requests[at, 0])))
    between = np.unique(np.round(np.linspace(low, max(high, low), STEPS)))
    more = loop_at(states, at, between)
    within = (more.tpot_s <= run.tpot_s) & (more.ttft_s <= run.ttft_s)
    return max(float(np.where(within, between, 0.0).max()), low)


def _played(rates: Rates, at: int, requests: float) -> tuple[Array, Array, Replayed]:
    """Return TTFT and TPOT of the event loop of one copy of attention, without its start."""
    run, copy = rates.states.run, rates.copy(at)
    each = max(round(requests / copy.copies), 1)
    size = min(max(LIVES * each, FEWEST), max(MOST, 2 * each))
    inputs, outputs, hits = rates.requests()
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


def _outcome(rates: Rates, at: int, replicas: int, played: Replayed) -> Outcome:
    states = rates.states
    run, copy = states.run, rates.copy(at)
    count = float(run.request.concurrency or 1)
    one = loop_at(states, at, np.array([count / replicas]))
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
    each = float(one.requests_per_s[0])
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
        float(one.running[0]),
    )
    return Outcome(
        run,
        states,
        rates,
        (pool,),
        each * replicas,
        parts,
        percentiles_of(played.ttft_s[own] + copy.own_prefill_s, run.request.quantile),
        percentiles_of(played.tpot_s[own], run.request.quantile),
        at,
        "closed",
    )
