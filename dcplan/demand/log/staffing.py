"""Textbook rules for the size of a pool, shown next to the replay because they are often wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dcplan.demand.log.jobs import Array
from dcplan.demand.log.work import Work

SEARCH_EMPTY_FRAC = 0.1
"""Share of the time of a log in which the use still grows from zero."""


@dataclass(frozen=True)
class Load:
    """What jobs would occupy if nobody waited."""

    mean: float
    """Unit-hours of all jobs over the hours from the first submission to the last."""
    peakedness: float
    """Variance over mean of the units in use, with gangs, bursts and the day as recorded."""
    gang_factor: float
    """E[n^2 S] / E[n S]: ratio of variance to mean if arrivals were Poisson."""
    occupied: Array
    """Accelerators in use at each change, in the order of ``at_s``."""
    at_s: Array

    @property
    def least(self) -> float:
        """Mean of the units in use between the first and the last submission.

        It leaves out what still runs then, so that no cluster below it serves the log for long.
        """
        span = float(self.at_s[-1] - self.at_s[0])
        return float(np.sum(self.occupied[:-1] * np.diff(self.at_s))) / span if span else 0.0

    def quantile(self, share: float) -> float:
        """Return the accelerators in use that are not exceeded for a share of the time."""
        span = np.diff(self.at_s)
        order = np.argsort(self.occupied[:-1], kind="stable")
        total = np.cumsum(span[order])
        if not len(total) or total[-1] <= 0.0:
            return self.mean
        return float(self.occupied[:-1][order][np.searchsorted(total, share * total[-1])])


def load_of(work: Work) -> Load:
    r"""Return the use of an endless cluster.

    .. math:: R = \frac{1}{T} \sum_i n_i S_i, \quad z = \frac{\mathrm{Var}[n(t)]}{\mathrm{E}[n(t)]}

    over the time T from the first submission to the last. The variance leaves out the first tenth
    of the time, because a log starts with an empty cluster.

    Parameters
    ----------
    work : Work

    Examples
    --------
    Eight units for half of 100 s:

    >>> from dcplan.demand.log.work import work_of
    >>> load = load_of(work_of([0.0, 100.0], [50.0, 0.0], [8, 1]))
    >>> load.mean, round(load.peakedness, 3), load.gang_factor
    (4.0, 4.444, 8.0)
    """
    if not len(work):
        return Load(0.0, 1.0, 1.0, np.zeros(1), np.zeros(1))
    at = np.concatenate([work.submit_s, work.submit_s + work.run_s])
    step = np.concatenate([work.units, -work.units]).astype(np.float64)
    order = np.argsort(at, kind="stable")
    at, occupied = at[order], np.cumsum(step[order])
    first, last = float(work.submit_s[0]), float(work.submit_s[-1])
    hours = work.units * work.run_s
    total = float(np.sum(hours))
    mean = total / (last - first) if last > first else 0.0
    gang = float(np.sum(work.units * hours)) / total if total else 1.0
    kept = at < last
    times, values = np.append(at[kept], last), occupied[kept]
    span = np.diff(np.maximum(times, first + SEARCH_EMPTY_FRAC * (last - first)))
    whole = float(np.sum(span))
    level = float(np.sum(values * span)) / whole if whole else 0.0
    spread = float(np.sum((values - level) ** 2 * span)) / whole if whole else 0.0
    peaked = spread / level if level else 1.0
    return Load(mean, peaked, gang, np.append(values, values[-1:]), times)


def square_root_units(load: Load, late_frac: float, peakedness: float) -> float:
    r"""Return the size of the square-root rule.

    .. math:: C = R + \Phi^{-1}(1 - \alpha) \sqrt{R z}

    Parameters
    ----------
    load : Load
    late_frac : float
        Share of the jobs that may wait, between 0 and 1.
    peakedness : float
        1 for Poisson arrivals of single accelerators, the gang factor for Poisson arrivals of
        gangs, or the measured ratio of variance to mean.

    References
    ----------
    .. [1] J. S. H. van Leeuwaarden, B. W. J. Mathijsen, B. Zwart, arXiv 1706.05397.

    Examples
    --------
    >>> import numpy as np
    >>> load = Load(100.0, 1.0, 1.0, np.zeros(1), np.zeros(1))
    >>> round(square_root_units(load, 0.05, 1.0), 1)
    116.4
    """
    beta = NormalDist().inv_cdf(1.0 - late_frac)
    return load.mean + beta * math.sqrt(load.mean * peakedness)


def erlang_units(load: Load, mean_run_s: float, wait_s: float, late_frac: float) -> float:
    r"""Return the size at which Erlang C keeps a wait, with gangs as servers of mean size.

    .. math:: P(W > w) = C(c, a)\, e^{-(c - a) w / S} \le \alpha

    with a = R / n servers of n accelerators each, n the gang factor.

    Parameters
    ----------
    load : Load
    mean_run_s : float
        Mean run time S. [s]
    wait_s : float
        Target w. [s]
    late_frac : float
        Share of the jobs that may wait longer.

    References
    ----------
    .. [1] L. Kleinrock, "Queueing Systems", volume 1, 1975, section 3.5: M/M/c.

    Examples
    --------
    One server at half load: P(W > 0) is 0.5, and the load of 0.5 needs two servers for 0.2.

    >>> import numpy as np
    >>> erlang_units(Load(0.5, 1.0, 1.0, np.zeros(1), np.zeros(1)), 1.0, 0.0, 0.2)
    2.0
    """
    size = max(load.gang_factor, 1.0)
    offered = load.mean / size
    servers = math.floor(offered) + 1
    while _late(servers, offered, wait_s / mean_run_s if mean_run_s else math.inf) > late_frac:
        servers += 1
    return servers * size


def _late(servers: int, offered: float, wait_in_runs: float) -> float:
    """Return P(W > w) of M/M/c; the blocking recursion is stable for any number of servers."""
    blocking = 1.0
    for k in range(1, servers + 1):
        blocking = offered * blocking / (k + offered * blocking)
    use = offered / servers
    waits = blocking / (1.0 - use * (1.0 - blocking))
    return waits * math.exp(-(servers - offered) * wait_in_runs)
