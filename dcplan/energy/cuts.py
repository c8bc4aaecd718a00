"""Hours in which the utility cuts the power of the grid."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def cut_hours(
    hours_cut: float, events: int, first_hour: int, window_hours: int, hours: int
) -> npt.NDArray[np.bool_]:
    """Return which hours of the year have no grid: events of equal length at equal distances.

    Parameters
    ----------
    hours_cut : float
        Hours without grid in the year; a part of an hour counts as an hour. [h]
    events : int
        Number of events, at least 1.
    first_hour : int
        First hour of the first event.
    window_hours : int
        Hours over which the events spread. Events that do not fit spread over the whole year. [h]
    hours : int
        Hours of the year.

    Raises
    ------
    ValueError
        If there are more events than hours of cut, or more hours of cut than hours of the year.

    Examples
    --------
    >>> np.flatnonzero(cut_hours(4, 2, 10, 8, 24))
    array([10, 11, 14, 15])
    """
    whole = math.ceil(hours_cut)
    cut = np.zeros(hours, dtype=np.bool_)
    if whole == 0:
        return cut
    if not 1 <= events <= whole <= hours:
        msg = f"{events} events cannot have {whole} of {hours} hours together"
        raise ValueError(msg)
    span = window_hours if whole + events <= window_hours else hours
    lengths = np.full(events, whole // events)
    lengths[: whole % events] += 1
    for i, length in enumerate(lengths.tolist()):
        start = first_hour + i * span // events
        cut[(start + np.arange(length)) % hours] = True
    return cut
