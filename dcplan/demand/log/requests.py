"""Recorded requests to models: their rate, how it varies, and prompts that were seen before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.demand.log.jobs import Array
from dcplan.units import SECONDS_PER_MINUTE


@dataclass(frozen=True)
class Rate:
    """Requests over time."""

    per_s: float
    """Mean from the first request to the last; NaN if they have one time. [1/s]"""
    dispersion: float
    """Variance over mean of the requests in a step; 1 if they come at random. NaN: fewer than two."""
    peak_frac: float
    """Most requests of a step over the mean of a step; NaN: the log has fewer than two steps."""
    most: float
    """Most requests of a whole step; NaN: the log has fewer than two steps."""


def rate_of(arrivals_s: Array, step_s: float = SECONDS_PER_MINUTE) -> Rate:
    r"""Return the rate of requests and its variation over whole steps.

    .. math:: D = \frac{\mathrm{Var}[N]}{\mathrm{E}[N]}

    with the requests N of each step; a last step in part is left out.

    Parameters
    ----------
    arrivals_s : array, shape (requests,)
        Sorted. [s]
    step_s : float
        Length of a step. [s]

    References
    ----------
    .. [1] D. R. Cox, P. A. W. Lewis, "The Statistical Analysis of Series of Events", 1966: index of
       dispersion of counts.

    Examples
    --------
    Two requests in one minute, four in the next:

    >>> found = rate_of(np.array([0.0, 1.0, 60.0, 70.0, 80.0, 90.0, 120.0]))
    >>> round(found.per_s, 4), round(found.dispersion, 4), round(found.peak_frac, 4), found.most
    (0.0583, 0.3333, 1.3333, 4.0)
    """
    span = float(arrivals_s[-1] - arrivals_s[0]) if len(arrivals_s) else 0.0
    steps = math.floor(span / step_s)
    mean = len(arrivals_s) / span if span else math.nan
    if steps < 2:
        return Rate(mean, math.nan, math.nan, math.nan)
    at = np.floor((arrivals_s - arrivals_s[0]) / step_s).astype(np.int64)
    counts = np.bincount(at[at < steps], minlength=steps)
    level = float(counts.mean())
    most = float(counts.max())
    return Rate(mean, float(counts.var()) / level, most / level, most)


def reused_frac(block_hashes: Sequence[Sequence[int]]) -> float:
    r"""Return the share of prompt blocks whose whole prefix an endless cache would have.

    .. math:: h = \frac{\sum_i \text{leading blocks of request } i \text{ seen before}}{\sum_i b_i}

    Parameters
    ----------
    block_hashes : sequence of sequence of int
        Hashes of the blocks of each prompt, in the order of arrival.

    Examples
    --------
    >>> reused_frac([[1, 2], [1, 2, 3], [4]])
    0.3333333333333333
    """
    seen: set[int] = set()
    hits = blocks = 0
    for prompt in block_hashes:
        leading = next((k for k, h in enumerate(prompt) if h not in seen), len(prompt))
        hits += leading
        blocks += len(prompt)
        seen.update(prompt)
    return hits / blocks if blocks else 0.0
