"""Queues of a plan: waits of each class on the accelerators that the plan has for its pool."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Metric, Table
from dcplan.specs.plan import queue as specs

if TYPE_CHECKING:
    from dcplan.planning.audit.work.queue import QueueState


def queue(problem: PlanningProblem, states: Sequence[QueueState]) -> Table:
    """Return waits, use and stops of each class by quarter."""
    return specs.QUEUE.table(row for x in states for row in _rows(problem, x))


def _rows(problem: PlanningProblem, state: QueueState) -> Iterator[specs.QueueRow]:
    for i, one in enumerate(state.classes):
        found = state.outcome.classes[i] if state.outcome is not None else None
        yield specs.QueueRow(
            quarter=quarter_at(problem, state.quarter),
            job_class=one.id,
            pool=state.pool,
            offered_accelerators=one.offered_accelerators,
            pool_accelerators=state.accelerators,
            wait_mean_h=_known(found.wait_mean_h) if found else None,
            wait_p50_h=_known(found.wait_p50_h) if found else None,
            wait_h=_known(found.wait_quantile_h) if found else None,
            wait_limit_h=one.wait_h,
            wait_se_h=_known(found.wait_quantile_se_h) if found else None,
            quantile_frac=one.wait_quantile,
            utilization_frac=found.utilization_frac if found else None,
            stops_per_job=_known(found.stops_per_job) if found else None,
        )


def queue_metrics(states: Sequence[QueueState]) -> dict[str, Metric]:
    """Return the longest wait of each class, and the use of each pool."""
    waits: dict[str, list[float]] = {}
    held: dict[str, float] = {}
    there: dict[str, float] = {}
    for state in states:
        out = state.outcome
        for i, one in enumerate(state.classes):
            wait = out.classes[i].wait_quantile_h if out is not None else math.inf
            waits.setdefault(one.id, []).append(wait)
        there[state.pool] = there.get(state.pool, 0.0) + state.accelerators
        use = out.utilization_frac * state.accelerators if out is not None else 0.0
        held[state.pool] = held.get(state.pool, 0.0) + use
    found: dict[str, Metric] = {}
    for key, values in waits.items():
        known = [x for x in values if not math.isnan(x)]
        found |= specs.QUEUE_WAIT(_known(max(known, default=math.nan)), key)
    for pool, total in there.items():
        found |= specs.QUEUE_USE(held[pool] / total if total else None, pool)
    return found


def _known(value: float) -> float | None:
    """Return a number, or None for one that the simulation does not know."""
    return value if math.isfinite(value) else None
