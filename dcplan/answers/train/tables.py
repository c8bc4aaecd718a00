"""Tables and remarks of a training estimate: layouts, step, memory, interruptions, storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcplan.answers.train.resolve import TrainRun
from dcplan.answers.train.schedule import Calendar, Part, first
from dcplan.errors import Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import block_of, tier_of, wanted
from dcplan.inputs.training.speed import host_note
from dcplan.llm.tables import SCHEDULES
from dcplan.reliability.goodput import REMARK_GOODPUT_FRAC
from dcplan.reliability.outlook import write_s
from dcplan.reliability.storage import Block, Built, Demand, build, in_blocks
from dcplan.result import Table
from dcplan.specs.train import layouts as specs
from dcplan.specs.train import run as run_specs
from dcplan.specs.train.words import CAUSES, LOSSES, PRODUCTION, STEP_PARTS, in_words
from dcplan.training.estimate import layout_of
from dcplan.training.grid import case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import Found
from dcplan.training.step import Step
from dcplan.units import BYTES_PER_GIB, TB_PER_PB

FRONTIER = 1.5
"""Largest step time of listed layouts with less memory, relative to the fastest."""
REMARK_DAYS = 0.05
"""Days lost to storage below which nothing is said."""
KINDS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers")
"""Kinds of data in the memory of a rank."""


def phase_table(parts: Sequence[Part]) -> dict[str, Table]:
    """Return the phases of a run with several phases."""
    if len(parts) < 2:
        return {}
    rows = [
        specs.PhaseRow(
            phase=i + 1,
            tokens=part.run.tokens,
            seq_len=part.run.seq_len,
            global_batch_tokens=part.run.batch_tokens,
            step_time_s=part.step_time_s,
            clean_days=part.clean_days,
            layout=" ".join(f"{k}={v}" for k, v in layout_of(part.found, 0).items()),
        )
        for i, part in enumerate(parts)
    ]
    return {specs.PHASES.name: specs.PHASES.table(rows)}


def step_tables(main: Part, done: Step) -> dict[str, Table]:
    """Return the layout, its step time and memory by part, and the other layouts."""
    layout: dict[str, Any] = layout_of(main.found, 0)
    tables = {
        specs.LAYOUT.name: specs.LAYOUT.table([specs.LayoutRow(**layout)], only=tuple(layout)),
        specs.BREAKDOWN.name: _breakdown(main, done),
    }
    if main.run.spec.streams_weights:
        return tables
    tables[specs.MEMORY.name] = _memory(main)
    if not main.run.request.layout:
        tables[specs.LAYOUTS.name] = _layouts(main)
    return tables


def _breakdown(main: Part, done: Step) -> Table:
    parts = {k: first(v) for k, v in done.parts_s.items()}
    parts |= {"wide_area": main.exchange_s} if main.exchange_s else {}
    parts |= {"ingest": main.ingest_s} if main.ingest_s else {}
    return specs.BREAKDOWN.table(
        specs.BreakdownRow(name, in_words(STEP_PARTS, name), time_s, time_s / main.step_time_s)
        for name, time_s in parts.items()
        if time_s or name in {"gemm", "attention"}
    )


def _memory(main: Part) -> Table:
    columns = {k: v[:1] for k, v in main.found.layouts.items()}
    existing = memory(case_setup(main.case, layout_table(main.case, columns)))
    return specs.MEMORY.table(
        specs.MemoryRow(kind, first(getattr(existing, kind)) / BYTES_PER_GIB) for kind in KINDS
    )


def _layouts(main: Part) -> Table:
    found, top = main.found, main.run.request.list_count
    limit_gib = main.run.spec.device.hbm_gb / main.run.spec.device.ranks
    fastest_s = float(found.step_time_s.min())
    ties_s = fastest_s if found.near is None else float(found.near.step_time_s.max())
    rows = []
    for rank, i in enumerate(np.argsort(found.step_time_s, kind="stable"), start=1):
        time_s, memory_gib = float(found.step_time_s[i]), found.memory_bytes[i] / BYTES_PER_GIB
        if rank > top and time_s > FRONTIER * fastest_s:
            break
        usual: dict[str, Any] = {"schedule": SCHEDULES[0], "offload": "none"}
        rows.append(
            specs.LayoutsRow(
                rank=rank,
                chosen=bool(i == 0),
                step_time_s=time_s,
                memory_gib=float(memory_gib),
                memory_margin_gib=float(limit_gib - memory_gib),
                among_fastest=rank <= top,
                tie=time_s <= ties_s,
                **usual | layout_of(found, i),
            )
        )
    return specs.LAYOUTS.table(rows)


def calendar_tables(found: Calendar, run: TrainRun) -> dict[str, Table]:
    """Return time losses, interruptions, and the variance of the finish date by cause."""
    wall, moving = found.p50_days, 1.0 - found.lost["waiting"]
    losses = [
        run_specs.TimeLossRow(name, LOSSES[name], share, share * wall)
        for name, share in (found.lost | {PRODUCTION: found.production_frac}).items()
    ]
    stops = [
        run_specs.InterruptionRow(
            part=key, count=count * run.accelerators, stops_per_day=each, stops=each * wall * moving
        )
        for key, count, each in (
            (key, count, found.stops_of(key, each)) for key, count, each in found.stops.by_part
        )
    ]
    causes = [
        run_specs.UncertaintyRow(name, in_words(CAUSES, name), first(x))
        for name, x in found.run.shares.items()
    ]
    return {
        run_specs.LOSSES.name: run_specs.LOSSES.table(losses),
        run_specs.INTERRUPTIONS_BY_COMPONENT.name: run_specs.INTERRUPTIONS_BY_COMPONENT.table(
            stops
        ),
        run_specs.UNCERTAINTY.name: run_specs.UNCERTAINTY.table(causes),
    }


def storage_table(log: InputLog, run: TrainRun, found: Calendar, step_s: float) -> Table:
    """Return the run's requirements for shared storage, and the building blocks."""

    def problem(cause: str) -> Problem:
        return Problem("DC010", cause, Place("--storage"))

    row = tier_of(run.storage, log.catalog, problem)
    rate, size = run.batch_tokens / step_s, found.size_bytes
    need = wanted(run.storage, run.accelerators, run.tokens, rate, size, log)
    tier = _built(log, run, need, block_of(row, log))
    values = run_specs.RunStorageRow(
        tier=row.id,
        blocks=tier.units,
        sized_by=tier.binds,
        required_pb=need.usable_tb / TB_PER_PB,
        required_read_gb_per_s=need.read_gb_per_s,
        read_set_by=need.binds,
        required_write_gb_per_s=need.write_gb_per_s,
        usable_pb=tier.usable_tb / TB_PER_PB,
        read_gb_per_s=tier.read_gb_per_s,
        write_gb_per_s=tier.write_gb_per_s,
        racks=tier.racks,
        power_kw=tier.kw,
        capex_usd=tier.usd,
    )
    return run_specs.RUN_STORAGE.table([values])


