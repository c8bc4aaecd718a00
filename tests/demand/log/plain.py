"""A second replay of the rules, without common code: every event looks at every job."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Plain:
    """Jobs as rows of (submit, run, limit, units, rank); a plain count of units."""

    jobs: list[tuple[float, float, float, int, float]]
    units: int
    backfills: bool = True
    running: dict[int, float] = field(default_factory=dict)
    """Start of each running job."""

    def waits(self) -> list[float]:
        """Return the wait of each job."""
        start: dict[int, float] = {}
        queue: list[int] = []
        times = sorted({job[0] for job in self.jobs})
        while times:
            now = times.pop(0)
            for j in [j for j, s in self.running.items() if s + self.jobs[j][1] <= now]:
                del self.running[j]
            queue += [j for j, job in enumerate(self.jobs) if job[0] == now and j not in start]
            queue.sort(key=lambda j: (-self.jobs[j][4], j))
            while queue and self.jobs[queue[0]][3] <= self.free:
                self.begin(queue.pop(0), now, start, times)
            if queue and self.backfills:
                self.fill(queue, now, start, times)
        return [start[j] - job[0] for j, job in enumerate(self.jobs)]

    @property
    def free(self) -> int:
        """Idle units."""
        return self.units - sum(self.jobs[j][3] for j in self.running)

    def begin(self, job: int, now: float, start: dict[int, float], times: list[float]) -> None:
        """Start a job and add its end to the moments to look at."""
        self.running[job] = start[job] = now
        end = now + self.jobs[job][1]
        if end not in times and end > now:
            times.append(end)
            times.sort()
        elif end == now:
            times.insert(0, now)

    def fill(
        self, queue: list[int], now: float, start: dict[int, float], times: list[float]
    ) -> None:
        """EASY: a job passes the head if it ends before the reservation or fits next to it."""
        need, free, shadow, spare = self.jobs[queue[0]][3], self.free, math.inf, 0
        expected = sorted((s + self.jobs[j][2], j) for j, s in self.running.items())
        for end, j in expected:
            if end > shadow:
                break
            free += self.jobs[j][3]
            if free >= need:
                shadow, spare = end, free - need
        for j in queue[1:]:
            _, _, limit, units, _ = self.jobs[j]
            if units > self.free:
                continue
            if now + limit <= shadow:
                self.begin(j, now, start, times)
            elif units <= spare:
                spare -= units
                self.begin(j, now, start, times)
        queue[:] = [j for j in queue if j not in start]
