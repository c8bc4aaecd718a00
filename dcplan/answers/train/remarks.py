"""Remarks on a training estimate: what limits it, and what it assumes."""

from __future__ import annotations

import numpy as np

from dcplan.answers.train.layouts.parser import first_layout, layout_line
from dcplan.answers.train.resolve import TrainRun
from dcplan.answers.train.schedule import Calendar, Part, first
from dcplan.inputs.training.speed import host_note
from dcplan.reliability.goodput import REMARK_GOODPUT_FRAC
from dcplan.reliability.outlook import write_s
from dcplan.result import Table
from dcplan.specs.train import run as run_specs
from dcplan.specs.train.words import LOSSES
from dcplan.training.search import Found

REMARK_DAYS = 0.05
"""Days lost to storage below which nothing is said."""


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
