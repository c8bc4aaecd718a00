"""Jobs to replay, and the rules of the cluster that runs them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import numpy.typing as npt

from dcplan.demand.log.jobs import Array, Flags, Index

Order = Literal["backfill", "fifo"]
SEARCH_DEPTH = 100
"""Jobs behind the head that backfill looks at, as schedulers limit it (Slurm: ``bf_max_job_test``)."""


@dataclass(frozen=True)
class Work:
    """Jobs to replay, in the order of their submission; counts are units of the cluster.

    Raises
    ------
    ValueError
        When the jobs are not sorted, or a time is negative.
    """

    submit_s: Array
    """When a job may start at the earliest. [s]"""
    run_s: Array
    """Time that it needs. [s]"""
    limit_s: Array
    """Run time that the scheduler expects, at least ``run_s``. [s]"""
    units: Index
    """Accelerators, or parts of one, that it holds; a gang starts whole."""
    priority: Array
    """Rank, higher first."""
    group: Index
    """Pool of the job, for quotas."""
    preemptible: Flags
    """Whether a job of higher priority may stop it."""

    def __post_init__(self) -> None:
        if np.any(np.diff(self.submit_s) < 0.0) or np.any(self.run_s < 0.0):
            msg = "jobs are sorted by submission, and no run time is negative"
            raise ValueError(msg)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.submit_s)

    def rows(self, chosen: Flags | Index) -> Work:
        """Return some of the jobs."""
        return Work(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})


def work_of(
    submit_s: npt.ArrayLike,
    run_s: npt.ArrayLike,
    units: npt.ArrayLike,
    *,
    limit_s: npt.ArrayLike | None = None,
    priority: npt.ArrayLike | None = None,
    group: npt.ArrayLike | None = None,
    preemptible: npt.ArrayLike | None = None,
) -> Work:
    """Return jobs with known run times, without priorities, in one pool, unless given.

    Parameters
    ----------
    submit_s, run_s : array, shape (jobs,)
        Sorted by submission. [s]
    units : array of int, shape (jobs,)
    limit_s, priority, group, preemptible : array, shape (jobs,), optional

    Examples
    --------
    >>> len(work_of([0.0], [1.0], [8]))
    1
    """
    submit, run = np.asarray(submit_s, dtype=np.float64), np.asarray(run_s, dtype=np.float64)
    limit = run if limit_s is None else np.maximum(np.asarray(limit_s, dtype=np.float64), run)
    none = np.zeros(len(submit))
    return Work(
        submit,
        run,
        limit,
        np.asarray(units, dtype=np.int64),
        none if priority is None else np.asarray(priority, dtype=np.float64),
        none.astype(np.int64) if group is None else np.asarray(group, dtype=np.int64),
        none.astype(np.bool_) if preemptible is None else np.asarray(preemptible, dtype=np.bool_),
    )


@dataclass(frozen=True)
class Rules:
    """How the cluster chooses the next job.

    Examples
    --------
    >>> Rules().order, Rules(quota=(8,)).quota
    ('backfill', (8,))
    """

    order: Order = "backfill"
    """EASY backfill, or one strict line."""
    quota: tuple[float, ...] = ()
    """Units that the jobs of each pool may hold at a time; empty: no quotas."""
    loss_s: float = 0.0
    """Work since its start that a stopped job repeats, at most. [s]"""
    depth: int = SEARCH_DEPTH
    patience_s: float = math.inf
    """Wait in the queue after which a job that has not started runs elsewhere. [s]"""
    leaves_units: float = math.inf
    """Largest job that may run elsewhere."""
