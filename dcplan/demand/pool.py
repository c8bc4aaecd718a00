"""Accelerators of a pool: which jobs hold them, until when, and which may be stopped for others."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from dcplan.demand.classes import JobClass


class Shared:
    """One accelerator that jobs of the same class share."""

    __slots__ = ("end", "jobs", "opened")

    def __init__(self, opened: float) -> None:
        self.jobs: set[int] = set()
        self.opened = opened
        self.end = opened
        """When the last of its jobs ends."""


class Pool:
    """State of the accelerators; times in hours, classes and jobs by index.

    ``free`` counts all idle accelerators, ``firm_free`` those that jobs which may not be stopped
    may still take: the least capacity of the week less what such jobs hold.
    """

    def __init__(
        self, classes: Sequence[JobClass], kind: list[int], left: list[float], base: int
    ) -> None:
        count = len(classes)
        self.kind = kind
        self.left = left
        """Work that each job still has. [h]"""
        self.free = base
        self.firm_free = base
        self.gang = [c.gang for c in classes]
        self.per = [c.per_accelerator for c in classes]
        self.shares = [c.per_accelerator > 1 for c in classes]
        self.quota = [c.most_accelerators for c in classes]
        self.loss = [c.loss_h for c in classes]
        self.soft = [c.preemptible for c in classes]
        self.held = [0] * count
        self.held_h = [0.0] * count
        """Accelerator-hours that each class held until ``since``."""
        self.since = [0.0] * count
        self.ends: list[tuple[float, int]] = []
        """Running jobs with the negative of their end; the next one to end is the last."""
        self.start = [-1.0] * len(kind)
        self.end = [-1.0] * len(kind)
        self.lost = [0.0] * len(kind)
        self.stops = [0] * len(kind)
        self.on: dict[int, Shared] = {}
        """Accelerator of each running job that shares one."""
        self._room: list[list[list[Shared]]] = [[[] for _ in range(p)] for p in self.per]
        # latest start last; an entry whose job has ended is dropped when it is met
        self._latest: list[list[tuple[float, int]]] = [[] for _ in classes]
        self._opened: list[list[Shared]] = [[] for _ in classes]

    def room(self, k: int) -> Shared | None:
        """Return the fullest accelerator of a class that takes one more of its jobs."""
        if self.shares[k]:
            for count in range(self.per[k] - 1, 0, -1):
                units = self._room[k][count]
                while units:
                    if len(units[-1].jobs) == count:
                        return units[-1]
                    units.pop()
        return None

    def within_quota(self, k: int) -> bool:
        """Return whether the quota of a class lets one more of its jobs start."""
        return self.held[k] + self.gang[k] <= self.quota[k] or self.room(k) is not None

    def fits(self, k: int) -> bool:
        """Return whether a job of a class fits in what is idle now."""
        gang = self.gang[k]
        if gang <= self.free and (self.soft[k] or gang <= self.firm_free):
            return True
        return self.shares[k] and self.room(k) is not None

    def hold(self, k: int, count: int, now: float) -> None:
        """Take accelerators for a class, or return them where ``count`` is negative."""
        self.held_h[k] += self.held[k] * (now - self.since[k])
        self.since[k] = now
        self.held[k] += count
        self.free -= count
        if not self.soft[k]:
            self.firm_free -= count

    def held_until(self, now: float) -> list[float]:
        """Return the accelerator-hours that each class has held so far."""
        rows = zip(self.held_h, self.held, self.since, strict=True)
        return [hours + held * (now - since) for hours, held, since in rows]

    def begin(self, job: int, now: float) -> None:
        """Start a job that fits."""
        k = self.kind[job]
        end = now + self.left[job]
        self.start[job] = now
        self.end[job] = end
        insort(self.ends, (-end, job))
        if self.shares[k]:
            self._share(job, k, now, end)
            return
        self.hold(k, self.gang[k], now)
        if self.soft[k]:
            self._latest[k].append((now, job))

    def _share(self, job: int, k: int, now: float, end: float) -> None:
        unit = self.room(k)
        if unit is None:
            unit = Shared(now)
            self.hold(k, 1, now)
            if self.soft[k]:
                self._opened[k].append(unit)
        unit.jobs.add(job)
        unit.end = max(unit.end, end)
        self.on[job] = unit
        if len(unit.jobs) < self.per[k]:
            self._room[k][len(unit.jobs)].append(unit)

    def finish(self, job: int, now: float) -> None:
        """End a job whose work is done; the caller has taken it from ``ends``."""
        k = self.kind[job]
        self.start[job] = -1.0
        if not self.shares[k]:
            self.hold(k, -self.gang[k], now)
            return
        unit = self.on.pop(job)
        unit.jobs.discard(job)
        if unit.jobs:
            self._room[k][len(unit.jobs)].append(unit)
        else:
            self.hold(k, -1, now)

    def last_start(self, k: int) -> float:
        """Return when the latest start among the running jobs of a class that may stop was."""
        if self.shares[k]:
            units = self._opened[k]
            while units and not units[-1].jobs:
                units.pop()
            return units[-1].opened if units else -1.0
        latest = self._latest[k]
        while latest and self.start[latest[-1][1]] != latest[-1][0]:
            latest.pop()
        return latest[-1][0] if latest else -1.0

    def stop_last(self, k: int, now: float) -> list[int]:
        """Stop the job of a class that started last, or all jobs on the accelerator opened last.

        The work since a job's start is lost, at most ``loss_h`` of it.
        """
        self.last_start(k)
        if self.shares[k]:
            unit = self._opened[k].pop()
            stopped = sorted(unit.jobs)
            unit.jobs.clear()
            for job in stopped:
                del self.on[job]
        else:
            stopped = [self._latest[k].pop()[1]]
        self.hold(k, -self.gang[k], now)
        for job in stopped:
            del self.ends[bisect_left(self.ends, (-self.end[job], job))]
            done = now - self.start[job]
            lost = min(self.loss[k], done)
            self.left[job] += lost - done
            self.lost[job] += lost
            self.stops[job] += 1
            self.start[job] = -1.0
        return stopped
