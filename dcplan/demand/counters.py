"""Samples of counters as accelerator-hours: what they cover, what was active, what was idle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.demand.log.jobs import Array, Flags, Index
from dcplan.units import SECONDS_PER_HOUR

MOST_STRETCH = 1.5
"""Distance of two samples, over the usual one of their accelerator, above which samples are missing."""


@dataclass(frozen=True)
class Spans:
    """Time that each sample covers, and the time that no sample covers."""

    hours: Array
    """Time of each sample. [h]"""
    follows: Flags
    """Whether a sample follows the one before it of the same accelerator without a gap."""
    interval_s: Array
    """Usual distance of the samples of each accelerator. [s]"""
    gaps: Index
    """Positions of the samples after a gap."""
    gap_h: Array
    """Time without samples in each of these gaps. [h]"""
    window_h: float
    """Accelerator-hours from the first sample of all to the last one."""

    @property
    def seen_h(self) -> float:
        """Accelerator-hours that samples cover."""
        return float(self.hours.sum())


def spans_of(accelerator: Index, at_s: Array) -> Spans:
    r"""Return the time that each sample covers.

    .. math:: h_i = \min(t_{i+1} - t_i,\ d)\ \text{if}\ t_{i+1} - t_i > 1.5\,d,
        \ \text{else}\ t_{i+1} - t_i

    A value holds until the next sample of its accelerator. d is the median distance of its samples.
    After a longer pause, and after the last sample, it holds for d; the rest of the pause is a gap.

    Parameters
    ----------
    accelerator : array, shape (samples,)
        Number of the accelerator from 0, sorted.
    at_s : array, shape (samples,)
        Time of each sample, sorted and different within an accelerator. [s]

    Raises
    ------
    ValueError
        When no accelerator has two samples: the time that a sample covers is then unknown.

    Examples
    --------
    Samples each minute, of which one is missing: the third sample follows a gap of one minute.

    >>> found = spans_of(np.zeros(4, int), np.array([0.0, 60.0, 180.0, 240.0]))
    >>> (found.hours * 60).tolist(), found.gaps.tolist(), round(found.seen_h / found.window_h, 3)
    ([1.0, 1.0, 1.0, 1.0], [2], 0.8)
    """
    same = accelerator[1:] == accelerator[:-1]
    step = np.diff(at_s)
    if not same.any():
        msg = "no accelerator has two samples, so that the time of a sample is unknown"
        raise ValueError(msg)
    count = int(accelerator[-1]) + 1
    usual = np.full(count, float(np.median(step[same])))
    first = np.searchsorted(accelerator, np.arange(count + 1))
    for k in range(count):
        mine = step[first[k] : first[k + 1] - 1]
        if len(mine):
            usual[k] = float(np.median(mine))
    own = usual[accelerator]
    missing = same & (step > MOST_STRETCH * own[:-1])
    held_s = own.copy()
    held_s[:-1] = np.where(same & ~missing, step, own[:-1])
    follows = np.concatenate([[False], same & ~missing])
    gaps = np.flatnonzero(missing) + 1
    window_s = float((at_s + own).max() - at_s.min())
    return Spans(
        held_s / SECONDS_PER_HOUR,
        follows,
        usual,
        gaps,
        (step[gaps - 1] - own[gaps - 1]) / SECONDS_PER_HOUR,
        count * window_s / SECONDS_PER_HOUR,
    )


def hours_by(hours: Array, value: Array, group: Index, groups: int) -> tuple[Array, Array]:
    r"""Return the accelerator-hours of a measure in each group, and the hours where it is known.

    .. math:: H_g = \sum_{i \in g} h_i v_i, \quad K_g = \sum_{i \in g,\ v_i\ known} h_i

    An unknown value is not zero: its hours are in neither sum.

    Parameters
    ----------
    hours : array, shape (samples,)
        Time of each sample. [h]
    value : array, shape (samples,)
        Share of that time, 0 to 1; NaN: unknown.
    group : array, shape (samples,)
        Group of each sample; -1: none.
    groups : int

    Examples
    --------
    >>> found = hours_by(np.ones(3), np.array([0.5, np.nan, 1.0]), np.array([0, 0, 1]), 2)
    >>> [x.tolist() for x in found]
    [[0.5, 1.0], [1.0, 1.0]]
    """
    known = np.isfinite(value) & (group >= 0)
    part = np.bincount(group[known], hours[known] * value[known], groups)
    whole = np.bincount(group[known], hours[known], groups)
    return part.astype(np.float64), whole.astype(np.float64)


def idle_samples(
    spans: Spans, sm_active_frac: Array, job: Index, *, below_frac: float, longer_s: float
) -> Flags:
    """Return the samples of long idle periods.

    A period has samples of one accelerator and one job that follow each other without a gap, all
    with a known activity below the limit. It counts if it is longer than the limit of time.

    Parameters
    ----------
    spans : Spans
    sm_active_frac : array, shape (samples,)
        Share of cycles with work on the multiprocessors, 0 to 1; NaN: unknown.
    job : array, shape (samples,)
        Job of each sample; another number ends a period.
    below_frac : float
        Activity below which an accelerator is idle.
    longer_s : float
        A period of this length does not count yet. [s]

    Examples
    --------
    Twelve idle minutes of one job count; with the job changed after six of them, none does.

    >>> spans = spans_of(np.zeros(12, int), np.arange(12) * 60.0)
    >>> limits = {"below_frac": 0.01, "longer_s": 600.0}
    >>> int(idle_samples(spans, np.zeros(12), np.zeros(12, int), **limits).sum())
    12
    >>> int(idle_samples(spans, np.zeros(12), np.repeat([0, 1], 6), **limits).sum())
    0
    """
    low = sm_active_frac < below_frac  # false where it is unknown
    starts = ~spans.follows
    starts[1:] |= (low[1:] != low[:-1]) | (job[1:] != job[:-1])
    period = np.cumsum(starts) - 1
    length_s = np.bincount(period, spans.hours) * SECONDS_PER_HOUR
    return np.asarray(low & (length_s[period] > longer_s * (1.0 + 1e-12)))


def value_quantile(hours: Array, value: Array, quantile: float) -> float:
    """Return the least value that a counter does not exceed in a share of its known hours.

    Parameters
    ----------
    hours : array, shape (samples,)
        Time of each sample. [h]
    value : array, shape (samples,)
        NaN: unknown.
    quantile : float
        Share from 0 to 1.

    Examples
    --------
    >>> value_quantile(np.array([3.0, 1.0, 1.0]), np.array([0.0, 99.0, np.nan]), 0.5)
    0.0
    >>> value_quantile(np.ones(2), np.full(2, np.nan), 0.5)
    nan
    """
    known = np.isfinite(value)
    if not known.any():
        return float("nan")
    order = np.argsort(value[known], kind="stable")
    reached = np.cumsum(hours[known][order])
    at = int(np.searchsorted(reached, quantile * reached[-1] * (1.0 - 1e-12)))
    return float(value[known][order][min(at, len(order) - 1)])
