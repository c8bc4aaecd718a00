"""Recorded jobs in columns: the one neutral table that every reader of a log writes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class State(IntEnum):
    """How a run ended, or that it did not."""

    COMPLETED = 0
    FAILED = 1
    CANCELLED = 2
    TIMEOUT = 3
    PREEMPTED = 4
    NODE_FAILED = 5
    RUNNING = 6
    PENDING = 7
    UNKNOWN = 8


@dataclass(frozen=True)
class JobLog:
    """Runs of jobs, one row a run, sorted by submission; unknown numbers are NaN, never zero.

    A job that was requeued has one row a run. Times are seconds since 1970 in UTC, or since any
    common start where the log has no dates.

    Raises
    ------
    ValueError
        When the columns have different lengths or are not sorted by submission.
    """

    pools: tuple[str, ...]
    """Names of partitions or queues."""
    pool: Index
    """Pool of each run."""
    submit_s: Array
    """When the run joined the queue. [s]"""
    eligible_s: Array
    """When nothing but capacity and policy kept it from its start; NaN: unknown. [s]"""
    start_s: Array
    """When it started; NaN: it never did. [s]"""
    end_s: Array
    """When it ended, or left the queue without a start; NaN: it had not when the log ended. [s]"""
    busy_s: Array
    """Time in which it held its accelerators, without suspensions; NaN: never started. [s]"""
    accelerators: Array
    """Accelerators that it held, or asked for where it never started; a part below 1 is a share."""
    requested: Array
    """Accelerators that it asked for; NaN: unknown."""
    per_node: Array
    """Accelerators on each of its nodes; NaN: unknown."""
    limit_s: Array
    """Longest run time that the user allowed; NaN: unknown. [s]"""
    priority: Array
    """Rank in the queue, higher first; NaN: unknown."""
    preemptible: Flags
    """Whether another job could stop it."""
    users: tuple[str, ...]
    user: Index
    """User of each run; -1: unknown."""
    reasons: tuple[str, ...]
    reason: Index
    """Last reason why the scheduler did not start it; -1: unknown."""
    state: Index
    """A :class:`State` for each run."""
    job: Index
    """Runs of one job share a number."""
    ids: tuple[str, ...]
    """Id of each job by its number, as the scheduler names it; empty or missing: unknown."""
    hosts: tuple[str, ...]
    """Lists of nodes, as the scheduler writes them."""
    host: Index
    """Nodes of each run; -1: unknown."""

    def __post_init__(self) -> None:
        lengths = {f.name: len(getattr(self, f.name)) for f in fields(self) if f.name not in NAMES}
        if len(set(lengths.values())) != 1:
            msg = f"columns of different lengths: {lengths}"
            raise ValueError(msg)
        if np.any(np.diff(self.submit_s) < 0.0):
            msg = "runs are not sorted by submission"
            raise ValueError(msg)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.submit_s)

    def rows(self, chosen: Flags | Index) -> JobLog:
        """Return some of the runs, in their order."""
        columns = {
            f.name: getattr(self, f.name)[chosen] for f in fields(self) if f.name not in NAMES
        }
        return replace(self, **columns)

    @property
    def started(self) -> Flags:
        """Whether each run has started."""
        return np.isfinite(self.start_s)


NAMES = ("pools", "users", "reasons", "ids", "hosts")
"""Fields that name what other columns number."""


def log_of(
    submit_s: npt.ArrayLike,
    start_s: npt.ArrayLike,
    end_s: npt.ArrayLike,
    accelerators: npt.ArrayLike,
    *,
    pools: tuple[str, ...] = ("all",),
    users: tuple[str, ...] = (),
    reasons: tuple[str, ...] = (),
    ids: tuple[str, ...] = (),
    hosts: tuple[str, ...] = (),
    **columns: npt.ArrayLike,
) -> JobLog:
    """Return a log, sorted by submission; columns that are not given are unknown.

    Parameters
    ----------
    submit_s, start_s, end_s : array, shape (runs,)
        Times; NaN where there is none. [s]
    accelerators : array, shape (runs,)
    pools, users, reasons, ids, hosts : tuple of str
    **columns : array, shape (runs,)
        Further columns of :class:`JobLog`.

    Raises
    ------
    TypeError
        When a column is unknown.

    Examples
    --------
    >>> log = log_of([5.0, 0.0], [6.0, 0.0], [9.0, 4.0], [1, 8])
    >>> log.submit_s.tolist(), log.busy_s.tolist(), log.state.tolist()
    ([0.0, 5.0], [4.0, 3.0], [0, 0])
    """
    start, end = np.asarray(start_s, dtype=np.float64), np.asarray(end_s, dtype=np.float64)
    submit = np.asarray(submit_s, dtype=np.float64)
    values = _unknown(len(submit), start, end) | {"submit_s": submit, "accelerators": accelerators}
    unknown_names = sorted(set(columns) - set(values))
    if unknown_names:
        msg = f"no column of a log: {', '.join(unknown_names)}"
        raise TypeError(msg)
    order = np.argsort(submit, kind="stable")
    typed = {
        name: np.asarray(x, dtype=KINDS.get(name, np.float64))[order]
        for name, x in (values | columns).items()
    }
    return JobLog(pools=pools, users=users, reasons=reasons, ids=ids, hosts=hosts, **typed)


KINDS: dict[str, type[np.generic]] = {
    **dict.fromkeys(("pool", "user", "reason", "state", "job", "host"), np.int64),
    "preemptible": np.bool_,
}
"""Columns that are no decimal numbers."""


def _unknown(runs: int, start: Array, end: Array) -> dict[str, npt.ArrayLike]:
    """Return the columns of a log as starts and ends tell them; others are unknown."""
    nan, none = np.full(runs, np.nan), np.full(runs, -1)
    ended = np.where(np.isfinite(end), State.COMPLETED, State.RUNNING)
    numbers = ("eligible_s", "requested", "per_node", "limit_s", "priority")
    return {
        **dict.fromkeys(numbers, nan),
        **dict.fromkeys(("user", "reason", "host"), none),
        "pool": np.zeros(runs, dtype=np.int64),
        "submit_s": nan,
        "start_s": start,
        "end_s": end,
        "busy_s": end - start,
        "accelerators": nan,
        "preemptible": np.zeros(runs, dtype=np.bool_),
        "state": np.where(np.isfinite(start), ended, State.PENDING),
        "job": np.arange(runs),
    }


def little_gap_frac(log: JobLog) -> float:
    r"""Return how far the log is from Little's identity, as a share of the time in the queue.

    .. math:: \int N(t)\,dt = \sum_i W_i

    The left side counts the jobs in the queue from submissions and starts in order of time, the
    right side adds up their waits. A reader that mixes up columns or time zones breaks it.

    Parameters
    ----------
    log : JobLog
        Runs that never started are left out.

    References
    ----------
    .. [1] J. D. C. Little, "A proof for the queuing formula L = lambda W", Operations Research 9,
       1961.

    Examples
    --------
    >>> from dcplan.demand.log.jobs import log_of
    >>> little_gap_frac(log_of([0.0, 1.0], [2.0, 4.0], [5.0, 6.0], [1, 1]))
    0.0
    """
    log = log.rows(log.started)
    if not len(log):
        return 0.0
    at = np.concatenate([log.submit_s, log.start_s])
    step = np.concatenate([np.ones(len(log)), -np.ones(len(log))])
    order = np.argsort(at, kind="stable")
    area = float(np.sum(np.diff(at[order]) * np.cumsum(step[order])[:-1]))
    total = float(np.sum(np.maximum(log.start_s - log.submit_s, 0.0)))
    return abs(area - total) / total if total else abs(area)
