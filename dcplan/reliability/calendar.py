"""Calendar days of a run from its clean step time: effective-time ratio and finish-time distribution.

First form: one sourced ratio with bounds. The component model (failure rates times the bill of materials)
replaces what feeds these functions; the functions stay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

P90 = NormalDist().inv_cdf(0.9)
"""1.2816: bounds given as low and high are read as 10th and 90th percentile."""


@dataclass(frozen=True)
class RunTime:
    """Log-normal run time."""

    p50_days: float
    sigma: float

    def quantile_days(self, confidence: float) -> float:
        """Days not exceeded with the given probability, 0 < confidence < 1.

        Examples
        --------
        >>> run = RunTime(80.0, 0.1)
        >>> run.quantile_days(0.5), round(run.quantile_days(0.9), 2)
        (80.0, 90.94)
        """
        return self.p50_days * math.exp(NormalDist().inv_cdf(confidence) * self.sigma)


def run_time(
    clean_days: float,
    speed_low_over_high: float,
    goodput_frac: float,
    goodput_low_frac: float,
    goodput_high_frac: float,
) -> RunTime:
    r"""Distribution of a run's length.

    .. math:: \mathrm{p50} = d / g, \qquad
              \sigma = \sqrt{\ln^2(v_h/v_l) + \ln^2(g_h/g_l)} \,/\, (2 z_{0.9})

    Speed and effective-time ratio are taken as independent log-normals whose low and high are P10 and P90.

    Parameters
    ----------
    clean_days : float
        Days at the predicted step time without any interruption. [days]
    speed_low_over_high : float
        Ratio of the pessimistic to the optimistic speed, in (0, 1]. [-]
    goodput_frac, goodput_low_frac, goodput_high_frac : float
        Effective training time over wall-clock time, and its P10 and P90, in (0, 1]. [-]

    Examples
    --------
    >>> t = run_time(72.0, 1.0, 0.9, 0.9, 0.9)
    >>> t.p50_days, t.sigma
    (80.0, 0.0)
    """
    if not 0 < speed_low_over_high <= 1 or not 0 < goodput_low_frac <= goodput_frac <= goodput_high_frac <= 1:
        msg = "ratios must lie in (0, 1] and in order"
        raise ValueError(msg)
    spread = math.hypot(math.log(speed_low_over_high), math.log(goodput_high_frac / goodput_low_frac))
    return RunTime(clean_days / goodput_frac, spread / (2 * P90))
