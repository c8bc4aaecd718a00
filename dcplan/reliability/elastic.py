"""Elastic replicas: data-parallel groups that drop out and rejoin while the others train on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.units import SECONDS_PER_DAY

Array = npt.NDArray[np.float64]
Value = float | Array


@dataclass(frozen=True)
class Kept:
    """Shares of time that remain after stops of single replicas; each in [0, 1]."""

    moving: Value
    """Share of time in which no replica makes the others wait."""
    present: Value
    """Mean share of the replicas that train in that time."""


@dataclass(frozen=True)
class SplitStops:
    """Stops per day that end the complete job, and those that end one replica."""

    whole: Array
    single: Array


def replica_count(accelerators: Array, replica_accelerators: int | None, group: Array) -> Array:
    r"""Return the elastic replicas of a job: :math:`R = \max(\lfloor N / \max(g, m) \rfloor, 1)`.

    Parameters
    ----------
    accelerators : array
        Accelerators N of the job. [-]
    replica_accelerators : int or None
        Accelerators g of a replica; None: the job is one replica. [-]
    group : array
        Accelerators m of the largest model-parallel group, which a replica must hold. [-]

    Examples
    --------
    >>> replica_count(np.array([16384.0, 512.0]), 1024, np.array([8.0, 8.0])).tolist()
    [16.0, 1.0]
    """
    if replica_accelerators is None:
        return np.ones_like(accelerators)
    size = np.maximum(float(replica_accelerators), np.asarray(group, dtype=np.float64))
    return np.maximum(np.floor(accelerators / size), 1.0)


def split_stops(
    stops_per_day: Array,
    replicas: Array,
    planned_frac: float,
    whole_per_day: float,
    *,
    at_any_size: bool = False,
) -> SplitStops:
    """Split the stops of a job with several replicas into those of the job and those of one replica.

    Planned stops end the complete job. They are those of its parts, up to a rate that a large job
    does not exceed, because upgrades and changes of code are of the job. Every other stop ends one
    replica. A job of one replica has only stops of the complete job.

    Parameters
    ----------
    stops_per_day : array
        Stops of all parts. [1/day]
    replicas : array
        Replicas, at least 1. [-]
    planned_frac : float
        Planned share of the stops, in [0, 1]. [-]
    whole_per_day : float
        Most stops of a complete job of several replicas, at least 0. [1/day]
    at_any_size : bool
        Whether a complete job stops at this rate, whatever the planned stops of its parts.

    Examples
    --------
    >>> split = split_stops(np.array([10.0, 10.0, 5.0]), np.array([1.0, 4.0, 4.0]), 0.1, 0.87)
    >>> split.whole.tolist(), split.single.tolist()
    ([10.0, 0.87, 0.5], [0.0, 9.0, 4.5])
    """
    many = replicas > 1
    planned = stops_per_day * planned_frac
    together = whole_per_day if at_any_size else np.minimum(planned, whole_per_day)
    whole = np.where(many, together, stops_per_day)
    return SplitStops(whole, np.where(many, stops_per_day * (1.0 - planned_frac), 0.0))


def elastic_kept(
    stops_per_day: Value, replicas: Value, stall_s: Value, rejoin_s: Value, short: Value = 0.0
) -> Kept:
    r"""Return what remains of the time of a job whose replicas stop one at a time.

    A stop anywhere makes all replicas wait for the stall s, and takes its own replica out for the
    rejoin time d. Stops are random, also in a stall and in a replica that restarts, where both
    begin again. So all replicas train if none had a stop in the last s, and one replica trains if,
    in addition, it had none itself in the d - s before:

    .. math:: p_{moving} = e^{-\lambda s}, \qquad
              p_{present} = e^{-(\lambda / R) \max(d - s, 0)}\,(1 - 1/R)^m

    Parameters
    ----------
    stops_per_day : float or array
        Stops of all replicas together, at least 0. [1/day]
    replicas : float or array
        Replicas R, at least 2. [-]
    stall_s : float or array
        Time that the other replicas lose at a stop: detection, new groups of communication, the
        step that is repeated; at least 0. [s]
    rejoin_s : float or array
        Time from a stop until its replica trains again, with weights from a peer, at least 0. [s]
    short : float or array, default 0
        Mean number m of nodes (or groups) in repair without a spare; each takes one replica out.
        [-]

    Examples
    --------
    100,000 GPUs of FT-HSDP: a failure every 18 minutes, a stall of 3, here in 24 replicas that
    rejoin after 8. Published: 80 % of effective time.

    >>> kept = elastic_kept(80.0, 24, 180.0, 480.0)
    >>> round(float(kept.moving), 3), round(float(kept.present), 3)
    (0.846, 0.988)
    """
    rate = np.asarray(stops_per_day, dtype=np.float64) / SECONDS_PER_DAY
    out_s = np.maximum(np.asarray(rejoin_s, dtype=np.float64) - stall_s, 0.0)
    whole = np.asarray((1.0 - 1.0 / np.asarray(replicas, dtype=np.float64)) ** short)
    return Kept(np.exp(-rate * stall_s), np.exp(-rate / replicas * out_s) * whole)
