"""Event simulation of job classes on a pool of accelerators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dcplan.demand.arrivals import Array, Jobs, draw_jobs
from dcplan.demand.classes import JobClass
from dcplan.demand.order import Line, Order
from dcplan.demand.outcome import BATCHES, QueueOutcome, Record, summary
from dcplan.demand.pool import Pool
from dcplan.units import HOURS_PER_WEEK

SEARCH_WARM_FRAC = 0.2
"""Share of the span before the first job that counts: the pool starts empty."""
SEARCH_TAIL_FRAC = 0.05
"""Share of the span after the last job that counts, in which jobs still arrive."""
COUNT_EPS = 1e-9
"""Rounding of a share of a count."""
MOST_SPANS = 3
"""Spans of arrivals after which a simulation ends with jobs that still wait."""


def simulate(
    classes: Sequence[JobClass],
    accelerators: npt.ArrayLike,
    *,
    order: Order = "backfill",
    seed: int = 0,
    jobs: int = 100_000,
) -> QueueOutcome:
    """Return waits, use, stops and lost work of job classes on a pool.

    Gangs start whole. The head of the queue is the first job of the class of highest priority; it
    stops preemptible jobs of lower priority if that makes it fit. A job of another class passes a
    blocked head if it does not delay it (EASY backfill with known run times). Jobs that may not be
    stopped share the least capacity of the week, preemptible jobs all of it; where capacity falls,
    preemptible jobs stop, lowest priority and latest start first.

    Parameters
    ----------
    classes : sequence of JobClass
        At least one arrival in the span.
    accelerators : float or array, shape (168,)
        Capacity, or capacity by hour of the week; parts of an accelerator are left out.
    order : {"backfill", "fifo"}
        Priorities with EASY backfill, or one line in order of arrival without priorities.
    seed : int
        The same seed gives the same jobs for every capacity, and the same answer.
    jobs : int
        Mean number of jobs of the simulation. The first fifth of its span is left out.

    Raises
    ------
    ValueError
        When no job arrives, or a job fits in no pool of this size or quota.

    References
    ----------
    .. [1] M. Harchol-Balter, "The multiserver job queueing model", Queueing Systems, 2022.
    .. [2] D. Tsafrir, Y. Etsion, D. G. Feitelson, "Backfilling using system-generated predictions
       rather than user runtime estimates", IEEE TPDS 18, 2007.

    Examples
    --------
    >>> jobs = JobClass("fine-tunes", 8, hours=2.0, jobs_per_h=3.0, wait_h=1.0)
    >>> found = simulate([jobs], 64, seed=1, jobs=5_000)
    >>> round(found.utilization_frac, 2), found.classes[0].meets(jobs)
    (0.74, True)
    """
    span = span_hours(classes, jobs)
    return summary(
        classes, replay(classes, draw_jobs(classes, span, seed), accelerators, order, span)
    )


def span_hours(classes: Sequence[JobClass], jobs: int) -> float:
    """Return the time in which so many jobs arrive on average.

    Examples
    --------
    >>> span_hours([JobClass("a", 1, 1.0, jobs_per_h=2.0)], 1000)
    500.0
    """
    rate = sum(c.jobs_per_h for c in classes)
    if not rate > 0.0 or jobs < 1:
        msg = "a simulation needs a class with arrivals, and at least one job"
        raise ValueError(msg)
    return jobs / rate


def replay(
    classes: Sequence[JobClass],
    jobs: Jobs,
    accelerators: npt.ArrayLike,
    order: Order,
    span_h: float,
    *,
    give_up: bool = False,
) -> Record:
    """Return the record of given jobs on a pool.

    Parameters
    ----------
    classes : sequence of JobClass
    jobs : Jobs
        Jobs that arrive within the span.
    accelerators : float or array, shape (168,)
    order : {"backfill", "fifo"}
    span_h : float
        Time in which jobs arrive. [h]
    give_up : bool
        End the simulation when a class has too many late jobs for its target.
    """
    week = _week(accelerators)
    base = int(week.min())
    for k in set(jobs.kind.tolist()):
        one = classes[k]
        top = min(int(week.max()) if one.preemptible else base, one.most_accelerators)
        if one.gang > top:
            msg = f"class {one.id}: a job of {one.gang} accelerators never starts, at most {top:g} serve it"
            raise ValueError(msg)
    warm_h, last_h = span_h * SEARCH_WARM_FRAC, span_h * (1.0 - SEARCH_TAIL_FRAC)
    first, end = (int(i) for i in np.searchsorted(jobs.arrival_h, [warm_h, last_h]))
    most_late = _most_late(classes, jobs.kind[first:end])
    pool = Pool(classes, jobs.kind.tolist(), jobs.run_h.tolist(), base)
    arrival = jobs.arrival_h.tolist()
    line = Line(classes, pool, arrival, order, range(first, end), most_late if give_up else None)
    pool.free = int(week[0])
    marks = np.linspace(warm_h, last_h, BATCHES + 1)
    changes = _changes(week, MOST_SPANS * span_h)
    held, unfinished = _run(pool, line, arrival, changes, marks.tolist())
    wait_h = np.array(line.wait)
    limit_h = np.array([c.wait_h for c in classes])[jobs.kind[first:end]]
    late = np.bincount(jobs.kind[first:end][wait_h[first:end] > limit_h], minlength=len(classes))
    return Record(
        jobs,
        line.counted,
        wait_h,
        np.array(pool.lost),
        np.array(pool.stops),
        unfinished,
        bool(np.any(late > most_late)),
        marks,
        np.array(held),
        _capacity_h(week, marks),
    )


def _most_late(classes: Sequence[JobClass], kind: npt.NDArray[np.int64]) -> list[int]:
    """Return how many jobs of each class may wait longer than its target."""
    counts = np.bincount(kind, minlength=len(classes)).tolist()
    return [
        math.floor(n * (1.0 - c.wait_quantile) + COUNT_EPS)
        for n, c in zip(counts, classes, strict=True)
    ]


def _run(
    pool: Pool,
    line: Line,
    arrival: list[float],
    changes: list[tuple[float, int]],
    marks: list[float],
) -> tuple[list[list[float]], int]:
    """Take events in order of time until all counted jobs are done."""
    ends, counted = pool.ends, line.counted
    arrival = [*arrival, math.inf]
    ticks = sorted([*changes, *((at, 0) for at in marks)], reverse=True)
    held: list[list[float]] = []
    open_jobs = len(counted)
    i, now = 0, 0.0
    while ticks and not line.failed and (open_jobs or len(held) < len(marks)):
        due = -ends[-1][0] if ends else math.inf
        if ticks[-1][0] <= min(due, arrival[i]):
            now, step = ticks.pop()
            if step:
                line.changed(step, now)
            elif len(held) < len(marks):
                held.append(pool.held_until(now))
        elif due <= arrival[i]:
            now, job = due, ends.pop()[1]
            pool.finish(job, now)
            open_jobs -= job in counted
            if line.waiting and not (ends and ends[-1][0] == -now):
                line.serve(now)
        else:
            now = arrival[i]
            line.arrive(i, now)
            i += 1
    line.close(now)
    held += [pool.held_until(now)] * (len(marks) - len(held))
    return held, open_jobs


def _week(accelerators: npt.ArrayLike) -> Array:
    week = np.floor(np.atleast_1d(np.asarray(accelerators, dtype=np.float64)))
    if week.shape not in {(1,), (HOURS_PER_WEEK,)} or not np.all(np.isfinite(week) & (week >= 0.0)):
        msg = f"accelerators need one number or {HOURS_PER_WEEK} by hour of the week, at least 0"
        raise ValueError(msg)
    return np.asarray(week)


def _changes(week: Array, until_h: float) -> list[tuple[float, int]]:
    """Return when capacity changes and by how much; a last entry of 0 ends the simulation."""
    steps = week - np.roll(week, 1)
    hours = np.flatnonzero(steps)
    weeks = int(until_h // HOURS_PER_WEEK) + 1
    at = [(float(w * HOURS_PER_WEEK + h), int(steps[h])) for w in range(weeks) for h in hours]
    return [*(x for x in at if 0.0 < x[0] < until_h), (until_h, 0)]


def _capacity_h(week: Array, at_h: Array) -> Array:
    """Return the accelerator-hours of the pool until each moment."""
    hourly = np.broadcast_to(week, HOURS_PER_WEEK)
    sums = np.concatenate([[0.0], np.cumsum(hourly)])
    weeks, rest = np.divmod(at_h, HOURS_PER_WEEK)
    return np.asarray(weeks * sums[-1] + np.interp(rest, np.arange(HOURS_PER_WEEK + 1), sums))
