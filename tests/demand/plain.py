"""A second simulation of the same rules, slow and plain: at each event it looks at everything again.

It shares no code, data structure or random numbers with ``dcplan.demand``: a list of units that run,
one list of jobs that wait, a reservation computed from nothing at each step.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from dcplan.demand.classes import JobClass


@dataclass(eq=False)
class Job:
    kind: JobClass
    arrival: float
    left: float
    wait: float = 0.0
    queued: float = 0.0
    stops: int = 0
    start: float = 0.0
    done: bool = False

    @property
    def end(self) -> float:
        return self.start + self.left


@dataclass(eq=False)
class Unit:
    """Accelerators taken together: a gang, or one accelerator with jobs of one class."""

    kind: JobClass
    opened: float
    jobs: list[Job] = field(default_factory=list)
    changed: int = 0
    """When its jobs last changed, counted in changes of all units."""

    @property
    def size(self) -> int:
        return int(max(self.kind.accelerators, 1))

    @property
    def end(self) -> float:
        return max(j.end for j in self.jobs)

    def has_room(self, at: float) -> bool:
        slots = int(1.0 / self.kind.accelerators + 1e-9)
        return sum(j.end > at for j in self.jobs) < slots


def random_jobs(classes: list[JobClass], hours: float, seed: int) -> list[Job]:
    rng, found = random.Random(seed), []  # noqa: S311
    for one in classes:
        t, sigma2 = 0.0, math.log(1.0 + one.hours_cv**2)
        while True:
            t += rng.expovariate(one.jobs_per_h)
            if t > hours:
                break
            run = one.hours * math.exp(rng.gauss(-sigma2 / 2.0, math.sqrt(sigma2)))
            found.append(Job(one, t, run, queued=t))
    return sorted(found, key=lambda j: j.arrival)


class Cluster:
    def __init__(self, week: list[int], fifo: bool) -> None:
        self.week, self.fifo = week, fifo
        self.running: list[Unit] = []
        self.waiting: list[Job] = []
        self.busy_h = 0.0
        self.changes = 0

    def priority(self, kind: JobClass) -> int:
        return 0 if self.fifo else kind.priority

    def free(self, now: float, at: float, head: JobClass | None = None) -> tuple[int, int]:
        """Idle accelerators at a later time for everyone and for jobs that never stop."""
        capacity, base = self.week[int(now) % len(self.week)], min(self.week)
        on = [u for u in self.running if u.end > at and not (head and self.stoppable(u, head))]
        return capacity - sum(u.size for u in on), base - sum(
            u.size for u in on if not u.kind.preemptible
        )

    def stoppable(self, unit: Unit, head: JobClass) -> bool:
        lower = self.priority(unit.kind) < self.priority(head)
        return unit.kind.preemptible and lower and not self.fifo

    def place(self, kind: JobClass, now: float) -> Unit | str | None:
        """A unit with room, "new" accelerators, or nothing."""
        if kind.accelerators <= 0.5:
            open_units = [u for u in self.running if u.kind is kind and u.has_room(now)]
            if open_units:
                return max(open_units, key=lambda u: (len(u.jobs), u.changed))
        size = int(max(kind.accelerators, 1))
        total, firm = self.free(now, now)
        return "new" if size <= total and (kind.preemptible or size <= firm) else None

    def quota_holds(self, kind: JobClass, now: float) -> bool:
        own = [u for u in self.running if u.kind is kind]
        size = int(max(kind.accelerators, 1))
        shares = kind.accelerators <= 0.5 and any(u.has_room(now) for u in own)
        return sum(u.size for u in own) + size > kind.most_accelerators and not shares

    def heads(self, now: float) -> list[Job]:
        first: dict[str, Job] = {}
        for job in sorted(self.waiting, key=lambda j: j.arrival):
            first.setdefault(job.kind.id, job)
        able = [j for j in first.values() if not self.quota_holds(j.kind, now)]
        return sorted(able, key=lambda j: (-self.priority(j.kind), j.arrival))

    def start(self, job: Job, now: float) -> None:
        place = self.place(job.kind, now)
        assert place is not None
        if isinstance(place, str):
            place = Unit(job.kind, now)
            self.running.append(place)
        job.start, job.wait = now, job.wait + now - job.queued
        place.jobs.append(job)
        self.mark(place)
        self.waiting.remove(job)

    def mark(self, unit: Unit) -> None:
        self.changes += 1
        unit.changed = self.changes

    def stop(self, units: list[Unit], now: float) -> None:
        unit = min(reversed(units), key=lambda u: (self.priority(u.kind), -u.opened))
        self.running.remove(unit)
        for job in unit.jobs:
            done = now - job.start
            job.left += min(job.kind.loss_h, done) - done
            job.queued, job.stops = now, job.stops + 1
            self.waiting.append(job)

    def step(self, now: float) -> bool:
        """Start one job, if any may start."""
        heads = self.heads(now)
        if not heads:
            return False
        head = heads[0]
        if self.place(head.kind, now):
            self.start(head, now)
            return True
        size = int(max(head.kind.accelerators, 1))
        victims = [u for u in self.running if self.stoppable(u, head.kind)]
        total, firm = self.free(now, now)
        firm_fits = head.kind.preemptible or size <= firm
        if victims and firm_fits and total + sum(u.size for u in victims) >= size:
            while self.free(now, now)[0] < size:
                self.stop([u for u in self.running if self.stoppable(u, head.kind)], now)
            self.start(head, now)
            return True
        if self.fifo:
            return False
        shadow, spare = self.reservation(head.kind, size, now)
        for job in heads[1:]:
            place = self.place(job.kind, now)
            if place is None:
                continue
            need = int(max(job.kind.accelerators, 1))
            if isinstance(place, Unit) and place.end > shadow:
                need = 0
            held = Unit(job.kind, now)
            fits = need <= spare[0] and (job.kind.preemptible or need <= spare[1])
            if self.stoppable(held, head.kind) or now + job.left <= shadow or fits:
                self.start(job, now)
                return True
        return False

    def reservation(
        self, kind: JobClass, size: int, now: float
    ) -> tuple[float, tuple[float, float]]:
        ends = sorted({j.end for u in self.running for j in u.jobs})
        for at in ends:
            total, firm = self.free(now, at, kind)
            own = [u for u in self.running if u.kind is kind and u.end > at]
            if kind.accelerators <= 0.5 and any(u.has_room(at) for u in own):
                return at, (total, firm)
            if total >= size and (kind.preemptible or firm >= size):
                return at, (total - size, firm - (0 if kind.preemptible else size))
        return math.inf, (0, 0)

    def run(self, jobs: list[Job], until: float) -> None:
        """Serve jobs; ``busy_h`` counts accelerator-hours until the last arrival allowed."""
        now, todo, hour = 0.0, list(reversed(jobs)), 1
        while now < until:
            ends = [j.end for u in self.running for j in u.jobs]
            times = [*ends, *([todo[-1].arrival] if todo else []), float(hour), until]
            later = min(times)
            self.busy_h += sum(u.size for u in self.running) * (later - now)
            now = later
            hour += now == hour
            for unit in list(self.running):
                for job in [j for j in unit.jobs if j.end <= now]:
                    unit.jobs.remove(job)
                    self.mark(unit)
                    job.done = True
                if not unit.jobs:
                    self.running.remove(unit)
            while self.free(now, now)[0] < 0:
                self.stop([u for u in self.running if u.kind.preemptible], now)
            while self.step(now):
                pass
            while todo and todo[-1].arrival <= now:
                self.waiting.append(todo.pop())
                while self.step(now):
                    pass
