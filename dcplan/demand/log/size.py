"""Smallest cluster that keeps the waits of recorded jobs, and how sure the log makes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.demand.log.jobs import Array
from dcplan.demand.log.replay import Replayed, replay
from dcplan.demand.log.staffing import load_of, square_root_units
from dcplan.demand.log.work import Rules, Work
from dcplan.units import SECONDS_PER_HOUR

SEARCH_WARM_FRAC = 0.1
"""Share of the jobs that come first and do not count: the cluster starts empty."""
SEARCH_SLACK = 1e-9
"""Rounding of a mean load that is a whole number."""
SEARCH_NEIGHBORS = 2
"""Larger sizes that must keep the target, too: backfill may delay jobs on a larger cluster."""


@dataclass(frozen=True)
class Target:
    """A share of the jobs that waits no longer than a time.

    Examples
    --------
    >>> Target(3600.0, 0.95).late_frac
    0.05
    """

    wait_s: float
    quantile: float

    @property
    def late_frac(self) -> float:
        """Share of the jobs that may wait longer."""
        return round(1.0 - self.quantile, 12)


@dataclass(frozen=True)
class Cluster:
    """What a search may change and what it may not: step, nodes and rules of a cluster."""

    per_node: int
    """Units of a node; 0: accelerators are counted, not placed."""
    step: int
    """Units by which a size may grow."""
    rules: Rules

    def run(self, work: Work, units: int, target: Target, *, give_up: bool) -> Replayed:
        """Replay jobs on a cluster of a size."""
        first = counted_from(work)
        most = math.floor((len(work) - first) * target.late_frac + 1e-9)
        return replay(
            work,
            units,
            self.per_node or units,
            self.rules,
            late_s=target.wait_s,
            most_late=most if give_up else math.inf,
            count_from=first,
        )

    def keeps(self, work: Work, units: int, target: Target) -> bool:
        """Return whether a cluster of a size keeps the target, with places for every job."""
        found = self.run(work, units, target, give_up=True)
        return not found.gave_up and not found.never_fits


def counted_from(work: Work) -> int:
    """Return the first job that counts."""
    return int(len(work) * SEARCH_WARM_FRAC)


def smallest_units(work: Work, cluster: Cluster, target: Target, *, start: int = 0) -> int:
    """Return the smallest size that keeps a target, and so do the next two larger sizes.

    A size is above the offered load: on a smaller one the queue grows without end, even if the log
    ends before a wait reaches the target.

    Parameters
    ----------
    work : Work
        At least one job.
    cluster : Cluster
    target : Target
    start : int
        A size near the answer; 0: the square-root rule with the recorded peakedness.

    Raises
    ------
    ValueError
        When no size keeps the target because quotas hold jobs longer, or the log is too short for
        its wait: the size of the offered load keeps it.

    Examples
    --------
    Ten jobs of four accelerators at the same time: all of them start at once on 40.

    >>> from dcplan.demand.log.work import work_of
    >>> ten = work_of([0.0] * 10, [100.0] * 10, [4] * 10)
    >>> smallest_units(ten, Cluster(0, 4, Rules()), Target(0.0, 0.95))
    40
    >>> smallest_units(ten, Cluster(0, 4, Rules()), Target(100.0, 0.95))
    20
    """
    step = cluster.step
    load = load_of(work)
    bearable = math.ceil(load.least / step - SEARCH_SLACK)
    low = max(math.ceil(int(work.units.max()) / step), bearable)
    if not start:
        start = math.ceil(square_root_units(load, target.late_frac, load.peakedness))
    high = max(math.ceil(start / step), low)
    good: dict[int, bool] = {}

    def keeps(steps: int) -> bool:
        if steps not in good:
            good[steps] = cluster.keeps(work, steps * step, target)
        return good[steps]

    low, high = _bracket(keeps, low, high, math.ceil(int(work.units.sum()) / step))
    if bearable > 1 and low == bearable and cluster.keeps(work, (low - 1) * step, target):
        msg = (
            "the log is too short for this wait: it ends before the queue of too few reaches it; "
            "take a shorter wait or a longer log"
        )
        raise ValueError(msg)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle + 1, high)
    while not all(keeps(high + k) for k in range(SEARCH_NEIGHBORS + 1)):
        high += 1 + max(k for k in range(SEARCH_NEIGHBORS + 1) if not keeps(high + k))
    return high * step


def _bracket(keeps: Callable[[int], bool], low: int, high: int, endless: int) -> tuple[int, int]:
    """Return sizes in steps between which the smallest is that keeps; the upper one keeps.

    On ``endless`` steps all jobs run at once.

    Raises
    ------
    ValueError
        When a size on which no job waits for another does not keep the target.
    """
    stride = max(high // 16, 1)
    if keeps(high):
        while high > low and keeps(max(high - stride, low)):
            high = max(high - stride, low)
            stride *= 2
        return max(low, high - stride + 1), high
    while not keeps(high):
        if high >= endless:
            msg = "no size keeps the target: quotas hold jobs longer; take larger quotas or a longer wait"
            raise ValueError(msg)
        low, high, stride = high + 1, high + stride, 2 * stride
    return low, high


@dataclass(frozen=True)
class Shortage:
    """What happens on a cluster of one size."""

    units: int
    waits_s: tuple[float, ...]
    """Quantiles of the wait, as asked. [s]"""
    late_frac: float
    """Share of the counted jobs that wait longer than the target."""
    used_frac: float
    late_unit_h: float
    """Unit-hours of run time of the counted jobs that wait longer than the target."""
    burst_unit_h: float
    """Unit-hours of the counted jobs that run elsewhere when their wait reaches the target."""


def shortage(
    work: Work, cluster: Cluster, target: Target, sizes: Sequence[int], quantiles: Sequence[float]
) -> tuple[Shortage, ...]:
    """Return waits, late jobs and use by the size of the cluster.

    On a cluster that is smaller than the offered load the queue grows as long as the log lasts: its
    waits are NaN, and its use is that with the jobs that run elsewhere.

    Parameters
    ----------
    work : Work
    cluster : Cluster
    target : Target
    sizes : sequence of int
        Units.
    quantiles : sequence of float
        Quantiles of the wait, each between 0 and 1.

    Examples
    --------
    >>> from dcplan.demand.log.work import work_of
    >>> two = work_of([0.0, 0.0], [3600.0, 3600.0], [4, 4])
    >>> found = shortage(two, Cluster(0, 4, Rules()), Target(60.0, 0.9), [4, 8], [1.0])
    >>> [(x.waits_s, x.late_frac, x.late_unit_h, x.burst_unit_h) for x in found]
    [((3600.0,), 0.5, 4.0, 4.0), ((0.0,), 0.0, 0.0, 0.0)]
    """
    rows = []
    first = counted_from(work)
    hours = (work.units * work.run_s / SECONDS_PER_HOUR)[first:]
    offered = load_of(work).mean
    leaving = replace(cluster, rules=replace(cluster.rules, patience_s=target.wait_s))
    for units in sizes:
        elsewhere = leaving.run(work, units, target, give_up=False)
        burst = float(hours[elsewhere.gone[first:]].sum())
        if units <= offered:
            unknown = tuple(math.nan for _ in quantiles)
            rows.append(Shortage(units, unknown, math.nan, elsewhere.used_frac, math.nan, burst))
            continue
        found = cluster.run(work, units, target, give_up=False)
        wait = found.wait_s[first:]
        late = ~(wait <= target.wait_s)  # a job that never fits is late
        at = tuple(wait_quantile(wait[np.isfinite(wait)], q) for q in quantiles)
        lost = float(hours[late].sum())
        rows.append(Shortage(units, at, float(late.mean()), found.used_frac, lost, burst))
    return tuple(rows)


def wait_quantile(wait_s: Array, share: float) -> float:
    """Return the least wait that a share of the jobs does not exceed; NaN without jobs.

    Examples
    --------
    >>> import numpy as np
    >>> wait_quantile(np.array([0.0, 0.0, 10.0, 40.0]), 0.5)
    0.0
    """
    if not len(wait_s):
        return math.nan
    rank = max(math.ceil(share * len(wait_s) - 1e-9), 1)
    return float(np.partition(wait_s, rank - 1)[rank - 1])
