"""Who starts next: priorities, quotas, the head's reservation, backfill and stops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Literal

from dcplan.demand.classes import JobClass
from dcplan.demand.pool import Pool

Order = Literal["backfill", "fifo"]


class Line:
    """Jobs that wait, and the rule by which they start.

    The head is the first job of the class of highest priority that its quota does not hold back,
    among equal priorities the job that arrived first. With ``fifo`` all classes have one line in
    order of arrival, nobody passes a blocked head and no job stops another.
    """

    def __init__(
        self,
        classes: Sequence[JobClass],
        pool: Pool,
        arrival: list[float],
        order: Order,
        counted: range,
        most_late: Sequence[int] | None,
    ) -> None:
        self.pool = pool
        self.backfills = order == "backfill"
        self.rank = [-c.priority if self.backfills else 0 for c in classes]
        self.queues: list[list[int]] = [[] for _ in classes]
        """Jobs of each class that wait: a heap, as a stopped job returns to its place."""
        self.waiting = 0
        self.since = list(arrival)
        """When a job that waits joined the line."""
        self.wait = [0.0] * len(arrival)
        self.late_h = [c.wait_h for c in classes]
        self.late = [0] * len(classes)
        """Counted jobs of each class that have waited longer than its target."""
        self.counted = counted
        self.most_late = list(most_late) if most_late is not None else [len(arrival)] * len(classes)
        self.failed = False
        """Whether a class has more late jobs than ``most_late``."""
        self.soft = [k for k, c in enumerate(classes) if c.preemptible]
        lower = [[j for j in self.soft if self.rank[j] > rank] for rank in self.rank]
        self.limited = [math.isfinite(c.most_accelerators) for c in classes]
        """Whether a quota may hold a class back."""
        self.lower = lower if self.backfills else [[] for _ in classes]
        """Classes whose jobs a class may stop."""
        self._head = -1
        self._shadow = 0.0
        self._spare = 0
        self._spare_firm = 0

    def arrive(self, job: int, now: float) -> None:
        """Start a job that arrives, or let it wait."""
        pool = self.pool
        k = pool.kind[job]
        if not self.waiting and pool.within_quota(k) and pool.fits(k):
            pool.begin(job, now)
            return
        queue = self.queues[k]
        heappush(queue, job)
        self.waiting += 1
        if queue[0] == job:  # another head of its class changes nothing
            self.serve(now)

    def serve(self, now: float) -> None:
        """Start every job that the rule lets start now."""
        pool = self.pool
        while self.waiting:
            ranked = self._ranked()
            if not ranked:
                return
            _, head, k = ranked[0]
            if pool.fits(k) or self._stops_lower(k, now):
                self._head = -1
                self._begin(k, now)
            else:
                if self.backfills and len(ranked) > 1:
                    self._backfill(head, k, [j for _, _, j in ranked[1:]], now)
                return

    def _ranked(self) -> list[tuple[int, int, int]]:
        rank, queues, limited, within = self.rank, self.queues, self.limited, self.pool.within_quota
        found = [
            (rank[k], q[0], k) for k, q in enumerate(queues) if q and (not limited[k] or within(k))
        ]
        found.sort()
        return found

    def _begin(self, k: int, now: float) -> None:
        job = heappop(self.queues[k])
        self.waiting -= 1
        before = self.wait[job]
        wait = before + now - self.since[job]
        self.wait[job] = wait
        if wait > self.late_h[k] >= before and job in self.counted:
            self.late[k] += 1
            self.failed = self.failed or self.late[k] > self.most_late[k]
        self.pool.begin(job, now)

    def _stops_lower(self, k: int, now: float) -> bool:
        """Stop jobs of lower priority until a job fits, or none if that is not enough."""
        pool = self.pool
        lower = self.lower[k]
        need = pool.gang[k]
        if not lower or (not pool.soft[k] and need > pool.firm_free):
            return False
        if pool.free + sum(pool.held[j] for j in lower) < need:
            return False
        self.stop(lower, need, now)
        return True

    def stop(self, kinds: Sequence[int], need: int, now: float) -> None:
        """Stop jobs of these classes until so many are free: lowest priority, then latest start."""
        pool = self.pool
        self._head = -1
        while pool.free < need:
            held = [j for j in kinds if pool.held[j]]
            last = max(held, key=lambda j: (self.rank[j], pool.last_start(j)))
            for job in pool.stop_last(last, now):
                self.since[job] = now
                heappush(self.queues[last], job)
                self.waiting += 1

    def changed(self, step: int, now: float) -> None:
        """Add accelerators to the pool, or take idle and then stopped ones from it."""
        self.pool.free += step
        self._head = -1
        self.stop(self.soft, 0, now)
        self.serve(now)

    def close(self, now: float) -> None:
        """Count the waits of jobs that are still in the queue."""
        for queue in self.queues:
            for job in queue:
                self.wait[job] += now - self.since[job]

    def _backfill(self, head: int, first: int, others: list[int], now: float) -> None:
        """Start first jobs of other classes that do not delay the head."""
        pool = self.pool
        if head != self._head or now > self._shadow:
            self._reserve(head, first)
        for k in others:
            while self.queues[k] and pool.fits(k) and pool.within_quota(k):
                if k not in self.lower[first] and not self._passes(k, now):
                    break
                self._begin(k, now)

    def _passes(self, k: int, now: float) -> bool:
        """Return whether the first job of a class delays no reservation; count what it takes."""
        pool = self.pool
        end = now + pool.left[self.queues[k][0]]
        unit = pool.room(k)
        if end <= self._shadow or (unit is not None and unit.end > self._shadow):
            return True
        need = pool.gang[k]
        if need > self._spare or (not pool.soft[k] and need > self._spare_firm):
            return False
        self._spare -= need
        if not pool.soft[k]:
            self._spare_firm -= need
        return True

    def _reserve(self, head: int, k: int) -> None:
        """Find when the head fits at the latest, and what is idle then in addition.

        Run times are known. Jobs that the head may stop count as idle.
        """
        pool, lower = self.pool, self.lower[k]
        kind, gang, shares, soft = pool.kind, pool.gang, pool.shares, pool.soft
        need = gang[k]
        need_firm = 0 if soft[k] else need
        free = pool.free + sum(pool.held[j] for j in lower)
        firm = pool.firm_free
        own = False
        self._head, self._shadow = head, math.inf
        for end, job in reversed(pool.ends):
            if -end > self._shadow:
                break
            j = kind[job]
            if j in lower:
                continue
            if shares[j]:
                if j == k:  # a place of its own class
                    own = True
                    self._shadow = -end
                if pool.on[job].end != -end:
                    continue
            free += gang[j]
            firm += 0 if soft[j] else gang[j]
            if free >= need and firm >= need_firm:
                self._shadow = -end
        if not own and self._shadow < math.inf:
            free -= need
            firm -= need_firm
        self._spare, self._spare_firm = free, firm
