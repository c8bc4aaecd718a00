"""Tables of a service: replicas, latency, memory, cost, frontier, layouts, systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from dcplan.answers.serve.cost import Costed, rent_source
from dcplan.answers.serve.frontiers import frontier_rows, thinned
from dcplan.answers.serve.metrics import Priced
from dcplan.answers.serve.reasons import layout_rows
from dcplan.answers.serve.service.outcome import Outcome
from dcplan.answers.serve.trace import trace_tables, with_formulas
from dcplan.errors import Problem
from dcplan.result import Table
from dcplan.serving.memory import weight_bytes
from dcplan.serving.queue.percentiles import Percentiles
from dcplan.specs.serve import options
from dcplan.specs.serve import service as specs
from dcplan.units import GIGA, MILLI


def service_tables(priced: Priced) -> dict[str, Table]:
    """Return the tables of the cheapest system."""
    found = priced.found
    rows = frontier_rows(found)
    rows_of_latency = latency_rows(found)
    more: dict[str, Table] = {}
    if found.run.traffic is not None and found.played is not None:
        rows_of_latency = with_formulas(rows_of_latency, found)
        more = trace_tables(found, found.run.traffic, found.played)
    return {
        specs.POOLS.name: specs.POOLS.table(_pools(found)),
        specs.LATENCY.name: specs.LATENCY.table(rows_of_latency),
        specs.MEMORY.name: specs.MEMORY.table(_memory(found)),
        specs.HOUR_COST.name: specs.HOUR_COST.table(cost_rows(priced, specs.HourCostRow)),
        options.FRONTIER.name: options.FRONTIER.table(thinned(rows)),
        options.FRONTIER_POINTS.name: options.FRONTIER_POINTS.table(rows),
        options.LAYOUTS.name: options.LAYOUTS.table(layout_rows(found)),
        **more,
    }


def _pools(found: Outcome) -> list[specs.PoolRow]:
    return [
        specs.PoolRow(
            p.name,
            str(p.layout),
            p.layout.accelerators,
            p.replicas,
            p.spare_replicas,
            p.serving + p.spares,
            p.running or None,
            p.rate,
            p.rate_max,
            p.stable_rate,
        )
        for p in found.pools
    ]


def latency_rows(found: Outcome) -> list[specs.LatencyRow]:
    """Return the parts of the time to first token, and the two latencies."""
    request = found.run.request
    return [
        *(_latency(name, values, None) for name, values in found.parts),
        _latency("time to first token (TTFT)", found.ttft_s, request.ttft_ms),
        _latency("time per output token (TPOT)", found.tpot_s, request.tpot_ms),
    ]


def _latency(name: str, x: Percentiles, limit_ms: float | None) -> specs.LatencyRow:
    return specs.LatencyRow(
        name, x.mean / MILLI, x.p50 / MILLI, x.p90 / MILLI, x.p99 / MILLI, limit_ms
    )


def _memory(found: Outcome) -> list[specs.MemoryRow]:
    """Return the uses of the memory of one accelerator that decodes."""
    states, at = found.states, found.at
    one = states.one(at)
    whole = float(one.device.memory_bytes[0])
    weights = float(weight_bytes(one.model, one.layout)[0])
    space = float(states.space_bytes[at])
    reserve = float(states.memory.reserve_bytes[0])
    usable = float(states.memory.usable_frac[0]) * whole
    vision = found.run.vision
    tower = vision.weight_bytes if vision else 0.0
    rows = (
        ("weights", weights),
        ("KV cache", space),
        *([("vision encoder", tower)] if tower else []),
        ("context, communicators, graphs", reserve - tower),
        ("activations of the largest step", usable - weights - space - reserve),
        ("not used by the engine", whole - usable),
    )
    return [specs.MemoryRow(name, size / GIGA, size / whole) for name, size in rows]


R = TypeVar("R")


def cost_rows(priced: Costed, row: Callable[[str, str, float, float], R]) -> list[R]:
    """Return the parts of an accelerator-hour on each basis, with the cost of a million results."""
    rows = []
    for cost in (priced.owned, priced.rented):
        if cost is None:
            continue
        total = priced.per_million(cost) or 0.0
        each = total / cost.usd if cost.usd else 0.0
        parts = [*cost.parts, *([("total", cost.usd)] if len(cost.parts) > 1 else [])]
        rows += [row(cost.basis, what, usd, usd * each) for what, usd in parts]
    return rows


def system_rows(
    able: Sequence[Priced], others: Sequence[tuple[Outcome | None, str, str, list[Problem]]]
) -> Table:
    """Return the systems side by side: the cheapest first, then those that cannot serve."""
    rows = [
        options.SystemRow(
            p.found.run.machine.name,
            p.found.run.machine.accelerator.id,
            p.found.run.software.precision.id,
            " + ".join(str(x.layout) for x in p.found.pools),
            p.accelerators,
            p.found.rate,
            p.found.tokens_per_s / p.found.serving,
            1.0 / p.found.tpot_s.p50,
            p.power.total_kw if p.power else None,
            p.per_million(p.owned),
            p.per_million(p.rented),
            rent_source(p.found.run) if p.rented else None,
        )
        for p in able
    ]
    rows += [
        options.SystemRow(*(name, chip, *(None,) * 10), "; ".join(p.cause for p in problems))
        for _, name, chip, problems in others
    ]
    return options.SYSTEMS.table(rows)
