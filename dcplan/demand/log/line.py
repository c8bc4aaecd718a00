"""State of a replay: the line of waiting jobs, running jobs, and who starts next."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Set
from dataclasses import dataclass
from heapq import heappop, heappush

from dcplan.demand.log.nodes import NONE, Nodes, Token
from dcplan.demand.log.reservation import reservation
from dcplan.demand.log.work import Rules, Work


@dataclass(frozen=True)
class Late:
    """When a replay ends early."""

    wait_s: float
    most: float
    count_from: int


class Run:
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
        self.gone = [False] * jobs
        """Jobs that run elsewhere."""
        self._patient = 0
        """First job that may still run elsewhere."""

    def go(self) -> None:
        """Take arrivals and ends in order of time."""
        submit, ends = [*self.submit, math.inf], self.ends
        i, jobs, last = 0, len(self.submit), self.submit[-1] if self.submit else 0.0
        before = self.submit[0] if self.submit else 0.0
        while (i < jobs or ends) and not self.gave_up:
            due = self._due(i)
            now = min(submit[i], ends[0][0] if ends else math.inf, due)
            if now > before:
                used = self.nodes.size - self.nodes.free
                self.busy += used * (min(now, last) - min(before, last))
                before = now
            freed = False
            while due <= now:
                freed = True
                self._leave(self._patient)
                due = self._due(i)
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

    def _due(self, arrived: int) -> float:
        """Return when the next waiting job runs elsewhere."""
        patience = self.rules.patience_s
        if patience == math.inf:
            return math.inf
        job = self._patient
        while job < arrived and (
            self.starts[job] or self.gone[job] or self.units[job] > self.rules.leaves_units
        ):
            job += 1
        self._patient = job
        return self.submit[job] + patience if job < arrived else math.inf

    def _leave(self, job: int) -> None:
        self.gone[job] = True
        entry = (self.rank[job], job)
        at = bisect_left(self.queue, entry)
        if at < len(self.queue) and self.queue[at] == entry:  # a job that never fits is in no line
            del self.queue[at]

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
        head = queue[at][1]
        if came is None:
            line = [job for _, job in queue[at + 1 : at + 1 + self.rules.depth]]
        elif len(queue) - at - 1 > self.rules.depth:
            last = queue[at + self.rules.depth]
            line = [j for j in came if (self.rank[j], j) <= last]
        else:
            line = came
        most = nodes.most(NONE)
        line = [j for j in line if units[j] <= most]
        if not line:
            return
        shadow, spare, reserved = reservation(
            nodes, units[head], ((end, units[j], self.place[j]) for end, j in self.expected)
        )
        behind = min(spare, nodes.most(reserved))
        for job in line:
            need = units[job]
            soon = now + self.limit[job] <= shadow
            if need > (most if soon else behind):
                continue
            if job == head or self.start[job] >= 0.0 or not self._within_quota(job):
                continue
            self._begin(job, now, NONE if soon else reserved)
            spare -= 0 if soon else need
            del queue[bisect_left(queue, (self.rank[job], job))]
            self.backfilled += 1
            if not nodes.free:
                return
            most, behind = nodes.most(NONE), min(spare, nodes.most(reserved))
