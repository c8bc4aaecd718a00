"""Tables of a run's layout, step and memory, and of its phases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcplan.answers.train.schedule import Part, first
from dcplan.llm.tables import SCHEDULES
from dcplan.result import Table
from dcplan.specs.train import layouts as specs
from dcplan.specs.train.words import STEP_PARTS, in_words
from dcplan.training.estimate import layout_of
from dcplan.training.grid import case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.step import Step
from dcplan.units import BYTES_PER_GIB

FRONTIER = 1.5
"""Largest step time of listed layouts with less memory, relative to the fastest."""
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
