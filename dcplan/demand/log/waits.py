"""Recorded waits in parts: before a job could start, too few accelerators, scattered ones, policy."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from dcplan.demand.log.jobs import Array, Flags, JobLog
from dcplan.demand.log.nodes import Nodes, Token
from dcplan.demand.log.reservation import Line, behind_s

SEARCH_CYCLE_S = 60.0
"""Time that counts as the period of a scheduler where none is given: Slurm tries to start jobs
every 30 s (``bf_interval``) or 60 s (``sched_interval``)."""


@dataclass(frozen=True)
class Waits:
    """Parts of the wait of each run that has started; they add up to start - submit."""

    before_s: Array
    """From submission until nothing but capacity and policy kept the run from its start."""
    short_s: Array
    """While fewer accelerators were idle than it needs."""
    scattered_s: Array
    """While enough were idle, but on no nodes where it fits."""
    behind_s: Array
    """While it would have fitted, and a run ahead of it waited for accelerators."""
    cycle_s: Array
    """While it would have fitted, up to the period of the scheduler."""
    policy_s: Array
    """While it would have fitted, beyond the period of the scheduler."""

    @property
    def total_s(self) -> Array:
        """Sum of the parts."""
        return self.before_s + self.capacity_s + self.cycle_s + self.policy_s

    @property
    def capacity_s(self) -> Array:
        """Parts that more accelerators would shorten."""
        return self.short_s + self.scattered_s + self.behind_s


@dataclass(frozen=True)
class Use:
    """Accelerators of a cluster over time, as the log records them; a value holds until the next."""

    at_s: Array
    """Moments at which something changes, sorted. [s]"""
    used: Array
    """Accelerators in use."""
    idle_nodes: Array
    """Whole nodes that are idle."""
    on_a_node: Array
    """Largest number of idle accelerators on one node."""


def recorded_use(log: JobLog, accelerators: int, per_node: int) -> Use:
    """Return the use of a cluster, with each run placed where best fit would have placed it.

    The count of accelerators in use is recorded; the nodes are an estimate, because logs seldom
    name accelerators on nodes. A run that finds no place takes idle accelerators anywhere.

    Parameters
    ----------
    log : JobLog
        Runs of one cluster.
    accelerators : int
    per_node : int
        Accelerators of a node; ``accelerators`` for a plain count.

    Examples
    --------
    >>> from dcplan.demand.log.jobs import log_of
    >>> use = recorded_use(log_of([0.0, 0.0], [0.0, 5.0], [10.0, 8.0], [4, 8]), 16, 8)
    >>> use.at_s.tolist(), use.used.tolist(), use.idle_nodes.tolist()
    ([0.0, 5.0, 8.0, 10.0], [4.0, 12.0, 4.0, 0.0], [1.0, 0.0, 1.0, 2.0])
    """
    nodes = Nodes(accelerators, per_node)
    runs = np.flatnonzero(log.started)
    order = runs[np.argsort(log.start_s[runs], kind="stable")]
    start = log.start_s[order].tolist()
    end = np.where(np.isfinite(log.end_s), log.end_s, np.inf)[order].tolist()
    need = np.ceil(log.accelerators[order] - 1e-9).astype(int).tolist()
    exact = log.accelerators[order].tolist()
    ends: list[tuple[float, int]] = []
    places: dict[int, Token] = {}
    at, used, idle, on_a_node = [], [], [], []
    now_used, i = 0.0, 0
    while i < len(start) or (ends and ends[0][0] < np.inf):
        now = min(start[i] if i < len(start) else np.inf, ends[0][0] if ends else np.inf)
        while ends and ends[0][0] <= now:
            _, run = heappop(ends)
            nodes.release(places.pop(run))
            now_used -= exact[run]
        while i < len(start) and start[i] <= now:
            places[i] = nodes.force(need[i])
            now_used += exact[i]
            heappush(ends, (end[i], i))
            i += 1
        at.append(now)
        used.append(now_used)
        idle.append(float(len(nodes.idle_nodes)))
        on_a_node.append(float(nodes.most_on_a_node))
    return Use(np.array(at), np.array(used), np.array(idle), np.array(on_a_node))


def split_waits(
    log: JobLog, accelerators: int, per_node: int, *, cycle_s: float = SEARCH_CYCLE_S
) -> Waits:
    r"""Return what each recorded wait was for.

    .. math:: start - submit
       = W_{before} + W_{short} + W_{scattered} + W_{behind} + W_{cycle} + W_{policy}

    With the idle accelerators F(t) of the log, a moment of the wait counts as short if F(t) < n, and
    as scattered if F(t) >= n and no nodes have a place for the run. Where it has a place, it counts
    as behind while a run that is ahead (a higher priority, or the same and eligible earlier) is short
    or scattered: a line in order, or a reservation, keeps its place free. The rest is policy, beyond
    the period of the scheduler. Policy does not answer to more hardware. A run whose ``eligible_s``
    is unknown was eligible when submitted.

    Parameters
    ----------
    log : JobLog
        Runs of one cluster; runs that never started have a wait of NaN.
    accelerators : int
        Accelerators that the cluster had.
    per_node : int
    cycle_s : float
        Period of the scheduler. [s]

    Examples
    --------
    Four accelerators are busy for 100 s. A job of one accelerator that came at 10 s starts at 180 s:
    90 s too few, 60 s the scheduler, 20 s policy.

    >>> from dcplan.demand.log.jobs import log_of
    >>> log = log_of([0.0, 10.0], [0.0, 180.0], [100.0, 200.0], [4, 1])
    >>> waits = split_waits(log, 4, 4, cycle_s=60.0)
    >>> waits.short_s.tolist(), waits.cycle_s.tolist(), waits.policy_s.tolist()
    ([0.0, 90.0], [0.0, 60.0], [0.0, 20.0])

    Three of four are busy. A job of two comes at 10 s and starts at 100 s; a job of one that came at
    20 s starts with it: 80 s behind.

    >>> log = log_of([0.0, 10.0, 20.0], [0.0, 100.0, 100.0], [100.0, 200.0, 200.0], [3, 2, 1])
    >>> split_waits(log, 4, 4).behind_s.tolist()
    [0.0, 0.0, 80.0]
    """
    use = recorded_use(log, accelerators, per_node)
    eligible = np.where(np.isfinite(log.eligible_s), log.eligible_s, log.submit_s)
    eligible = np.clip(eligible, log.submit_s, log.start_s)
    need = np.ceil(log.accelerators - 1e-9)
    short, scattered, held = _held(log, use, accelerators, per_node, eligible)
    unknown = np.where(log.started, 0.0, np.nan)
    before = eligible - log.submit_s + unknown
    rest = np.maximum(log.start_s - eligible - short - scattered, 0.0)
    line = Line(eligible, log.start_s, need, _ranks(log, eligible))
    behind = np.minimum(behind_s(line, use.at_s, held, rest), rest)
    rest = rest - behind
    cycle = np.minimum(rest, cycle_s)
    return Waits(before, short + unknown, scattered + unknown, behind, cycle, rest - cycle)


def _held(
    log: JobLog, use: Use, accelerators: int, per_node: int, eligible_s: Array
) -> tuple[Array, Array, dict[float, Flags]]:
    """Return how long each run was short and scattered, and when runs of each size were either."""
    short, scattered = np.zeros(len(log)), np.zeros(len(log))
    need = np.ceil(log.accelerators - 1e-9)
    held: dict[float, Flags] = {}
    for size in np.unique(need[log.started]).tolist():
        mine = log.started & (need == size)
        few = accelerators - use.used < size - 1e-9
        nowhere = ~few & ~_fits(use, size, per_node, accelerators)
        short[mine] = _during(use.at_s, few, eligible_s[mine], log.start_s[mine])
        scattered[mine] = _during(use.at_s, nowhere, eligible_s[mine], log.start_s[mine])
        held[size] = few | nowhere
    return short, scattered, held


def _ranks(log: JobLog, eligible_s: Array) -> Array:
    """Return the place of each run in the line: by priority, then by the time it was eligible."""
    priority = np.where(np.isfinite(log.priority), log.priority, -np.inf)
    ranks = np.empty(len(log))
    ranks[np.lexsort((log.submit_s, eligible_s, -priority))] = np.arange(len(log))
    return ranks


def _fits(use: Use, size: float, per_node: int, accelerators: int) -> npt.NDArray[np.bool_]:
    if per_node >= accelerators:
        return np.ones(len(use.at_s), dtype=np.bool_)
    whole, rest = divmod(size, per_node)
    full = np.asarray(use.idle_nodes > whole - (rest == 0))
    if not rest:
        return full
    return np.asarray(full | ((use.idle_nodes == whole) & (use.on_a_node >= rest)))


def _during(at_s: Array, holds: npt.NDArray[np.bool_], from_s: Array, until_s: Array) -> Array:
    """Return how long something holds between two moments; it holds at no time before the first."""
    if not len(at_s):
        return np.zeros(len(from_s))
    total = np.concatenate([[0.0], np.cumsum(np.diff(at_s) * holds[:-1])])

    def until(t: Array) -> Array:
        k = np.clip(np.searchsorted(at_s, t, side="right") - 1, 0, len(at_s) - 1)
        return np.asarray(total[k] + np.maximum(t - at_s[k], 0.0) * holds[k])

    return until(until_s) - until(from_s)
