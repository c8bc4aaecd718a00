"""Power oversubscription: probability that jobs together exceed the feed of their racks."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Risk:
    """Risk of power oversubscription with independent jobs of equal size."""

    jobs: int
    over_frac: float
    """Share of the time above the feed."""
    mean_over_frac: float
    """Mean excess above the feed in that time."""
    worst_frac: float
    """Load relative to the feed while all jobs run."""


def risk(
    jobs: int, busy_frac: float, high_frac: float, low_frac: float, oversubscription: float
) -> Risk:
    r"""Return the binomial risk: each of J jobs runs with probability u and is otherwise idle.

    .. math:: x_k = R\,\frac{k\,h + (J-k)\,l}{J}, \quad P = \sum_{x_k > 1} \binom{J}{k} u^k (1-u)^{J-k}

    One job over all racks is synchronous, so it exceeds the feed whenever it runs and R h >
    1; many small jobs average out.

    Parameters
    ----------
    jobs : int
        Jobs of equal size, from 1. [-]
    busy_frac : float
        Share of the time in which a job runs. [-]
    high_frac, low_frac : float
        Power of a running and of an idle rack, relative to rated power. [-]
    oversubscription : float
        Rated power of all racks, relative to the feed, from 1. [-]

    Examples
    --------
    Two jobs, busy half of the time, at 0.8 and 0.2 of rated power, on a feed for 1/1.4: only both
    together exceed it.

    >>> risk(2, 0.5, 0.8, 0.2, 1.4)
    Risk(jobs=2, over_frac=0.25, mean_over_frac=0.12, worst_frac=1.12)
    """
    over = weighted = 0.0
    for k in range(jobs + 1):
        load = oversubscription * (k * high_frac + (jobs - k) * low_frac) / jobs
        chance = math.comb(jobs, k) * busy_frac**k * (1.0 - busy_frac) ** (jobs - k)
        if load > 1.0 + 1e-12:
            over += chance
            weighted += chance * (load - 1.0)
    mean = weighted / over if over else 0.0
    return Risk(jobs, over, round(mean, 12), round(oversubscription * high_frac, 12))
