"""Classes of jobs that share a pool, and the accelerators that they occupy on average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

SHARE_EPS = 1e-9
"""Rounding of 1 / share: seven shares of 1/7 fit."""


@dataclass(frozen=True)
class JobClass:
    """Jobs of one kind: size, run time, arrivals, rank in the queue and the wait that they accept.

    Raises
    ------
    ValueError
        When a number is out of range, or a size above one accelerator is not whole.

    Examples
    --------
    >>> notebooks = JobClass("notebooks", 1 / 7, hours=2.0, jobs_per_h=70.0)
    >>> notebooks.per_accelerator, notebooks.gang
    (7, 1)
    """

    id: str
    accelerators: float
    """Accelerators of one job, all at the same time (a gang); below 1: a share of one accelerator."""
    hours: float
    """Mean run time without stops. [h]"""
    jobs_per_h: float
    """Mean arrivals. [1/h]"""
    hours_cv: float = 0.0
    """Standard deviation of the run time over its mean, lognormal; 0: constant."""
    arrival_cv2: float = 1.0
    """Squared coefficient of variation of the time between arrivals; 1: Poisson, above 1: bursts."""
    priority: int = 0
    """Higher runs first."""
    preemptible: bool = False
    """Whether a class of higher priority, or less capacity, may stop a job."""
    loss_h: float = 0.0
    """Work of the time since its start that a stopped job repeats, at most. [h]"""
    most_accelerators: float = math.inf
    """Accelerators that the class may hold at a time."""
    wait_h: float = math.inf
    """Wait in the queue that the class accepts; infinite: no target. [h]"""
    wait_quantile: float = 0.9
    """Share of the jobs that wait no longer."""

    def __post_init__(self) -> None:
        positive = {"accelerators": self.accelerators, "hours": self.hours}
        bad = [k for k, v in positive.items() if not 0.0 < v < math.inf]
        least = {"jobs_per_h": self.jobs_per_h, "hours_cv": self.hours_cv}
        least |= {"arrival_cv2": self.arrival_cv2}
        bad += [k for k, v in least.items() if not 0.0 <= v < math.inf]
        open_end = {"loss_h": self.loss_h, "wait_h": self.wait_h}
        open_end |= {"most_accelerators": self.most_accelerators}
        bad += [k for k, v in open_end.items() if not v >= 0.0]
        bad += [] if 0.0 < self.wait_quantile < 1.0 else ["wait_quantile"]
        if bad:
            msg = f"class {self.id}: out of range: {', '.join(bad)}"
            raise ValueError(msg)
        if self.accelerators > 1.0 and self.accelerators != int(self.accelerators):
            msg = f"class {self.id}: {self.accelerators:g} accelerators are not a whole number"
            raise ValueError(msg)

    @property
    def gang(self) -> int:
        """Whole accelerators that a job needs when no accelerator of its class has room."""
        return max(int(self.accelerators), 1)

    @property
    def per_accelerator(self) -> int:
        """Jobs of the class that fit on one accelerator: floor(1 / share)."""
        return max(math.floor(1.0 / self.accelerators + SHARE_EPS), 1)

    @property
    def held(self) -> float:
        """Accelerators that a job holds if its class packs them full."""
        return self.gang / self.per_accelerator

    @property
    def offered_accelerators(self) -> float:
        """Accelerators that the jobs of the class hold on average if none waits."""
        return self.jobs_per_h * self.hours * self.held


def offered_accelerators(classes: Sequence[JobClass]) -> float:
    r"""Return the accelerators that the jobs hold on average if none waits.

    .. math:: R = \sum_k \lambda_k S_k n_k

    with n = 1 / floor(1 / share) for shares of an accelerator: what is left over serves no other
    class.

    Parameters
    ----------
    classes : sequence of JobClass

    Examples
    --------
    >>> offered_accelerators([JobClass("a", 8, hours=3.0, jobs_per_h=2.0)])
    48.0
    >>> offered_accelerators([JobClass("b", 0.4, hours=1.0, jobs_per_h=10.0)])  # two on each
    5.0
    """
    return sum(c.offered_accelerators for c in classes)


def gang_factor(classes: Sequence[JobClass]) -> float:
    r"""Return the ratio of variance to mean of the accelerators in use in an endless pool.

    .. math:: g = \frac{\sum_k \lambda_k S_k n_k^2}{\sum_k \lambda_k S_k n_k}

    for Poisson arrivals of gangs; one without gangs.

    Parameters
    ----------
    classes : sequence of JobClass

    References
    ----------
    .. [1] J. S. H. van Leeuwaarden, B. W. J. Mathijsen, B. Zwart, "Economies-of-scale in
       many-server queueing systems", 2017, arXiv 1706.05397.

    Examples
    --------
    >>> gang_factor([JobClass("a", 1, 1.0, 8.0), JobClass("b", 8, 1.0, 1.0)])
    4.5
    """
    load = offered_accelerators(classes)
    if load == 0.0:
        return 1.0
    return sum(c.offered_accelerators * c.held for c in classes) / load


def square_root_accelerators(classes: Sequence[JobClass]) -> float:
    r"""Return the accelerators of the square-root rule, at which the search for a size starts.

    .. math:: C = R + \beta \sqrt{R g}, \quad \beta = \Phi^{-1}(q)

    with the highest quantile q of the classes that have a target.

    Parameters
    ----------
    classes : sequence of JobClass

    References
    ----------
    .. [1] J. S. H. van Leeuwaarden, B. W. J. Mathijsen, B. Zwart, arXiv 1706.05397.

    Examples
    --------
    >>> jobs = JobClass("a", 1, hours=1.0, jobs_per_h=100.0, wait_h=0.1)
    >>> round(square_root_accelerators([jobs]), 1)
    112.8
    """
    load = offered_accelerators(classes)
    quantile = max((c.wait_quantile for c in classes if math.isfinite(c.wait_h)), default=None)
    beta = NormalDist().inv_cdf(quantile) if quantile is not None else 0.0
    return load + beta * math.sqrt(load * gang_factor(classes))
