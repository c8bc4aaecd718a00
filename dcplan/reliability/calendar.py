"""Calendar days of a run: distribution of its end, and the causes of its variance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dcplan.units import SECONDS_PER_DAY

Value = float | npt.NDArray[np.float64]
P90 = NormalDist().inv_cdf(0.9)
"""1.2816: low and high bounds are the 10th and 90th percentile."""
NEVER_DAYS = 1e9


@dataclass(frozen=True)
class RunTime:
    """Log-normal duration of a run, and the share of each cause in its variance."""

    p50_days: Value
    sigma: Value
    shares: Mapping[str, Value] = field(default_factory=dict)

    def quantile_days(self, confidence: float) -> Value:
        """Return the days not exceeded with the given probability, 0 < confidence < 1.

        Examples
        --------
        >>> run = RunTime(80.0, 0.1)
        >>> float(run.quantile_days(0.5)), round(float(run.quantile_days(0.9)), 2)
        (80.0, 90.94)
        """
        return self.p50_days * np.exp(NormalDist().inv_cdf(confidence) * self.sigma)


def in_time_frac(run: RunTime, days: float) -> float:
    """Return the probability that a run ends within a number of days.

    Examples
    --------
    >>> in_time_frac(RunTime(80.0, 0.1), 80.0), round(in_time_frac(RunTime(80.0, 0.1), 90.94), 2)
    (0.5, 0.9)
    """
    p50, sigma = (
        float(np.asarray(run.p50_days).reshape(-1)[0]),
        float(np.asarray(run.sigma).reshape(-1)[0]),
    )
    if sigma <= 0:
        return float(p50 <= days)
    return NormalDist().cdf(math.log(days / p50) / sigma)


@dataclass(frozen=True)
class Goodput:
    """Effective training time divided by wall-clock time.

    It has a median, P10 and P90 for its uncertainty.
    """

    value: Value
    low: Value
    high: Value


@dataclass(frozen=True)
class Chance:
    """Stops of one run and the cost of each: the randomness that remains with known rates."""

    stops_per_day: Value
    cost_s: Value
    """Mean time that one stop costs."""
    interval_s: Value
    """Time between two saves; the lost work is uniformly distributed over it."""


def run_time(
    clean_days: Value,
    step_spread_frac: float,
    goodput: Goodput,
    chance: Chance | None = None,
    slowdown: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> RunTime:
    r"""Return the distribution of a run's duration.

    .. math:: \mathrm{p50} = d\,f / g, \qquad
              \sigma^2 = \left(\tfrac{\ln(1+s)}{z_{0.9}}\right)^2 + \left(\tfrac{\ln(f_h/f_l)}{2
              z_{0.9}}\right)^2 + \left(\tfrac{\ln(g_h/g_l)}{2 z_{0.9}}\right)^2 +
              \frac{N\,E[c^2]}{\mathrm{p50}^2}

    Step time, slowdown and goodput are independent log-normals whose bounds are P10 and P90; N
    stops add their own scatter, with :math:`E[c^2] = c^2 + \Delta t^2/12`.

    Parameters
    ----------
    clean_days : float or array
        Days at the predicted step time without any loss. [days]
    step_spread_frac : float
        Half width s of the step time's 80 % interval, at least 0. [-]
    goodput : Goodput
        Goodput in (0, 1].
    chance : Chance, optional
        Random stops; None: they add no variance.
    slowdown : (float, float, float), default 1
        P10, median f and P90 of step time in production over the predicted one, above 0. [-]

    Raises
    ------
    ValueError
        When bounds are out of order or out of range.

    Examples
    --------
    >>> t = run_time(72.0, 0.0, Goodput(0.9, 0.9, 0.9))
    >>> float(t.p50_days), float(t.sigma)
    (80.0, 0.0)
    """
    low, value, high = (
        np.asarray(x, dtype=np.float64) for x in (goodput.low, goodput.value, goodput.high)
    )
    if (
        not step_spread_frac >= 0
        or (low <= 0).any()
        or (low > value).any()
        or (value > high).any()
        or (high > 1).any()
    ):
        msg = "ratios must be in (0, 1] and in order"
        raise ValueError(msg)
    least, factor, most = slowdown
    p50 = clean_days * factor / value
    parts: dict[str, Value] = {
        "step_time": np.full(np.shape(p50), (np.log1p(step_spread_frac) / P90) ** 2),
        "production": np.full(np.shape(p50), (np.log(most / least) / (2 * P90)) ** 2),
        "failure_rates": np.broadcast_to((np.log(high / low) / (2 * P90)) ** 2, np.shape(p50)),
    }
    if chance is not None:
        squares = (chance.cost_s**2 + chance.interval_s**2 / 12.0) / SECONDS_PER_DAY**2
        parts["failures"] = chance.stops_per_day * squares / np.maximum(p50, 1e-9)
    return _joined(p50, parts)


def _joined(p50: Value, parts: Mapping[str, Value]) -> RunTime:
    total = sum(parts.values(), np.zeros(()))
    shares = {name: part / np.maximum(total, 1e-300) for name, part in parts.items()}
    return RunTime(p50, np.sqrt(total), shares)


def with_delays(run: RunTime, delays: Mapping[str, tuple[float, float, float]]) -> RunTime:
    r"""Return the time from the planned start to the end if the start may be late.

    Swanson's weights (0.3, 0.4, 0.3) give mean and variance of each delay from P10, P50 and P90;
    the sum with the run's duration is a log-normal with the same mean and variance.

    Parameters
    ----------
    run : RunTime
        Duration of the run.
    delays : mapping
        P10, P50 and P90 of each delay. [days]

    References
    ----------
    .. [1] L. F. Fenton, "The sum of log-normal probability distributions in scatter transmission systems", 1960.
    .. [2] A. Hurst et al., "Swanson's 30-40-30 rule", AAPG Bulletin, 2000.

    Examples
    --------
    >>> run = RunTime(80.0, 0.1, {"step_time": 1.0})
    >>> with_delays(run, {}) == run
    True
    >>> late = with_delays(run, {"delivery": (0.0, 14.0, 90.0)})
    >>> round(float(late.p50_days), 1), round(float(late.shares["delivery"]), 2)
    (106.9, 0.96)
    """
    if not delays:
        return run
    spread = np.exp(np.asarray(run.sigma) ** 2)
    mean = np.minimum(run.p50_days * np.sqrt(spread), NEVER_DAYS)
    own = mean**2 * (spread - 1.0)
    parts = {name: share * own for name, share in run.shares.items()}
    for name, (low, mid, high) in delays.items():
        center = 0.3 * low + 0.4 * mid + 0.3 * high
        mean = mean + center
        scatter = 0.3 * (low - center) ** 2 + 0.4 * (mid - center) ** 2 + 0.3 * (high - center) ** 2
        parts[name] = np.broadcast_to(scatter, np.shape(mean))
    variance = sum(parts.values(), np.zeros(()))
    ratio = np.log1p(variance / mean**2)
    shares = {name: part / np.maximum(variance, 1e-300) for name, part in parts.items()}
    return RunTime(mean / np.exp(ratio / 2.0), np.sqrt(ratio), shares)
