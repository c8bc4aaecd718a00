"""The event loop on a trace, against the formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.answers.serve.reasons import kv_tokens
from dcplan.answers.serve.service.outcome import Outcome
from dcplan.inputs.serving.traces import Trace
from dcplan.inputs.serving.traffic import Traffic, block_tokens
from dcplan.result import Table
from dcplan.serving.queue.prefix import hit_frac_by_capacity, hit_tokens
from dcplan.serving.queue.replay import Replayed, replay
from dcplan.serving.tables import Array
from dcplan.specs.serve import service as specs
from dcplan.units import MILLI

SIZES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
"""Sizes of the prefix cache over that of the replicas."""


def _played(found: Outcome, traffic: Traffic) -> tuple[dict[str, Table], Replayed]:
    """Return the event loop on the trace with a prefix cache of the size of all replicas."""
    run, pool, copy = found.run, found.main, found.rates.copy(found.at)
    hits = traffic.lengths.hit_tokens
    if traffic.trace.block_hashes is not None:
        size = block_tokens(traffic.trace)
        blocks = int(kv_tokens(found.states, found.at) * pool.replicas / size)
        hits = hit_tokens(traffic.trace.block_hashes, size, blocks)[0].astype(np.float64)
    played = replay(
        traffic.trace.arrivals_s,
        traffic.trace.input_tokens.astype(np.float64),
        traffic.trace.output_tokens.astype(np.float64),
        copy.clock,
        copy.limits,
        pool.replicas * copy.copies,
        hit_tokens=hits,
        speculative_tokens=run.plan.tokens_per_step,
    )
    inputs = traffic.lengths.input_tokens
    row = specs.TraceRow(
        inputs.size,
        played.span_s,
        traffic.rate,
        played.tokens_per_s,
        pool.replicas,
        played.busy_frac,
        float(np.minimum(hits, inputs).sum() / inputs.sum()),
        played.preemptions,
        played.rejected,
    )
    tables = {specs.TRACE.name: specs.TRACE.table([row])}
    if traffic.trace.block_hashes is not None:
        sizes = kv_tokens(found.states, found.at) * pool.replicas * SIZES
        tables[specs.PREFIX.name] = specs.PREFIX.table(_by_size(traffic.trace, sizes))
    return tables, played


def _by_size(trace: Trace, tokens: Array) -> list[specs.PrefixRow]:
    """Return the share of cached blocks for sizes of the prefix cache."""
    shares = hit_frac_by_capacity(trace.block_hashes or (), tokens / block_tokens(trace))
    return [specs.PrefixRow(float(n), float(x)) for n, x in zip(tokens, shares, strict=True)]


def compared(
    rows: list[specs.LatencyRow], found: Outcome, traffic: Traffic
) -> tuple[list[specs.LatencyRow], dict[str, Table]]:
    """Return the rows of the latency with the event loop, and the table of the trace."""
    tables, played = _played(found, traffic)
    own = found.rates.copy(found.at).own_prefill_s
    loop = (
        np.full(played.ttft_s.size, found.rates.copy(found.at).ingress_s),
        played.first_step_s,
        played.queue_s,
        played.prefill_s + own,
        played.ttft_s + own,
        played.tpot_s,
    )
    both = [_with(row, values) for row, values in zip(rows, loop, strict=True)]
    return both, tables


def _with(row: specs.LatencyRow, values: Array) -> specs.LatencyRow:
    kept = values[np.isfinite(values)]
    if not kept.size:
        return row
    p50, p90, p99 = (float(x) / MILLI for x in np.percentile(kept, (50, 90, 99)))
    return replace(row, trace_p50_ms=p50, trace_p90_ms=p90, trace_p99_ms=p99)
