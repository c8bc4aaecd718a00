"""Spot capacity: low prices, with hours lost to interruptions."""

from __future__ import annotations

import numpy as np

from dcplan.economics.ranges import Value, above, as_value, within


def spot_useful_frac(
    interruptions_per_h: Value, interval_h: Value, save_h: Value, restart_h: Value
) -> Value:
    r"""Return useful over paid time with checkpoints and Poisson interruptions.

    .. math:: \frac{\tau \lambda}{e^{\lambda R}\,(e^{\lambda(\tau + w)} - 1)}

    Work since the last checkpoint is lost; saves and restarts may be interrupted too.

    Parameters
    ----------
    interruptions_per_h : float or array
        Interruption rate of the complete job, at least 0: instances x rate of one. [1/h]
    interval_h : float or array
        Useful work between checkpoints, above 0. [h]
    save_h, restart_h : float or array
        Paid hours of one checkpoint and of one restart, at least 0. [h]

    References
    ----------
    .. [1] J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart
       dumps", 2006, eq. 13.

    Examples
    --------
    >>> round(spot_useful_frac(0.0, 1.0, 0.25, 0.5), 6)
    0.8
    >>> round(spot_useful_frac(0.05, 1.0, 0.1, 0.5), 4)
    0.8625
    """
    rate = within("interruptions_per_h", interruptions_per_h, 0.0)
    work, save = above("interval_h", interval_h), within("save_h", save_h, 0.0)
    restart = within("restart_h", restart_h, 0.0)
    expected = rate * (work + save)
    calm = expected == 0.0
    safe = np.where(calm, 1.0, expected)
    # both exponentials decrease, so a very high rate gives 0 instead of an overflow
    finished = np.where(calm, 1.0, safe * np.exp(-safe) / -np.expm1(-safe))
    return as_value(work / (work + save) * np.exp(-rate * restart) * finished)


def spot_usd_per_useful_h(spot_usd_per_h: Value, useful_frac: Value) -> Value:
    """Price an hour of useful work: the spot price over the useful part of paid time.

    Examples
    --------
    >>> spot_usd_per_useful_h(2.0, 0.8)
    2.5
    """
    useful = above("useful_frac", within("useful_frac", useful_frac, high=1.0))
    return as_value(within("spot_usd_per_h", spot_usd_per_h, 0.0) / useful)


def spot_calendar_h(
    useful_h: Value, useful_frac: Value, interruptions_per_h: Value, wait_h: Value
) -> Value:
    """Return calendar hours of a job: paid hours, and an unpaid wait after each interruption.

    Parameters
    ----------
    useful_h : float or array
        Useful work. [h]
    useful_frac, interruptions_per_h : float or array
        As in :func:`spot_useful_frac`.
    wait_h : float or array
        Mean wait until capacity is back, at least 0. [h]

    Examples
    --------
    80 h of work take 100 paid hours, in which 5 interruptions wait 2 h each:

    >>> round(spot_calendar_h(80.0, 0.8, 0.05, 2.0), 9)
    110.0
    """
    paid = within("useful_h", useful_h, 0.0) / above(
        "useful_frac", within("useful_frac", useful_frac, high=1.0)
    )
    waits = within("interruptions_per_h", interruptions_per_h, 0.0) * within("wait_h", wait_h, 0.0)
    return as_value(paid * (1.0 + waits))
