"""Whole weeks of a log, sampled with replacement: how far a size depends on the recorded weeks."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import numpy.typing as npt

from dcplan.demand.log.work import Work
from dcplan.units import SECONDS_PER_WEEK


def whole_weeks(work: Work) -> int:
    """Return the whole weeks between the first submission and the last."""
    return int((work.submit_s[-1] - work.submit_s[0]) // SECONDS_PER_WEEK) if len(work) else 0


def resampled(work: Work, weeks: npt.NDArray[np.int64]) -> Work:
    """Return the jobs of some weeks of a log, one week after the other.

    Whole weeks keep the cycle of the day and of the week.

    Parameters
    ----------
    work : Work
    weeks : array of int
        Weeks from the first submission, 0 for the first; a week may occur more than once.

    Examples
    --------
    >>> from dcplan.demand.log.work import work_of
    >>> two = work_of([0.0, 604800.0 + 5.0], [1.0, 1.0], [1, 2])
    >>> again = resampled(two, np.array([1, 1, 0]))
    >>> again.submit_s.tolist(), again.units.tolist()
    ([5.0, 604805.0, 1209600.0], [2, 2, 1])
    """
    first = work.submit_s[0]
    of_week = ((work.submit_s - first) // SECONDS_PER_WEEK).astype(np.int64)
    rows = [np.flatnonzero(of_week == w) for w in weeks]
    chosen = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    moved = (np.arange(len(weeks)) - weeks) * SECONDS_PER_WEEK
    shift = np.repeat(moved, [len(r) for r in rows])
    columns = {f.name: getattr(work, f.name)[chosen] for f in fields(work)}
    return Work(**columns | {"submit_s": columns["submit_s"] + shift})


def week_draws(work: Work, draws: int, seed: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Return orders of weeks for a block bootstrap; empty if the log has fewer than two weeks.

    Parameters
    ----------
    work : Work
    draws : int
    seed : int

    References
    ----------
    .. [1] H. R. Kuensch, "The jackknife and the bootstrap for general stationary observations",
       Annals of Statistics 17, 1989: bootstrap by blocks.

    Examples
    --------
    >>> from dcplan.demand.log.work import work_of
    >>> week_draws(work_of([0.0, 10.0], [1.0, 1.0], [1, 1]), 5, 0)
    ()
    """
    weeks = whole_weeks(work)
    if weeks < 2:
        return ()
    random = np.random.default_rng(seed)
    return tuple(random.integers(0, weeks, size=weeks) for _ in range(draws))
