"""Waits of the queue on the accelerators that a plan has for it, simulated from the scenario."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.demand.classes import JobClass
from dcplan.demand.outcome import QueueOutcome
from dcplan.inputs.cloud_prices import cloud_place
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.queue.pools import QueuePool, pools_of
from dcplan.planning.problem.queue.sizing import FLOOR_EPS, Week, queue_in
from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.scenario.load import Question

TOLERANCE_SE = 2.0
"""Standard errors of a simulated wait within which it keeps its target."""


@dataclass(frozen=True)
class QueueState:
    """The queue of one pool in one quarter of a plan."""

    pool: str
    quarter: int
    classes: tuple[JobClass, ...]
    week: Week
    """Accelerators by hour of the week, or one number for all hours."""
    outcome: QueueOutcome | None
    """None where a job never starts."""
    given: bool
    """Whether the scenario, not the plan, decides the capacity: it prices missing accelerators, or
    lets the work wait for any hours."""

    @property
    def accelerators(self) -> float:
        """Return the mean capacity over the week."""
        return sum(self.week) / len(self.week)


def queue_states(
    problem: PlanningProblem, d: Decisions, question: Question
) -> tuple[QueueState, ...]:
    """Return the queue of every pool and quarter on the accelerators that the plan has for it."""
    pools = pools_of(question, InputLog(question.catalog))
    return tuple(
        _state(problem, d, pool, len(pools), t)
        for t in range(problem.quarters)
        for pool in pools
        if pool.quarters[t]
    )


def queue_checks(states: Iterable[QueueState]) -> Iterable[Check]:
    """Check that every class keeps its wait, within twice the simulation's standard error."""
    for state in states:
        if state.outcome is None:
            continue
        for one, found in zip(state.classes, state.outcome.classes, strict=True):
            if not found.jobs:
                continue
            error = found.wait_quantile_se_h if math.isfinite(found.wait_quantile_se_h) else 0.0
            limit = one.wait_h + TOLERANCE_SE * error
            where = f"{one.id} {state.pool}"
            wait = found.wait_quantile_h
            yield Check(CheckId.QUEUE_WAIT_H, where, state.quarter, wait, limit, state.given)


def _state(
    problem: PlanningProblem, d: Decisions, pool: QueuePool, pools: int, t: int
) -> QueueState:
    by_period = [
        _accelerators(problem, d, pool.id, pools, t, p) for p in range(len(problem.periods))
    ]
    hours = problem.period_of_hour or (0,)
    week = tuple(by_period[p] for p in hours)
    if len(set(week)) == 1:
        week = week[:1]
    classes = pool.quarters[t]
    parts = [x for x in problem.demands if x.workload_id == pool.id]
    given = any(x.unmet_usd is not None or x.row for x in parts)
    starts = all(
        one.gang <= math.floor((max(week) if one.preemptible else min(week)) + FLOOR_EPS)
        for one in classes
    )
    outcome = queue_in(classes, week) if starts else None
    return QueueState(pool.id, t, classes, week, outcome, given)


def _accelerators(
    problem: PlanningProblem, d: Decisions, pool: str, pools: int, t: int, period: int
) -> float:
    """Return the accelerators of a pool in a period: owned, rented, and its share of idle ones."""
    parts = [x for x in problem.demands if x.workload_id == pool and x.active(period)]
    total = 0.0
    for part in parts:
        total += sum(
            d.rented.get((part.id, o.id, t), 0.0)
            * part.each.get((cloud_place(o.id), o.accelerator), 0.0)
            for o in problem.offers
        )
    for place in problem.placements:
        rates = [x.each.get((place.hall, place.system), 0.0) for x in parts]
        for part, rate in zip(parts, rates, strict=True):
            if not _moves(part):
                total += rate * d.serving.get((part.id, *place.key, t), 0.0)
        if max(rates, default=0.0):
            total += max(rates) * _divided(problem, d, place, pool, pools, t, period)
    return total


def _moves(demand: DemandTerms) -> bool:
    """Return whether a demand is the part of another one that any period may serve."""
    return bool(demand.row) and demand.period is not None and not demand.replica


def _divided(
    problem: PlanningProblem,
    d: Decisions,
    place: Placement,
    pool: str,
    pools: int,
    t: int,
    period: int,
) -> float:
    """Return a pool's share of what serves work of any hours in a placement, with idle ones.

    The work of any hours divides the accelerators of each hour in proportion to its means of the
    week: which of it a period serves costs the same.
    """
    moving = [x for x in problem.demands if _moves(x)]
    used = {x.id: d.serving.get((x.id, *place.key, t), 0.0) for x in moving}
    mean = sum(x.hours_frac * used[x.id] for x in moving)
    own = sum(x.hours_frac * used[x.id] for x in moving if x.workload_id == pool)
    here = sum(used[x.id] for x in moving if x.period == period)
    there = here + _idle(problem, d, place, t, period)
    return there * (own / mean if mean else 1.0 / pools)


def _idle(problem: PlanningProblem, d: Decisions, place: Placement, t: int, period: int) -> float:
    """Return the accelerators of a placement that serve nothing in a period.

    They are 0 where runs use the placement, as a run may need them in a part of the quarter.
    """
    if d.training.get((*place.key, t), 0.0):
        return 0.0
    busy = d.paused.get((*place.key, t), 0.0)
    for demand in (x for x in problem.demands if x.active(period)):
        busy += d.reserved(demand, place.key, t)
    return max(d.powered(problem, place.key, t) * place.accelerators - busy, 0.0)
