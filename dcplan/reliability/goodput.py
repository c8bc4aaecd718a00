"""Share of wall-clock time in which a run makes lasting progress, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.reliability.checkpoint import daly_interval_s
from dcplan.units import SECONDS_PER_DAY

Value = float | npt.NDArray[np.float64]
POOR_GOODPUT_FRAC = 0.7
"""A refusal or a remark names goodput below this."""
FAR_S = 3600.0
"""Between checkpoints of a run that never stops."""
YEAR_S = 365.0 * SECONDS_PER_DAY
MOST = 300.0
"""Largest exponent; a run stopped e^300 times a segment makes no progress."""


@dataclass(frozen=True)
class Tier:
    """Checkpoints of one kind: how long each blocks, how often one is made, the failures it
    serves.
    """

    save_s: Value
    interval_s: Value
    """Training time between saves."""
    restart_s: Value
    """From the stop to the first step after it: detection, scheduling, loading."""


@dataclass(frozen=True)
class Recovery:
    """How a run recovers: from its peers' memory where that survives, else from the durable tier."""

    durable: Tier
    peer: Tier | None = None
    peer_frac: float = 0.0
    """Share of the stops after which peers still hold the state."""


@dataclass(frozen=True)
class Losses:
    """Shares of wall-clock time that a run loses, by cause; what is left is goodput."""

    saves: Value
    lost_work: Value
    restarts: Value
    slow: Value
    """Fail-slow parts, and silent corruption that rolls a run back."""
    waiting: Value
    """No spare node, or no power or cooling."""

    @property
    def goodput_frac(self) -> Value:
        """Lasting progress over wall-clock time."""
        return np.maximum(
            1.0 - self.saves - self.lost_work - self.restarts - self.slow - self.waiting, 0.0
        )


def effective_time_frac(
    stops_per_day: Value, save_s: Value, interval_s: Value, restart_s: Value
) -> Value:
    r"""First-order effective training time ratio, no queueing.

    .. math:: E \approx \frac{1 - \lambda\,(u_0 + \Delta t/2)}{1 + w/\Delta t}

    Clamped to [0, 1]; meant for :math:`\lambda (u_0 + \Delta t/2) \ll 1`.

    Parameters
    ----------
    stops_per_day : float
        Of the whole job. [1/day]
    save_s, interval_s, restart_s : float
        Blocking save w, training between saves, and time to restart u0. [s]

    References
    ----------
    .. [1] A. Kokolis et al., arXiv 2410.21680, section III-E.

    Examples
    --------
    12,000 accelerators at 1 and at 6.5 failures a thousand node-days:

    >>> def best(rate, save):
    ...     interval = (2 * save * 86400 / (1500 * rate)) ** 0.5
    ...     return round(float(effective_time_frac(1500 * rate, save, interval, 300)), 3)
    >>> best(1e-3, 300), best(6.5e-3, 10), best(6.5e-3, 300)
    (0.898, 0.921, 0.74)
    """
    kept = 1.0 - stops_per_day / SECONDS_PER_DAY * (restart_s + interval_s / 2.0)
    return np.clip(kept / (1.0 + save_s / interval_s), 0.0, 1.0)


def renewal_time_frac(stops_per_day: Value, tier: Tier) -> Value:
    r"""The same without the first-order cut: stops come at random, during saves and restarts too.

    A segment of :math:`\tau = \Delta t + w` that must be finished in one go takes
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
    stops_per_day: Value, recovery: Recovery, slow_frac: Value = 0.0, waiting_frac: Value = 0.0
) -> Losses:
    r"""Where the time of a run goes.

    Stops that peers serve and stops that only the durable tier serves renew the run each at their
    own rate:

    .. math:: E = E_{renewal}(\lambda_d)\,E_{renewal}(\lambda_p)\,(1 - f_{slow})(1 - f_{wait})

    Parameters
    ----------
    stops_per_day : float
        Of the whole job. [1/day]
    recovery : Recovery
        Checkpoint tiers.
    slow_frac, waiting_frac : float
        Shares of time lost otherwise, in [0, 1).

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
    slow = kept * slow_frac
    waiting = (kept - slow) * waiting_frac
    # first-order shares, scaled to what the exact form loses in all
    scale = (1.0 - kept) / np.maximum(saves + lost + restarts, 1e-30)
    return Losses(saves * scale, lost * scale, restarts * scale, slow, waiting)


def best_interval_s(stops_per_day: Value, save_s: Value, at_least_s: Value) -> Value:
    """Daly's interval, or the shortest that storage can take: one checkpoint must be written
    before the next.
    """
    often = np.maximum(np.asarray(stops_per_day, dtype=np.float64), SECONDS_PER_DAY / YEAR_S)
    best = daly_interval_s(save_s, SECONDS_PER_DAY / often)
    return np.maximum(
        np.where(np.asarray(stops_per_day) > 0, best, FAR_S), np.maximum(at_least_s, save_s)
    )
