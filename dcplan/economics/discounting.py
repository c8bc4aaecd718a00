"""Present values, residual values and internal rates of return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, above, within

LOWEST_RATE, HIGHEST_RATE = -1.0 + 1e-12, 1e9
"""Search range of rates of return. [1/period]"""


def discount_factor(rate_per_year: float, years: float) -> float:
    """Return the present value of one USD paid after ``years``: (1 + r) ** -years.

    Examples
    --------
    >>> round(discount_factor(0.10, 1.0), 6), discount_factor(0.10, 0.0)
    (0.909091, 1.0)
    """
    return float((1.0 + rate_per_year) ** -years)


def residual_frac(curve: Sequence[float], age_years: float) -> float:
    """Return the share of the price left at an age: linear by year, constant after the last value.

    Parameters
    ----------
    curve : sequence of float
        Share at age 0, 1, 2 … years. [-]
    age_years : float
        Not negative. [years]

    Examples
    --------
    >>> residual_frac([1.0, 0.6, 0.4], 0.5), residual_frac([1.0, 0.6, 0.4], 9.0)
    (0.8, 0.4)
    """
    whole = int(age_years)
    if whole >= len(curve) - 1:
        return float(curve[-1])
    part = age_years - whole
    return float(curve[whole] * (1 - part) + curve[whole + 1] * part)


def straight_residual_frac(age_years: float, life_years: float, end_frac: float) -> float:
    """Fall in a straight line from 1 to a fraction at the end of life, constant after it.

    Examples
    --------
    >>> straight_residual_frac(1.25, 2.5, 0.2), straight_residual_frac(9.0, 2.5, 0.2)
    (0.6, 0.2)
    """
    return max(1.0 - (1.0 - end_frac) * age_years / life_years, end_frac)


def straight_line_frac(age_years: float, life_years: float) -> float:
    """Return the remaining book value of an asset that is written off evenly over its life.

    Examples
    --------
    >>> straight_line_frac(5.0, 20.0), straight_line_frac(30.0, 20.0)
    (0.75, 0.0)
    """
    return max(0.0, 1.0 - age_years / life_years)


def net_present_value_usd(
    flows_usd: npt.ArrayLike, times: npt.ArrayLike, rate_per_period: float
) -> float:
    r"""Return the sum of dated flows at time 0: :math:`\sum_k F_k (1+i)^{-t_k}`.

    Parameters
    ----------
    flows_usd : array, shape (flows,)
        Money in is positive. [USD]
    times : array, shape (flows,)
        Time of each flow in periods. Days / 365 and a yearly rate give Excel's XNPV; 1, 2, 3 …
        give its NPV. [periods]
    rate_per_period : float
        Effective, above -1. [1/period]

    Raises
    ------
    ValueError
        When a number is not finite, or the rate is not above -1.

    References
    ----------
    .. [1] Microsoft support, NPV function and XNPV function, example tables.

    Examples
    --------
    >>> days = np.array([0, 60, 303, 411, 456])
    >>> round(net_present_value_usd([-10_000, 2750, 4250, 3250, 2750], days / 365, 0.09), 6)
    2086.647602
    >>> round(net_present_value_usd([-10_000, 3000, 4200, 6800], [1, 2, 3, 4], 0.10), 2)
    1188.44
    """
    flows, when = within("flows_usd", flows_usd), within("times", times)
    growth = np.log1p(above("rate_per_period", rate_per_period, -1.0))
    return float(np.sum(flows * np.exp(-growth * when)))


def multiple_ratio(flows_usd: npt.ArrayLike) -> float | None:
    """Return the money received over the money paid, undiscounted (MOIC); None without payments.

    Parameters
    ----------
    flows_usd : array, shape (flows,)
        Money in is positive. [USD]

    Raises
    ------
    ValueError
        When a number is not finite.

    Examples
    --------
    >>> multiple_ratio([-100.0, 30.0, 120.0]), multiple_ratio([5.0]) is None
    (1.5, True)
    """
    flows = within("flows_usd", flows_usd)
    paid = -float(flows[flows < 0.0].sum())
    return float(flows[flows > 0.0].sum()) / paid if paid else None


@dataclass(frozen=True)
class InternalRate:
    """Every rate at which the present value is zero, lowest first."""

    rates: tuple[float, ...]

    @property
    def rate(self) -> float | None:
        """Return the internal rate; None if there is none, or several."""
        return self.rates[0] if len(self.rates) == 1 else None


def irr(flows_usd: npt.ArrayLike, times: npt.ArrayLike | None = None) -> InternalRate:
    r"""Find all internal rates of return i of :math:`\sum_k F_k (1+i)^{-t_k} = 0`.

    Roots are between the turning points, which are roots of the derivative; a single change
    of sign has exactly one root.

    Parameters
    ----------
    flows_usd : array, shape (flows,)
        Money in is positive. [USD]
    times : array, shape (flows,), optional
        Time of each flow in periods; default 0, 1, 2 …. Days / 365 give Excel's XIRR, per
        year. [periods]

    Examples
    --------
    >>> found = irr([-70_000, 12_000, 15_000, 18_000, 21_000, 26_000])
    >>> round(found.rate, 4)
    0.0866
    >>> two = irr([-100.0, 230.0, -132.0])
    >>> [round(i, 6) for i in two.rates], two.rate is None
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
