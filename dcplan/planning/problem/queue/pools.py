"""Pools of accelerators with their classes of jobs by quarter, from the scenario."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dcplan.demand.classes import JobClass
from dcplan.inputs.log import InputLog
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Queued
from dcplan.units import HOURS_PER_DAY, SECONDS_PER_HOUR


@dataclass(frozen=True)
class QueuePool:
    """Classes that share accelerators, by quarter."""

    id: str
    given: tuple[Queued, ...]
    quarters: tuple[tuple[JobClass, ...], ...]
    """Classes with arrivals, by quarter."""

    @property
    def any_hours(self) -> frozenset[str]:
        """Return the ids of the classes whose jobs may wait for any hours of the week."""
        return frozenset(x.id for x in self.given if x.any_hours)

    @property
    def largest(self) -> Queued:
        """Return the class with the largest jobs."""
        return max(self.given, key=lambda x: x.accelerators.value)


def pools_of(question: Question, log: InputLog) -> tuple[QueuePool, ...]:
    """Return the pools of a scenario in the order of their first classes."""
    quarters = question.scenario.horizon.quarters
    by_pool: dict[str, list[Queued]] = {}
    for one in question.scenario.workloads.queue:
        by_pool.setdefault(one.pool, []).append(one)
    found = []
    for pool, given in by_pool.items():
        classes = [_by_quarter(one, question, log) for one in given]
        rows = (tuple(c[t] for c in classes if c[t].jobs_per_h > 0.0) for t in range(quarters))
        found.append(QueuePool(pool, tuple(given), tuple(rows)))
    return tuple(found)


def _by_quarter(one: Queued, question: Question, log: InputLog) -> list[JobClass]:
    key, quarters = f"workloads.queue.{one.id}", question.scenario.horizon.quarters
    size = log.take(f"{key}.accelerators", one.accelerators)
    if size < 1.0:
        size = 1.0 / round(1.0 / size)
    per_day = log.series(f"{key}.jobs_per_day", one.jobs_per_day, quarters)
    quota = one.most_accelerators
    fixed = JobClass(
        one.id,
        size,
        hours=log.take(f"{key}.hours", one.hours),
        jobs_per_h=0.0,
        hours_cv=log.chosen(f"{key}.hours_cv", one.hours_cv, "training", "queue-hours-cv"),
        priority=one.priority,
        preemptible=one.preemptible,
        loss_h=_loss_h(one, question, log) if one.preemptible else 0.0,
        most_accelerators=math.inf if quota is None else float(quota),
        wait_h=log.take(f"{key}.wait_h", one.wait_h),
        wait_quantile=one.wait_quantile,
    )
    return [replace(fixed, jobs_per_h=rate / HOURS_PER_DAY) for rate in per_day]


def _loss_h(one: Queued, question: Question, log: InputLog) -> float:
    """Return the work that a stop costs: half of a checkpoint interval, and the restart [h]."""
    if one.loss_h is not None:
        return log.take(f"workloads.queue.{one.id}.loss_h", one.loss_h)
    given = question.scenario.reliability
    if given.interval_s is not None:
        interval = log.take("reliability.interval_s", given.interval_s) / SECONDS_PER_HOUR
    else:
        interval = log.parameter("reliability", "checkpoint-interval-h")
    if given.restart_s is not None:
        restart = log.take("reliability.restart_s", given.restart_s) / SECONDS_PER_HOUR
    else:
        restart = log.parameter("reliability", "restart-h")
    return 0.5 * interval + restart
