"""One model on one system: search all layouts, or evaluate one, and report a known recipe."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

import numpy as np

from dcplan.answers.train.clusters.smaller_clusters import smaller_clusters
from dcplan.answers.train.cost import CostAnswer, run_cost
from dcplan.answers.train.layouts.nearest import nearest
from dcplan.answers.train.layouts.parser import first_layout, layout_line, lightest, read_layout
from dcplan.answers.train.layouts.tables import phase_table, step_tables
from dcplan.answers.train.metrics import (
    calendar_metrics,
    in_time_metric,
    rent_usd_per_hour,
    speed_metrics,
)
from dcplan.answers.train.remarks import remarks, small_storage
from dcplan.answers.train.request import TrainRequest
from dcplan.answers.train.resolve import TrainRun, resolve
from dcplan.answers.train.schedule import Calendar, Part, calendar
from dcplan.answers.train.simulation import simulated
from dcplan.answers.train.tables import calendar_tables, storage_table
from dcplan.catalog.loader import Catalog
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import feed_of, unlimited
from dcplan.llm.operations import Setup
from dcplan.result import Metric, Result, Table
from dcplan.specs.train import layouts as step_specs
from dcplan.specs.train import run as specs
from dcplan.training.by_count.sweep import sweep
from dcplan.training.estimate import case_of
from dcplan.training.grid import Case, case_setup, layout_table
from dcplan.training.memory import host_bytes, memory
from dcplan.training.preference import preferred
from dcplan.training.search import Found, fits_host, search
from dcplan.training.step import Step, step
from dcplan.units import BYTES_PER_GIB, GIGA, si

DOUBLINGS = 8
"""Doublings of the accelerator count to search if no layout fits."""


def train_model(
    request: TrainRequest, catalog: Catalog, tolerance_frac: float | None = None
) -> Result:
    """Estimate one model on one system.

    The layout of the search that an expert would run determines the duration of the run. It is at
    most ``tolerance_frac`` slower than the fastest; default: what the model cannot tell apart.
    """
    log = InputLog(catalog)
    resolved = resolve(request, log)
    began = time.perf_counter()
    runs = [
        [
            Part(
                run, *_layouts_of(run, tolerance_frac), feed_of(run.storage, run.accelerators, log)
            )
            for run in whole.by_phase()
        ]
        for whole in resolved
    ]
    seconds = time.perf_counter() - began
    fitting = [parts for parts in runs if all(p.found.step_time_s.size for p in parts)]
    if not fitting:
        short = next(p for p in runs[0] if not p.found.step_time_s.size)
        return _too_large(short, seconds)
    parts = min(fitting, key=lambda parts: sum(p.clean_days for p in parts))
    # step metrics come from the longest phase
    main = max(parts, key=lambda p: p.clean_days)
    whole = replace(main.run, tokens=sum(p.run.tokens for p in parts))
    days = calendar(log, whole, main, sum(p.clean_days for p in parts))
    metrics = speed_metrics(main) | calendar_metrics(log, whole, parts, days)
    cost = _run_cost(log, whole, metrics)
    metrics |= cost.metrics
    if request.deadline_days is not None:
        metrics |= in_time_metric(days, request.deadline_days)
    run_tables = _run_tables(log, whole, main, days)
    every = [p.found for parts in runs for p in parts]
    return Result(
        verb="train",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(whole, metrics),
        metrics={
            **metrics,
            **step_specs.SEARCH_LAYOUTS(sum(f.tried for f in every)),
            **step_specs.SEARCH_FEASIBLE(sum(f.feasible for f in every)),
            **step_specs.SEARCH_SECONDS(round(seconds, 4)),
        },
        tables=step_tables(main, _timed(main))
        | phase_table(parts)
        | run_tables
        | cost.tables
        | _smaller(log, whole, days),
        inputs=[asdict(row) for _, row in sorted(log.rows.items())],
        warnings=remarks(main, _fastest(main), days, _free(log, whole, parts, days))
        + small_storage(run_tables[specs.RUN_STORAGE.name], whole)
        + [{"code": "cost", "message": note} for note in cost.notes],
        run={"seconds": round(seconds, 4)},
    )


def _free(log: InputLog, whole: TrainRun, parts: list[Part], days: Calendar) -> Calendar:
    """Return the calendar with storage sized for the service level, if the capacity is given."""
    storage = unlimited(whole.storage) or whole.storage
    if storage is whole.storage:
        return days
    fed = [replace(p, data=feed_of(storage, p.run.accelerators, log)) for p in parts]
    main = max(fed, key=lambda p: p.clean_days)
    return calendar(log, replace(whole, storage=storage), main, sum(p.clean_days for p in fed))


def _run_cost(log: InputLog, whole: TrainRun, metrics: dict[str, Metric]) -> CostAnswer:
    """Return the run's cost for its median duration."""
    hours, spares = (
        float(metrics[s.key].value or 0.0) for s in (specs.ACCELERATOR_HOURS, specs.SPARES)
    )
    energy = metrics.get(specs.ENERGY.key)
    mwh = float(energy.value) if energy is not None and energy.value is not None else None
    return run_cost(log, whole, hours, mwh, round(spares))