def _built(log: InputLog, run: TrainRun, need: Demand, block: Block) -> Built:
    """Return the blocks for the requirements, or those that a given capacity fills."""
    given = run.storage.usable_pb
    if given is None:
        return build(need, block)
    blocks = log.take("storage.usable_pb", given) * TB_PER_PB / block.usable_tb
    return in_blocks(blocks, block, "usable_pb")


def remarks(
    main: Part, fastest: Found | None, days: Calendar, free: Calendar
) -> list[dict[str, str]]:
    """Return the warnings that accompany the answer.

    ``free`` is the calendar with storage sized for the service level.
    """
    return [
        {"code": code, "message": message}
        for code, message in (
            *_binding_storage(main),
            *_given_storage(main.run, days, free),
            *unmeasured(main.run),
            *(("note", text) for text in _notes(main, fastest)),
            *_lost_time(days),
        )
    ]


def _binding_storage(main: Part) -> list[tuple[str, str]]:
    if not main.ingest_s:
        return []
    rate, each = main.data.read_gb_per_s, main.data.bytes_per_token
    bring = f"{rate:.4g} GB/s at {each:g} bytes per token gives {main.step_time_s:.3g} s per step"
    return [
        (
            "ingest",
            f"the storage read rate limits the step: {bring}; raise --storage "
            f"{'usable-pb' if main.run.storage.usable_pb else 'level'} or lower bytes-per-token",
        )
    ]


def _given_storage(run: TrainRun, days: Calendar, free: Calendar) -> list[tuple[str, str]]:
    """Say what a storage of given capacity costs the run."""
    given, lost = run.storage.usable_pb, days.p50_days - free.p50_days
    if given is None or lost < REMARK_DAYS:
        return []
    count = np.array([float(run.accelerators)])
    now, before = (first(write_s(x.policy, count, days.size_bytes)) for x in (days, free))
    text = (
        f"storage of {given.value:g} PB reads {days.policy.given_read_gb_per_s:.3g} GB/s and "
        f"writes {days.policy.given_write_gb_per_s:.3g} GB/s: {lost:.1f} of the "
        f"{days.p50_days:.1f} days of the median are lost to it; a checkpoint takes {now:.3g} s "
        f"to write instead of {before:.3g} s"
    )
    return [("slow_storage", text)]


