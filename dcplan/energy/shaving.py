"""What a battery carries: peaks of a day that it refills after, and interruptions of the grid."""

from __future__ import annotations

import math

from dcplan.units import HOURS_PER_DAY


def mw_per_carried_mw(event_h: float, hours: float, round_trip_frac: float) -> float:
    r"""Return the power of a battery for one MW that it carries through an event.

    .. math:: \max\Bigl(1, \frac{T}{h \sqrt{\eta}}\Bigr)

    Parameters
    ----------
    event_h : float
        Length T of the event, above 0. [h]
    hours : float
        Stored energy over power h, above 0. [h]
    round_trip_frac : float
        Energy out over energy in, from above 0 to 1. [1]

    Examples
    --------
    A battery of 4 hours carries its power for 3 hours, and half of it for 8 hours.

    >>> mw_per_carried_mw(3.0, 4.0, 1.0), mw_per_carried_mw(8.0, 4.0, 1.0)
    (1.0, 2.0)
    """
    return max(1.0, event_h / (hours * math.sqrt(round_trip_frac)))


def peak_over_mean_per_mw(peak_h: float, round_trip_frac: float) -> float:
    r"""Return how far a peak must be above the mean load of the day for one MW of shaving.

    Below the shaved peak the battery must get back in the day what it gave, with losses:
    :math:`P - S \ge \bar L + S \frac{p}{24} (1/\eta - 1)`.

    .. math:: \frac{P - \bar L}{S} \ge 1 + \frac{p}{24} \Bigl(\frac{1}{\eta} - 1\Bigr)

    Parameters
    ----------
    peak_h : float
        Hours of the day p above the shaved peak, from 0 to 24. [h]
    round_trip_frac : float
        Energy out over energy in, from above 0 to 1. [1]

    Examples
    --------
    With a round trip of 0.8 and 6 hours: 1 + 0.25 x 0.25 MW for each MW.

    >>> peak_over_mean_per_mw(6.0, 0.8)
    1.0625
    """
    return 1.0 + peak_h / HOURS_PER_DAY * (1.0 / round_trip_frac - 1.0)
