"""Tables of a service without decode: replicas, time, memory, cost, batches, layouts, systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dcplan.answers.serve.cost import usd_per_million
from dcplan.answers.serve.passes.metrics import PricedPasses
from dcplan.answers.serve.passes.outcome import PassOutcome, best_column
from dcplan.answers.serve.passes.resolve import PassRun
from dcplan.answers.serve.tables import cost_rows
from dcplan.errors import Problem
from dcplan.result import Table
from dcplan.specs.serve import passes as specs
from dcplan.specs.serve.service import MEMORY, MemoryRow
from dcplan.units import GIGA, MILLI


def pass_tables(priced: PricedPasses) -> dict[str, Table]:
    """Return the tables of the cheapest system."""
    found = priced.found
    return {
        specs.REPLICAS.name: specs.REPLICAS.table(_replicas(found)),
        specs.TIMES.name: specs.TIMES.table(list(_times(found))),
        specs.BATCHES.name: specs.BATCHES.table(list(_batches(priced))),
        MEMORY.name: MEMORY.table(_memory(found)),
        specs.PASS_COST.name: specs.PASS_COST.table(cost_rows(priced, specs.PassCostRow)),
        specs.PASS_LAYOUTS.name: specs.PASS_LAYOUTS.table(_layouts(found)),
    }


def _replicas(found: PassOutcome) -> list[specs.ReplicaRow]:
    per = found.run.per_request
    return [
        specs.ReplicaRow(
            str(p.layout),
            p.layout.accelerators,
            p.replicas,
            p.spare_replicas,
            p.serving + p.spares,
            found.batch,
            p.rate * per,
            p.rate_max * per,
        )
        for p in found.pools
    ]


def _times(found: PassOutcome) -> Iterator[specs.TimeRow]:
    """Yield the parts of a batch, the batch, and what a request may wait in addition."""
    run, batch = found.run, found.batch
    for name, seconds in found.points.parts:
        ms = float(seconds[found.cell]) / MILLI
        yield specs.TimeRow(name, ms, ms / batch)
    ms = found.batch_s / MILLI
    yield specs.TimeRow("batch", ms, ms / batch, run.request.latency_ms)
    yield specs.TimeRow(
        "ingress: HTTP, tokenizer, first scheduling", run.service.terms["ingress_ms"], None
    )
    yield specs.TimeRow("wait for the batch before, at most", ms, None)


def _memory(found: PassOutcome) -> list[MemoryRow]:
    """Return the uses of the memory of one accelerator."""
    uses, cell = found.points.uses, found.cell
    wide = np.zeros_like(found.points.seconds)
    rows = [
        ("weights", float((uses.weights + wide)[cell])),
        *found.run.held.items(),
        ("activations of a batch", float((uses.activations + wide)[cell])),
        ("context, communicators, graphs", uses.reserve),
        ("free", uses.usable - float(uses.total[cell])),
        ("not used by the engine", uses.whole - uses.usable),
    ]
    return [MemoryRow(name, size / GIGA, size / uses.whole) for name, size in rows]


def _batches(priced: PricedPasses) -> Iterator[specs.BatchRow]:
    """Yield the powers of two that fit, the chosen batch and the largest one."""
    found = priced.found
    points, at, per = found.points, found.fleet.at, found.run.per_request
    most = float(np.where(points.possible[at], points.batch, 0.0).max())
    powers = 2.0 ** np.arange(np.floor(np.log2(most / per)) + 1.0)
    wanted = {*(powers * per).tolist(), float(found.batch), most}
    columns = [j for j, n in enumerate(points.batch) if n in wanted and points.possible[at, j]]
    hour = priced.main_cost
    for j in columns:
        rate = float(points.items_per_s[at, j])
        yield specs.BatchRow(
            int(points.batch[j]),
            float(points.seconds[at, j]) / MILLI,
            rate,
            float(points.uses.total[at, j]) / GIGA,
            usd_per_million(hour.usd, 1.0, rate) if hour else None,
            bool(points.within[at, j]),
        )


def _layouts(found: PassOutcome) -> list[specs.PassLayoutRow]:
    """Return every layout with its best batch and the reason against it, the chosen one first."""
    points, rows = found.points, []
    for at, layout in enumerate(found.run.layouts):
        column = best_column(points, at)
        rows.append(
            specs.PassLayoutRow(
                str(layout),
                layout.accelerators,
                float(points.items_per_s[at, column]) if column is not None else None,
                int(points.batch[column]) if column is not None else None,
                float(np.where(points.allowed[at], points.seconds[at], np.inf).min()) / MILLI,
                _why_not(found, at, column),
            )
        )
    chosen = str(found.run.layouts[found.fleet.at])
    rows.sort(key=lambda r: (r.layout != chosen, -(r.items_per_s_per_accelerator or 0.0)))
    return rows


def _why_not(found: PassOutcome, at: int, column: int | None) -> str:
    """Return the reason against a layout; ``chosen`` for the chosen one."""
    points, uses = found.points, found.points.uses
    if at == found.fleet.at:
        return "chosen"
    if not points.possible[at].any():
        need = float(np.where(points.allowed[at], uses.total[at], np.inf).min())
        short = (need - uses.usable) / GIGA
        return f"does not fit: {short:,.1f} GB more memory per accelerator needed"
    if column is None:
        return "time of the smallest batch above the limit"
    best, value = (float(points.items_per_s[x]) for x in (found.cell, (at, column)))
    if value < best:
        return f"{1.0 - value / best:.0%} fewer {found.run.item}s/s per accelerator"
    run = found.run
    if run.rate or run.request.accelerators:
        return "more accelerators for the load, in complete replicas"
    return "equal rate per accelerator with larger replicas"


def system_rows(
    able: Sequence[PricedPasses], others: Sequence[tuple[PassRun, list[Problem]]]
) -> Table:
    """Return the systems side by side: the cheapest first, then those that cannot serve."""
    rows = [
        specs.PassSystemRow(
            p.found.run.machine.name,
            p.found.run.machine.accelerator.id,
            p.found.run.software.precision.id,
            str(p.found.pools[0].layout),
            p.found.batch,
            p.accelerators,
            p.found.items_per_s,
            p.found.items_per_s / p.found.fleet.accelerators,
            p.found.batch_s / MILLI,
            p.power.total_kw if p.power else None,
            p.per_million(p.owned),
            p.per_million(p.rented),
        )
        for p in able
    ]
    rows += [
        specs.PassSystemRow(
            *(run.machine.name, run.machine.accelerator.id, None, None, None, None, None, None),
            *(None, None, None, None),
            "; ".join(p.cause for p in problems),
        )
        for run, problems in others
    ]
    return specs.PASS_SYSTEMS.table(rows)
