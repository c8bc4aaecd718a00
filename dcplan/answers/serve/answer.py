"""``dcplan serve``: throughput, latency, fleet, power and cost of serving a model."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from dcplan.answers.serve.cost import accelerators_of, next_system, ordered, owned_cost, rented_cost
from dcplan.answers.serve.metrics import Priced, metrics_of
from dcplan.answers.serve.notes import notes_of
from dcplan.answers.serve.passes.answer import serve_passes
from dcplan.answers.serve.passes.kinds import Kind, kind_of
from dcplan.answers.serve.power import power_of
from dcplan.answers.serve.reasons import refusals
from dcplan.answers.serve.request import ServeRequest
from dcplan.answers.serve.resolve import ServeRun, resolve
from dcplan.answers.serve.service.closed import closed_outcome
from dcplan.answers.serve.service.outcome import Outcome, open_outcome
from dcplan.answers.serve.service.played import at_quantile
from dcplan.answers.serve.service.rates import run_rates
from dcplan.answers.serve.service.split import split_outcome
from dcplan.answers.serve.service.traced import traced_outcome
from dcplan.answers.serve.tables import service_tables, system_rows
from dcplan.catalog.loader import load as load_catalog
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Problem
from dcplan.result import Result
from dcplan.specs.serve import options
from dcplan.specs.verb import verb
from dcplan.units import MILLI, si

ROUNDING = 1e-9
"""Share of a replica that a rate may lack because of rounding."""


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
    # a replay above its limits still serves every request: its low cost does not compare
    able.sort(key=lambda p: _overrun(p.found))
    return _result(able, refused, time.perf_counter() - began)


def _served(run: ServeRun) -> Priced | _Refused:
    """Return the best service of a run with its power and cost, or why there is none."""
    rates = run_rates(run)
    found: Outcome | None = None
    problems = refusals(rates) if not (rates.bound > 0.0).any() else []
    if not problems:
        if run.request.disaggregated:
            found = split_outcome(rates)
        elif run.traffic is not None:
            found = traced_outcome(rates)
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


def _short(found: Outcome) -> bool:
    """Return whether a service does not keep the limits at the asked rate."""
    rate = found.run.rate
    return rate is not None and found.rate_max < rate * (1.0 - ROUNDING)


def _overrun(found: Outcome) -> bool:
    """Return whether the replay of a trace is above a limit."""
    return found.played is not None and _short(found)


def _result(able: list[Priced], refused: list[_Refused], seconds: float) -> Result:
    best = able[0]
    run, found = best.found.run, best.found
    short = _short(found)
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
        warnings=[{"code": "serve", "message": x} for x in notes_of(able)],
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
    load = si(found.rate)
    if short and found.played is None:
        load = f"only {load} of {si(run.rate or 0.0)}"
    why = ""
    if len(able) > 1:
        why = next_system(best, able[1], able[1].found.run.machine.name)
    return (
        f"{run.fleet_text(found.serving, found.spares)}, {_lengths(run)} tokens: {load} requests/s, "
        f"{si(found.tokens_per_s / found.serving)} tokens/s per accelerator, "
        f"{1.0 / found.tpot_s.p50:.0f} tokens/s per user{usd}; {layout}, "
        f"{_limits(found, short=short)}{short_of}{why}"
    )


def _lengths(run: ServeRun) -> str:
    """Return input and output tokens; their means where requests differ."""
    mean = "" if run.lengths.input_tokens.size == 1 else "a mean of "
    return f"{mean}{run.lengths.input_mean:,.0f} input and {run.lengths.output_mean:,.0f} output"


def _needed(found: Outcome) -> int:
    """Return the accelerators of the chosen layouts that serve the asked rate."""
    rate = found.run.rate or 0.0
    return sum(math.ceil(rate / p.rate_max - ROUNDING) * p.layout.accelerators for p in found.pools)


def _limits(found: Outcome, *, short: bool) -> str:
    """Return the limits that hold, or the latencies of a replay that is above them."""
    q, r = found.run.request.quantile, found.run.request
    if short and found.played is not None:
        ttft, tpot = (at_quantile(x, q) / MILLI for x in found.played.latencies_s)
        return (
            f"{q:.0%} of requests have a TTFT of {ttft:,.0f} ms and a TPOT of {tpot:,.0f} ms at "
            f"most, above the limits of {r.ttft_ms:g} and {r.tpot_ms:g} ms"
        )
    return f"{q:.0%} of requests within TTFT {r.ttft_ms:g} ms and TPOT {r.tpot_ms:g} ms"
