"""Replay of recorded jobs on a cluster of another size: who would have waited how long."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Set
from dataclasses import dataclass, fields
from heapq import heappop, heappush
from typing import Literal

import numpy as np
import numpy.typing as npt

from dcplan.demand.log.jobs import Array, Flags, Index
from dcplan.demand.log.nodes import NONE, Nodes, Token

Order = Literal["backfill", "fifo"]
SEARCH_DEPTH = 100
"""Jobs behind the head that backfill looks at, as schedulers limit it (Slurm: ``bf_max_job_test``)."""


@dataclass(frozen=True)
class Work:
    """Jobs to replay, in the order of their submission; counts are units of the cluster.

    Raises
    ------
    ValueError
        When the jobs are not sorted, or a time is negative.
    """

    submit_s: Array
    """When a job may start at the earliest. [s]"""
    run_s: Array
    """Time that it needs. [s]"""
    limit_s: Array
    """Run time that the scheduler expects, at least ``run_s``. [s]"""
    units: Index
    """Accelerators, or parts of one, that it holds; a gang starts whole."""
    priority: Array
    """Rank, higher first."""
    group: Index
    """Pool of the job, for quotas."""
    preemptible: Flags
    """Whether a job of higher priority may stop it."""

    def __post_init__(self) -> None:
        if np.any(np.diff(self.submit_s) < 0.0) or np.any(self.run_s < 0.0):
            msg = "jobs are sorted by submission, and no run time is negative"
            raise ValueError(msg)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.submit_s)

    def rows(self, chosen: Flags | Index) -> Work:
        """Return some of the jobs."""
        return Work(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})


@dataclass(frozen=True)
class Rules:
    """How the cluster chooses the next job.

    Examples
    --------
    >>> Rules().order, Rules(quota=(8,)).quota
    ('backfill', (8,))
    """

    order: Order = "backfill"
    """EASY backfill, or one strict line."""
    quota: tuple[float, ...] = ()
    """Units that the jobs of each pool may hold at a time; empty: no quotas."""
    loss_s: float = 0.0
    """Work since its start that a stopped job repeats, at most. [s]"""
    depth: int = SEARCH_DEPTH


@dataclass(frozen=True)
class Replayed:
    """Outcome of a replay."""

    wait_s: Array
    """Time in the queue of each job, over all its starts; NaN: it never fits, or was cut off. [s]"""
    used_frac: float
    """Units in use over units of the cluster, mean from the first submission to the last."""
    most_waiting: int
    """Largest number of jobs in the queue."""
    stops: int
    """Times that a job was stopped for another."""
    never_fits: int
    """Jobs larger than the cluster or their quota."""
    backfilled: int
    """Jobs that passed a head of the line."""
    gave_up: bool
    """Whether the replay ended early, because too many jobs were late."""


def replay(
    work: Work,
    units: int,
    per_node: int,
    rules: Rules,
    *,
    late_s: float = math.inf,
    most_late: float = math.inf,
    count_from: int = 0,
) -> Replayed:
    """Return how long each job waits on a cluster.

    The head of the line is the job of highest priority that its quota does not hold back, then the
    first to come. If it does not fit, it stops preemptible jobs of lower priority, latest start
    first, if that is enough. Else it gets a reservation by the expected ends of running jobs, and
    jobs behind it start if they end before the reservation or fit next to it (EASY backfill).

    Parameters
    ----------
    work : Work
    units : int
        Units of the cluster.
    per_node : int
        Units of a node; ``units`` for a plain count.
    rules : Rules
    late_s, most_late : float
        The replay ends early when more than ``most_late`` jobs have waited longer than ``late_s``.
    count_from : int
        First job that counts as late; the cluster starts empty.

    References
    ----------
    .. [1] D. Tsafrir, Y. Etsion, D. G. Feitelson, "Backfilling using system-generated predictions
       rather than user runtime estimates", IEEE TPDS 18, 2007: EASY and its reservation.

    Examples
    --------
    Two jobs of four accelerators on four: the second waits until the first has ended. A short job
    of one accelerator cannot pass, because nothing is idle.

    >>> two = work_of([0.0, 10.0, 20.0], [100.0, 50.0, 5.0], [4, 4, 1])
    >>> replay(two, 4, 4, Rules()).wait_s.tolist()
    [0.0, 90.0, 130.0]
    >>> replay(two, 5, 5, Rules()).wait_s.tolist()
    [0.0, 90.0, 0.0]
    """
    run = _Run(work, Nodes(units, per_node), rules, Late(late_s, most_late, count_from))
    run.go()
    return run.outcome()


def work_of(
    submit_s: npt.ArrayLike,
    run_s: npt.ArrayLike,
    units: npt.ArrayLike,
    *,
    limit_s: npt.ArrayLike | None = None,
    priority: npt.ArrayLike | None = None,
    group: npt.ArrayLike | None = None,
    preemptible: npt.ArrayLike | None = None,
) -> Work:
    """Return jobs with known run times, without priorities, in one pool, unless given.

    Parameters
    ----------
    submit_s, run_s : array, shape (jobs,)
        Sorted by submission. [s]
    units : array of int, shape (jobs,)
    limit_s, priority, group, preemptible : array, shape (jobs,), optional

    Examples
    --------
    >>> len(work_of([0.0], [1.0], [8]))
    1
    """
    submit, run = np.asarray(submit_s, dtype=np.float64), np.asarray(run_s, dtype=np.float64)
    limit = run if limit_s is None else np.maximum(np.asarray(limit_s, dtype=np.float64), run)
    none = np.zeros(len(submit))
    return Work(
        submit,
        run,
        limit,
        np.asarray(units, dtype=np.int64),
        none if priority is None else np.asarray(priority, dtype=np.float64),
        none.astype(np.int64) if group is None else np.asarray(group, dtype=np.int64),
        none.astype(np.bool_) if preemptible is None else np.asarray(preemptible, dtype=np.bool_),
    )


@dataclass(frozen=True)
class Late:
    """When a replay ends early."""

    wait_s: float
    most: float
    count_from: int


class _Run:
    """State of one replay."""

    def __init__(self, work: Work, nodes: Nodes, rules: Rules, limit: Late) -> None:
        self.nodes, self.rules = nodes, rules
        self.submit = work.submit_s.tolist()
        self.left = work.run_s.tolist()
        self.limit = work.limit_s.tolist()
        self.units = work.units.tolist()
        self.rank = (-work.priority).tolist()
        self.group = work.group.tolist()
        self.soft = work.preemptible.tolist()
        self.preempts = bool(work.preemptible.any()) and len(set(self.rank)) > 1
        self.quota = list(rules.quota)
        self.held = [0] * len(self.quota)
        jobs = len(self.submit)
        self.wait: list[float] = [math.nan] * jobs
        self.since = list(self.submit)
        self.queue: list[tuple[float, int]] = []
        """Waiting jobs by rank and submission."""
        self.ends: list[tuple[float, int, int]] = []
        """Heap of real ends: time, job, number of its start."""
        self.expected: list[tuple[float, int]] = []
        """Running jobs by the end that the scheduler expects."""
        self.place: list[Token] = [[] for _ in range(jobs)]
        self.start = [-1.0] * jobs
        self.starts = [0] * jobs
        self.late_limit, self.late = limit, 0
        self.stops = self.never_fits = self.backfilled = self.most_waiting = 0
        self.busy = 0.0
        self.gave_up = False

    def go(self) -> None:
        """Take arrivals and ends in order of time."""
        submit, ends = [*self.submit, math.inf], self.ends
        i, jobs, last = 0, len(self.submit), self.submit[-1] if self.submit else 0.0
        before = self.submit[0] if self.submit else 0.0
        while (i < jobs or ends) and not self.gave_up:
            now = min(submit[i], ends[0][0] if ends else math.inf)
            if now > before:
                used = self.nodes.size - self.nodes.free
                self.busy += used * (min(now, last) - min(before, last))
                before = now
            freed = False
            while ends and ends[0][0] <= now:
                _, job, number = heappop(ends)
                if self.starts[job] == number and self.start[job] >= 0.0:
                    self._finish(job)
                    freed = True
            came: list[int] = []
            while submit[i] <= now:
                came.append(i)
                i += 1
            self._serve(came, freed, now)

    def outcome(self) -> Replayed:
        """Return the figures of the replay."""
        span = (self.submit[-1] - self.submit[0]) if len(self.submit) > 1 else 0.0
        whole = self.nodes.size * span
        return Replayed(
            np.array(self.wait),
            self.busy / whole if whole else 0.0,
            self.most_waiting,
            self.stops,
            self.never_fits,
            self.backfilled,
            self.gave_up,
        )

    def _serve(self, came: list[int], freed: bool, now: float) -> None:
        queue, quota = self.queue, self.quota
        first = len(queue)
        for job in came:
            too_large = bool(quota) and self.units[job] > quota[self.group[job]]
            if too_large or not self.nodes.ever_fits(self.units[job]):
                self.never_fits += 1
            elif not queue and len(came) == 1 and self._may_start(job):
                self._begin(job, now)
            else:
                entry = (self.rank[job], job)
                insort(queue, entry)
        if not queue:
            return
        self.most_waiting = max(self.most_waiting, len(queue))
        if freed or len(queue) > first:
            head = queue[0][1]
            self._start_heads(now)
            if queue and self.rules.order == "backfill":
                fresh = None if freed or queue[0][1] != head else came
                self._backfill(now, fresh)

    def _within_quota(self, job: int) -> bool:
        group = self.group[job]
        return not self.quota or self.held[group] + self.units[job] <= self.quota[group]

    def _may_start(self, job: int) -> bool:
        return self._within_quota(job) and self.nodes.fits(self.units[job])

    def _head(self) -> int | None:
        """Return the position of the first job in the line that its quota does not hold back."""
        if not self.quota:
            return 0
        return next((k for k, (_, job) in enumerate(self.queue) if self._within_quota(job)), None)

    def _start_heads(self, now: float) -> None:
        queue = self.queue
        while queue:
            at = self._head()
            if at is None:
                return
            job = queue[at][1]
            if not self.nodes.fits(self.units[job]) and not self._stop_for(job, now):
                return
            del queue[at]
            self._begin(job, now)

    def _begin(self, job: int, now: float, without: Set[int] = NONE) -> None:
        token = self.nodes.place(self.units[job], without)
        assert token is not None  # noqa: S101 - the caller has seen that it fits
        self.place[job] = token
        before = 0.0 if self.starts[job] == 0 else self.wait[job]
        wait = before + now - self.since[job]
        self.wait[job] = wait
        if wait > self.late_limit.wait_s >= before and job >= self.late_limit.count_from:
            self.late += 1
            self.gave_up = self.late > self.late_limit.most
        self.starts[job] += 1
        self.start[job] = now
        if self.quota:
            self.held[self.group[job]] += self.units[job]
        heappush(self.ends, (now + self.left[job], job, self.starts[job]))
        insort(self.expected, (now + max(self.limit[job], self.left[job]), job))

    def _finish(self, job: int) -> None:
        self._vacate(job)
        self.start[job] = -1.0

    def _vacate(self, job: int) -> None:
        self.nodes.release(self.place[job])
        end = (self.start[job] + max(self.limit[job], self.left[job]), job)
        at = bisect_left(self.expected, end)
        del self.expected[at]
        if self.quota:
            self.held[self.group[job]] -= self.units[job]

    def _stop_for(self, job: int, now: float) -> bool:
        """Stop jobs of lower priority until a job fits, latest start first; none if too few."""
        if not self.preempts:
            return False
        rank = self.rank[job]
        soft = [j for _, j in self.expected if self.soft[j] and self.rank[j] > rank]
        if self.nodes.free + sum(self.units[j] for j in soft) < self.units[job]:
            return False
        soft.sort(key=lambda j: (self.rank[j], self.start[j]))
        stopped: list[int] = []
        while soft and not self.nodes.fits(self.units[job]):
            last = soft.pop()
            self._vacate(last)
            stopped.append(last)
        if not self.nodes.fits(self.units[job]):  # idle accelerators are scattered over nodes
            for one in reversed(stopped):
                self._return(one)
            return False
        for one in stopped:
            self._requeue(one, now)
        return True

    def _return(self, job: int) -> None:
        """Put a job back to where it was: nothing else has moved."""
        for node, count in self.place[job]:
            self.nodes.change(node, -count)
        insort(self.expected, (self.start[job] + max(self.limit[job], self.left[job]), job))
        if self.quota:
            self.held[self.group[job]] += self.units[job]

    def _requeue(self, job: int, now: float) -> None:
        done = now - self.start[job]
        self.left[job] -= done - min(self.rules.loss_s, done)
        self.start[job] = -1.0
        self.since[job] = now
        self.stops += 1
        insort(self.queue, (self.rank[job], job))

    def _backfill(self, now: float, came: list[int] | None) -> None:
        """Start jobs behind the head that do not delay its reservation.

        If nothing has changed but arrivals, only these may start.
        """
        queue, nodes, units = self.queue, self.nodes, self.units
        at = self._head()
        if at is None or len(queue) - at < 2 or not nodes.free:
            return
        head, free = queue[at][1], nodes.free
        if came is None:
            line = queue[at + 1 : at + 1 + self.rules.depth]
            candidates = [job for _, job in line if units[job] <= free]
        elif len(queue) - at - 1 > self.rules.depth:
            last = queue[at + self.rules.depth]
            candidates = [j for j in came if units[j] <= free and (self.rank[j], j) <= last]
        else:
            candidates = [j for j in came if units[j] <= free]
        if not candidates:
            return
        shadow, spare, reserved = self._reservation(head)
        for job in candidates:
            if job == head or self.start[job] >= 0.0 or not self._within_quota(job):
                continue
            need = units[job]
            soon = now + self.limit[job] <= shadow
            if soon:
                if not nodes.fits(need):
                    continue
                self._begin(job, now)
            else:
                if need > spare or not nodes.fits(need, reserved):
                    continue
                self._begin(job, now, reserved)
                spare -= need
            del queue[bisect_left(queue, (self.rank[job], job))]
            self.backfilled += 1
            if not nodes.free:
                return

    def _reservation(self, job: int) -> tuple[float, int, Set[int]]:
        """Return when the head fits at the latest, what else is idle then, and the nodes it takes."""
        nodes, need = self.nodes, self.units[job]
        whole, rest = divmod(need, nodes.per_node)
        counted = len(nodes.idle) == 1
        free, changed = nodes.free, {}
        full = set(nodes.idle_nodes)
        found = nodes.room(rest, nodes.per_node - 1) if rest else None
        room = -1 if found is None else found
        shadow = math.inf
        for end, other in self.expected:
            if end > shadow:
                break
            free += self.units[other]
            if counted:
                shadow = end if free >= need else shadow
                continue
            for node, count in self.place[other]:
                now_idle = changed.get(node, nodes.idle[node]) + count
                changed[node] = now_idle
                if now_idle == nodes.per_node:
                    full.add(node)
                elif rest and now_idle >= rest:
                    room = node
            if len(full) > whole or (len(full) == whole and (not rest or room >= 0)):
                shadow = end
        if counted or shadow == math.inf:
            return shadow, free - need, NONE
        room = -1 if room in full else room
        taken = set(sorted(full)[: whole + (1 if rest and room < 0 else 0)])
        return shadow, free - need, taken | ({room} if rest and room >= 0 else set())
