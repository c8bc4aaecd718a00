"""Jobs of a simulation: arrival times and run times sampled by class, the same for every pool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dcplan.demand.classes import JobClass

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Jobs:
    """Jobs in order of arrival."""

    arrival_h: Array
    kind: npt.NDArray[np.int64]
    """Index of the class."""
    run_h: Array


@lru_cache(maxsize=64)
def _unit_gaps(seed: int, name: str, cv2: float, count: int) -> Array:
    """Return times between arrivals with mean 1 and squared coefficient of variation ``cv2``."""
    rng = np.random.default_rng([seed, 1, *name.encode()])
    if cv2 == 0.0:
        return np.ones(count)
    if cv2 < 1.0:
        return np.asarray(rng.gamma(1.0 / cv2, cv2, count))
    gaps = rng.standard_exponential(count)
    if cv2 > 1.0:
        # two exponential times, each with half of the mean: p / rate_1 = (1 - p) / rate_2 = 1/2
        often = 0.5 * (1.0 + math.sqrt((cv2 - 1.0) / (cv2 + 1.0)))
        short = np.random.default_rng([seed, 2, *name.encode()]).random(count) < often
        gaps = gaps * np.where(short, 0.5 / often, 0.5 / (1.0 - often))
    return gaps


@lru_cache(maxsize=64)
def _unit_runs(seed: int, name: str, cv: float, count: int) -> Array:
    """Return lognormal run times with mean 1."""
    if cv == 0.0:
        return np.ones(count)
    sigma2 = math.log1p(cv**2)
    normal = np.random.default_rng([seed, 3, *name.encode()]).standard_normal(count)
    return np.exp(math.sqrt(sigma2) * normal - 0.5 * sigma2)


def _left(seed: int, one: JobClass) -> Array:
    """Return what is left of the jobs that run on average, in equilibrium."""
    rng = np.random.default_rng([seed, 4, *one.id.encode()])
    count = round(one.jobs_per_h * one.hours)
    sigma2 = math.log1p(one.hours_cv**2)
    normal, share = rng.standard_normal(count), rng.random(count)
    # the density of a long run among those that run now is the run's own, times its length
    return np.asarray(one.hours * np.exp(math.sqrt(sigma2) * normal + 0.5 * sigma2) * share)


def draw_jobs(classes: Sequence[JobClass], hours: float, seed: int) -> Jobs:
    """Draw the jobs that run at the first moment and those that arrive in a span of time.

    Jobs at the first moment are as many as would run on average if none waited, each with what is
    left of its run time: a uniform share of a run time sampled in proportion to its length.

    Each class has random numbers of its own, which depend on the seed and its id alone: another
    rate stretches the same arrivals, and another class changes none of them. Arrivals are a renewal
    process: Poisson at ``arrival_cv2`` 1, above it hyperexponential with balanced means, below it
    gamma. In the long run the variance of a count over its mean is ``arrival_cv2``. Arrivals and run
    times are stretched so that their means over the span are exact: the load is the asked one.

    Parameters
    ----------
    classes : sequence of JobClass
    hours : float
        Span from the first moment. [h]
    seed : int

    Examples
    --------
    >>> jobs = draw_jobs([JobClass("a", 1, hours=2.0, jobs_per_h=10.0, hours_cv=1.0)], 1000.0, seed=1)
    >>> len(jobs.run_h), round(float(jobs.run_h.mean()), 1)
    (10020, 2.0)
    """
    arrival, kind, run = [], [], []
    for k, one in enumerate(classes):
        count = round(one.jobs_per_h * hours)
        size = 1 << math.ceil(math.log2(count + 1))
        at = np.cumsum(_unit_gaps(seed, one.id, one.arrival_cv2, size)[: count + 1])
        at = at[:count] * (hours / at[count])
        unit = _unit_runs(seed, one.id, one.hours_cv, size)[:count]
        left = _left(seed, one)
        arrival += [np.zeros(left.size), at]
        kind.append(np.full(left.size + count, k, dtype=np.int64))
        run += [left, one.hours * unit / (unit.mean() if count else 1.0)]
    order = np.argsort(np.concatenate(arrival), kind="stable")
    return Jobs(
        np.concatenate(arrival)[order], np.concatenate(kind)[order], np.concatenate(run)[order]
    )
