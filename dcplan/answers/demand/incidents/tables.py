"""Rows of the tables of logged incidents."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dcplan.answers.demand.jobs.tables import date_text
from dcplan.answers.demand.request import DemandRequest
from dcplan.demand.log.jobs import Array, Flags, Index
from dcplan.inputs.incidents.read import Incidents
from dcplan.reliability.counts import poisson_bounds
from dcplan.reliability.incidents import (
    censored_mean,
    censored_quantile,
    clean_frac,
    mttf_h,
    node_days,
    outages,
)
from dcplan.specs.demand import incidents as spec
from dcplan.specs.demand.log import FileRow, FindingRow
from dcplan.units import HOURS_PER_DAY, SECONDS_PER_HOUR

CONFIDENCE_FRAC = 0.95
"""Coverage of the intervals."""
UNSTATED = "not stated"
ALL = "all"
DELAYS = ("detection", "repair", "away")


def file_rows(log: Incidents, kind: str) -> Iterator[FileRow]:
    """Return the logs."""
    for f in log.files:
        first, last = date_text(f.first_s), date_text(f.last_s)
        yield FileRow(f.path, kind, f.rows, first, last, f.sha256)


def finding_rows(log: Incidents) -> Iterator[FindingRow]:
    """Return what the reader found."""
    for f in log.findings:
        yield FindingRow(str(f.kind), f.count, str(f.place), f.what, f.effect)


def rate_rows(request: DemandRequest, log: Incidents, stops: int) -> Iterator[spec.RateRow]:
    """Return the rates of nodes, of parts and of causes, the most frequent first."""
    yield _rate(request, log, "node", "outages", stops, None)
    for by, column, names in (("part", log.part, log.parts), ("cause", log.cause, log.causes)):
        if names:
            for name, chosen in _groups(column, names):
                count = int(chosen.sum())
                yield _rate(request, log, by, name, count, count / len(log))


def _groups(column: Index, names: tuple[str, ...]) -> list[tuple[str, Flags]]:
    """Return the incidents of each name that occurs, the most frequent first."""
    every = [(names[k] if k >= 0 else UNSTATED, column == k) for k in np.unique(column).tolist()]
    return sorted(every, key=lambda group: (-int(group[1].sum()), group[0]))


def _rate(
    request: DemandRequest, log: Incidents, by: str, name: str, count: int, share: float | None
) -> spec.RateRow:
    days = node_days(log.fleet, log.window_s)
    low, high = poisson_bounds(count, days, CONFIDENCE_FRAC)
    each = request.accelerators_per_node
    hours = None if each is None else days * HOURS_PER_DAY * each
    return spec.RateRow(
        by,
        name,
        count,
        count / days * 1e3,
        low * 1e3,
        high * 1e3,
        None if hours is None else count / hours * 1e6,
        share,
    )


def delay_rows(log: Incidents) -> Iterator[spec.DelayRow]:
    """Return the delays of all incidents and of each part, or of each cause without parts."""
    column, names = (log.part, log.parts) if log.parts else (log.cause, log.causes)
    for name in DELAYS:
        yield delay(log, name)
        if names:
            for group, chosen in _groups(column, names):
                yield delay(log, name, group, chosen)


def delay(
    log: Incidents, name: str, group: str = ALL, chosen: Flags | None = None
) -> spec.DelayRow:
    """Return one delay of some incidents; all by default."""
    begin = log.detected_s if name == "repair" else log.start_s
    end = log.detected_s if name == "detection" else log.repaired_s
    mine = np.ones(len(log), dtype=np.bool_) if chosen is None else chosen
    known = mine & np.isfinite(begin) & ~np.isnan(end)
    # an incident is open if it lasts to the end of the window; a detection after it is none
    so_far = np.maximum(log.window_s[1] - begin, 0.0)
    ended = np.isfinite(end)
    hours: Array = np.where(ended, end - begin, so_far)[known] / SECONDS_PER_HOUR
    ends = ended[known]
    return spec.DelayRow(
        name,
        group,
        int(ends.sum()),
        int((~ends).sum()),
        int((mine & ~known).sum()),
        censored_quantile(hours, ends, 0.5),
        censored_quantile(hours, ends, 0.95),
        censored_mean(hours, ends),
    )


def most_often(log: Incidents, chosen: Flags) -> str:
    """Return the most frequent part of some incidents, or cause without parts."""
    column, names = (log.part, log.parts) if log.parts else (log.cause, log.causes)
    groups = _groups(column[chosen], names) if names and chosen.any() else []
    return groups[0][0] if groups else UNSTATED


def down_h(log: Incidents, chosen: Flags) -> float:
    """Return the time that some incidents kept their nodes out."""
    found = outages(log.node[chosen], log.start_s[chosen], log.repaired_s[chosen], log.window_s)
    return found.down_s / SECONDS_PER_HOUR


def job_row(
    request: DemandRequest, nodes: int, rate: float, bounds: tuple[float, float], rest: float
) -> spec.JobRow:
    """Return the interruptions of a job, at the rate of all nodes and without lemon nodes."""
    days = request.job_days
    each = request.accelerators_per_node
    low, high = bounds

    def hours(per_node_day: float) -> float | None:
        found = mttf_h(nodes, per_node_day)
        return found if math.isfinite(found) else None

    return spec.JobRow(
        nodes,
        None if each is None else nodes * each,
        nodes * rate,
        hours(rate),
        hours(high),
        hours(low),
        clean_frac(nodes, days, rate),
        clean_frac(nodes, days, high),
        clean_frac(nodes, days, low),
        hours(rest),
        clean_frac(nodes, days, rest),
    )