def _run_tables(log: InputLog, whole: TrainRun, main: Part, days: Calendar) -> dict[str, Table]:
    tables = calendar_tables(days, whole)
    if whole.request.simulations:
        tables[specs.FAILURE_SIMULATION.name] = simulated(days, whole.request.simulations)
    tables[specs.RUN_STORAGE.name] = storage_table(log, whole, days, main.step_time_s)
    return tables


def _smaller(log: InputLog, whole: TrainRun, days: Calendar) -> dict[str, Table]:
    """Return the run on fewer accelerators, for a searched run of one phase in one hall."""
    if whole.request.layout or whole.phases or whole.parts > 1:
        return {}
    table = smaller_clusters(log, whole, days.p50_days, rent_usd_per_hour(log, whole))
    return {step_specs.SMALLER_CLUSTERS.name: table} if table else {}


def _fastest(main: Part) -> Found | None:
    """Search the layouts that compete with a layout given by the user."""
    return search(main.case, _ranks(main.run)) if main.run.request.layout else None


def _ranks(run: TrainRun) -> int:
    """Return the ranks of one hall."""
    return int(run.accelerators // run.parts * run.spec.device.ranks)


def _timed(main: Part) -> Step:
    """Return the parts of the chosen layout's step."""
    found = main.found
    if main.run.spec.streams_weights:
        return Step(found.step_time_s[:1], {"gemm": found.step_time_s[:1]})
    columns = {k: v[:1] for k, v in found.layouts.items()}
    return step(case_setup(main.case, layout_table(main.case, columns)))


def _searched(run: TrainRun, case: Case, ranks: int, tolerance_frac: float | None = None) -> Found:
    """Return the layouts of a search, that of an expert first."""
    own = min(run.spec.spread_frac, case.coefficients.layout_tolerance_frac)
    most = own if tolerance_frac is None else min(own, tolerance_frac)
    count = run.request.list_count
    return preferred(case, ranks, search(case, ranks, keep=count, tolerance_frac=most), count)


def _layouts_of(run: TrainRun, tolerance_frac: float | None) -> tuple[Case, Found]:
    """Return the layouts of one phase at one precision: all searched, or the given one."""
    request, ranks = run.request, _ranks(run)
    case = case_of(run.shape, run.seq_len, run.batch_tokens / run.parts, run.spec, run.images)
    if run.spec.streams_weights:
        return case, _streamed(run)
    if not request.layout:
        return case, _searched(run, case, ranks, tolerance_frac)
    limit = case.device.hbm_gb / case.device.ranks * BYTES_PER_GIB
    typed = lightest(read_layout(request.layout, case, ranks), limit)
    setup = case_setup(typed.case, layout_table(typed.case, typed.columns))
    existing = memory(setup).total
    _check_host(run, typed.case, setup)
    if existing[0] > limit:
        near = nearest(typed.case, typed.columns, ranks) or first_layout(
            _searched(run, typed.case, ranks)
        )
        return typed.case, Found({}, np.empty(0), np.empty(0), 1, 0, float(existing[0]), near)
    return typed.case, Found(typed.columns, step(setup).time_s, existing, 1, 1)


def _check_host(run: TrainRun, case: Case, setup: Setup) -> None:
    """Refuse a given layout that offloads more than the memory of its hosts."""
    if fits_host(case, setup).all():
        return
    need, limit = float(host_bytes(setup)[0]) * case.device.ranks / GIGA, case.device.host_gb
    cause = (
        f"offload needs {need:,.0f} GB of host memory per accelerator, and {run.system.id} has "
        f"{limit:,.0f} GB for it"
    )
    help_text = "offload a smaller share, such as offload=0.5, or use recompute=full"
    raise InputError([Problem("DC052", cause, Place("--layout"), help=help_text)])


def _streamed(run: TrainRun) -> Found:
    """Return the only layout of weight streaming: data parallel over the wafers."""
    if run.request.layout:
        cause = (
            f"{run.system.accelerator} streams weights and has no layout to choose: omit --layout"
        )
        raise InputError([Problem("DC052", cause, Place("--layout"))])
    swept = sweep(
        run.shape,
        run.seq_len,
        run.batch_tokens / run.parts,
        run.spec,
        np.array([float(run.accelerators // run.parts)]),
        images=run.images,
    )
    return Found(swept.layouts, swept.step_time_s, swept.memory_gb * 0.0, 1, 1)


def _headline(run: TrainRun, metrics: dict[str, Metric]) -> str:
    days = metrics[specs.DAYS_P50.key]
    mfu, step_s, goodput = (
        metrics[s.key].value for s in (step_specs.MFU, step_specs.STEP_TIME, specs.GOODPUT)
    )
    span = f"P10 {days.low:.1f}, P90 {days.high:.1f}"
    given = run.request.global_batch_tokens or run.phases
    return (
        f"{_what(run, _spares(metrics))}: median {days.value:.1f} days ({span}), {mfu:.1%} MFU, {step_s:.3g} s per "
        f"step, {goodput:.1%} goodput; {si(run.tokens)} tokens, {si(run.batch_tokens)} tokens per "
        f"step{'' if given else ' (default; set --global-batch-tokens)'}"
    )


def _spares(metrics: dict[str, Metric]) -> str:
    """Name the spares, which are added to the accelerators that train."""
    spares = float(metrics[specs.SPARES.key].value or 0.0)
    return f" and {spares:,.0f} spare" if spares else ""


def _what(run: TrainRun, spares: str = "") -> str:
    machine = f"{run.accelerators:,} x {run.system.accelerator} ({run.system.id}){spares}"
    return f"{run.request.model} on {machine}, {run.precision}, {run.stack}"


def _larger(run: TrainRun, case: Case) -> str:
    """Name the next doubling of the count with a layout that fits."""
    count = run.accelerators
    for _ in range(DOUBLINGS):
        count *= 2
        found = first_layout(_searched(run, case, int(count * case.device.ranks)))
        if found:
            return f"; it fits on {count:,} accelerators: {layout_line(found)}"
    return ""


def _too_large(part: Part, seconds: float) -> Result:
    """Answer with the missing memory and the nearest layout that fits."""
    found, case, typed = part.found, part.case, part.run.request.layout
    limit = case.device.hbm_gb / case.device.ranks
    need = found.least_bytes / BYTES_PER_GIB
    over = need - limit * (1.0 if typed else case.coefficients.search_memory_frac)
    fitting = f"; nearest layout that fits: {layout_line(found.least)}" if found.least else ""
    near = fitting if typed and fitting else _larger(part.run, case)
    subject = "this layout" if typed else f"none of {found.tried:,} layouts fits: the smallest"
    amounts = f"needs {need:.1f} GiB of {limit:.0f} GiB, {over:.1f} GiB too much"
    return Result(
        verb="train",
        status="does_not_fit",
        exit_code=EXIT_NO,
        headline=f"{_what(part.run)}: {subject} {amounts}{near}",
        metrics={
            **step_specs.MEMORY_GIB(need),
            **step_specs.SEARCH_LAYOUTS(found.tried),
            **step_specs.SEARCH_FEASIBLE(found.feasible),
        },
        run={"seconds": round(seconds, 4)},
    )
