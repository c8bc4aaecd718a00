"""Jobs of a log as work to replay: run times, limits that the scheduler knew, and policy holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.demand.log.jobs import Array, Index, JobLog
from dcplan.demand.log.waits import Waits
from dcplan.demand.log.work import Work, work_of

SEARCH_PARTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20)
"""Units of an accelerator that are tried for shares; above, shares are rounded up."""
SEARCH_RECENT_RUNS = 2
"""Runs of a user whose mean predicts the next one (Tsafrir, Etsion, Feitelson)."""


@dataclass(frozen=True)
class Recorded:
    """Work of a log with what was recorded about it, in the order of the work."""

    work: Work
    wait_s: Array
    """Recorded wait for capacity and for the period of the scheduler. [s]"""
    units_per_accelerator: int
    left_out: int
    """Runs that never started, and are not replayed."""


def units_of(accelerators: Array) -> int:
    """Return how many units one accelerator has, so that every share is a whole number of units.

    Parameters
    ----------
    accelerators : array
        Accelerators of each job.

    Examples
    --------
    >>> units_of(np.array([0.25, 0.5, 8.0])), units_of(np.array([1.0, 16.0]))
    (4, 1)
    """
    for parts in SEARCH_PARTS:
        if np.all(np.abs(accelerators * parts - np.round(accelerators * parts)) < 1e-6):
            return parts
    return SEARCH_PARTS[-1]


def recorded_work(log: JobLog, waits: Waits) -> Recorded:
    """Return the jobs of a log as work, with holds of policy taken as recorded.

    A job comes into the line when it was eligible and its recorded hold by policy is over, because
    more hardware shortens no hold. It runs as long as it was busy; a run that has not ended holds its
    accelerators until the last moment of the log. Where the user gave no limit,
    the scheduler expects the mean of the user's last two runs, and else the true run time.

    Parameters
    ----------
    log : JobLog
        Runs of one cluster.
    waits : Waits
        Their waits in parts.

    References
    ----------
    .. [1] D. Tsafrir, Y. Etsion, D. G. Feitelson, IEEE TPDS 18, 2007: the mean of the last two run
       times of a user as prediction.

    Examples
    --------
    >>> from dcplan.demand.log.jobs import log_of
    >>> from dcplan.demand.log.waits import split_waits
    >>> log = log_of([0.0, 10.0], [0.0, 180.0], [100.0, 200.0], [4, 1])
    >>> found = recorded_work(log, split_waits(log, 4, 4))
    >>> found.work.submit_s.tolist(), found.wait_s.tolist()
    ([0.0, 30.0], [0.0, 150.0])
    """
    kept = np.isfinite(log.start_s) & (log.accelerators > 0.0)
    last_s = np.nanmax([log.submit_s, log.start_s, log.end_s], initial=-np.inf)
    end_s = np.where(np.isfinite(log.end_s), log.end_s, last_s)
    busy_s = np.where(np.isfinite(log.busy_s), log.busy_s, end_s - log.start_s)
    rows = np.flatnonzero(kept)
    submit = (log.submit_s + waits.before_s + waits.policy_s)[rows]
    order = np.argsort(submit, kind="stable")
    rows, submit = rows[order], submit[order]
    parts = units_of(log.accelerators[rows])
    units = np.maximum(np.ceil(log.accelerators[rows] * parts - 1e-6), 1.0).astype(np.int64)
    run = np.maximum(busy_s[rows], 0.0)
    limit = np.where(np.isfinite(log.limit_s[rows]), log.limit_s[rows], np.nan)
    expected = expected_runs(log.user[rows], log.start_s[rows], end_s[rows], run)
    limit = np.maximum(np.where(np.isfinite(limit), limit, expected), run)
    rank = log.priority[rows]
    rank = np.where(np.isfinite(rank), rank, np.nanmin(rank) if np.isfinite(rank).any() else 0.0)
    work = work_of(
        submit,
        run,
        units,
        limit_s=limit,
        priority=rank,
        group=log.pool[rows],
        preemptible=log.preemptible[rows],
    )
    return Recorded(work, (waits.capacity_s + waits.cycle_s)[rows], parts, int((~kept).sum()))


def recent(recorded: Recorded, most: int) -> Recorded:
    """Return the last jobs of a log, at most so many.

    Examples
    --------
    >>> from dcplan.demand.log.work import work_of
    >>> three = Recorded(work_of([0.0, 1.0, 2.0], [1.0] * 3, [1, 2, 3]), np.arange(3.0), 1, 0)
    >>> recent(three, 2).work.units.tolist(), recent(three, 2).wait_s.tolist()
    ([2, 3], [1.0, 2.0])
    """
    if len(recorded.work) <= most:
        return recorded
    rows = np.arange(len(recorded.work) - most, len(recorded.work))
    return replace(recorded, work=recorded.work.rows(rows), wait_s=recorded.wait_s[rows])


def expected_runs(user: Index, start_s: Array, end_s: Array, run_s: Array) -> Array:
    """Return the mean of the last two runs of each job's user that had ended when it started.

    Without two such runs, or without a user, it is the true run time.

    Parameters
    ----------
    user : array of int
        -1: unknown.
    start_s, end_s, run_s : array
        Of each job. [s]

    Examples
    --------
    >>> user = np.array([0, 0, 0])
    >>> start, end = np.array([0.0, 10.0, 100.0]), np.array([5.0, 30.0, 200.0])
    >>> expected_runs(user, start, end, end - start).tolist()
    [5.0, 20.0, 12.5]
    """
    expected = run_s.copy()
    for one in np.unique(user[user >= 0]):
        mine = np.flatnonzero(user == one)
        by_end = mine[np.argsort(end_s[mine], kind="stable")]
        total = np.concatenate([[0.0], np.cumsum(run_s[by_end])])
        ended = np.searchsorted(end_s[by_end], start_s[mine], side="right")
        known = ended >= SEARCH_RECENT_RUNS
        sums = total[ended[known]] - total[ended[known] - SEARCH_RECENT_RUNS]
        expected[mine[known]] = sums / SEARCH_RECENT_RUNS
    return expected