def small_storage(table: Table, run: TrainRun) -> list[dict[str, str]]:
    """Say that a given capacity does not hold the run's data and checkpoints."""
    [row] = run_specs.RUN_STORAGE.rows(table)
    if run.storage.usable_pb is None or row.required_pb <= row.usable_pb:
        return []
    text = (
        f"data and checkpoints need {row.required_pb:.3g} PB, but the storage has "
        f"{row.usable_pb:.3g} PB: raise usable-pb of --storage"
    )
    return [{"code": "storage", "message": text}]


def unmeasured(run: TrainRun) -> list[tuple[str, str]]:
    """Say that no run of the accelerator with the software is measured."""
    if run.measured:
        return []
    cause = f"no measured run of {run.system.accelerator} with {run.stack}"
    spread = f"with an interval of ±{run.spec.spread_frac:.0%}"
    return [("unmeasured", f"{cause}; values come from its family or class, {spread}")]


def _faster(main: Part) -> list[str]:
    """Say that a faster layout exists which no common recipe has."""
    found, times = main.found, main.found.step_time_s
    if found.near is None or times[0] <= times.min():
        return []
    columns = {k: float(v[int(np.argmin(times))]) for k, v in found.layouts.items()}
    ties = found.near.step_time_s
    return [
        f"{ties.size:,} layouts are within {ties.max() / times.min() - 1.0:.1%} of the fastest, less "
        f"than the error of the model; the layout is that of a common recipe. The fastest takes "
        f"{times.min():.3g} s per step, {1.0 - times.min() / times[0]:.1%} less: --layout "
        f"{layout_line(columns)}"
    ]


def _notes(main: Part, fastest: Found | None) -> list[str]:
    run, found = main.run, _faster(main)
    if fastest is not None and fastest.step_time_s.size:
        line = layout_line(first_layout(fastest) or {})
        found.append(
            f"the fastest layout of the search takes {fastest.step_time_s[0]:.3g} s per step: "
            f"{line}"
        )
    precisions = run.request.precision
    if len(precisions) > 1:
        names = ", ".join(precisions)
        found.append(f"precisions {names} are assumed to give equal quality")
    found += _span_notes(run)
    if run.system.rated_kw is None and run.system.average_kw.training is None:
        found.append(
            f"{run.system.id} has no power figure in the catalog, so energy is not computed"
        )
    if first(main.found.layouts["offload"]) > 0 and run.system.host_dram_gb is None:
        found.append(host_note(run.system))
    found += run.notes
    if run.spec.streams_weights:
        found.append("weight streaming: data parallel over wafers, without a memory limit")
    return found


def _span_notes(run: TrainRun) -> list[str]:
    """Return how the halls and sites of a run exchange, and whether tokens are added for it."""
    found, halls, sites = list[str](), run.span.halls, run.span.sites
    if halls is not None:
        found.append(
            f"the model is sharded inside a hall, and {halls.sites} halls exchange gradients every "
            "step, after its backward pass"
        )
    if sites is not None:
        steps = "step" if sites.local_steps == 1 else f"{sites.local_steps} steps"
        more = run.span.extra_tokens_frac
        text = f"the estimate adds {more:.1%} tokens for equal quality (--extra-tokens-frac)"
        if not more:
            text = "the estimate adds no tokens for equal quality: give --extra-tokens-frac"
        found.append(f"{sites.sites} sites exchange every {steps}; {text}")
    return found


def _lost_time(found: Calendar) -> list[tuple[str, str]]:
    """Warn if goodput is low."""
    value, lost = first(found.outlook.goodput.value), found.lost
    if value >= REMARK_GOODPUT_FRAC:
        return []
    most = max(lost, key=lambda name: lost[name])
    hint = {
        "waiting": "use more spares or faster repair",
        "saves": "use faster or less frequent checkpoints",
        "slow": "find silent corruption earlier (corruption-rollback-h of --reliability)",
        "stalls": "shorten the stall of a failure, or use accelerators with fewer failures",
        "absent": "use smaller replicas or a faster rejoin",
        "rollbacks": "reduce rollbacks of --setbacks",
        "manual_restarts": "reduce restarts by hand of --setbacks",
        "idle": "reduce idle-frac of --setbacks",
    }
    remedy = hint.get(most, "reduce interruptions, speed up restarts, or checkpoint more often")
    cause = f"goodput is {value:.1%}"
    return [
        ("goodput", f"{cause}; the largest loss is {LOSSES[most]} ({lost[most]:.1%}): {remedy}")
    ]


def layout_line(layout: dict[str, float]) -> str:
    """Return a layout in the form of ``--layout``."""
    columns = {k: np.array([v]) for k, v in layout.items()}
    named = layout_of(Found(columns, np.empty(0), np.empty(0), 0, 0), 0)
    return ",".join(f"{k}={v}" for k, v in named.items())


def first_layout(found: Found) -> dict[str, float] | None:
    """Return the first layout found, or None."""
    return {k: float(v[0]) for k, v in found.layouts.items()} if found.step_time_s.size else None
