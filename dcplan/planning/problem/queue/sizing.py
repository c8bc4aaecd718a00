"""Accelerators of a pool in which every class keeps its wait, all week or in hours that are free."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from dcplan.cache import Shelf, stored
from dcplan.demand.arrivals import Jobs, draw_jobs
from dcplan.demand.classes import JobClass, gang_factor, offered_accelerators
from dcplan.demand.outcome import QueueOutcome
from dcplan.demand.simulation import replay, simulate, span_hours
from dcplan.demand.sizing import accelerators_for

SEED = 1
SEARCH_JOBS = 12_000
"""Jobs of each simulation; sizing and audit draw the same ones."""
SEARCH_FIRST_JOBS = 6_000
"""Jobs of the search whose size is the start."""
SEARCH_ABOVE = 2
"""Pools above the size that must keep the waits, too."""
SEARCH_DOUBLINGS = 6
SEARCH_PRECISION = 0.005
"""Width of the last bracket of a size, over the size; at least one accelerator."""
POOLS = Shelf("pools", 4096)
"""Sizes of pools that earlier processes found, some 100 bytes each."""
FLOOR_EPS = 1e-6
"""Rounding of the solver: 63.9999999 accelerators are 64."""

Week = tuple[float, ...]
"""Accelerators by hour of the week, or one number for all hours."""


@dataclass(frozen=True)
class PoolSize:
    """Accelerators of a pool: in all hours, and on average in any hours."""

    always: float
    any_hours: float = 0.0
    """Mean over the week of those that may be concentrated in some hours."""
    together: bool = False
    """Whether classes that may wait for any hours need accelerators in all hours, too."""


@functools.lru_cache(maxsize=512)
def queue_in(classes: tuple[JobClass, ...], week: Week) -> QueueOutcome:
    """Return the queue of a pool with this capacity; the same jobs for every capacity."""
    whole = np.floor(np.asarray(week) + FLOOR_EPS)
    return simulate(classes, whole, seed=SEED, jobs=SEARCH_JOBS)


@functools.lru_cache(maxsize=8)
def _jobs(classes: tuple[JobClass, ...]) -> tuple[Jobs, float]:
    span_h = span_hours(classes, SEARCH_JOBS)
    return draw_jobs(classes, span_h, SEED), span_h


@functools.lru_cache(maxsize=512)
def keeps(classes: tuple[JobClass, ...], week: Week) -> bool:
    """Return whether every class keeps its wait with this capacity; not if a job never starts."""
    whole = np.floor(np.asarray(week) + FLOOR_EPS)
    for one in classes:
        if one.gang > (whole.max() if one.preemptible else whole.min()):
            return False
    jobs, span_h = _jobs(classes)
    return not replay(classes, jobs, whole, "backfill", span_h, give_up=True).failed


@functools.lru_cache(maxsize=512)
def pool_size(classes: tuple[JobClass, ...], any_hours: frozenset[str], free: Week) -> PoolSize:
    """Return the fewest accelerators in which every class keeps its wait.

    Classes that may wait for any hours use what the other classes leave idle, and a mean of
    accelerators of their own. The mean is the larger one of two profiles: constant, and in
    proportion to the accelerators that services leave free (``free``, mean 1).

    The size is kept for later processes: the arguments are numbers and texts, so their text is exact
    and names it.

    Raises
    ------
    RefusedError
        When a quota does not keep a wait.
    """
    asked = (classes, sorted(any_hours), free)
    return stored(POOLS, repr(asked), lambda: _sized(classes, any_hours, free))


def _sized(classes: tuple[JobClass, ...], any_hours: frozenset[str], free: Week) -> PoolSize:
    apart = [c for c in classes if c.id in any_hours]
    if not classes:
        return PoolSize(0.0)
    if not apart or len(set(free)) == 1:
        return PoolSize(_always(classes))
    others = tuple(c for c in classes if c.id not in any_hours)
    always = _always(others) if others else 0.0
    means = [_mean(classes, always, x) for x in ((1.0,), free)]
    if any(x is None for x in means):
        return PoolSize(_always(classes), together=True)
    return PoolSize(always, max(x for x in means if x is not None))


def _always(classes: tuple[JobClass, ...]) -> float:
    """Return the smallest constant pool, found with the jobs that the audit draws.

    A short search gives a start. Two larger pools keep the waits, too, as backfill is not monotone.
    """

    def enough(pool: int) -> bool:
        return keeps(classes, (float(pool),))

    start = accelerators_for(classes, seed=SEED, most_jobs=SEARCH_FIRST_JOBS)
    least, high = math.ceil(start.offered_accelerators), start.accelerators
    grain = max(round(SEARCH_PRECISION * high), 1)
    low, step = least - 1, grain
    if enough(high):
        while high > least:
            below = max(high - step, least)
            if not enough(below):
                low = below
                break
            high, step = below, 2 * step
    else:
        while not enough(high):
            low, high, step = high, high + step, 2 * step
    while high - low > grain:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    at, passed = high, 0
    while passed <= SEARCH_ABOVE:
        passed = passed + 1 if enough(at) else 0
        at += grain
    return float(at - passed * grain)


def _mean(classes: tuple[JobClass, ...], always: float, shape: Week) -> float | None:
    """Return the smallest mean of a profile added to a constant pool; None if no mean is enough."""

    def enough(mean: float) -> bool:
        return keeps(classes, tuple(always + mean * x for x in shape))

    load = offered_accelerators(classes)
    low = max(load - always, 0.0)
    if low == 0.0 and enough(0.0):
        return 0.0
    step = max(math.sqrt(load * gang_factor(classes)), 1.0)
    high = low + step
    for _ in range(SEARCH_DOUBLINGS):
        if enough(high):
            break
        low, step = high, 2.0 * step
        high = low + step
    else:
        return None
    while high - low > max(SEARCH_PRECISION * high, 1.0):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
