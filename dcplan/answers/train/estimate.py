"""One model on one system: every layout searched, or one evaluated, and the metrics of the
fastest.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace

import numpy as np

from dcplan.answers.train.cost import Ways, run_cost
from dcplan.answers.train.layout_parser import Typed, read_layout
from dcplan.answers.train.metrics import calendar_metrics, rent_usd_per_hour, speed_metrics
from dcplan.answers.train.nearest_layout import nearest
from dcplan.answers.train.resolve import Ask, Asked, resolve
from dcplan.answers.train.schedule import (
    Calendar,
    calendar,
    calendar_tables,
    data_of,
    lost_time,
    replayed,
    storage_table,
)
from dcplan.answers.train.smaller_clusters import fewer
from dcplan.answers.train.tables import (
    Part,
    first_layout,
    layout_line,
    phase_table,
    remarks,
    step_tables,
)
from dcplan.catalog.loader import Catalog
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem
from dcplan.inputs.log import Ledger
from dcplan.llm.tables import RECOMPUTE
from dcplan.reliability.calendar import in_time_frac
from dcplan.result import Metric, Result, Table
from dcplan.training.estimate import case_of, sweep
from dcplan.training.grid import Case, case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import Found, search
from dcplan.training.step import Step, step
from dcplan.units import BYTES_PER_GIB, si


def train_model(ask: Ask, catalog: Catalog) -> Result:
    """Estimate one model on one system: search the layouts, keep the fastest, put it on the
    calendar.
    """
    ledger = Ledger(catalog)
    asked = resolve(ask, catalog, ledger)
    began = time.perf_counter()
    runs = [
        [Part(a, *_one(ask, a), ask.wide, data_of(ledger, a)) for a in _phases(ask, each)]
        for each in asked
    ]
    seconds = time.perf_counter() - began
    fitting = [parts for parts in runs if all(p.found.step_time_s.size for p in parts)]
    if not fitting:
        short = next(p for p in runs[0] if not p.found.step_time_s.size)
        return _too_large(ask, short.asked, short.found, short.case, seconds)
    parts = min(fitting, key=lambda parts: sum(p.span.clean_days for p in parts))
    # figures of a step are those of the phase that takes longest
    main = max(parts, key=lambda p: p.span.clean_days)
    best, case, found = main.asked, main.case, main.found
    done = _timed(best, case, found)
    spans = [p.span for p in parts]
    whole = replace(best, tokens=sum(s.tokens for s in spans))
    days = calendar(ledger, whole, _group(found, case), sum(s.clean_days for s in spans))
    metrics = speed_metrics(best, case, found, main.step_time_s, ask.wide.sites if ask.wide else 1)
    metrics |= calendar_metrics(catalog, ledger, whole, spans, days)
    ways = _run_cost(ask, catalog, ledger, whole, metrics)
    metrics |= ways.metrics
    if ask.deadline_days is not None:
        share = in_time_frac(days.run, ask.deadline_days)
        metrics["in_time_frac"] = Metric(
            share, "", f"Probability of ending within {ask.deadline_days:g} days"
        )
    every = [p.found for parts in runs for p in parts]
    metrics |= {
        "search.layouts": Metric(sum(f.tried for f in every), "", "Layouts tried"),
        "search.feasible": Metric(sum(f.feasible for f in every), "", "Layouts that fit memory"),
        "search.seconds": Metric(round(seconds, 4), "s", "Time of the search"),
    }
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(ask, whole, metrics),
        metrics=metrics,
        tables=step_tables(ask, main, done)
        | phase_table(parts)
        | _calendar_tables(ask, days, whole)
        | {"run_storage": storage_table(ledger, whole, days, main.step_time_s)}
        | ways.tables
        | _smaller(ask, catalog, ledger, whole, metrics),
        inputs=[asdict(row) for _, row in sorted(ledger.rows.items())],
        warnings=remarks(main, _fastest(ask, best, case))
        + lost_time(days)
        + [{"code": "cost", "message": note} for note in ways.notes],
        run={"seconds": round(seconds, 4)},
    )


def _group(found: Found, case: Case) -> float:
    """Accelerators of the largest group that shares one copy of a layer."""
    x = {k: float(found.layouts[k][0]) for k in ("tp", "cp", "ep", "etp")}
    return max(x["tp"] * x["cp"], x["ep"] * x["etp"]) / case.device.ranks


def _run_cost(
    ask: Ask, catalog: Catalog, ledger: Ledger, whole: Asked, metrics: dict[str, Metric]
) -> Ways:
    """The run's cost in its median time."""
    hours, energy = float(metrics["accelerator_hours"].value or 0.0), metrics.get("energy_mwh")
    mwh = float(energy.value) if energy is not None and energy.value is not None else None
    spares = round(float(metrics["spares.accelerators"].value or 0.0))
    return run_cost(catalog, ledger, whole, hours, mwh, ask.hardware_age_years, spares)


def _smaller(
    ask: Ask, catalog: Catalog, ledger: Ledger, whole: Asked, metrics: dict[str, Metric]
) -> dict[str, Table]:
    """The run on fewer accelerators, where the layouts are searched and the run is one."""
    if ask.layout or ask.phases or ask.wide:
        return {}
    days = metrics["days_p50"].value
    table = fewer(ledger, whole, float(days or 0.0), rent_usd_per_hour(catalog, ledger, whole))
    return {"fewer": table} if table else {}


def _calendar_tables(ask: Ask, days: Calendar, whole: Asked) -> dict[str, Table]:
    tables = calendar_tables(days, whole)
    return tables | ({"replay": replayed(days, whole, ask.replicas)} if ask.replicas else {})


