"""Samples of counters with the time and the job of each, and the measures of use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.answers.demand.request import DemandRequest
from dcplan.demand.counters import Spans, hours_by, idle_samples, spans_of
from dcplan.demand.log.jobs import Array, JobLog
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.counters.findings import Oddity
from dcplan.inputs.counters.jobs import Held, held
from dcplan.inputs.counters.names import Counter
from dcplan.inputs.counters.read import ReadCounters, read_counters
from dcplan.inputs.counters.samples import Samples
from dcplan.inputs.logs.options import LogOptions
from dcplan.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

IDLE_SM_FRAC = 0.01
"""SM_ACTIVE below which an accelerator is idle."""
IDLE_S = 10.0 * SECONDS_PER_MINUTE
"""Length above which an idle period counts."""
ALLOCATED, BUSY, SM, TENSOR = "allocated", "busy", "SM-active", "tensor-active"
IDLE, IDLE_ANY = "idle while allocated", "idle (allocated or free)"


@dataclass(frozen=True)
class Measure:
    """One measure: its accelerator-hours by group, and where it is known."""

    name: str
    definition: str
    value: Array
    """Share of the time of each sample; NaN: unknown."""


@dataclass(frozen=True)
class Counted:
    """What samples say about accelerators."""

    read: ReadCounters
    spans: Spans
    held: Held
    measures: dict[str, Measure]
    log: JobLog | None
    price: float | None

    def total(self, name: str) -> tuple[float | None, float]:
        """Return the accelerator-hours of a measure, None if unknown, and those where it is known."""
        everywhere = np.zeros(len(self.spans.hours), dtype=np.int64)
        part, known = hours_by(self.spans.hours, self.measures[name].value, everywhere, 1)
        return (float(part[0]) if known[0] else None), float(known[0])


def counted(request: DemandRequest, log: JobLog | None) -> Counted:
    """Read samples, and find out which jobs held the accelerators.

    Raises
    ------
    InputError
        When samples cannot be read, or each accelerator has one sample.
    """
    files = request.files if log is None else request.counters
    options = LogOptions(timezone=request.timezone)
    read = read_counters(files, options)
    samples = read.samples
    try:
        spans = spans_of(samples.accelerator, samples.at_s)
    except ValueError as error:
        raise InputError([Problem("DC057", str(error), Place(str(files[0])))]) from error
    if len(spans.gaps):
        longest = int(spans.gaps[np.argmax(spans.gap_h)])
        detail = f"the longest is {float(spans.gap_h.max()):.3g} h, before this row"
        read.notes.add(Oddity.GAP, len(spans.gaps), samples.place(longest), detail)
    allocation = held(samples, log, read.notes)
    return _counted(request, read, spans, allocation, log)


def _counted(
    request: DemandRequest, read: ReadCounters, spans: Spans, allocation: Held, log: JobLog | None
) -> Counted:
    samples = read.samples
    sm = samples.value(Counter.SM)
    util = samples.value(Counter.UTIL)
    idle = idle_samples(spans, sm, allocation.job, below_frac=IDLE_SM_FRAC, longer_s=IDLE_S)
    long_idle = np.where(np.isfinite(sm), idle.astype(np.float64), np.nan)
    idle_allocated = np.where(allocation.allocated == 1.0, long_idle, np.nan)
    measures = (
        Measure(ALLOCATED, "a job held the accelerator", allocation.allocated),
        Measure(
            BUSY,
            "GPU_UTIL above 0: a kernel ran",
            np.where(np.isfinite(util), (util > 0.0).astype(np.float64), np.nan),
        ),
        Measure(SM, "hours times SM_ACTIVE", np.minimum(sm, 1.0)),
        Measure(
            TENSOR, "hours times PIPE_TENSOR_ACTIVE", np.minimum(samples.value(Counter.TENSOR), 1.0)
        ),
        Measure(IDLE, "allocated and SM_ACTIVE below 1 % for more than 10 min", idle_allocated),
        Measure(IDLE_ANY, "SM_ACTIVE below 1 % for more than 10 min", long_idle),
    )
    return Counted(
        read,
        spans,
        allocation,
        {m.name: m for m in measures},
        log,
        request.own_usd_per_accelerator_hour,
    )


def held_h(log: JobLog, samples: Samples) -> float:
    """Return the accelerator-hours that the jobs of a log held in the window of samples. [h]."""
    first, last = float(samples.at_s.min()), float(samples.at_s.max())
    end = np.where(np.isfinite(log.end_s), log.end_s, last)
    inside = np.minimum(end, last) - np.maximum(log.start_s, first)
    hours = np.where(log.started, np.maximum(inside, 0.0), 0.0) * log.accelerators
    return float(hours.sum()) / SECONDS_PER_HOUR
