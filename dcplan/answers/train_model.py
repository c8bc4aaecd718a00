"""One model on one system: every layout searched, or one evaluated, and the metrics of the fastest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from dcplan.answers.layout_text import read_layout
from dcplan.answers.nearest import nearest
from dcplan.answers.train_ask import Ask, Asked, resolve
from dcplan.answers.train_metrics import Span, calendar_metrics, speed_metrics
from dcplan.catalog.loader import Catalog
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem
from dcplan.planning.menu.ledger import Ledger
from dcplan.result import Metric, Result, Table
from dcplan.training.estimate import case_of, layout_of, sweep
from dcplan.training.grid import Case, case_setup, layout_table
from dcplan.training.lightest import GIB
from dcplan.training.memory import memory
from dcplan.training.search import USABLE_FRAC, Found, search
from dcplan.training.step import Step, step
from dcplan.training.tables import SCHEDULES
from dcplan.training.wide_area import WideArea, mean_step_s
from dcplan.units import si

FRONTIER = 1.5
"""Leaner layouts are listed as long as a step takes no longer than this times the fastest."""


@dataclass(frozen=True)
class Part:
    """One phase at one precision, answered."""

    asked: Asked
    case: Case
    found: Found
    wide: WideArea | None

    @property
    def step_time_s(self) -> float:
        """Of all sites together, exchanges over the wide-area link counted in."""
        local = float(self.found.step_time_s[0])
        return mean_step_s(local, self.asked.shape.params, self.wide) if self.wide else local

    @property
    def span(self) -> Span:
        """The phase on the calendar."""
        penalty = self.wide.token_penalty_frac if self.wide else 0.0
        return Span(self.asked.tokens, self.asked.seq_len, self.asked.batch_tokens, self.step_time_s, penalty)


def train_model(ask: Ask, catalog: Catalog) -> Result:
    """Estimate one model on one system: search the layouts, keep the fastest, put it on the calendar."""
    ledger = Ledger(catalog)
    asked = resolve(ask, catalog, ledger)
    began = time.perf_counter()
    runs = [[Part(a, *_one(ask, a), ask.wide) for a in _phases(ask, each)] for each in asked]
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
    exchange = main.step_time_s - float(found.step_time_s[0])
    metrics = speed_metrics(best, case, found, main.step_time_s, ask.wide.sites if ask.wide else 1) | calendar_metrics(
        catalog, ledger, whole, spans
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
        tables=_tables(ask, best, case, found, done, exchange) | _phase_table(parts),
        inputs=[asdict(row) for _, row in sorted(ledger.rows.items())],
        warnings=_warnings(best, ask.wide, _fastest(ask, best, case)),
        run={"seconds": round(seconds, 4)},
    )


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
    return [replace(asked, tokens=p.tokens, seq_len=p.seq_len, batch_tokens=p.global_batch_tokens) for p in ask.phases]


def _phase_table(parts: Sequence[Part]) -> dict[str, Table]:
    if len(parts) < 2:
        return {}
    columns = ("phase", "tokens", "seq_len", "global_batch_tokens", "step_time_s", "clean_days", "layout")
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


def _one(ask: Ask, asked: Asked) -> tuple[Case, Found]:
    """The layouts of one precision: all searched, or the one typed."""
    sites = ask.wide.sites if ask.wide else 1
    ranks = int(asked.accelerators // sites * asked.spec.device.ranks)
    case = case_of(asked.shape, asked.seq_len, asked.batch_tokens / sites, asked.spec, asked.images)
    if asked.spec.streams_weights:
        return case, _streamed(ask, asked, sites)
    if not ask.layout:
        return case, search(case, ranks, keep=max(ask.top, 1))
    typed = read_layout(ask.layout, case, ranks)
    setup = case_setup(typed.case, layout_table(typed.case, typed.columns))
    held = memory(setup).total
    limit = typed.case.device.hbm_gb / typed.case.device.ranks * GIB
    if held[0] > limit:
        near = nearest(typed.case, typed.columns, ranks) or _first(search(typed.case, ranks))
        return typed.case, Found({}, np.empty(0), np.empty(0), 1, 0, float(held[0]), near)
    return typed.case, Found(typed.columns, step(setup).time_s, held, 1, 1)


def _streamed(ask: Ask, asked: Asked, sites: int) -> Found:
    """Weight streaming has one layout: data parallel over the wafers."""
    if ask.layout:
        cause = f"{asked.system.accelerator} streams weights: it has no layout to choose"
        raise InputError([Problem("DC052", cause, Place("--layout"))])
    count = np.array([float(asked.accelerators // sites)])
    swept = sweep(asked.shape, asked.seq_len, asked.batch_tokens / sites, asked.spec, count, images=asked.images)
    return Found(swept.layouts, swept.step_time_s, swept.memory_gb * 0.0, 1, 1)


def _first(found: Found) -> dict[str, float] | None:
    return {k: float(v[0]) for k, v in found.layouts.items()} if found.step_time_s.size else None


def _headline(ask: Ask, best: Asked, metrics: dict[str, Metric]) -> str:
    days, mfu = metrics["days"].value, metrics["mfu_frac"].value
    return (
        f"{_what(ask, best)}: {days:.1f} days (P50), {mfu:.1%} MFU, {metrics['step_time_s'].value:.3g} s a step; "
        f"{si(best.tokens)} tokens, {si(best.batch_tokens)} a step"
        f"{'' if ask.global_batch_tokens or ask.phases else ' (default: give --global-batch-tokens)'}"
    )


def _what(ask: Ask, asked: Asked) -> str:
    system = asked.system
    return f"{ask.model} on {asked.accelerators:,} x {system.accelerator} ({system.id}), {asked.precision}"


def _tables(ask: Ask, best: Asked, case: Case, found: Found, done: Step, exchange: float) -> dict[str, Table]:
    layout = layout_of(found, 0)
    whole = float(done.time_s[0]) + exchange
    parts = {k: float(np.broadcast_to(v, (1,))[0]) for k, v in done.parts_s.items()}
    parts |= {"wide_area": exchange} if exchange else {}
    breakdown = tuple((k, v, v / whole) for k, v in parts.items() if v or k in {"gemm", "attention"})
    tables = {
        "layout": Table(tuple(layout), (tuple(layout.values()),)),
        "breakdown": Table(("part", "time_s", "share_frac"), breakdown),
    }
    if best.spec.streams_weights:
        return tables
    held = memory(case_setup(case, layout_table(case, {k: v[:1] for k, v in found.layouts.items()})))
    kinds = ("weights", "gradients", "optimizer", "activations", "logits", "buffers")
    sizes = tuple((k, float(np.broadcast_to(getattr(held, k), (1,))[0]) / GIB) for k in kinds)
    tables["memory"] = Table(("part", "memory_gib"), sizes)
    if not ask.layout:
        limit = best.spec.device.hbm_gb / best.spec.device.ranks
        rows = []
        for i, (t, b) in enumerate(zip(found.step_time_s, found.memory_bytes, strict=True)):
            if i >= ask.top and t > FRONTIER * found.step_time_s[0]:
                break
            usual: dict[str, int | str] = {"schedule": SCHEDULES[0], "offload": "none"}
            layout = usual | layout_of(found, i)
            rows.append((i + 1, float(t), float(b) / GIB, limit - float(b) / GIB, i < ask.top, *layout.values()))
        names = ("schedule", "offload", *(n for n in layout_of(found, 0) if n not in {"schedule", "offload"}))
        columns = ("rank", "step_time_s", "memory_gib", "memory_margin_gib", "among_fastest", *names)
        tables["layouts"] = Table(columns, tuple(rows))
    return tables


def _warnings(best: Asked, wide: WideArea | None, fastest: Found | None) -> list[dict[str, str]]:
    found = []
    if not best.measured:
        cause = (
            f"{best.system.accelerator} with {best.stack}: no measured run behind it; values of its family or class, "
            f"interval {best.spec.spread_frac:.0%} either way"
        )
        found.append({"code": "unmeasured", "message": cause})
    if fastest is not None and fastest.step_time_s.size:
        quick = f"the search's fastest layout takes {fastest.step_time_s[0]:.3g} s: {_text(_first(fastest) or {})}"
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
        found.append({"code": "note", "message": f"{best.system.id} has no power figure in the catalog: no energy"})
    found += [{"code": "note", "message": note} for note in best.notes]
    if best.spec.streams_weights:
        found.append({"code": "note", "message": "weight streaming: data parallel over wafers, memory not limited"})
    return found


def _text(layout: dict[str, float]) -> str:
    """A layout as ``--layout`` takes it."""
    columns = {k: np.array([v]) for k, v in layout.items()}
    named = layout_of(Found(columns, np.empty(0), np.empty(0), 0, 0), 0)
    return ",".join(f"{k}={v}" for k, v in named.items())


def _larger(asked: Asked, case: Case) -> str:
    """The next doubling of the count at which a layout fits."""
    count = asked.accelerators
    for _ in range(DOUBLINGS):
        count *= 2
        found = _first(search(case, int(count * case.device.ranks)))
        if found:
            return f"; {count:,} accelerators hold it: {_text(found)}"
    return ""


DOUBLINGS = 8


def _too_large(ask: Ask, asked: Asked, found: Found, case: Case, seconds: float) -> Result:
    """What is missing, and the nearest layout that fits or comes closest."""
    limit = case.device.hbm_gb / case.device.ranks
    need = found.least_bytes / GIB
    over = need - limit * (1.0 if ask.layout else USABLE_FRAC)
    near = f"; nearest that fits: {_text(found.least)}" if ask.layout and found.least else _larger(asked, case)
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
