"""Random numbers of the queue without chance: quantiles at the points of a fixed sequence.

References
----------
.. [1] M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018.
"""

from __future__ import annotations

import numpy as np

from dcplan.serving.queue.clock import Array

FIT_POINTS = 4096
"""Points of the sequence."""
FIT_DIMENSIONS = 10
FIT_ROUNDS = 40
"""Rounds of the fixed point of the sequence's number."""
SMALL_EPS = 1e-9
MOST_SINGLE_COUNTS = 30.0
"""Mean up to which a Poisson number is counted one by one; above it, it is rounded normal."""
NORMAL_GRID = np.linspace(-4.5, 4.5, 901)


def points() -> Array:
    """Return points in the unit cube, shape (dimensions, points) [1]_.

    Each coordinate is replaced by its rank, so each takes equally spaced values.
    """
    golden = 2.0
    for _ in range(FIT_ROUNDS):
        golden = (1.0 + golden) ** (1.0 / (FIT_DIMENSIONS + 1.0))
    steps = golden ** -np.arange(1.0, FIT_DIMENSIONS + 1.0)
    found = (0.5 + np.outer(steps, np.arange(1, FIT_POINTS + 1))) % 1.0
    ranks = np.argsort(np.argsort(found, axis=1), axis=1)
    return np.asarray((ranks + 0.5) / FIT_POINTS)


POINTS = points()


def poisson(mean: Array, uniform: Array) -> Array:
    """Return the Poisson number at each uniform number, by counting."""
    found = np.maximum(np.rint(mean + np.sqrt(mean) * normal(uniform)), 0.0)
    counted = np.flatnonzero(mean <= MOST_SINGLE_COUNTS)
    found[counted] = _counted(mean[counted], uniform[counted])
    return found


def _counted(mean: Array, uniform: Array) -> Array:
    """Return Poisson numbers of small means; points that are done leave the loop."""
    found = np.zeros_like(mean)
    term = np.exp(-mean)
    total, left = term.copy(), np.arange(mean.size)
    k = 0.0
    while k < 3.0 * MOST_SINGLE_COUNTS:
        more = uniform > total
        if not more.any():
            break
        left, mean, uniform = left[more], mean[more], uniform[more]
        term, total = term[more], total[more]
        k += 1.0
        found[left] = k
        term = term * mean / k
        total = total + term
    return found


def normal(uniform: Array) -> Array:
    """Return the standard normal quantile, from the integral of its density."""
    density = np.exp(-NORMAL_GRID * NORMAL_GRID / 2.0)
    rise = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2.0)])
    return np.interp(uniform, rise / rise[-1], NORMAL_GRID)


def geometric(mean: Array, uniform: Array) -> Array:
    """Return the geometric number, from 0, at each uniform number."""
    rate = np.log1p(1.0 / np.maximum(mean, SMALL_EPS))
    return np.floor(-np.log(np.maximum(uniform, SMALL_EPS)) / rate)


def hyperexponential(uniform: Array, cv2: Array) -> Array:
    """Return values of mean 1: two exponential phases of equal weight in the mean."""
    often = (1.0 + np.sqrt((cv2 - 1.0) / (cv2 + 1.0))) / 2.0
    rare = uniform >= often
    share = np.where(rare, 1.0 - often, often)
    within = np.where(rare, uniform - often, uniform) / share
    return -np.log(np.clip(within, SMALL_EPS, 1.0)) / (2.0 * share)
