"""Pools of a search for a size: each simulated once, until all larger tested ones pass."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dcplan.demand.arrivals import Array, draw_jobs
from dcplan.demand.classes import JobClass
from dcplan.demand.order import Order
from dcplan.demand.outcome import Record, summary
from dcplan.demand.refusal import Reason, Refusal, RefusedError
from dcplan.demand.simulation import replay, span_hours

SEARCH_ABOVE = 2
"""Pools above the size that must keep the waits, too: backfill is not monotone in the pool."""


class Trials:
    """Pools for one set of jobs, each simulated once; counted in steps of ``step`` accelerators."""

    def __init__(
        self, classes: Sequence[JobClass], lent: Array, order: Order, step: int, seed: int
    ) -> None:
        self.classes, self.lent, self.order, self.step = classes, lent, order, step
        self.seed = seed
        self.simulations = 0
        self.count = 0
        self.known: dict[int, Record] = {}

    def draw(self, jobs: int) -> None:
        """Take a set of jobs, unless it has as many already."""
        if jobs == self.count:
            return
        self.count = jobs
        self.span_h = span_hours(self.classes, jobs)
        self.jobs = draw_jobs(self.classes, self.span_h, self.seed)
        self.known = {}

    def record(self, steps: int) -> Record:
        """Return the record of a pool; it ends early where a class misses its target."""
        if steps not in self.known:
            self.simulations += 1
            pool = steps * self.step + self.lent
            self.known[steps] = replay(
                self.classes, self.jobs, pool, self.order, self.span_h, give_up=True
            )
        return self.known[steps]

    def passes(self, steps: int) -> bool:
        """Return whether every class keeps its target."""
        return not self.record(steps).failed


def smallest(trials: Trials, at: int, ends: tuple[int, int], width: int, grain: int) -> int:
    """Return the smallest pool above which all tested pools pass, to within ``grain`` steps."""
    least, last = ends
    low, high = least - 1, at
    if trials.passes(at):
        while high > least:
            below = max(high - width, least)
            if not trials.passes(below):
                low = below
                break
            high, width = below, 2 * width
    else:
        high = _next_passing(trials, at, last, width)
        low = max(s for s, r in trials.known.items() if r.failed and s < high)
    high = _bisect(trials, low, high, grain)
    above = high + grain
    while above <= min(high + SEARCH_ABOVE * grain, last):
        if not trials.passes(above):
            high = _bisect(trials, above, _next_passing(trials, above, last, grain), grain)
            above = high
        above += grain
    return high


def _next_passing(trials: Trials, failed: int, last: int, width: int) -> int:
    while failed < last:
        above = min(failed + width, last)
        if trials.passes(above):
            return above
        failed, width = above, 2 * width
    full = replay(
        trials.classes, trials.jobs, last * trials.step + trials.lent, trials.order, trials.span_h
    )
    outcome = summary(trials.classes, full)
    for one, found in zip(trials.classes, outcome.classes, strict=True):
        if not found.meets(one):
            limits = (found.wait_quantile_h, one.wait_h, math.nan)
            raise RefusedError(Refusal(Reason.WAIT, one.id, *limits))
    return last


def _bisect(trials: Trials, low: int, high: int, grain: int) -> int:
    """Return the smallest pool that passes between one that fails and one that passes."""
    while high - low > grain:
        middle = (low + high) // 2
        low, high = (low, middle) if trials.passes(middle) else (middle, high)
    return high
