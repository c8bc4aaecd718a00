"""The four meanings of utilization, and the cost of delivered work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dcplan.economics.ranges import Value, above, as_value, within
from dcplan.units import HOURS_PER_DAY, SECONDS_PER_DAY, TOKENS_PER_MTOKEN

Level = Literal["owned", "allocated", "busy", "good"]
LEVELS: tuple[Level, ...] = ("owned", "allocated", "busy", "good")
FLOP_PER_PFLOP_DAY = 1e15 * SECONDS_PER_DAY


@dataclass(frozen=True)
class Utilization:
    """Utilization from owned hours to floating-point work; each value is a share of the one before.

    Examples
    --------
    >>> use = Utilization(allocated_frac=0.9, busy_frac=0.95, goodput_frac=0.97, mfu_frac=0.4)
    >>> round(use.hours_frac("good"), 6), round(use.delivered_frac, 6)
    (0.82935, 0.33174)
    """

    allocated_frac: Value = 1.0
    """Hours reserved for a job, divided by owned hours."""
    busy_frac: Value = 1.0
    """Hours in which kernels run, divided by allocated hours."""
    goodput_frac: Value = 1.0
    """Hours of work that is not repeated, divided by busy hours."""
    mfu_frac: Value = 1.0
    """Model FLOP divided by peak FLOP, in good hours."""

    def __post_init__(self) -> None:
        for name in ("allocated_frac", "busy_frac", "goodput_frac", "mfu_frac"):
            within(name, getattr(self, name), 0.0, 1.0)

    def hours_frac(self, level: Level) -> Value:
        """Return the hours of a level divided by owned hours; 1 for "owned"."""
        steps = (self.allocated_frac, self.busy_frac, self.goodput_frac)
        product = np.ones(())
        for step in steps[: LEVELS.index(level)]:
            product = product * np.asarray(step)
        return as_value(product)

    @property
    def delivered_frac(self) -> Value:
        """Return the delivered model FLOP divided by the peak FLOP of all owned hours."""
        return as_value(np.asarray(self.hours_frac("good")) * self.mfu_frac)


def delivered_pflop_days(
    accelerators: Value, peak_pflops: Value, days: Value, use: Utilization
) -> Value:
    """Return the model PFLOP-days of owned accelerators over owned days.

    Parameters
    ----------
    accelerators : float or array
        Owned, at least 0. [-]
    peak_pflops : float or array
        Dense peak of one. [PFLOP/s]
    days : float or array
        Owned. [days]
    use : Utilization
        All four of its parts.

    Examples
    --------
    >>> round(delivered_pflop_days(1000, 1.0, 10, Utilization(mfu_frac=0.4)), 6)
    4000.0
    """
    peak = (
        within("accelerators", accelerators, 0.0)
        * within("peak_pflops", peak_pflops, 0.0)
        * within("days", days, 0.0)
    )
    return as_value(peak * use.delivered_frac)


def usd_per_accelerator_hour(
    cost_usd: Value, accelerators: Value, hours: Value, use: Utilization, level: Level
) -> Value:
    """Divide cost by accelerator-hours of a level: owned (clock), allocated, busy or good.

    Parameters
    ----------
    cost_usd : float or array
        All cost of the period. [USD]
    accelerators, hours : float or array
        Owned, and clock hours of the same period: 8,760 or 8,766 a year. [-], [h]
    use : Utilization
        The MFU does not count.
    level : {"owned", "allocated", "busy", "good"}
        Hours of the divisor.

    Raises
    ------
    ValueError
        If the number of hours is 0.

    Examples
    --------
    >>> half = Utilization(allocated_frac=0.5)
    >>> round(usd_per_accelerator_hour(8760.0, 1, 8760, half, "allocated"), 6)
    2.0
    """
    owned = within("accelerators", accelerators, 0.0) * within("hours", hours, 0.0)
    return as_value(
        np.asarray(cost_usd) / above("accelerator-hours", owned * use.hours_frac(level))
    )


def usd_per_delivered_pflop_day(
    cost_usd: Value, accelerators: Value, peak_pflops: Value, hours: Value, use: Utilization
) -> Value:
    """Divide cost by delivered model PFLOP-days; arguments as the two functions above.

    Examples
    --------
    >>> round(usd_per_delivered_pflop_day(100.0, 1, 1.0, 240, Utilization(mfu_frac=0.5)), 6)
    20.0
    """
    work = delivered_pflop_days(
        accelerators, peak_pflops, as_value(np.asarray(hours) / HOURS_PER_DAY), use
    )
    return as_value(np.asarray(cost_usd) / above("delivered PFLOP-days", work))


def usd_per_million_trained_tokens(usd_per_pflop_day: Value, flop_per_token: Value) -> Value:
    """Price a million training tokens of 6 x active parameters FLOP each, without recompute.

    Examples
    --------
    A model of 70 B parameters at 5 USD per delivered PFLOP-day:

    >>> round(usd_per_million_trained_tokens(5.0, 6 * 70e9), 4)
    0.0243
    """
    tokens = FLOP_PER_PFLOP_DAY / above("flop_per_token", flop_per_token)
    return as_value(
        within("usd_per_pflop_day", usd_per_pflop_day, 0.0) * TOKENS_PER_MTOKEN / tokens
    )
