"""Tables of ``dcplan demand``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np

from dcplan.answers.demand.ahead import Ahead
from dcplan.answers.demand.clusters import Recording
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.sized import Sized
from dcplan.demand.log.fidelity import SEARCH_FLOOR_S, SEARCH_QUANTILES
from dcplan.demand.log.jobs import little_gap_frac
from dcplan.demand.log.size import wait_quantile
from dcplan.inputs.logs.checks import REMARK_DATE_S
from dcplan.inputs.logs.options import LogFile
from dcplan.inputs.logs.read import ReadJobs
from dcplan.specs.demand import log as spec
from dcplan.specs.demand import sizes as size_spec
from dcplan.units import (
    HOURS_PER_WEEK,
    SECONDS_PER_HOUR,
    SECONDS_PER_WEEK,
    quarter_index,
    quarter_name,
)

UNLABELED = "no reason recorded"


def date_text(at_s: float) -> str | None:
    """Return a moment in UTC, or seconds from the start of a log without dates."""
    if not math.isfinite(at_s):
        return None
    if at_s < REMARK_DATE_S:
        return f"{at_s:.0f} s"
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def file_rows(files: Sequence[LogFile]) -> Iterator[spec.FileRow]:
    """Return the logs."""
    for f in files:
        first, last = date_text(f.first_s), date_text(f.last_s)
        yield spec.FileRow(f.path, str(f.kind), f.rows, first, last, f.sha256)


def finding_rows(read: ReadJobs) -> Iterator[spec.FindingRow]:
    """Return what the readers found."""
    for f in read.findings:
        yield spec.FindingRow(str(f.kind), f.count, str(f.place), f.what, f.effect)


def _hours(seconds: float) -> float | None:
    return seconds / SECONDS_PER_HOUR if math.isfinite(seconds) else None


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def wait_row(cluster: Recording) -> spec.WaitRow:
    """Return the recorded waits of a cluster."""
    log, waits = cluster.log, cluster.waits
    total = waits.total_s
    known = total[np.isfinite(total)] if cluster.starts_known else np.zeros(0)
    whole = float(known.sum())

    def share(part: object) -> float | None:
        return float(np.nansum(np.asarray(part))) / whole if whole else None  # None: no wait known

    used = float(np.sum(np.diff(cluster.use.at_s) * cluster.use.used[:-1]))
    return spec.WaitRow(
        cluster.name,
        int(log.started.sum()),
        int((~log.started).sum()),
        cluster.accelerators,
        cluster.peak,
        used / (cluster.accelerators * cluster.span_s),
        _hours(wait_quantile(known, 0.5)),
        _hours(wait_quantile(known, 0.95)),
        _hours(float(known.mean())) if len(known) else None,
        share(waits.before_s),
        share(waits.short_s),
        share(waits.scattered_s),
        share(waits.behind_s),
        share(waits.cycle_s),
        share(waits.policy_s),
        whole / cluster.span_s if len(known) else None,
        little_gap_frac(log),
    )


def reason_rows(cluster: Recording) -> Iterator[spec.ReasonRow]:
    """Return the waits by recorded reason, the largest first; none if the log has no reasons."""
    log, waits = cluster.log, cluster.waits
    if not log.reasons:
        return
    rows = []
    for k in (-1, *range(len(log.reasons))):
        mine = (log.reason == k) & log.started
        if np.any(mine):
            name = log.reasons[k] if k >= 0 else UNLABELED
            wait = float(np.nansum(waits.total_s[mine])) / SECONDS_PER_HOUR
            policy = float(np.nansum(waits.policy_s[mine])) / SECONDS_PER_HOUR
            rows.append(spec.ReasonRow(cluster.name, name, int(mine.sum()), wait, policy))
    yield from sorted(rows, key=lambda r: -r.wait_h)


def replay_rows(found: Sized) -> Iterator[size_spec.ReplayRow]:
    """Return recorded and replayed waits of the second half."""
    check = found.fidelity
    if check is None:
        return
    names = (*(f"P{q * 100:.0f}" for q in SEARCH_QUANTILES), "mean")
    values = zip(names, check.recorded.all_s, check.replayed.all_s, check.given.all_s, strict=True)
    for name, recorded, replayed, given in values:
        ratio = (replayed + SEARCH_FLOOR_S) / (recorded + SEARCH_FLOOR_S)
        yield size_spec.ReplayRow(
            found.cluster.name,
            name,
            float(recorded) / SECONDS_PER_HOUR,
            float(replayed) / SECONDS_PER_HOUR,
            float(given) / SECONDS_PER_HOUR,
            float(max(ratio, 1.0 / ratio)),
        )


def size_row(found: Sized) -> size_spec.SizeRow:
    """Return the size of a cluster."""
    offered = found.load.mean / found.cluster.recorded.units_per_accelerator
    low, high = found.interval or (None, None)
    used = offered / found.accelerators if found.accelerators else None
    return size_spec.SizeRow(
        found.cluster.name,
        offered,
        found.accelerators,
        low,
        high,
        used,
        found.order,
        found.effective_frac,
        _known(found.factor),
        found.why_not,
    )


def shortage_rows(request: DemandRequest, found: Sized) -> Iterator[size_spec.ShortageRow]:
    """Return waits by size of the cluster, and the cost of own hours and hours elsewhere."""
    own, rent = request.own_usd_per_accelerator_hour, request.rent_usd_per_accelerator_hour
    before: tuple[float, float] | None = None
    submit = found.cluster.recorded.work.submit_s
    span_s = float(submit[-1] - submit[0]) if len(submit) else 0.0
    weeks = span_s / SECONDS_PER_WEEK
    for each in found.curve:
        parts = found.cluster.recorded.units_per_accelerator
        size = found.in_accelerators(each.units)
        burst = each.burst_unit_h / parts / weeks if weeks else 0.0
        more = (size - before[0]) * HOURS_PER_WEEK if before else 0.0
        saved = (before[1] - burst) / more if before and more else None
        before = (size, burst)
        owned = None if own is None else own * size * HOURS_PER_WEEK
        rented = None if rent is None else rent * burst
        yield size_spec.ShortageRow(
            found.cluster.name,
            size,
            _hours(each.waits_s[0]),
            _hours(each.waits_s[1]),
            _known(each.late_frac),
            each.used_frac,
            _known(each.late_unit_h / parts / weeks) if weeks else None,
            burst,
            saved,
            owned,
            rented,
            None if owned is None or rented is None else owned + rented,
        )


def ahead_rows(request: DemandRequest, found: Sized, then: Ahead) -> Iterator[size_spec.AheadRow]:
    """Return the demand of the coming quarters."""
    offered = found.load.mean / found.cluster.recorded.units_per_accelerator
    made = then.forecast
    covered = None if made is None or math.isnan(made.covered_frac) else made.covered_frac
    first = None if request.start is None else quarter_index(request.start)
    for q, (level, low, high) in enumerate(zip(then.factor, then.low, then.high, strict=True)):
        yield size_spec.AheadRow(
            found.cluster.name,
            str(q + 1) if first is None else quarter_name(first + q),
            offered * float(level),
            offered * float(low),
            offered * float(high),
            then.model,
            None if made is None else made.error_frac,
            covered,
            None if made is None else made.origins,
        )


def rule_rows(found: Sized) -> Iterator[size_spec.RuleRow]:
    """Return the textbook rules next to the replay."""
    for name, accelerators in found.rules:
        frac = accelerators / found.accelerators if found.accelerators else None
        yield size_spec.RuleRow(found.cluster.name, name, accelerators, frac)
