"""Tables of a trace: the event loop, the formulas, and the prefix cache by size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.answers.serve.service.outcome import Outcome, latency_parts
from dcplan.answers.serve.service.played import Played
from dcplan.inputs.serving.sizing.states import kv_tokens
from dcplan.inputs.serving.traces import Trace
from dcplan.inputs.serving.traffic import Traffic, block_tokens
from dcplan.result import Table
from dcplan.serving.queue.percentiles import Percentiles
from dcplan.serving.queue.prefix import hit_frac_by_capacity
from dcplan.serving.tables import Array
from dcplan.specs.serve import service as specs
from dcplan.units import MILLI

SIZES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
"""Sizes of the prefix cache over that of the replicas."""


def trace_tables(found: Outcome, traffic: Traffic, played: Played) -> dict[str, Table]:
    """Return the tables of the event loop and of the prefix cache."""
    inputs, replayed = traffic.lengths.input_tokens, played.replayed
    row = specs.TraceRow(
        inputs.size,
        replayed.span_s,
        found.rate,
        replayed.tokens_per_s,
        played.replicas,
        replayed.busy_frac,
        float(np.minimum(played.hit_tokens, inputs).sum() / inputs.sum()),
        replayed.preemptions,
        replayed.rejected,
    )
    tables = {specs.TRACE.name: specs.TRACE.table([row])}
    if traffic.trace.block_hashes is not None:
        sizes = kv_tokens(found.states, found.at) * played.replicas * SIZES
        tables[specs.PREFIX.name] = specs.PREFIX.table(_by_size(traffic.trace, sizes))
    return tables


def _by_size(trace: Trace, tokens: Array) -> list[specs.PrefixRow]:
    """Return the share of cached blocks for sizes of the prefix cache."""
    shares = hit_frac_by_capacity(trace.block_hashes or (), tokens / block_tokens(trace))
    return [specs.PrefixRow(float(n), float(x)) for n, x in zip(tokens, shares, strict=True)]


def with_formulas(rows: list[specs.LatencyRow], found: Outcome) -> list[specs.LatencyRow]:
    """Return the rows of the latency of a trace with the percentiles of the formulas."""
    loop = found.formulas
    if loop is None:
        return rows
    parts, ttft = latency_parts(loop, found.rates.copy(found.at))
    values = [*(x for _, x in parts), ttft, loop.tpot_s]
    return [_with(row, x) for row, x in zip(rows, values, strict=True)]


def _with(row: specs.LatencyRow, x: Percentiles) -> specs.LatencyRow:
    return replace(
        row,
        formula_p50_ms=x.p50 / MILLI,
        formula_p90_ms=x.p90 / MILLI,
        formula_p99_ms=x.p99 / MILLI,
    )
