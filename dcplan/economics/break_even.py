"""Break-even of owning and renting, in hours or months; "never" is a result, not infinity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, above, none_if_never, within


def break_even_hours(
    capex_usd: Value,
    rented_usd_per_h: Value,
    owned_usd_per_h: Value,
    *,
    utilization_frac: Value = 1.0,
    discount_frac: Value = 0.0,
) -> Value | None:
    r"""Return the clock hours until the saved rent equals the purchase.

    :math:`H = C / (u\,(1-d)\,p - o)`, undiscounted and without residual value, as in published
    calculators; :func:`npv_break_even_months` has both.

    Parameters
    ----------
    capex_usd : float or array
        Purchase cost, at least 0. [USD]
    rented_usd_per_h : float or array
        Rent of the same capacity, on demand. [USD/h]
    owned_usd_per_h : float or array
        Running cost of owned hardware per clock hour: energy, hosting, staff. [USD/h]
    utilization_frac : float or array
        Share of the clock hours with rent, 0 to 1; owned hardware runs all hours. [-]
    discount_frac : float or array
        Commitment or negotiated discount on the rent, at most 1. [-]

    Returns
    -------
    float, array or None
        None (NaN in arrays) for never: the rent does not exceed the running cost. [h]

    References
    ----------
    .. [1] Lenovo Press LP2225, "On-Premise vs Cloud: Generative AI Total Cost of Ownership", 2025.

    Examples
    --------
    >>> round(break_even_hours(833_806, 98.32, 0.87)), break_even_hours(833_806, 0.80, 0.87) is None
    (8556, True)
    >>> round(break_even_hours(833_806, 98.32, 0.87, utilization_frac=0.5))
    17267
    """
    used = within("utilization_frac", utilization_frac, 0.0, 1.0)
    rent = within("rented_usd_per_h", rented_usd_per_h, 0.0) * (
        1.0 - within("discount_frac", discount_frac, high=1.0)
    )
    saved = rent * used - within("owned_usd_per_h", owned_usd_per_h, 0.0)
    capex = within("capex_usd", capex_usd, 0.0)
    return none_if_never(np.where(saved > 0.0, capex / np.where(saved > 0.0, saved, 1.0), np.nan))


def crossing(lead_usd: Callable[[float], float], low: float, high: float) -> float | None:
    """Find the value from which a rising lead stays at or above zero; None for never.

    Bisection continues to the last digit of a double.

    Parameters
    ----------
    lead_usd : callable
        Advantage of one side at a value; it increases, in steps or evenly. [USD]
    low, high : float
        Ends of the search interval.

    Examples
    --------
    >>> crossing(lambda u: 8.0 * u - 2.0, 0.0, 1.0), crossing(lambda u: u - 2.0, 0.0, 1.0) is None
    (0.25, True)
    """
    if lead_usd(low) >= 0.0:
        return low
    if lead_usd(high) < 0.0:
        return None
    while low < (middle := 0.5 * (low + high)) < high:
        if lead_usd(middle) >= 0.0:
            high = middle
        else:
            low = middle
    return high


def npv_break_even_months(
    owned_usd: npt.ArrayLike,
    rented_usd: npt.ArrayLike,
    rate_per_month: Value = 0.0,
    *,
    residual_usd: npt.ArrayLike = 0.0,
    for_good: bool = False,
) -> Value | None:
    """Return months until owning has cost no more than renting the same service.

    Both sides are discounted, month by month.

    Parameters
    ----------
    owned_usd, rented_usd : array, shape (..., months + 1)
        Cost, money out positive: column 0 today, column k at the end of month k. [USD]
    rate_per_month : float or array of samples
        Effective, above -1; 0 compares undiscounted sums. [1/month]
    residual_usd : float or array, shape (..., months + 1)
        Sale value of the owned hardware in that month; it is not a flow and counts only in its own
        month. [USD]
    for_good : bool
        The month after which owning stays cheaper, instead of the first; they differ when hardware
        is renewed.

    Returns
    -------
    float, array or None
        Linear inside a month; None (NaN in arrays) for never within the months given. [months]

    Examples
    --------
    >>> npv_break_even_months([100.0, 10.0, 10.0, 10.0], [0.0, 60.0, 60.0, 60.0])
    2.0
    >>> npv_break_even_months([100.0, 10.0, 10.0], [0.0, 30.0, 30.0]) is None
    True
    """
    lead = cumulative_advantage_usd(
        owned_usd, rented_usd, rate_per_month, residual_usd=residual_usd
    )
    return none_if_never(first_crossing(lead, for_good=for_good))


def cumulative_advantage_usd(
    owned_usd: npt.ArrayLike,
    rented_usd: npt.ArrayLike,
    rate_per_month: Value = 0.0,
    *,
    residual_usd: npt.ArrayLike = 0.0,
) -> Array:
    """Return the cumulative present value of rent minus owned cost, by month.

    It is positive if owning costs less. Arguments as :func:`npv_break_even_months`.

    Examples
    --------
    >>> cumulative_advantage_usd([100.0, 0.0, 0.0], [0.0, 60.0, 60.0]).tolist()
    [-100.0, -40.0, 20.0]
    """
    saved = within("rented_usd", rented_usd) - within("owned_usd", owned_usd)
    months = np.arange(saved.shape[-1])
    factors = np.exp(-np.log1p(above("rate_per_month", rate_per_month, -1.0))[..., None] * months)
    return np.asarray(
        np.cumsum(saved * factors, axis=-1) + within("residual_usd", residual_usd) * factors
    )


def first_crossing(cumulative_usd: npt.ArrayLike, *, for_good: bool = False) -> Array:
    """Return the period at which a running sum reaches zero from below; NaN for never.

    The sum is linear inside a period.

    Parameters
    ----------
    cumulative_usd : array, shape (..., periods + 1)
        Running sum at 0, 1, 2 … periods. [USD]
    for_good : bool
        The last crossing, after which the sum stays at or above zero, instead of the first.

    Examples
    --------
    >>> sums = [[-100.0, -40.0, 20.0], [5.0, 6.0, 7.0], [-3.0, -2.0, -1.0]]
    >>> first_crossing(sums).round(3).tolist()
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
    """Return the months until the investment is paid back; None (NaN in arrays) for never.

    A rate discounts the flows.

    Parameters
    ----------
    flows_usd : array, shape (..., months + 1)
        Money in is positive; column 0 is paid today, column k at the end of month k. [USD]
    rate_per_month : float or array of samples
        0 for simple payback. [1/month]
    for_good : bool
        As :func:`first_crossing`; later spending (a refresh) may make the sum negative again.

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


def payback_time(
    flows_usd: npt.ArrayLike, times: npt.ArrayLike, rate_per_period: float = 0.0
) -> float | None:
    """Return the time from which the running sum of dated flows stays at or above zero.

    The sum is linear between two payments, so the money is taken to arrive evenly between them.

    Parameters
    ----------
    flows_usd : array, shape (flows,)
        Money in is positive. [USD]
    times : array, shape (flows,)
        Increasing, in periods. [periods]
    rate_per_period : float
        Effective, above -1; 0 for simple payback. [1/period]

    Returns
    -------
    float or None
        None if the sum is negative after the last flow. [periods]

    Raises
    ------
    ValueError
        When a number is not finite, or the rate is not above -1.

    Examples
    --------
    100 are paid; 60 arrive at 0.5 and 80 at 1.5: 40 of the 80 remain, half of a period later.

    >>> payback_time([-100.0, 60.0, 80.0], [0.0, 0.5, 1.5])
    1.0
    >>> payback_time([-100.0, 60.0], [0.0, 1.0]) is None
    True
    """
    flows, when = within("flows_usd", flows_usd), within("times", times)
    growth = np.log1p(above("rate_per_period", rate_per_period, -1.0))
    place = first_crossing(np.cumsum(flows * np.exp(-growth * when)), for_good=True)
    found = none_if_never(place)
    return None if found is None else float(np.interp(found, np.arange(len(when)), when))
