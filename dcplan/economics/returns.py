"""What a cash flow is worth: NPV, IRR, MIRR and payback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, above, as_value, none_if_never, within

Timing = Literal["begin", "mid", "end"]
FIRST: dict[str, float] = {"begin": 0.0, "mid": 0.5, "end": 1.0}
"""When the first flow falls, in periods from today."""
LOWEST_RATE, HIGHEST_RATE = -1.0 + 1e-12, 1e9
"""Rates of return are looked for between these. [1/period]"""


def periodic_npv_usd(
    flows_usd: npt.ArrayLike, rate_per_period: Value, *, timing: Timing = "end"
) -> Value:
    r"""Present value of flows in equal periods: :math:`\sum_k F_k (1+i)^{-(k+s)}`, s = 0, 1/2 or 1.

    Parameters
    ----------
    flows_usd : array, shape (..., periods)
        Money in is positive. [USD]
    rate_per_period : float or array of samples
        Of one period, above -1; real with real flows, nominal with nominal ones. [1/period]
    timing : {"begin", "mid", "end"}
        Where in its period each flow falls; "end" is Excel's NPV, "begin" puts the first flow at
        today.

    Examples
    --------
    Excel's NPV(10 %, -10000, 3000, 4200, 6800):

    >>> round(periodic_npv_usd([-10_000, 3_000, 4_200, 6_800], 0.10), 2)
    1188.44
    """
    flows = within("flows_usd", flows_usd)
    i = above("rate_per_period", rate_per_period, -1.0)
    factors = np.exp(-np.log1p(i)[..., None] * (np.arange(flows.shape[-1]) + FIRST[timing]))
    return as_value(np.einsum("...k,...k->...", flows, factors))


def dated_npv_usd(
    flows_usd: npt.ArrayLike, days: npt.ArrayLike, rate_per_year: Value, *, days_per_year: float
) -> Value:
    r"""Present value of dated flows: :math:`\sum_k F_k (1+r)^{-d_k/Y}`.

    Parameters
    ----------
    flows_usd : array, shape (..., flows)
        Money in is positive. [USD]
    days : array, shape (flows,)
        From today to each flow; any order. [days]
    rate_per_year : float or array of samples
        Effective, above -1. [1/year]
    days_per_year : float
        365 as Excel's XNPV, or 365.25.

    Examples
    --------
    >>> round(dated_npv_usd([-100.0, 110.0], [0, 365], 0.10, days_per_year=365), 9)
    0.0
    """
    flows, when = (
        within("flows_usd", flows_usd),
        within("days", days) / above("days_per_year", days_per_year),
    )
    factors = np.exp(-np.log1p(above("rate_per_year", rate_per_year, -1.0))[..., None] * when)
    return as_value(np.einsum("...k,...k->...", flows, factors))


@dataclass(frozen=True)
class InternalRate:
    """Every rate at which the present value is zero, lowest first."""

    rates: tuple[float, ...]

    @property
    def rate(self) -> float | None:
        """The internal rate, or None when there is none or when several leave it without a
        meaning.
        """
        return self.rates[0] if len(self.rates) == 1 else None


def irr(flows_usd: npt.ArrayLike, times: npt.ArrayLike | None = None) -> InternalRate:
    r"""All internal rates of return i of :math:`\sum_k F_k (1+i)^{-t_k} = 0`, none lost.

    Roots lie between the turning points, found in the same way from the derivative; a single change
    of sign has exactly one root.

    Parameters
    ----------
    flows_usd : array, shape (flows,)
        Money in is positive. [USD]
    times : array, shape (flows,), optional
        When each falls, in periods; 0, 1, 2 … when left out. Days / 365 give Excel's XIRR, per
        year. [periods]

    Examples
    --------
    >>> found = irr([-70_000, 12_000, 15_000, 18_000, 21_000, 26_000])
    >>> round(found.rate, 4)
    0.0866
    >>> [round(i, 6) for i in irr([-100.0, 230.0, -132.0]).rates], irr([-100.0, 230.0, -132.0]).rate is None
    ([0.1, 0.2], True)
    >>> irr([100.0, 10.0]).rates
    ()
    """
    flows = within("flows_usd", flows_usd)
    when = np.arange(len(flows), dtype=np.float64) if times is None else within("times", times)
    order = np.argsort(when, kind="stable")
    kept = order[flows[order] != 0.0]
    ends = (np.log1p(LOWEST_RATE), np.log1p(HIGHEST_RATE))
    return InternalRate(tuple(float(np.expm1(x)) for x in _roots(flows[kept], when[kept], ends)))


def _roots(flows: Array, times: Array, ends: tuple[float, float]) -> list[float]:
    changes = np.count_nonzero(np.diff(np.sign(flows)))
    if changes == 0:
        return []
    turning: list[float] = []
    if (
        changes > 1
    ):  # f e^(t0 x) has the roots of f, and its derivative one term and one change of sign less
        slopes = -flows[1:] * (times[1:] - times[0])
        lasting = slopes != 0.0
        turning = _roots(slopes[lasting] / np.abs(slopes).max(), times[1:][lasting], ends)
    found: list[float] = []
    points = [ends[0], *turning, ends[1]]
    for k in range(len(points) - 1):
        low, high = points[k], points[k + 1]
        at_low, at_high = _sign(flows, times, low), _sign(flows, times, high)
        if at_low * at_high < 0.0:
            found.append(_bisect(flows, times, low, high, at_low))
        elif at_high == 0.0 and high != ends[1]:  # touches zero at a turning point
            found.append(high)
    return found


def _sign(flows: Array, times: Array, x: float) -> float:
    powers = -times * x
    terms = flows * np.exp(
        powers - powers.max()
    )  # a common factor leaves the sign and keeps exp in range
    total = float(terms.sum())
    return 0.0 if abs(total) < 1e-14 * float(np.abs(terms).sum()) else float(np.sign(total))


def _bisect(flows: Array, times: Array, low: float, high: float, at_low: float) -> float:
    while (middle := 0.5 * (low + high)) not in {low, high}:
        sign = _sign(flows, times, middle)
        if sign == 0.0:
            return middle
        low, high = (middle, high) if sign == at_low else (low, middle)
    return middle


def mirr(flows_usd: npt.ArrayLike, finance_rate: float, reinvest_rate: float) -> float | None:
    r"""Modified IRR: :math:`(FV^+ / -PV^-)^{1/n} - 1`, outflows financed at one rate, inflows
    reinvested at another.

    Flows at 0, 1, 2 … periods; None when all have one sign. Unlike IRR there is never more than
    one.

    Examples
    --------
    Excel's MIRR with 10 % and 12 %:

    >>> round(mirr([-120_000, 39_000, 30_000, 21_000, 37_000, 46_000], 0.10, 0.12), 4)
    0.1261
    """
    flows = within("flows_usd", flows_usd)
    periods = len(flows) - 1
    spent = float(periodic_npv_usd(np.minimum(flows, 0.0), finance_rate, timing="begin"))
    earned = float(periodic_npv_usd(np.maximum(flows, 0.0), reinvest_rate, timing="begin"))
    if spent == 0.0 or earned == 0.0:
        return None
    return float((earned / -spent) ** (1.0 / periods) * (1.0 + reinvest_rate) - 1.0)


def first_crossing(cumulative_usd: npt.ArrayLike, *, for_good: bool = False) -> Array:
    """Period at which a running sum reaches zero from below, linear inside the period; NaN for
    never.

    Parameters
    ----------
    cumulative_usd : array, shape (..., periods + 1)
        Running sum at 0, 1, 2 … periods. [USD]
    for_good : bool
        The last crossing, after which the sum stays at or above zero, instead of the first.

    Examples
    --------
    >>> first_crossing([[-100.0, -40.0, 20.0], [5.0, 6.0, 7.0], [-3.0, -2.0, -1.0]]).round(3).tolist()
    [1.667, 0.0, nan]
    """
    total = within("cumulative_usd", cumulative_usd)
    reached = total >= 0.0
    if for_good:
        reached = np.logical_and.accumulate(reached[..., ::-1], axis=-1)[..., ::-1]
    k = np.argmax(reached, axis=-1)[..., None]
    after = np.take_along_axis(total, k, axis=-1)[..., 0]
    before = np.take_along_axis(total, np.maximum(k - 1, 0), axis=-1)[..., 0]
    step = np.where(k[..., 0] > 0, after - before, 1.0)
    at = np.where(k[..., 0] > 0, k[..., 0] - after / np.where(step == 0.0, 1.0, step), 0.0)
    return np.where(reached.any(axis=-1), at, np.nan)


def payback_months(
    flows_usd: npt.ArrayLike, rate_per_month: Value = 0.0, *, for_good: bool = False
) -> Value | None:
    """Months until the money is back, discounted when a rate is given; None (NaN in arrays) for
    never.

    Parameters
    ----------
    flows_usd : array, shape (..., months + 1)
        Money in is positive; column 0 is paid today, column k at the end of month k. [USD]
    rate_per_month : float or array of samples
        0 for simple payback. [1/month]
    for_good : bool
        As :func:`first_crossing`; later spending (a refresh) may sink a project again.

    Examples
    --------
    >>> round(payback_months([-100.0, 60.0, 60.0]), 3), payback_months([-100.0, 60.0], 0.01) is None
    (1.667, True)
    """
    flows = within("flows_usd", flows_usd)
    factors = np.exp(
        -np.log1p(above("rate_per_month", rate_per_month, -1.0))[..., None]
        * np.arange(flows.shape[-1])
    )
    return none_if_never(first_crossing(np.cumsum(flows * factors, axis=-1), for_good=for_good))
