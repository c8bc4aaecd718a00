"""An order in time for weather that is known as hours in bins."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
DAY_H = 24


def ordered_bins(
    quarter: npt.NDArray[np.int64],
    dry_c: Array,
    hours: Array,
    lengths: tuple[int, ...],
    day_range_k: float,
    warmest_hour: float,
) -> npt.NDArray[np.int64]:
    r"""Return the bin of each hour of a year: the warmest bins in the warmest hours of a pattern.

    .. math:: p_h = \bar T(h) + \tfrac{r}{2} \cos\frac{2\pi (h \bmod 24 - w)}{24}

    The season is a line between the means of the quarters at their middles. In each quarter, its
    bins, from the coldest to the warmest, take the hours in the order of p. The hours of each bin
    stay; only their order is made.

    Parameters
    ----------
    quarter : array of int
        Quarter of each bin, 0 to 3; each quarter has a bin.
    dry_c, hours : array
        Dry bulb and hours of each bin. [C, h]
    lengths : tuple of int
        Hours of the quarters of the year. [h]
    day_range_k : float
        Difference of the warmest and the coldest hour of a day in the pattern. [K]
    warmest_hour : float
        Warmest hour of the day, 0 to 24. [h]

    Raises
    ------
    ValueError
        If a quarter has no bin.

    Examples
    --------
    One cold and one warm bin in four quarters of two days: warm in the day, cold at night.

    >>> quarters = np.repeat(np.arange(4), 2)
    >>> found = ordered_bins(quarters, np.tile([0.0, 10.0], 4), np.full(8, 24.0), (48,) * 4, 8.0, 15.0)
    >>> [int(found[h]) for h in (3, 15, 27, 39)]
    [0, 1, 0, 1]
    """
    count = len(lengths)
    if set(range(count)) - set(quarter.tolist()):
        msg = f"the weather has no hours in one of {count} quarters"
        raise ValueError(msg)
    means = [
        float(np.average(dry_c[quarter == q], weights=hours[quarter == q])) for q in range(count)
    ]
    ends = np.cumsum(lengths)
    total = int(ends[-1])
    middles = ends - np.array(lengths) / 2
    hour = np.arange(total)
    season = np.interp(hour, middles, means, period=total)
    day = np.cos(2 * math.pi * (hour % DAY_H - warmest_hour) / DAY_H)
    pattern = season + day_range_k / 2 * day
    found = np.empty(total, dtype=np.int64)
    for q, (end, length) in enumerate(zip(ends.tolist(), lengths, strict=True)):
        own = np.flatnonzero(quarter == q)
        own = own[np.argsort(dry_c[own], kind="stable")]
        shares = np.cumsum(hours[own]) / hours[own].sum()
        at = np.searchsorted(shares, (np.arange(length) + 0.5) / length)
        ranks = np.argsort(pattern[end - length : end], kind="stable")
        found[end - length + ranks] = own[np.minimum(at, own.size - 1)]
    return found
