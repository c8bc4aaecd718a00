"""Tables and remarks of a training estimate: layouts, breakdown, memory, phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.answers.train.metrics import Span
from dcplan.answers.train.resolve import Ask, Asked
from dcplan.llm.tables import SCHEDULES
from dcplan.reliability.storage import Feed, ingest_step_s
from dcplan.result import Table
from dcplan.training.estimate import layout_of
from dcplan.training.grid import Case, case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import Found
from dcplan.training.step import Step
from dcplan.training.wide_area import WideArea, mean_step_s
from dcplan.units import BYTES_PER_GIB

FRONTIER = 1.5
"""Leaner layouts are listed as long as a step takes no longer than this times the fastest."""


@dataclass(frozen=True)
class Part:
    """One phase at one precision, answered."""

    asked: Asked
    case: Case
    found: Found
    wide: WideArea | None
    data: Feed

    @property
    def exchange_s(self) -> float:
        """What exchanges over the wide-area link add to a step."""
        local = float(self.found.step_time_s[0])
        return mean_step_s(local, self.asked.shape.params, self.wide) - local if self.wide else 0.0

    @property
    def ingest_s(self) -> float:
        """What storage adds to a step that computes faster than its data arrive."""
        own = float(self.found.step_time_s[0]) + self.exchange_s
        return (
            ingest_step_s(
                own, self.asked.batch_tokens * self.data.bytes_per_token, self.data.read_gb_per_s
            )
            - own
        )

    @property
    def step_time_s(self) -> float:
        """Of all sites together, exchanges over the wide-area link and waiting for data counted
        in.
        """
        return float(self.found.step_time_s[0]) + self.exchange_s + self.ingest_s

    @property
    def span(self) -> Span:
        """The phase on the calendar."""
        penalty = self.wide.token_penalty_frac if self.wide else 0.0
        return Span(
            self.asked.tokens,
            self.asked.seq_len,
            self.asked.batch_tokens,
            self.step_time_s,
            penalty,
        )


def phase_table(parts: Sequence[Part]) -> dict[str, Table]:
    """The phases of a run that has several."""
    if len(parts) < 2:
        return {}
    columns = (
        "phase",
        "tokens",
        "seq_len",
        "global_batch_tokens",
        "step_time_s",
        "clean_days",
        "layout",
    )
    rows = tuple(
        (
            i + 1,
            p.span.tokens,
            p.span.seq_len,
            p.span.batch_tokens,
            p.span.step_time_s,
            p.span.clean_days,
            " ".join(f"{k}={v}" for k, v in layout_of(p.found, 0).items()),
        )
        for i, p in enumerate(parts)
    )
    return {"phases": Table(columns, rows)}


def step_tables(ask: Ask, main: Part, done: Step) -> dict[str, Table]:
    """The layout, its step time and memory part by part, and the layouts beside it."""
    best, case, found = main.asked, main.case, main.found
    layout = layout_of(found, 0)
    whole = main.step_time_s
    parts = {k: float(np.broadcast_to(v, (1,))[0]) for k, v in done.parts_s.items()}
    parts |= {"wide_area": main.exchange_s} if main.exchange_s else {}
    parts |= {"ingest": main.ingest_s} if main.ingest_s else {}
    breakdown = tuple(
        (k, v, v / whole) for k, v in parts.items() if v or k in {"gemm", "attention"}
    )
    tables = {
        "layout": Table(tuple(layout), (tuple(layout.values()),)),
        "breakdown": Table(("part", "time_s", "share_frac"), breakdown),
    }
    if best.spec.streams_weights:
        return tables
    held = memory(
        case_setup(case, layout_table(case, {k: v[:1] for k, v in found.layouts.items()}))
    )
    kinds = ("weights", "gradients", "optimizer", "activations", "logits", "buffers")
    sizes = tuple(
        (k, float(np.broadcast_to(getattr(held, k), (1,))[0]) / BYTES_PER_GIB) for k in kinds
    )
    tables["memory"] = Table(("part", "memory_gib"), sizes)
    if not ask.layout:
        limit = best.spec.device.hbm_gb / best.spec.device.ranks
        rows = []
        for i, (t, b) in enumerate(zip(found.step_time_s, found.memory_bytes, strict=True)):
            if i >= ask.top and t > FRONTIER * found.step_time_s[0]:
                break
            usual: dict[str, int | str] = {"schedule": SCHEDULES[0], "offload": "none"}
            layout = usual | layout_of(found, i)
            rows.append(
                (
                    i + 1,
                    float(t),
                    float(b) / BYTES_PER_GIB,
                    limit - float(b) / BYTES_PER_GIB,
                    i < ask.top,
                    *layout.values(),
                )
            )
        names = (
            "schedule",
            "offload",
            *(n for n in layout_of(found, 0) if n not in {"schedule", "offload"}),
        )
        columns = (
            "rank",
            "step_time_s",
            "memory_gib",
            "memory_margin_gib",
            "among_fastest",
            *names,
        )
        tables["layouts"] = Table(columns, tuple(rows))
    return tables


def remarks(main: Part, fastest: Found | None) -> list[dict[str, str]]:
    """What the reader should know besides the figures."""
    best, wide, found = main.asked, main.wide, []
    if main.ingest_s:
        cause = (
            f"storage binds: {main.data.read_gb_per_s:.4g} GB/s bring {main.data.bytes_per_token:g} bytes a token in "
            f"{main.step_time_s:.3g} s a step; raise --storage level or lower bytes-per-token"
        )
        found.append({"code": "ingest", "message": cause})
    if not best.measured:
        cause = (
            f"{best.system.accelerator} with {best.stack}: no measured run behind it; values of its family or class, "
            f"interval {best.spec.spread_frac:.0%} either way"
        )
        found.append({"code": "unmeasured", "message": cause})
    if fastest is not None and fastest.step_time_s.size:
        line = layout_line(first_layout(fastest) or {})
        quick = f"the search's fastest layout takes {fastest.step_time_s[0]:.3g} s: {line}"
        found.append({"code": "note", "message": quick})
    if len(best.precisions) > 1:
        cause = f"precisions {', '.join(best.precisions)} are taken as equal in quality, as the list claims"
        found.append({"code": "note", "message": cause})
    if wide is not None:
        cause = (
            f"{wide.sites} sites exchange every {wide.local_steps} steps; the same quality is taken to need "
            f"{wide.token_penalty_frac:.0%} more tokens (--token-penalty-frac)"
        )
        found.append({"code": "note", "message": cause})
    if best.system.rated_kw is None and best.system.average_kw.training is None:
        found.append(
            {
                "code": "note",
                "message": f"{best.system.id} has no power figure in the catalog: no energy",
            }
        )
    found += [{"code": "note", "message": note} for note in best.notes]
    if best.spec.streams_weights:
        found.append(
            {
                "code": "note",
                "message": "weight streaming: data parallel over wafers, memory not limited",
            }
        )
    return found


def layout_line(layout: dict[str, float]) -> str:
    """A layout as ``--layout`` takes it."""
    columns = {k: np.array([v]) for k, v in layout.items()}
    named = layout_of(Found(columns, np.empty(0), np.empty(0), 0, 0), 0)
    return ",".join(f"{k}={v}" for k, v in named.items())


def first_layout(found: Found) -> dict[str, float] | None:
    """The fastest of those found, or None."""
    return {k: float(v[0]) for k, v in found.layouts.items()} if found.step_time_s.size else None
