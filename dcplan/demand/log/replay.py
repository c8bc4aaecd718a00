"""Replay of recorded jobs on a cluster of another size: who would have waited how long."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcplan.demand.log.jobs import Array, Flags
from dcplan.demand.log.line import Late, Run
from dcplan.demand.log.nodes import Nodes
from dcplan.demand.log.work import Rules, Work


@dataclass(frozen=True)
class Replayed:
    """Outcome of a replay."""

    wait_s: Array
    """Time in the queue of each job, over all its starts; NaN: it never fits, or was cut off. [s]"""
    used_frac: float
    """Units in use over units of the cluster, mean from the first submission to the last."""
    most_waiting: int
    """Largest number of jobs in the queue."""
    stops: int
    """Times that a job was stopped for another."""
    never_fits: int
    """Jobs larger than the cluster or their quota."""
    backfilled: int
    """Jobs that passed a head of the line."""
    gone: Flags
    """Jobs that ran elsewhere, because their patience was over; their wait is NaN."""
    gave_up: bool
    """Whether the replay ended early, because too many jobs were late."""


def replay(
    work: Work,
    units: int,
    per_node: int,
    rules: Rules,
    *,
    late_s: float = math.inf,
    most_late: float = math.inf,
    count_from: int = 0,
) -> Replayed:
    """Return how long each job waits on a cluster.

    The head of the line is the job of highest priority that its quota does not hold back, then the
    first to come. If it does not fit, it stops preemptible jobs of lower priority, latest start
    first, if that is enough. Else it gets a reservation by the expected ends of running jobs, and
    jobs behind it start if they end before the reservation or fit next to it (EASY backfill).

    Parameters
    ----------
    work : Work
    units : int
        Units of the cluster.
    per_node : int
        Units of a node; ``units`` for a plain count.
    rules : Rules
    late_s, most_late : float
        The replay ends early when more than ``most_late`` jobs have waited longer than ``late_s``.
    count_from : int
        First job that counts as late; the cluster starts empty.

    References
    ----------
    .. [1] D. Tsafrir, Y. Etsion, D. G. Feitelson, "Backfilling using system-generated predictions
       rather than user runtime estimates", IEEE TPDS 18, 2007: EASY and its reservation.

    Examples
    --------
    Two jobs of four accelerators on four: the second waits until the first has ended. A short job
    of one accelerator cannot pass, because nothing is idle.

    >>> from dcplan.demand.log.work import work_of
    >>> two = work_of([0.0, 10.0, 20.0], [100.0, 50.0, 5.0], [4, 4, 1])
    >>> replay(two, 4, 4, Rules()).wait_s.tolist()
    [0.0, 90.0, 130.0]
    >>> replay(two, 5, 5, Rules()).wait_s.tolist()
    [0.0, 90.0, 0.0]
    """
    run = Run(work, Nodes(units, per_node), rules, Late(late_s, most_late, count_from))
    run.go()
    return _outcome(run, work, units)


def _outcome(run: Run, work: Work, units: int) -> Replayed:
    """Return the figures of a run that has ended."""
    span = float(work.submit_s[-1] - work.submit_s[0]) if len(work) else 0.0
    return Replayed(
        np.array(run.wait),
        run.busy / (units * span) if span else 0.0,
        run.most_waiting,
        run.stops,
        run.never_fits,
        run.backfilled,
        np.array(run.gone, dtype=np.bool_),
        run.gave_up,
    )
