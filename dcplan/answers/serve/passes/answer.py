"""The answer of ``dcplan serve`` for a model without decode."""

from __future__ import annotations

import time
from dataclasses import asdict

from dcplan.answers.common.model_config import model_notes
from dcplan.answers.serve.cost import (
    accelerators_of,
    cost_notes,
    idle_notes,
    next_system,
    order_notes,
    ordered,
    owned_cost,
    rented_cost,
)
from dcplan.answers.serve.passes.kinds import IMAGE, TEXT, Kind
from dcplan.answers.serve.passes.metrics import THOUSAND, PricedPasses, metrics_of
from dcplan.answers.serve.passes.outcome import outcome_of, power_of
from dcplan.answers.serve.passes.resolve import PassRun, resolve
from dcplan.answers.serve.passes.tables import pass_tables, system_rows
from dcplan.answers.serve.request import ServeRequest
from dcplan.catalog.loader import Catalog
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Problem
from dcplan.result import Result
from dcplan.specs.serve import passes as specs
from dcplan.units import MILLI, TOKENS_PER_MTOKEN, si


def serve_passes(request: ServeRequest, catalog: Catalog, kind: Kind) -> Result:
    """Estimate rate, time, memory, power and cost of a model without decode.

    Raises
    ------
    InputError
        When a name is unknown, a flag does not apply, the model does not fit, or the latency limit
        is below the time of the smallest batch on every system.
    """
    began = time.perf_counter()
    able: list[PricedPasses] = []
    refused: list[tuple[PassRun, list[Problem]]] = []
    for run in resolve(request, catalog, kind):
        found = outcome_of(run)
        if isinstance(found, list):
            refused.append((run, found))
            continue
        power = power_of(found)
        able.append(
            PricedPasses(
                power,
                owned_cost(run, found.pools, power),
                rented_cost(run),
                accelerators_of(run, found.pools),
                found.items_per_s,
                found,
            )
        )
    if not able:
        raise InputError([p for _, problems in refused for p in problems])
    able = ordered(able, request)
    return _result(able, refused, time.perf_counter() - began)


def _result(
    able: list[PricedPasses], refused: list[tuple[PassRun, list[Problem]]], seconds: float
) -> Result:
    best = able[0]
    run, fleet = best.found.run, best.found.fleet
    short = run.rate is not None and fleet.rate < run.rate * (1.0 - 1e-9)
    tables = pass_tables(best)
    if len(able) + len(refused) > 1:
        tables = {specs.PASS_SYSTEMS.name: system_rows(able, refused), **tables}
    notes = [*run.software.notes, *model_notes(run.log.catalog, run.request.model)]
    notes += cost_notes(run, best)
    notes += idle_notes(run, best.found.pools)
    notes += order_notes(able, [p.found.run.machine.name for p in able])
    return Result(
        verb="serve",
        status="too_slow" if short else "ok",
        exit_code=EXIT_NO if short else EXIT_OK,
        headline=_headline(able, short=short),
        metrics=metrics_of(best),
        tables=tables,
        inputs=[asdict(row) for _, row in sorted(run.log.rows.items())],
        warnings=[{"code": "serve", "message": note} for note in notes],
        run={"seconds": round(seconds, 4)},
    )


def _headline(able: list[PricedPasses], *, short: bool) -> str:
    """Return the answer in one sentence: accelerators, rate, time of a batch, cost, layout."""
    best = able[0]
    found, run = best.found, best.found.run
    asked = (run.rate or 0.0) * run.per_request
    load = f"only {si(found.items_per_s)} of {si(asked)}" if short else si(found.items_per_s)
    items = run.item if found.batch == 1 else f"{run.item}s"
    why = ""
    if len(able) > 1:
        why = next_system(best, able[1], able[1].found.run.machine.name)
    return (
        f"{run.fleet_text(found.fleet.accelerators, found.spares)}: {load} {run.item}s/s, "
        f"{si(found.items_per_s / found.fleet.accelerators)} per accelerator, "
        f"{_time(found.batch_s)} for a batch of {found.batch:,} {items}{_cost(best)}; "
        f"{found.fleet.replicas:,} x {found.pools[0].layout}{why}"
    )


def _time(seconds: float) -> str:
    return f"{si(seconds)} s" if seconds >= 1.0 else f"{si(seconds / MILLI)} ms"


def _cost(best: PricedPasses) -> str:
    """Return the cost in the unit of the kind: thousand images, million tokens, million images."""
    run, cost = best.found.run, best.main_cost
    if cost is None:
        return ""
    per, count = f"million {run.item}s", 1.0
    if run.kind is IMAGE:
        per, count = "thousand images", THOUSAND / TOKENS_PER_MTOKEN
    if run.kind is TEXT:
        per, count = "million input tokens", 1.0 / run.tokens
    return f", {best.usd_per_million * count:.3g} USD per {per} {cost.basis}"
