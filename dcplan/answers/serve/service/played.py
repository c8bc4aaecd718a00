"""The replay of a trace on the replicas of one layout."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcplan.answers.serve.service.rates import RunRates
from dcplan.inputs.serving.sizing.states import kv_tokens
from dcplan.inputs.serving.traffic import Traffic, block_tokens
from dcplan.serving.queue.loop import Replayed
from dcplan.serving.queue.percentiles import Percentiles
from dcplan.serving.queue.prefix import hit_tokens
from dcplan.serving.queue.replay import replay
from dcplan.serving.tables import Array

ROUNDING = 1e-9
"""Share of a request that the quantile may miss because of rounding."""


@dataclass(frozen=True)
class Played:
    """A replay with its latencies; a rejected request has infinite ones."""

    replayed: Replayed
    hit_tokens: Array
    """Prompt tokens of each request that the prefix cache holds, shape (n,)."""
    own_prefill_s: float
    """Time of a prompt that does not delay other requests. [s]"""
    replicas: int

    @property
    def ttft_s(self) -> Array:
        """Time to first token of each request, shape (n,)."""
        x = self.replayed
        return np.where(x.replica < 0, np.inf, x.ttft_s + self.own_prefill_s)

    @property
    def tpot_s(self) -> Array:
        """Time per output token of each request; NaN for one token, shape (n,)."""
        x = self.replayed
        return np.where(x.replica < 0, np.inf, x.tpot_s)

    @property
    def latencies_s(self) -> tuple[Array, Array]:
        """Both latencies of each request."""
        return self.ttft_s, self.tpot_s

    @property
    def running(self) -> float:
        """Requests that decode at the same time in a replica: the mean over the span."""
        x = self.replayed
        spent = float(np.nansum(x.e2e_s - x.ttft_s))
        return spent / (x.span_s * self.replicas) if x.span_s else 0.0

    def parts(self, ingress_s: float) -> tuple[tuple[str, Percentiles], ...]:
        """Return the parts of the time to first token in their order."""
        x = self.replayed
        return (
            ("ingress: HTTP, tokenizer, first scheduling", _same(ingress_s)),
            ("wait for the running step", percentiles_of(x.first_step_s)),
            ("queue: slot, KV cache, prompts ahead", percentiles_of(x.queue_s)),
            ("prefill with the first token", percentiles_of(x.prefill_s + self.own_prefill_s)),
        )


def at_quantile(values: Array, quantile: float) -> float:
    """Return the time within which at least a share of the requests is; NaN values are left out.

    Examples
    --------
    Of five requests, four are at most 2 s, and one was rejected.

    >>> at_quantile(np.array([1.0, 1.0, 2.0, 1.0, np.inf]), 0.75)
    2.0
    """
    kept = np.sort(values[~np.isnan(values)])
    if not kept.size:
        return 0.0
    return float(kept[math.ceil(quantile * (kept.size - 1) - ROUNDING)])


def percentiles_of(values: Array, quantile: float = 0.9) -> Percentiles:
    """Return mean, percentiles and a quantile of the finite values.

    Examples
    --------
    >>> percentiles_of(np.array([1.0, 3.0, np.inf])).mean
    2.0
    """
    kept = values[np.isfinite(values)]
    if not kept.size:
        return _same(float("nan"))
    p50, p90, p99, asked = np.percentile(kept, (50, 90, 99, 100.0 * quantile)).tolist()
    return Percentiles(float(kept.mean()), p50, p90, p99, asked)


def _same(value: float) -> Percentiles:
    return Percentiles(value, value, value, value, value)


def played_on(rates: RunRates, traffic: Traffic, at: int, replicas: int) -> Played:
    """Replay a trace on replicas of a layout, with a prefix cache of the size of all of them.

    A rate of the request scales the times between arrivals.
    """
    run, copy, trace = rates.run, rates.copy(at), traffic.trace
    hits = traffic.lengths.hit_tokens
    if trace.block_hashes is not None:
        size = block_tokens(trace)
        blocks = int(kv_tokens(rates.states, at) * replicas / size)
        hits = hit_tokens(trace.block_hashes, size, blocks)[0].astype(np.float64)
    replayed = replay(
        trace.arrivals_s * (traffic.rate / (run.rate or traffic.rate)),
        traffic.lengths.input_tokens,
        traffic.lengths.output_tokens,
        copy.clock,
        copy.limits,
        replicas * copy.copies,
        hit_tokens=hits,
        speculative_tokens=run.plan.tokens_per_step,
    )
    return Played(replayed, hits, copy.own_prefill_s, replicas)
