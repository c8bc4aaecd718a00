"""Pools of a queue as demands: fewest accelerators that keep the waits, and who may serve them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dcplan.demand.classes import JobClass, offered_accelerators
from dcplan.demand.refusal import Refusal, RefusedError
from dcplan.demand.sizing import accelerators_for
from dcplan.errors import InputError
from dcplan.inputs.cloud_prices import is_cloud
from dcplan.inputs.excluded import ExcludedOption
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.queue.places import Places
from dcplan.planning.problem.queue.pools import QueuePool, pools_of
from dcplan.planning.problem.queue.sizing import SEARCH_JOBS, SEED, PoolSize, Week, pool_size
from dcplan.planning.problem.work.any_hours import any_hours
from dcplan.planning.problem.work.demands import Demands
from dcplan.planning.problem.work.reference import ReferenceRates
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import QUEUE, DemandTerms, part_id
from dcplan.provenance import Path
from dcplan.scenario.load import Question

ANY = "any"
"""Part of a pool that serves in any hours."""
ALL_WEEK: Week = (1.0,)
FEW_JOBS = 100
"""Simulated jobs of a class below which a note is given."""


def queue_demands(
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
    rates: ReferenceRates,
    country: dict[str, str],
    served: Demands,
) -> tuple[list[DemandTerms], tuple[str, ...]]:
    """Return the demands of all pools of a scenario, and notes.

    Raises
    ------
    InputError
        If a class cannot be packed: its job is larger than every place, or its quota does not keep
        its wait.
    """
    pools = pools_of(question, log)
    if not pools:
        return [], ()
    places = Places(question, log, excluded, where, rates, country)
    free = free_week(served)
    found: list[DemandTerms] = []
    notes: list[str] = []
    for pool in pools:
        sizes = [_sized(pool, classes, free, question) for classes in pool.quarters]
        found += _demands(pool, sizes, places, served.periods, question, log)
        if any(x.together for x in sizes):
            notes.append(
                f"queue {pool.id}: hours in which services leave accelerators free do not keep every "
                "wait; the classes with any_hours have accelerators in all hours"
            )
        notes += _rare(pool)
    return found, tuple(notes)


def _rare(pool: QueuePool) -> list[str]:
    """Return a note on each class whose jobs are few in the simulation."""
    fewest: dict[str, float] = {}
    for classes in pool.quarters:
        total = sum(c.jobs_per_h for c in classes)
        for c in classes:
            jobs = SEARCH_JOBS * c.jobs_per_h / total
            fewest[c.id] = min(fewest.get(c.id, jobs), jobs)
    return [
        f"queue {pool.id}: the simulation has {jobs:.0f} jobs of {key}, so its wait is known roughly; "
        "a pool without the frequent classes has more of them"
        for key, jobs in fewest.items()
        if jobs < FEW_JOBS
    ]


def free_week(served: Demands) -> Week:
    """Return the accelerators that services leave free by hour of the week, with mean 1.

    They are those of the highest period less those of the hour.
    """
    if len(served.periods) == 1:
        return ALL_WEEK
    used = np.zeros(len(served.periods))
    for demand in served.terms:
        rates = [x for y in served.terms if y.row_id == demand.id for x in y.each.values()]
        if demand.row_id == demand.id and rates:
            per = sum(demand.wanted) / float(np.mean(rates))
            used[list(range(len(used))) if demand.period is None else demand.period] += per
    left = used.max() - used
    if not left.any():
        return ALL_WEEK
    week = left[np.asarray(served.period_of_hour)]
    return tuple(float(x) for x in week / week.mean())


def _sized(
    pool: QueuePool, classes: tuple[JobClass, ...], free: Week, question: Question
) -> PoolSize:
    try:
        return pool_size(classes, pool.any_hours, free)
    except RefusedError as error:
        ids = [x.id for x in question.scenario.workloads.queue]
        path: Path = ("workloads", "queue", ids.index(error.refusal.id), "most_accelerators")
        help_text = "raise the quota, allow a longer wait, or lower jobs_per_day"
        cause = f"{pool.id}: {error}{_nearest(error.refusal, classes)}"
        raise InputError([question.tree.problem("DC035", cause, path, help=help_text)]) from error


def _nearest(refusal: Refusal, classes: Iterable[JobClass]) -> str:
    """Return the quota that keeps the wait of a class alone, where the refusal does not have it."""
    if not math.isnan(refusal.nearest):
        return ""
    alone = next(replace(c, most_accelerators=math.inf) for c in classes if c.id == refusal.id)
    quota = accelerators_for([alone], seed=SEED, most_jobs=SEARCH_JOBS).accelerators
    return f"; a quota of {quota} accelerators is enough"


def _demands(
    pool: QueuePool,
    sizes: Sequence[PoolSize],
    places: Places,
    periods: Sequence[float],
    question: Question,
    log: InputLog,
) -> list[DemandTerms]:
    """Return the demand of a pool in all hours, that in any hours, or both."""
    apart = pool.any_hours if len(periods) > 1 and not any(x.together for x in sizes) else set()
    always = [x for x in pool.given if x.id not in apart]
    late = [x for x in pool.given if x.id in apart]
    totals = [x.always + x.any_hours for x in sizes]
    offered = [offered_accelerators(classes) for classes in pool.quarters]
    busy = min(sum(offered) / sum(totals), 1.0) if sum(totals) else 1.0
    unmet = _unmet_usd(pool, log)

    def terms(name: str, wanted: Iterable[float], ids: Sequence[str]) -> DemandTerms:
        return DemandTerms(
            name,
            tuple(wanted),
            places.each(pool, ids),
            QUEUE,
            load_frac=busy,
            unmet_usd=unmet,
            scenario_unit=("accelerators", 1.0),
        )

    found = [terms(pool.id, (x.always for x in sizes), [x.id for x in always])] if always else []
    if late:
        name = part_id(pool.id, ANY) if always else pool.id
        rest = terms(name, (x.any_hours for x in sizes), [x.id for x in late])
        found += _rented_all_week(any_hours(rest, periods), rest)
    return found


def _rented_all_week(parts: Sequence[DemandTerms], whole: DemandTerms) -> list[DemandTerms]:
    """Return the parts of a demand for any hours, with rent in all hours of the week.

    Rent costs the same in all hours, and waits are shortest if it does not vary.
    """
    rented = {key: x for key, x in whole.each.items() if is_cloud(key[0])}
    owned = {key: x for key, x in whole.each.items() if not is_cloud(key[0])}
    return [replace(x, each=owned if x.row else rented) for x in parts]


def _unmet_usd(pool: QueuePool, log: InputLog) -> float | None:
    """Return the cost of a missing accelerator, if all classes of a pool give one."""
    given = [
        log.take(f"workloads.queue.{x.id}.usd_per_unmet_quarter", x.usd_per_unmet_quarter)
        for x in pool.given
        if x.usd_per_unmet_quarter is not None
    ]
    return max(given) if len(given) == len(pool.given) else None