def _fastest(ask: Ask, asked: Asked, case: Case) -> Found | None:
    """What the search would choose instead of a typed layout."""
    if not ask.layout:
        return None
    sites = ask.wide.sites if ask.wide else 1
    return search(case, int(asked.accelerators // sites * case.device.ranks))


def _timed(asked: Asked, case: Case, found: Found) -> Step:
    """The parts of the fastest layout's step."""
    if asked.spec.streams_weights:
        return Step(found.step_time_s[:1], {"gemm": found.step_time_s[:1]})
    return step(case_setup(case, layout_table(case, {k: v[:1] for k, v in found.layouts.items()})))


def _phases(ask: Ask, asked: Asked) -> list[Asked]:
    """The ask once for each phase; a run without phases is one."""
    if not ask.phases:
        return [asked]
    return [
        replace(asked, tokens=p.tokens, seq_len=p.seq_len, batch_tokens=p.global_batch_tokens)
        for p in ask.phases
    ]


def _one(ask: Ask, asked: Asked) -> tuple[Case, Found]:
    """The layouts of one precision: all searched, or the one typed."""
    sites = ask.wide.sites if ask.wide else 1
    ranks = int(asked.accelerators // sites * asked.spec.device.ranks)
    case = case_of(asked.shape, asked.seq_len, asked.batch_tokens / sites, asked.spec, asked.images)
    if asked.spec.streams_weights:
        return case, _streamed(ask, asked, sites)
    if not ask.layout:
        return case, search(case, ranks, keep=max(ask.top, 1))
    limit = case.device.hbm_gb / case.device.ranks * BYTES_PER_GIB
    typed = _lightest(read_layout(ask.layout, case, ranks), limit)
    setup = case_setup(typed.case, layout_table(typed.case, typed.columns))
    held = memory(setup).total
    if held[0] > limit:
        near = nearest(typed.case, typed.columns, ranks) or first_layout(search(typed.case, ranks))
        return typed.case, Found({}, np.empty(0), np.empty(0), 1, 0, float(held[0]), near)
    return typed.case, Found(typed.columns, step(setup).time_s, held, 1, 1)


def _lightest(typed: Typed, limit: float) -> Typed:
    """Recompute that is left out is the lightest mode that fits, as in tables of runs."""
    if typed.recompute_typed:
        return typed
    for name in typed.case.stack.recompute:
        mode = np.array([float(RECOMPUTE.index(name))])
        lighter = replace(typed, columns=typed.columns | {"recompute": mode})
        if (
            memory(case_setup(lighter.case, layout_table(lighter.case, lighter.columns))).total[0]
            <= limit
        ):
            return lighter
    return typed


def _streamed(ask: Ask, asked: Asked, sites: int) -> Found:
    """Weight streaming has one layout: data parallel over the wafers."""
    if ask.layout:
        cause = f"{asked.system.accelerator} streams weights: it has no layout to choose"
        raise InputError([Problem("DC052", cause, Place("--layout"))])
    count = np.array([float(asked.accelerators // sites)])
    swept = sweep(
        asked.shape,
        asked.seq_len,
        asked.batch_tokens / sites,
        asked.spec,
        count,
        images=asked.images,
    )
    return Found(swept.layouts, swept.step_time_s, swept.memory_gb * 0.0, 1, 1)


def _headline(ask: Ask, best: Asked, metrics: dict[str, Metric]) -> str:
    days, mfu = metrics["days"], metrics["mfu_frac"].value
    span = f"P50; P10 to P90 {days.low:.1f} to {days.high:.1f}"
    return (
        f"{_what(ask, best)}: {days.value:.1f} days ({span}), {mfu:.1%} MFU, "
        f"{metrics['step_time_s'].value:.3g} s a step, {metrics['goodput_frac'].value:.1%} goodput; "
        f"{si(best.tokens)} tokens, {si(best.batch_tokens)} a step"
        f"{'' if ask.global_batch_tokens or ask.phases else ' (default: give --global-batch-tokens)'}"
    )


def _what(ask: Ask, asked: Asked) -> str:
    system = asked.system
    return f"{ask.model} on {asked.accelerators:,} x {system.accelerator} ({system.id}), {asked.precision}"


def _larger(asked: Asked, case: Case) -> str:
    """The next doubling of the count at which a layout fits."""
    count = asked.accelerators
    for _ in range(DOUBLINGS):
        count *= 2
        found = first_layout(search(case, int(count * case.device.ranks)))
        if found:
            return f"; {count:,} accelerators hold it: {layout_line(found)}"
    return ""


DOUBLINGS = 8


def _too_large(ask: Ask, asked: Asked, found: Found, case: Case, seconds: float) -> Result:
    """What is missing, and the nearest layout that fits or comes closest."""
    limit = case.device.hbm_gb / case.device.ranks
    need = found.least_bytes / BYTES_PER_GIB
    over = need - limit * (1.0 if ask.layout else case.coefficients.search_memory_frac)
    near = (
        f"; nearest that fits: {layout_line(found.least)}"
        if ask.layout and found.least
        else _larger(asked, case)
    )
    subject = "this layout" if ask.layout else f"no layout of {found.tried:,} fits: the leanest"
    return Result(
        verb="train",
        status="does_not_fit",
        exit_code=EXIT_NO,
        headline=f"{_what(ask, asked)}: {subject} needs {need:.1f} GiB of {limit:.0f}, {over:.1f} too many{near}",
        metrics={
            "memory_gib": Metric(need, "GiB", "Memory of the fullest rank"),
            "search.layouts": Metric(found.tried, "", "Layouts tried"),
            "search.feasible": Metric(found.feasible, "", "Layouts that fit memory"),
        },
        run={"seconds": round(seconds, 4)},
    )
