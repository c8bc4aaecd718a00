"""Recorded incidents of nodes: outages, the time until they end, and what their rate means for a job."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.units import HOURS_PER_DAY, SECONDS_PER_DAY

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


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
