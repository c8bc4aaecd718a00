"""Interruptions of a run's power by the grid: hours lost, and power that a run frees meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.units import HOURS_PER_YEAR


@dataclass(frozen=True)
class PowerCuts:
    """Hours in which the grid takes back the power of a run, and what the run does meanwhile."""

    hours_per_year: float = 0.0
    """Hours of interruptions, at most those of a year. [h/year]"""
    each_h: float = 1.0
    """Length of one interruption, above 0. [h]"""
    power_frac: float = 0.0
    """Share of the run's power that goes on, in [0, 1]; 0: the run pauses."""
    speed_frac: float = 0.0
    """Speed meanwhile over that at full power, in [0, 1]."""

    @property
    def hours_frac(self) -> float:
        """Return the share of the year with interruptions."""
        return min(self.hours_per_year / HOURS_PER_YEAR, 1.0)

    @property
    def freed_frac(self) -> float:
        """Return the mean share of the run's power that it frees over its days."""
        return self.hours_frac * (1.0 - self.power_frac)


NO_CUTS = PowerCuts()
"""A run whose power nobody interrupts."""


def lost_frac(cuts: PowerCuts, restart_h: float) -> float:
    r"""Return the share of its days that a run loses to interruptions of its power.

    .. math:: f = \frac{H (1 - v) + (H / e)\, r\, [p = 0]}{8766}

    H hours of interruptions a year of e hours each; the run goes on with the share p of its power at
    the share v of its speed. A run that pauses saves a checkpoint before, because the grid gives
    notice, and restarts after each.

    Parameters
    ----------
    cuts : PowerCuts
        Interruptions, and what the run does meanwhile.
    restart_h : float
        Time until a paused run takes its next step, at least 0. [h]

    Examples
    --------
    200 hours a year in events of 4 hours, each with a restart of 15 minutes: 212.5 hours. A run of 91
    days loses 2.2 days of them.

    >>> round(lost_frac(PowerCuts(200.0, 4.0), 0.25) * 8766, 1)
    212.5
    >>> round(lost_frac(PowerCuts(200.0, 4.0), 0.25) * 91, 1)
    2.2

    At three quarters of its power, with four fifths of its speed, it does not restart.

    >>> round(lost_frac(PowerCuts(200.0, 4.0, 0.75, 0.8), 0.25) * 8766, 1)
    40.0
    """
    slow_h = cuts.hours_per_year * (1.0 - cuts.speed_frac)
    restarts_h = cuts.hours_per_year / cuts.each_h * restart_h if cuts.power_frac == 0.0 else 0.0
    return min((slow_h + restarts_h) / HOURS_PER_YEAR, 1.0)
