"""Recorded incidents of nodes: stops, their rate with an exact interval, delays, and lemon nodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.units import HOURS_PER_DAY, SECONDS_PER_DAY

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
SEARCH_STEPS = 80
"""Halvings of the search for the end of an interval: it ends at the spacing of numbers."""
MOST_DEVIATIONS = 40.0
"""Terms of a sum that are farther from its largest one are zero in floating point."""


def poisson_bounds(count: int, exposure: float, confidence_frac: float) -> tuple[float, float]:
    r"""Return the exact interval of a rate whose events were counted.

    .. math:: P(X \ge k \mid \mu_{low}) = \alpha/2, \quad P(X \le k \mid \mu_{high}) = \alpha/2

    X is a Poisson number; the ends are :math:`\mu / T`, half a quantile of chi-square with 2k or 2k + 2
    degrees of freedom. The lower end is 0 where nothing was counted.

    Parameters
    ----------
    count : int
        Events k, at least 0. [-]
    exposure : float
        Time T in which they were counted, such as node-days; above 0.
    confidence_frac : float
        Coverage 1 - alpha, in (0, 1).

    References
    ----------
    .. [1] F. Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28, 1936.

    Examples
    --------
    The 10 XID failures of SK Telecom's 504 B200 in 55 days, a GPU-year:

    >>> low, high = poisson_bounds(10, 504 * 55 / 365, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.063, 0.242)
    """
    miss = (1.0 - confidence_frac) / 2.0
    reach = int(MOST_DEVIATIONS * (math.sqrt(count) + 1.0))
    below = np.arange(max(count - reach, 0), count + 1)
    above = np.arange(count, count + reach)
    # a tail of a half is near the count; both ends are within the reach of it
    low = _root(lambda mean: _poisson(above, mean) < miss, max(count - reach, 0), count)
    high = _root(lambda mean: _poisson(below, mean) > miss, count, count + reach)
    return (low if count else 0.0) / exposure, high / exposure


def _root(before: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition that holds at the low end ends to hold."""
    for _ in range(SEARCH_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if before(middle) else (low, middle)
    return (low + high) / 2.0


def _poisson(numbers: Index, mean: float) -> float:
    """Return the probability that a Poisson number is one of consecutive numbers."""
    if mean <= 0.0:
        return float(numbers[0] == 0)
    return float(np.exp(numbers * math.log(mean) - mean - _log_factorial(numbers)).sum())


def _log_factorial(numbers: Index) -> Array:
    """Return the logarithms of the factorials of consecutive numbers."""
    first = math.lgamma(float(numbers[0]) + 1.0)
    return first + np.concatenate([[0.0], np.cumsum(np.log(numbers[1:]))])


@dataclass(frozen=True)
class Outages:
    """Incidents of nodes, joined to outages: what stops a job once."""

    first: Flags
    """Whether an incident starts an outage; the others start while their node is already out."""
    down_s: float
    """Time that nodes were out within the window, of outages whose end is known or open. [s]"""
    away_s: float
    """Time of these outages, also after the window; open ones to its end. [s]"""
    ended: int
    """Outages whose end is known."""

    @property
    def mean_s(self) -> float | None:
        """Mean length of an outage, as :func:`censored_mean`; None where none has ended. [s]."""
        return self.away_s / self.ended if self.ended else None


def outages(node: Index, start_s: Array, end_s: Array, window_s: tuple[float, float]) -> Outages:
    """Join incidents of one node that overlap: the second does not stop a job again.

    One that starts at the end of another overlaps it: the node has not returned in between.

    Parameters
    ----------
    node : array
        Number of the node; -1: unknown, an outage of its own.
    start_s : array
        Start. [s]
    end_s : array
        Return of the node; infinite: still out; NaN: unknown, it hides no later incident. [s]
    window_s : tuple of float
        Start and end of the record. [s]

    Examples
    --------
    Node 0 fails at 0 s and at 50 s, and returns at 100 s; node 1 fails at 60 s.

    >>> found = outages(
    ...     np.array([0, 0, 1]), np.array([0.0, 50.0, 60.0]), np.array([100.0, 70.0, 80.0]), (0, 200)
    ... )
    >>> found.first.tolist(), found.down_s, found.mean_s
    ([True, False, True], 120.0, 60.0)
    """
    first = np.ones(len(node), dtype=np.bool_)
    spans: list[tuple[float, float]] = []
    at = -1
    starts, ends, nodes = start_s.tolist(), end_s.tolist(), node.tolist()
    for i in np.lexsort((start_s, node)).tolist():
        end = starts[i] if math.isnan(ends[i]) else ends[i]
        first[i] = nodes[i] < 0 or nodes[i] != at or starts[i] > spans[-1][1]
        if first[i]:
            spans.append((starts[i], end))
        else:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        at = nodes[i]
    down_s = sum(max(min(b, window_s[1]) - max(a, window_s[0]), 0.0) for a, b in spans)
    away_s = sum((b if b < math.inf else max(window_s[1], a)) - a for a, b in spans)
    # an outage whose end is unknown has the length 0 here
    return Outages(first, down_s, away_s, sum(a < b < math.inf for a, b in spans))


def censored_quantile(duration: Array, ended: Flags, quantile: float) -> float | None:
    r"""Return the smallest duration that a share of the incidents does not exceed.

    .. math:: S(t) = \prod_{t_i \le t} (1 - d_i / n_i)

    Incidents that are still open count as longer than they have lasted so far (Kaplan and Meier). None
    where too many are open for the quantile.

    Parameters
    ----------
    duration : array
        Time until the end, or so far; at least 0.
    ended : array
        Whether the incident has ended.
    quantile : float
        Share, in (0, 1).

    References
    ----------
    .. [1] E. L. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations", Journal of
       the American Statistical Association 53, 1958.

    Examples
    --------
    >>> hours = np.array([1.0, 2.0, 3.0, 4.0])
    >>> censored_quantile(hours, np.array([True, True, True, True]), 0.5)
    2.0
    >>> censored_quantile(hours, np.array([True, False, True, True]), 0.5)
    3.0
    """
    left = 1.0
    at_risk = len(duration)
    order = np.lexsort((~ended, duration))  # at equal times, ends come before what stays open
    for value, end in zip(duration[order].tolist(), ended[order].tolist(), strict=True):
        left *= 1.0 - 1.0 / at_risk if end else 1.0
        at_risk -= 1
        if end and 1.0 - left >= quantile * (1.0 - np.finfo(float).eps * len(duration)):
            return float(value)
    return None


def censored_mean(duration: Array, ended: Flags) -> float | None:
    r"""Return the time of all incidents over the number that ended.

    .. math:: \sum_i t_i / \#\{ended\}

    The maximum-likelihood mean if the end is equally likely at any time; without open incidents the
    plain mean. None where none has ended.

    Parameters
    ----------
    duration : array
        Time until the end, or so far; at least 0.
    ended : array
        Whether the incident has ended.

    Examples
    --------
    >>> censored_mean(np.array([2.0, 4.0, 6.0]), np.array([True, True, False]))
    6.0
    """
    count = int(ended.sum())
    return float(duration.sum()) / count if count else None


@dataclass(frozen=True)
class Lemons:
    """Nodes with more outages than chance explains."""

    chance_frac: Array
    """Probability that a node has at least as many outages, if all nodes are equal."""
    lemon: Flags
    """Whether the node is a lemon."""


def lemons(count: Index, nodes: int, false_frac: float, least: int) -> Lemons:
    r"""Find nodes whose outages are too many for a fleet of equal nodes.

    .. math:: p_i = P(\mathrm{Binomial}(\textstyle\sum_j k_j, 1/N) \ge k_i)

    Given their sum, the outages of equal nodes are multinomial, so the test needs no rate. Benjamini and
    Hochberg's step over all N nodes keeps the expected share of false lemons below ``false_frac``. A lemon
    also has at least ``least`` outages: a second one can be a repair that failed.

    Parameters
    ----------
    count : array
        Outages of each node that has any, at least 1. [-]
    nodes : int
        Nodes of the fleet N, at least ``len(count)``. [-]
    false_frac : float
        Expected share of false ones among the lemons, in (0, 1).
    least : int
        Outages of a lemon, at least. [-]

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
       Statistical Society B 57, 1995.
    .. [2] A. Kokolis et al., 2024, arXiv 2410.21680: lemon nodes.

    Examples
    --------
    Of 100 nodes, one has 8 of 28 outages. Eight have the chance 28 over 8 times 0.01^8 times 0.99^20,
    2.5e-10; more than eight add 0.1e-10:

    >>> found = lemons(np.array([8, *[1] * 20]), 100, 0.05, 3)
    >>> f"{found.chance_frac[0]:.1e}", int(found.lemon.sum())
    ('2.6e-10', 1)
    """
    total = int(count.sum())
    each = {k: _binomial_tail(k, total, nodes) for k in np.unique(count).tolist()}
    chance = np.array([each[k] for k in count.tolist()], dtype=np.float64)
    order = np.argsort(chance, kind="stable")
    rank = np.arange(1, len(count) + 1)
    passed = np.flatnonzero(chance[order] <= false_frac * rank / nodes)
    lemon = np.zeros(len(count), dtype=np.bool_)
    if len(passed):
        lemon[order[: passed[-1] + 1]] = True
    return Lemons(chance, lemon & (count >= least))


def _binomial_tail(least: int, total: int, nodes: int) -> float:
    """Return the probability that one of some equal nodes has at least so many of all outages."""
    if nodes <= 1:
        return 1.0
    numbers = np.arange(least, total + 1)
    others = _log_factorial(total - numbers[::-1])[::-1]
    ways = math.lgamma(total + 1.0) - _log_factorial(numbers) - others
    odds = numbers * math.log(1.0 / nodes) + (total - numbers) * math.log1p(-1.0 / nodes)
    return min(float(np.exp(ways + odds).sum()), 1.0)


def mttf_h(nodes: float, stops_per_node_day: float) -> float:
    r"""Return the mean time to failure of a job that needs all of its nodes. [h].

    .. math:: 24 / (n r)

    Parameters
    ----------
    nodes : float
        Nodes n of the job, above 0. [-]
    stops_per_node_day : float
        Stops r of a node, at least 0; infinite result at 0. [1/day]

    References
    ----------
    .. [1] A. Kokolis et al., 2024, arXiv 2410.21680, section III.

    Examples
    --------
    RSC-1's rate and jobs of 16,384 and 131,072 accelerators, published as 1.8 h and 0.23 h:

    >>> [round(mttf_h(n / 8, 6.5e-3), 3) for n in (16_384, 131_072)]
    [1.803, 0.225]
    """
    rate = nodes * stops_per_node_day
    return HOURS_PER_DAY / rate if rate else math.inf


def clean_frac(nodes: float, days: float, stops_per_node_day: float) -> float:
    r"""Return the probability that a job has no interruption.

    .. math:: e^{-n d r}

    Parameters
    ----------
    nodes : float
        Nodes n of the job, at least 0. [-]
    days : float
        Length d of the job, at least 0. [days]
    stops_per_node_day : float
        Stops r of a node, at least 0. [1/day]

    Examples
    --------
    >>> round(clean_frac(128, 1.0, 6.5e-3), 3)
    0.435
    """
    return math.exp(-nodes * days * stops_per_node_day)


def node_days(nodes: int, window_s: tuple[float, float]) -> float:
    """Return the exposure of a fleet: its nodes times the days of the window, time in repair included.

    Parameters
    ----------
    nodes : int
        Nodes of the fleet. [-]
    window_s : tuple of float
        Start and end of the record. [s]

    Examples
    --------
    >>> node_days(100, (0.0, 86_400.0))
    100.0
    """
    return nodes * (window_s[1] - window_s[0]) / SECONDS_PER_DAY
