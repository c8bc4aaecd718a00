"""Periods of the week with constant loads, from loads by hour of the week."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
HOURS = 168
"""Hours of a week, from Monday 00:00 UTC on."""


@dataclass(frozen=True)
class Periods:
    """Groups of hours of the week; the first one has the highest loads."""

    of_hour: npt.NDArray[np.int64]
    """Period of each hour, shape (168,)."""
    hours_frac: Array
    """Share of the hours, shape (periods,)."""
    high: Array
    """Highest load in the period, shape (services, periods)."""
    mean: Array
    """Mean load in the period, shape (services, periods)."""


def week_of(shape: npt.ArrayLike, utc_offset_h: float = 0.0) -> Array:
    """Return a load shape by hour of the week in UTC, with mean 1.

    Parameters
    ----------
    shape : array_like
        Relative load by local hour: 24 numbers for every day, or 168 from Monday 00:00. [-]
    utc_offset_h : float, default 0
        Local time minus UTC, in whole hours. [h]

    Raises
    ------
    ValueError
        If the shape has another length, or no load.

    Examples
    --------
    A load in one local hour of each day, at UTC+2, is two hours earlier in UTC.

    >>> week = week_of([0.0] * 12 + [1.0] + [0.0] * 11, 2)
    >>> int(week.argmax()), float(week.max())
    (10, 24.0)
    """
    local = np.asarray(shape, dtype=np.float64)
    if local.size not in (24, HOURS) or local.min() < 0.0 or local.sum() <= 0.0:
        msg = f"a load shape has 24 or {HOURS} numbers of at least 0, and one above 0"
        raise ValueError(msg)
    week = np.tile(local, HOURS // local.size)
    return np.asarray(np.roll(week, -round(utc_offset_h)) / week.mean())


def periods_of(loads: npt.ArrayLike, weights: npt.ArrayLike, most: int) -> Periods:
    r"""Group the hours of the week so that the highest loads exceed the loads least.

    Hours with equal loads are one group. Then the two groups whose union adds least are joined
    until ``most`` remain:

    .. math:: \min \sum_s w_s \sum_g n_g \max_{h \in g} l_{sh}

    Parameters
    ----------
    loads : array_like
        Load by hour of the week over its mean, shape (services, 168). [-]
    weights : array_like
        Size of each service, such as its accelerators at the mean load, shape (services,).
    most : int
        Periods at most, at least 1.

    Examples
    --------
    >>> day = week_of([1.0] * 12 + [3.0] * 12)
    >>> found = periods_of([day], [1.0], 4)
    >>> found.hours_frac.tolist(), found.high.tolist()
    ([0.5, 0.5], [[1.5, 0.5]])
    >>> periods_of([day], [1.0], 1).high.tolist()
    [[1.5]]
    """
    by_hour, size = np.asarray(loads, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    unique, of_hour = np.unique(by_hour, axis=1, return_inverse=True)
    groups = [np.flatnonzero(of_hour.ravel() == i) for i in range(unique.shape[1])]
    high = [unique[:, i] for i in range(unique.shape[1])]
    while len(groups) > most:
        i, j = _cheapest(np.array(high), np.array([g.size for g in groups]), size)
        groups[i] = np.concatenate([groups[i], groups.pop(j)])
        high[i] = np.maximum(high[i], high.pop(j))
    order = np.argsort([-float(size @ h) for h in high], kind="stable")
    label = np.zeros(HOURS, dtype=np.int64)
    for period, at in enumerate(order):
        label[groups[at]] = period
    found = [groups[at] for at in order]
    return Periods(
        label,
        np.array([g.size / HOURS for g in found]),
        np.array([by_hour[:, g].max(axis=1) for g in found]).T,
        np.array([by_hour[:, g].mean(axis=1) for g in found]).T,
    )


def _cheapest(high: Array, hours: npt.NDArray[np.int64], weights: Array) -> tuple[int, int]:
    """Return the pair of groups whose union adds the least load-hours."""
    own = hours * (high @ weights)
    joined = np.maximum(high[:, None, :], high[None, :, :]) @ weights
    added = (hours[:, None] + hours[None, :]) * joined - own[:, None] - own[None, :]
    rows, columns = np.triu_indices(len(hours), 1)
    at = int(np.argmin(added[rows, columns]))
    return int(rows[at]), int(columns[at])
