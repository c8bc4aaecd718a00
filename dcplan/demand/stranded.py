"""Accelerators that quotas strand: idle in one queue while jobs of another wait for their own quota."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dcplan.demand.log.jobs import Array, JobLog
from dcplan.units import SECONDS_PER_HOUR

MOST_MOMENTS = 100_000
"""Moments that are in memory together."""


@dataclass(frozen=True)
class Counts:
    """Accelerators of queues over time; a value holds until the next."""

    at_s: Array
    """Moments at which something changes, and the end, sorted. [s]"""
    used: Array
    """Accelerators in use, shape (queues, moments - 1)."""
    waiting: Array
    """Accelerators of the jobs that could start and wait, shape (queues, moments - 1)."""


@dataclass(frozen=True)
class Stranded:
    """What quotas kept from work."""

    pending_h: float
    """Time in which a job waited. [h]"""
    enough_h: float
    """Part of it in which all queues together had as many idle accelerators as jobs waited for. [h]"""
    short_h: Array
    """Time in which jobs of each queue waited for more than its quota had idle. [h]"""
    elsewhere_h: Array
    """Part of it in which accelerators of other queues were idle that nobody there waited for. [h]"""
    accelerator_h: Array
    """Idle accelerator-hours that the waiting jobs of each queue would have used."""

    def __add__(self, other: Stranded) -> Stranded:
        """Add the hours of another time."""
        return Stranded(
            self.pending_h + other.pending_h,
            self.enough_h + other.enough_h,
            self.short_h + other.short_h,
            self.elsewhere_h + other.elsewhere_h,
            self.accelerator_h + other.accelerator_h,
        )


def stranded(counts: Counts, quota: Array, accelerators: float) -> Stranded:
    r"""Return the accelerator-hours that were idle while jobs waited for the quota of their queue.

    .. math:: S = \int \min\Big(\sum_k s_k,\ \max(C - \sum_k u_k - \sum_k \min(p_k, i_k), 0)\Big)
        dt, \quad i_k = \max(q_k - u_k, 0), \quad s_k = \max(p_k - i_k, 0)

    Queue k has u accelerators in use, i idle ones of its quota q, and jobs that wait for p. S is
    what one common queue would use in addition. It is shared between queues in proportion to s.
    Gangs and places on nodes are not checked, so that S is an upper bound.

    Parameters
    ----------
    counts : Counts
    quota : array, shape (queues,)
    accelerators : float
        Accelerators C of all queues together.

    Examples
    --------
    For an hour, queue 0 waits for 8 accelerators with its 16 in use; queue 1 uses 10 of 16.

    >>> counts = Counts(np.array([0.0, 3600.0]), np.array([[16.0], [10.0]]), np.array([[8.0], [0.0]]))
    >>> stranded(counts, np.array([16.0, 16.0]), 32.0).accelerator_h.tolist()
    [6.0, 0.0]
    """
    hours = np.diff(counts.at_s) / SECONDS_PER_HOUR
    idle = np.maximum(quota[:, None] - counts.used, 0.0)
    short = np.maximum(counts.waiting - idle, 0.0)
    free = np.maximum(accelerators - counts.used.sum(axis=0), 0.0)
    spare = np.maximum(free - np.minimum(counts.waiting, idle).sum(axis=0), 0.0)
    lacking, waiting = short.sum(axis=0), counts.waiting.sum(axis=0)
    lost = np.minimum(lacking, spare)
    share = short / np.where(lacking > 0.0, lacking, 1.0)
    return Stranded(
        float(hours @ (waiting > 0.0)),
        float(hours @ ((waiting > 0.0) & (free >= waiting))),
        (short > 0.0) @ hours,
        ((short > 0.0) & (spare > 0.0)) @ hours,
        (share * lost) @ hours,
    )


def stranded_jobs(log: JobLog, quota: Array, accelerators: float) -> Stranded:
    """Return what quotas strand by the jobs of a log.

    A job waits from the moment at which it could start to its start. Jobs that never started are
    left out.

    Parameters
    ----------
    log : JobLog
    quota : array, shape (pools of the log,)
        Accelerators that the jobs of each pool may hold.
    accelerators : float
        Accelerators of all pools together.

    Examples
    --------
    Pool 0 has 4 accelerators, on which the second job waits for 2 h; the 4 of pool 1 are idle.

    >>> from dcplan.demand.log.jobs import log_of
    >>> log = log_of([0, 0], [0, 7200], [7200, 9000], [4, 4], pools=("a", "b"), pool=[0, 0])
    >>> stranded_jobs(log, np.array([4.0, 4.0]), 8.0).accelerator_h.tolist()
    [8.0, 0.0]
    """
    nothing = np.zeros(len(quota))
    total = Stranded(0.0, 0.0, nothing, nothing, nothing)
    for counts in _counts(log, len(quota)):
        total = total + stranded(counts, quota, accelerators)
    return total


def _counts(log: JobLog, pools: int) -> Iterator[Counts]:
    """Yield the accelerators of each pool, some moments at a time."""
    log = log.rows(log.started)
    could = np.where(np.isfinite(log.eligible_s), log.eligible_s, log.submit_s)
    could = np.clip(could, log.submit_s, log.start_s)
    n = log.accelerators
    running = np.isfinite(log.end_s)
    moments = np.unique(np.concatenate([could, log.start_s, log.end_s[running]]))
    parts = []
    for k in range(pools):
        mine = log.pool == k
        ended = mine & running
        used = _steps([(log.start_s[mine], n[mine]), (log.end_s[ended], -n[ended])])
        waiting = _steps([(could[mine], n[mine]), (log.start_s[mine], -n[mine])])
        parts.append((used, waiting))
    for at in range(0, len(moments) - 1, MOST_MOMENTS):
        block = moments[at : at + MOST_MOMENTS + 1]
        now = block[:-1]
        yield Counts(
            block,
            np.array([_at(used, now) for used, _ in parts]),
            np.array([_at(waiting, now) for _, waiting in parts]),
        )


def _steps(changes: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return moments and the sum after each of them."""
    at = np.concatenate([t for t, _ in changes])
    order = np.argsort(at, kind="stable")
    return at[order], np.cumsum(np.concatenate([x for _, x in changes])[order])


def _at(steps: tuple[Array, Array], at_s: Array) -> Array:
    """Return the sum at each moment, without the rounding of sums that are whole."""
    moments, sums = steps
    before = np.searchsorted(moments, at_s, side="right")
    found = np.concatenate([[0.0], sums])[before]
    return np.asarray(np.where(np.abs(found) < 1e-9, 0.0, found))
