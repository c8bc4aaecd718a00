"""The smallest pool that keeps the wait of every class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dcplan.demand.classes import (
    JobClass,
    gang_factor,
    offered_accelerators,
    square_root_accelerators,
)
from dcplan.demand.order import Order
from dcplan.demand.outcome import ClassOutcome, QueueOutcome, summary
from dcplan.demand.refusal import Reason, Refusal, RefusedError, refusals
from dcplan.demand.search import Trials, smallest
from dcplan.demand.simulation import replay

SEARCH_FIRST_JOBS = 6_000
"""Jobs of the first search; each further search has `SEARCH_MORE` times as many."""
SEARCH_MORE = 4
SEARCH_PRECISION = 0.01
"""Standard error of the size, over the size, at which more jobs are not simulated."""
SEARCH_SPANS = 10
"""Length of a simulation in longest mean run times and waits, below which its error is not known."""
SEARCH_GRAIN = 0.25
"""Distance of the pools of the last search, in standard errors of the size."""
SEARCH_WIDTH = 0.25
"""First step of the search in units of sqrt(R g)."""
UNBOUND_ACCELERATORS = 10**9


@dataclass(frozen=True)
class Sizing:
    """The smallest pool that keeps all waits, and how well the simulation knows it."""

    accelerators: int
    se_accelerators: float
    """Standard error from that of the late jobs; infinite where the simulation has too few. [-]"""
    binding: str
    """Class that is nearest to its target."""
    outcome: QueueOutcome
    """The queue in this pool."""
    offered_accelerators: float
    gang_factor: float
    square_root_accelerators: float
    """The square-root rule, for comparison."""
    jobs: int
    """Jobs of each simulation of the last search."""
    simulations: int
    """Simulations of all searches."""


def accelerators_for(
    classes: Sequence[JobClass],
    *,
    step: int = 1,
    most: float = math.inf,
    lent: npt.ArrayLike = 0.0,
    order: Order = "backfill",
    seed: int = 0,
    most_jobs: int = 24_000,
) -> Sizing:
    """Return the smallest pool in which every class keeps its wait at its quantile.

    The search starts at the square-root rule and bisects with the simulation. All pools serve the
    same jobs. Backfill is not monotone in the pool, so that the next two larger pools must keep the
    waits, too. Jobs are simulated until the standard error of the size is at most 1 % of it, or there
    are ``most_jobs``. The size is a step within a quarter of its standard error.

    Parameters
    ----------
    classes : sequence of JobClass
        At least one has a finite ``wait_h``.
    step : int
        Accelerators that are bought together, such as those of a node: sizes are multiples of it.
    most : float
        Accelerators that the pool may have at most.
    lent : float or array, shape (168,)
        Accelerators that others lend in each hour of the week, in addition to the pool. Jobs that
        may not be stopped use their least number alone.
    order : {"backfill", "fifo"}
    seed : int
        The same seed gives the same answer, and the same jobs for other rates.
    most_jobs : int
        Jobs of one simulation at most.

    Raises
    ------
    RefusedError
        When a job fits in no pool or quota, the load is too large, or the largest pool or the quota
        of a class does not keep its wait. It carries a `Refusal` with the numbers.
    ValueError
        When no class has a target.

    References
    ----------
    .. [1] J. S. H. van Leeuwaarden, B. W. J. Mathijsen, B. Zwart, arXiv 1706.05397.

    Examples
    --------
    >>> jobs = JobClass("fine-tunes", 8, hours=2.0, jobs_per_h=6.0, wait_h=1.0)
    >>> found = accelerators_for([jobs], step=8, seed=1)
    >>> found.accelerators, found.offered_accelerators
    (112, 96.0)
    """
    _refuse(classes, most + float(np.max(lent)))
    trials = Trials(classes, np.asarray(lent, dtype=np.float64), order, step, seed)
    return _sizing(trials, _searched(trials, most, most_jobs))


def _refuse(classes: Sequence[JobClass], most: float) -> None:
    """Refuse classes that no pool serves, or whose pool is any one above the load."""
    if not any(math.isfinite(c.wait_h) for c in classes):
        msg = "no class has a wait_h: a pool of any size above the load would do"
        raise ValueError(msg)
    for found in refusals(classes, most):
        raise RefusedError(found)


@dataclass(frozen=True)
class Searched:
    """A size and how well it is known."""

    at: int
    """Steps of the pool."""
    error: float
    """Standard error. [accelerators]"""
    binding: str
    jobs: int


def _sizing(trials: Trials, found: Searched) -> Sizing:
    """Return the answer of a search."""
    classes = trials.classes
    return Sizing(
        found.at * trials.step,
        found.error,
        found.binding,
        summary(classes, trials.record(found.at)),
        offered_accelerators(classes),
        gang_factor(classes),
        square_root_accelerators(classes),
        found.jobs,
        trials.simulations,
    )


def _searched(trials: Trials, most: float, most_jobs: int) -> Searched:
    """Return the size of one search after another, each with more jobs, until it is known."""
    classes, step = trials.classes, trials.step
    load = offered_accelerators(classes)
    width = max(round(SEARCH_WIDTH * math.sqrt(load * gang_factor(classes)) / step), 1)
    least, last = _least_steps(trials), int(min(most, UNBOUND_ACCELERATORS) // step)
    at = round((square_root_accelerators(classes) - float(np.mean(trials.lent))) / step)
    grain, apart = max(width // 2, 1), 2 * width
    for jobs in _lengths(most_jobs):
        trials.draw(jobs)
        _refuse_quotas(trials)
        at = smallest(trials, min(max(at, least), last), (least, last), width, grain)
        binding, error = _error(trials, at, min(at + apart, last))
        rough = grain * step > max(SEARCH_GRAIN * error, step)
        if not rough and (jobs >= most_jobs or error <= SEARCH_PRECISION * at * step):
            break
        width = max(round(error / step), 1) if error < load else width
        grain = max(round(SEARCH_GRAIN * error / step), 1) if error < load else grain
    return Searched(at, error, binding, jobs)


def _lengths(most_jobs: int) -> list[int]:
    """Return the jobs of one search after another; the longest twice, to refine its size."""
    found = [SEARCH_FIRST_JOBS]
    while found[-1] < most_jobs:
        found.append(found[-1] * SEARCH_MORE)
    return [*(n for n in found if n < most_jobs), most_jobs, most_jobs]


def _least_steps(trials: Trials) -> int:
    """Return the steps of the smallest pool that could serve all jobs if none waited."""
    firm = [c for c in trials.classes if not c.preemptible]
    soft = [c for c in trials.classes if c.preemptible]
    lent = trials.lent
    need = [max((c.gang for c in firm), default=0) - float(lent.min())]
    need += [max((c.gang for c in soft), default=0) - float(lent.max())]
    need += [offered_accelerators(firm) - float(lent.min())]
    need += [offered_accelerators(trials.classes) - float(lent.mean())]
    return max(math.ceil(max(need) / trials.step), 0)


def _refuse_quotas(trials: Trials) -> None:
    """Refuse a quota that keeps a class waiting in an endless pool."""
    held = [c for c in trials.classes if math.isfinite(c.most_accelerators + c.wait_h)]
    if not held:
        return
    endless = replay(trials.classes, trials.jobs, UNBOUND_ACCELERATORS, trials.order, trials.span_h)
    outcome = summary(trials.classes, endless)
    for one, found in zip(trials.classes, outcome.classes, strict=True):
        if not found.meets(one):
            alone = replace(one, most_accelerators=math.inf)
            nearest = accelerators_for([alone], seed=trials.seed, most_jobs=SEARCH_FIRST_JOBS)
            raise RefusedError(
                Refusal(
                    Reason.QUOTA_WAIT,
                    one.id,
                    found.wait_quantile_h,
                    one.wait_h,
                    float(nearest.accelerators),
                )
            )


def _error(trials: Trials, at: int, above: int) -> tuple[str, float]:
    """Return the class nearest to its target, and the standard error of the size.

    The share of late jobs falls exponentially between the size and a larger pool; its standard
    error over the slope is that of the size. It is at least that of as many independent jobs, and
    infinite where the simulation is short against run times and waits.
    """
    asked = [c for c in trials.classes if math.isfinite(c.wait_h)]
    longest_h = max(*(c.hours for c in trials.classes), *(c.wait_h for c in asked))
    here = summary(trials.classes, trials.record(at)).classes
    there = summary(trials.classes, trials.record(above)).classes
    nearest, binding = -1.0, 0
    for k, one in enumerate(trials.classes):
        if math.isfinite(one.wait_h) and here[k].jobs:
            used = here[k].late_frac / (1.0 - one.wait_quantile)
            nearest, binding = max((nearest, binding), (used, k))
    found: ClassOutcome = here[binding]
    later = there[binding].late_frac
    if trials.span_h < SEARCH_SPANS * longest_h or not later < found.late_frac:
        return found.id, math.inf
    if later == 0.0:
        return found.id, float((above - at) * trials.step)  # no late job: the size is below
    slope = math.log(found.late_frac / later) / ((above - at) * trials.step)
    allowed = 1.0 - trials.classes[binding].wait_quantile
    least = math.sqrt(allowed * (1.0 - allowed) / found.jobs)
    return found.id, max(found.late_se_frac, least) / found.late_frac / slope
