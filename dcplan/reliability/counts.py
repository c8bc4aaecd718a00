"""Counted outages: the exact interval of their rate, and nodes with more than chance explains."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
