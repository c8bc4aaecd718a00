"""Goodput: share of wall-clock time with lasting progress, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.reliability.checkpoint import daly_interval_s
from dcplan.reliability.elastic import Kept
from dcplan.units import DAYS_PER_YEAR, SECONDS_PER_DAY

Value = float | npt.NDArray[np.float64]
REMARK_GOODPUT_FRAC = 0.7
"""Goodput below which messages mention it."""
FAR_S = 3600.0
"""Checkpoint interval of a run that never stops."""
MOST = 300.0
"""Largest exponent; a run with e^300 stops per segment makes no progress."""


@dataclass(frozen=True)
class Tier:
    """Checkpoints of one kind: blocking time and interval."""

    save_s: Value
    interval_s: Value
    """Training time between saves."""
    restart_s: Value
    """Time from the stop to the first step after it: detection, scheduling, loading."""


@dataclass(frozen=True)
class Recovery:
    """Recovery of a run: from the memory of peers if it survives, otherwise from the durable tier."""

    durable: Tier
    peer: Tier | None = None
    peer_frac: float = 0.0
    """Share of the stops after which peers still have the state."""


@dataclass(frozen=True)
class Losses:
    """Shares of wall-clock time that a run loses, by cause; the rest is goodput."""

    saves: Value
    lost_work: Value
    restarts: Value
    slow: Value
    """Slow parts, and silent corruption that rolls a run back."""
    waiting: Value
    """Waiting for a spare node, power or cooling."""
    stalls: Value = 0.0
    """Replicas that wait while another one drops out; 0 without elastic replicas."""
    absent: Value = 0.0
    """Replicas that are out while the others train; 0 without elastic replicas."""

    @property
    def goodput_frac(self) -> Value:
        """Return lasting progress divided by wall-clock time."""
        lost = self.saves + self.lost_work + self.restarts + self.slow + self.waiting
        return np.maximum(1.0 - lost - self.stalls - self.absent, 0.0)


def renewal_time_frac(stops_per_day: Value, tier: Tier) -> Value:
    r"""Return the effective share of time with random stops, also during saves and restarts.

    A segment of :math:`\tau = \Delta t + w` that must finish without a stop takes
    :math:`e^{\lambda R}(e^{\lambda\tau} - 1)/\lambda` on average, so
    :math:`E = \lambda\,\Delta t\, / \left[e^{\lambda R}(e^{\lambda\tau} - 1)\right]`.

    References
    ----------
    .. [1] J. T. Daly, 2006, equation 13.

    Examples
    --------
    >>> round(float(renewal_time_frac(1500 * 6.5e-3, Tier(300, 2306, 300))), 3)
    0.736
    >>> round(float(renewal_time_frac(0.0, Tier(0.0, 100.0, 5.0))), 9)
    1.0
    """
    rate = np.asarray(stops_per_day, dtype=np.float64) / SECONDS_PER_DAY
    whole = tier.interval_s + tier.save_s
    often = np.clip(rate * whole, 1e-12, MOST)
    grown = np.expm1(often) / often * np.exp(np.minimum(rate * tier.restart_s, MOST))
    return tier.interval_s / whole / grown


def losses(
    stops_per_day: Value,
    recovery: Recovery,
    slow_frac: Value = 0.0,
    waiting_frac: Value = 0.0,
    elastic: Kept | None = None,
) -> Losses:
    r"""Split the time of a run into its losses.

    Stops that peers recover and stops that only the durable tier recovers restart the run at their
    own rates:

    .. math:: E = E_{renewal}(\lambda_d)\,E_{renewal}(\lambda_p)\,p_{moving}\,p_{present}\,
              (1 - f_{slow})(1 - f_{wait})

    Parameters
    ----------
    stops_per_day : float
        Stops that end the complete job. [1/day]
    recovery : Recovery
        Checkpoint tiers.
    slow_frac, waiting_frac : float
        Shares of time lost for other reasons, in [0, 1).
    elastic : Kept, optional
        What stops of single replicas leave of the time; None: every stop ends the job.

    Examples
    --------
    >>> some = losses(7.76, Recovery(Tier(10.0, 472.0, 600.0)))
    >>> round(float(some.goodput_frac), 3), round(float(some.restarts), 3)
    (0.908, 0.052)
    """
    d, p = recovery.durable, recovery.peer
    share = recovery.peer_frac if p else 0.0
    rate = np.asarray(stops_per_day, dtype=np.float64) / SECONDS_PER_DAY
    far, near = (1.0 - share) * rate, share * rate
    kept = renewal_time_frac(stops_per_day * (1.0 - share), d)
    saves, lost, restarts = d.save_s / d.interval_s, far * d.interval_s / 2.0, far * d.restart_s
    if p:
        kept = kept * renewal_time_frac(stops_per_day * share, p)
        saves = saves + p.save_s / p.interval_s
        lost, restarts = lost + near * p.interval_s / 2.0, restarts + near * p.restart_s
    # first-order shares, scaled to the total loss of the exact form
    scale = (1.0 - kept) / np.maximum(saves + lost + restarts, 1e-30)
    stalls: Value = 0.0
    absent: Value = 0.0
    if elastic:
        stalls = kept * (1.0 - elastic.moving)
        absent = (kept - stalls) * (1.0 - elastic.present)
        kept = kept - stalls - absent
    slow = kept * slow_frac
    waiting = (kept - slow) * waiting_frac
    return Losses(saves * scale, lost * scale, restarts * scale, slow, waiting, stalls, absent)


def best_interval_s(stops_per_day: Value, save_s: Value, at_least_s: Value) -> Value:
    """Return Daly's interval, or the shortest interval that storage allows.

    A checkpoint must be complete before the next one.
    """
    often = np.maximum(np.asarray(stops_per_day, dtype=np.float64), 1.0 / DAYS_PER_YEAR)
    best = daly_interval_s(save_s, SECONDS_PER_DAY / often)
    return np.maximum(
        np.where(np.asarray(stops_per_day) > 0, best, FAR_S), np.maximum(at_least_s, save_s)
    )
