"""Use of accelerators by their counters: allocated, busy, SM-active, tensor-active, idle."""

from __future__ import annotations

import math

import numpy as np

from dcplan.answers.demand.counters import tables
from dcplan.answers.demand.counters.counted import (
    ALLOCATED,
    BUSY,
    IDLE,
    SM,
    TENSOR,
    Counted,
    counted,
)
from dcplan.answers.demand.refusals import all_or_none
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.requests import refuse
from dcplan.demand.counters import hours_by, value_quantile
from dcplan.demand.log.jobs import Index
from dcplan.errors import EXIT_OK
from dcplan.inputs.counters.jobs import SEVERAL, How
from dcplan.inputs.counters.names import MEANINGS, Counter
from dcplan.inputs.counters.read import KIND, is_counters
from dcplan.result import Metric, Result, Table
from dcplan.specs.demand import counters as spec
from dcplan.specs.demand.log import FILES, FINDINGS
from dcplan.specs.request import fields_of

USED = frozenset(("files", "kind", "timezone", "own_usd_per_accelerator_hour"))
"""Fields of the request that samples without a log of jobs use."""
UNKNOWN = "unknown"


def are_counters(request: DemandRequest) -> bool:
    """Return whether the files are samples of counters.

    Raises
    ------
    InputError
        When only some of them are (DC050).
    """
    if request.kind is not None:
        return request.kind == KIND
    cause, step = (
        "samples of counters next to logs of jobs",
        "give the samples as --counters {file}",
    )
    return all_or_none(request.files, is_counters, cause, step)


def counters_answer(request: DemandRequest) -> Result:
    """Return the answer for samples without a log of jobs.

    Raises
    ------
    InputError
        When samples cannot be read, or a flag is for logs of jobs.
    """
    others = {f.name for f in fields_of(DemandRequest)} - USED
    refuse(request, frozenset(others), "not for samples of counters without a log of jobs")
    found = counted(request, None)
    price = request.own_usd_per_accelerator_hour
    saved: dict[str, object] = {"files": [str(f) for f in request.files]}
    named: dict[str, object] = {"kind": request.kind, "timezone": request.timezone}
    named["own_usd_per_accelerator_hour"] = price
    return Result(
        verb="demand",
        status="ok",
        exit_code=EXIT_OK,
        headline=tables.headline(found),
        scenario={"demand": saved | {k: v for k, v in named.items() if v is not None}},
        metrics=metrics_of(found),
        tables={
            **tables_of(found),
            FILES.name: FILES.table(tables.file_rows(found)),
            FINDINGS.name: FINDINGS.table(tables.finding_rows(found)),
        },
        warnings=[{"code": "demand", "message": text} for text in tables.notes(found)],
    )


def metrics_of(found: Counted) -> dict[str, Metric]:
    """Return the metrics of samples."""
    spans, samples = found.spans, found.read.samples
    metrics = spec.SEEN(spans.seen_h) | spec.SEEN_FRAC(spans.seen_h / spans.window_h)
    for name, one in ((ALLOCATED, spec.ALLOCATED), (BUSY, spec.BUSY), (SM, spec.SM)):
        metrics |= one(found.total(name)[0])
    metrics |= spec.TENSOR(found.total(TENSOR)[0])
    idle, known = found.total(IDLE)
    metrics |= spec.IDLE(idle) | spec.IDLE_FRAC(None if idle is None else idle / known)
    priced = None if idle is None or found.price is None else idle * found.price
    metrics |= spec.IDLE_USD(priced)
    for counter, one, unit in (
        (Counter.UTIL, spec.MEDIAN_UTIL, MEANINGS[Counter.UTIL].high),
        (Counter.SM, spec.MEDIAN_SM, 1.0),
        (Counter.POWER, spec.MEDIAN_POWER, 1.0),
    ):
        median = value_quantile(spans.hours, samples.value(counter), 0.5)
        metrics |= one(None if math.isnan(median) else median / unit)
    return metrics


def tables_of(found: Counted) -> dict[str, Table]:
    """Return the tables of samples."""
    groups = [row for kind in ("cluster", "queue", "user") for row in _group_rows(found, kind)]
    return {
        spec.USE.name: spec.USE.table(tables.use_rows(found)),
        spec.GROUPS.name: spec.GROUPS.table(groups),
        spec.VALUES.name: spec.VALUES.table(tables.value_rows(found)),
        spec.COVERAGE.name: spec.COVERAGE.table([tables.coverage_row(found)]),
    }


def _group_rows(found: Counted, kind: str) -> list[spec.GroupRow]:
    """Return the use of each group of a kind, the most hours first."""
    group, names = _groups(found, kind)
    if not np.any((group >= 0) & (group < len(names) - 1)):  # all of them are unknown
        return []
    hours, count = found.spans.hours, len(names)
    separated = found.held.how is not How.NOT
    mine = np.where((found.held.allocated == 1.0) | (not separated), group, -1)
    ones = np.ones(len(hours))
    seen, _ = hours_by(hours, ones, group, count)
    parts = {name: hours_by(hours, m.value, mine, count) for name, m in found.measures.items()}
    rows = [
        tables.group_row(
            kind,
            names[k],
            float(seen[k]),
            {name: (float(p[k]), float(known[k])) for name, (p, known) in parts.items()},
            found.price,
        )
        for k in range(count)
        if seen[k] > 0.0
    ]
    return sorted(rows, key=lambda r: -r.seen_accelerator_hours)


def _groups(found: Counted, kind: str) -> tuple[Index, tuple[str, ...]]:
    """Return the group of each sample, and the names; the last group is unknown, -1 is free."""
    samples, log = found.read.samples, found.log
    free = found.held.allocated == 0.0
    if kind in samples.labels:
        names = samples.names[kind]
        code = samples.label(kind)
    elif kind != "cluster" and log is not None and found.held.how is not How.NOT:
        names = log.pools if kind == "queue" else log.users
        column = log.pool if kind == "queue" else log.user
        code = np.append(column, -1)[found.held.run]
        if found.held.how is How.NODE:  # a node that several jobs hold together
            several = (found.held.allocated == 1.0) & (found.held.run < 0)
            code = np.where(several, len(names), code)
            names = (*names, SEVERAL)
    else:
        return np.zeros(len(samples), dtype=np.int64), (UNKNOWN,)
    code = np.where(code < 0, len(names), code)
    if kind != "cluster":
        code = np.where(free, -1, code)
    return code, (*names, UNKNOWN)
