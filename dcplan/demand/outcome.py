"""Figures of one simulation by class, with the standard errors of batch means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.demand.arrivals import Jobs
from dcplan.demand.classes import JobClass

Array = npt.NDArray[np.float64]
BATCHES = 20
"""Parts of a simulation whose spread gives a standard error."""


@dataclass(frozen=True)
class Record:
    """What a simulation leaves: one entry a job, and accelerator-hours at the ends of batches."""

    jobs: Jobs
    counted: range
    """Jobs whose waits count: after the warm-up, while later jobs still arrive."""
    wait_h: Array
    lost_h: Array
    stops: npt.NDArray[np.int64]
    unfinished: int
    """Counted jobs whose work was not done when the simulation ended."""
    failed: bool
    """Whether too many jobs of a class waited longer than its target."""
    at_h: Array
    """Ends of the batches, the first one is the end of the warm-up. [h]"""
    held_h: Array
    """Accelerator-hours that each class held until then, shape (batches + 1, classes)."""
    capacity_h: Array
    """Accelerator-hours of the pool until then."""


@dataclass(frozen=True)
class ClassOutcome:
    """Waits, use and stops of one class; a class without counted jobs has NaN as waits."""

    id: str
    jobs: int
    """Jobs whose waits count."""
    wait_mean_h: float
    """Time in the queue before the first start and after stops. [h]"""
    wait_mean_se_h: float
    wait_p50_h: float
    wait_p90_h: float
    wait_p95_h: float
    wait_quantile_h: float
    """Wait at the class's own quantile. [h]"""
    wait_quantile_se_h: float
    late_frac: float
    """Share of the jobs that wait longer than the target of the class."""
    late_se_frac: float
    utilization_frac: float
    """Accelerator-hours that the class held over those of the pool."""
    stops_per_job: float
    lost_accelerator_h: float
    """Accelerator-hours of work that the counted jobs repeated. [accelerator h]"""

    def meets(self, one: JobClass) -> bool:
        """Return whether the class keeps its target: few enough of its jobs are late."""
        return not self.wait_quantile_h > one.wait_h


@dataclass(frozen=True)
class QueueOutcome:
    """What a pool does with its job classes."""

    classes: tuple[ClassOutcome, ...]
    accelerators: float
    """Mean capacity over the measured time."""
    utilization_frac: float
    """Accelerator-hours held over those of the pool."""
    utilization_se_frac: float
    measured_h: float
    jobs: int
    """All jobs of the simulation, with its warm-up."""
    unfinished: int
    """Counted jobs that the simulation did not finish: above 0 the pool is too small."""


def standard_error(parts: Sequence[float] | Array) -> float:
    """Return the standard error of a mean from the means of its batches.

    The batches are taken as independent: one must be long against the time in which a queue forgets.

    Parameters
    ----------
    parts : array
        Means of the batches; fewer than two give infinity.

    References
    ----------
    .. [1] A. M. Law, "Simulation Modeling and Analysis", 5th edition, 2015, chapter 9.

    Examples
    --------
    >>> standard_error([1.0, 3.0])
    1.0
    """
    values = np.asarray(parts, dtype=np.float64)
    if values.size < 2:
        return math.inf
    return float(values.std(ddof=1) / math.sqrt(values.size))


def wait_quantile(waits: Array, quantile: float) -> float:
    """Return the least wait that at least this share of the jobs does not exceed; NaN without jobs.

    Examples
    --------
    >>> wait_quantile(np.array([0.0, 0.0, 1.0, 5.0]), 0.75)
    1.0
    """
    if not waits.size:
        return math.nan
    return float(np.quantile(waits, quantile, method="inverted_cdf"))


def summary(classes: Sequence[JobClass], record: Record) -> QueueOutcome:
    """Return the figures of a simulation.

    Parameters
    ----------
    classes : sequence of JobClass
    record : Record
    """
    capacity = np.diff(record.capacity_h)
    held = np.diff(record.held_h, axis=0)
    total = float(capacity.sum())
    use = held.sum(axis=1) / np.maximum(capacity, 1e-300)
    span = float(record.at_h[-1] - record.at_h[0])
    return QueueOutcome(
        tuple(
            _of_class(one, k, record, float(held[:, k].sum()) / max(total, 1e-300))
            for k, one in enumerate(classes)
        ),
        total / span,
        float(held.sum()) / max(total, 1e-300),
        standard_error(use),
        span,
        len(record.jobs.run_h),
        record.unfinished,
    )


def _of_class(one: JobClass, k: int, record: Record, use: float) -> ClassOutcome:
    part = slice(record.counted.start, record.counted.stop)
    own = record.jobs.kind[part] == k
    waits = record.wait_h[part][own]
    lost = record.lost_h[part][own]
    late = waits > one.wait_h
    batches = [b for b in np.array_split(waits, BATCHES) if b.size]
    some = bool(waits.size)
    return ClassOutcome(
        one.id,
        waits.size,
        float(waits.mean()) if some else math.nan,
        standard_error([b.mean() for b in batches]),
        wait_quantile(waits, 0.5),
        wait_quantile(waits, 0.9),
        wait_quantile(waits, 0.95),
        wait_quantile(waits, one.wait_quantile),
        standard_error([wait_quantile(b, one.wait_quantile) for b in batches]),
        float(late.mean()) if some else math.nan,
        standard_error([(b > one.wait_h).mean() for b in batches]),
        use,
        float(record.stops[part][own].mean()) if some else math.nan,
        float(lost.sum()) * one.held,
    )
