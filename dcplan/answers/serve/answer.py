"""``dcplan serve``: throughput, latency, fleet, power and cost of serving a model."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path

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
from dcplan.answers.serve.metrics import Priced, metrics_of
from dcplan.answers.serve.passes.answer import serve_passes
from dcplan.answers.serve.passes.kinds import Kind, kind_of
from dcplan.answers.serve.power import power_of
from dcplan.answers.serve.reasons import refusals
from dcplan.answers.serve.request import ServeRequest
from dcplan.answers.serve.resolve import ServeRun, resolve
from dcplan.answers.serve.service.closed import closed_outcome
from dcplan.answers.serve.service.outcome import Outcome, open_outcome
from dcplan.answers.serve.service.rates import rates_of
from dcplan.answers.serve.service.split import split_outcome
from dcplan.answers.serve.service.states import states_of
from dcplan.answers.serve.tables import service_tables, system_rows
from dcplan.catalog.loader import load as load_catalog
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Problem
from dcplan.result import Result
from dcplan.specs.request import verb
from dcplan.specs.serve import options
from dcplan.units import si


@dataclass(frozen=True)
class _Refused:
    """A system that cannot serve the request."""

    run: ServeRun
    problems: list[Problem]


@verb(ServeRequest, "serve")
def serve(request: ServeRequest) -> Result:
    """Estimate throughput, latency, power and cost of serving one model on one or more systems.

    Raises
    ------
    InputError
        When a name is unknown, flags contradict each other, the model does not fit, or a latency
        limit is below its floor on every system.
    """
    catalog = load_catalog(tuple(Path(c) for c in request.catalogs))
    kind = kind_of(request, catalog)
    if kind is not Kind.DECODE:
        return serve_passes(request, catalog, kind)
    began = time.perf_counter()
    able, refused = [], []
    for run in resolve(request, catalog):
        found = _served(run)
        if isinstance(found, _Refused):
            refused.append(found)
        else:
            able.append(found)
    if not able:
        raise InputError([p for each in refused for p in each.problems])
    able = ordered(able, request)
    return _result(able, refused, time.perf_counter() - began)


def _served(run: ServeRun) -> Priced | _Refused:
    """Return the best service of a run with its power and cost, or why there is none."""
    rates = rates_of(states_of(run))
    found: Outcome | None = None
    problems = refusals(rates) if not (rates.bound > 0.0).any() else []
    if not problems:
        if run.request.disaggregated:
            found = split_outcome(rates)
        elif run.request.concurrency is not None:
            found = closed_outcome(rates)
        else:
            found = open_outcome(rates)
    if found is None:
        return _Refused(run, problems or refusals(rates))
    power = power_of(found)
    return Priced(
        power,
        owned_cost(run, found.pools, power),
        rented_cost(run),
        accelerators_of(run, found.pools),
        found.tokens_per_s,
        found,
    )


def _result(able: list[Priced], refused: list[_Refused], seconds: float) -> Result:
    best = able[0]
    run, found = best.found.run, best.found
    short = run.rate is not None and found.rate < run.rate * (1.0 - 1e-9)
    tables = service_tables(best)
    if len(able) + len(refused) > 1:
        others = [
            (None, r.run.machine.name, r.run.machine.accelerator.id, r.problems) for r in refused
        ]
        tables[options.SYSTEMS.name] = system_rows(able, others)
    return Result(
        verb="serve",
        status="too_slow" if short else "ok",
        exit_code=EXIT_NO if short else EXIT_OK,
        headline=_headline(able, short=short),
        metrics=metrics_of(best),
        tables=tables,
        inputs=[asdict(row) for _, row in sorted(run.log.rows.items())],
        warnings=_warnings(able),
        run={"seconds": round(seconds, 4)},
    )


def _headline(able: list[Priced], *, short: bool) -> str:
    """Return the answer in one sentence: accelerators, layout, rate, latency, cost, reason."""
    best = able[0]
    found, run = best.found, best.found.run
    layout = " + ".join(
        f"{p.replicas:,} x {p.layout}{'' if len(found.pools) == 1 else ' ' + p.name}"
        for p in found.pools
    )
    cost = best.main_cost
    usd = f", {best.usd_per_million:.3g} USD per million output tokens {cost.basis}" if cost else ""
    short_of = f", and {_needed(found):,} accelerators would do" if short else ""
    load = f"only {si(found.rate)} of {si(run.rate or 0.0)}" if short else si(found.rate)
    why = ""
    if len(able) > 1:
        why = next_system(best, able[1], able[1].found.run.machine.name)
    return (
        f"{run.fleet_text(found.serving, found.spares)}: {load} requests/s, "
        f"{si(found.tokens_per_s / found.serving)} tokens/s per accelerator, "
        f"{1.0 / found.tpot_s.p50:.0f} tokens/s per user{usd}; {layout}, "
        f"{_limits(run)}{short_of}{why}"
    )


def _needed(found: Outcome) -> int:
    """Return the accelerators of the chosen layouts that serve the asked rate."""
    rate = found.run.rate or 0.0
    return sum(math.ceil(rate / p.rate_max) * p.layout.accelerators for p in found.pools)


def _limits(run: ServeRun) -> str:
    q, r = run.request.quantile, run.request
    return f"{q:.0%} of requests within TTFT {r.ttft_ms:g} ms and TPOT {r.tpot_ms:g} ms"


def _warnings(able: list[Priced]) -> list[dict[str, str]]:
    best = able[0]
    run = best.found.run
    notes = [*run.software.notes, *cost_notes(run, best)]
    notes += idle_notes(run, best.found.pools)
    notes += order_notes(able, [p.found.run.machine.name for p in able])
    if run.vision is not None:
        notes += run.vision.notes
    elif run.shape.tower is not None:
        notes.append("no images: prompts are text tokens, without the vision encoder; set --images")
    held = best.found.rates.copy(best.found.at).limits.kv_tokens
    rejected = run.rejected_frac(held)
    if rejected:
        notes.append(
            f"{rejected:.2%} of the requests are longer than the cache of {held:,.0f} tokens: the "
            "engine rejects them, and no latency counts them"
        )
    if run.request.speculative:
        plan = run.plan
        notes.append(
            f"speculative decoding: {plan.tokens_per_step:.2f} tokens per step of "
            f"{plan.draft_tokens:g} draft tokens"
        )
    return [{"code": "serve", "message": note} for note in notes]
