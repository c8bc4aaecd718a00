"""When owning has paid for itself: in hours, in months, in utilization, in price. Never is a
result, not infinity.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, above, as_value, none_if_never, within
from dcplan.economics.returns import first_crossing


def break_even_hours(
    capex_usd: Value,
    rented_usd_per_h: Value,
    owned_usd_per_h: Value,
    *,
    utilization_frac: Value = 1.0,
    discount_frac: Value = 0.0,
) -> Value | None:
    r"""Clock hours until the rent saved has paid the purchase: :math:`H = C / (u\,(1-d)\,p - o)`.

    Undiscounted and without residual, as published calculators have it;
    :func:`npv_break_even_months` has both.

    Parameters
    ----------
    capex_usd : float or array
        Purchase, at least 0. [USD]
    rented_usd_per_h : float or array
        Rent of the same capacity, on demand. [USD/h]
    owned_usd_per_h : float or array
        Running cost of the owned one by clock hour: energy, hosting, staff. [USD/h]
    utilization_frac : float or array
        Part of the clock hours in which one would rent, 0 to 1; the owned one runs through. [-]
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


def break_even_utilization_frac(owned_usd_per_h: Value, rented_usd_per_h: Value) -> Value | None:
    r"""Utilization above which owning is cheaper: all-in owned cost by clock hour over the rent by
    used hour.

    Parameters
    ----------
    owned_usd_per_h : float or array
        Everything, capital too, over clock hours of the horizon. [USD/h]
    rented_usd_per_h : float or array
        Everything, over used hours; above 0. [USD/h]

    Returns
    -------
    float, array or None
        None (NaN in arrays) for never: even at full use renting is cheaper. [-]

    Examples
    --------
    >>> break_even_utilization_frac(1.5, 2.0), break_even_utilization_frac(2.5, 2.0) is None
    (0.75, True)
    """
    ratio = within("owned_usd_per_h", owned_usd_per_h, 0.0) / above(
        "rented_usd_per_h", rented_usd_per_h
    )
    return none_if_never(np.where(ratio <= 1.0, ratio, np.nan))


def crossing(lead_usd: Callable[[float], float], low: float, high: float) -> float | None:
    """Value from which a rising lead stays at or above zero: by halving, to the last digit; None
    for never.

    Parameters
    ----------
    lead_usd : callable
        What one side is ahead by, at a value; it rises, in steps or evenly. [USD]
    low, high : float
        Between these.

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
    """Months until owning has cost no more than renting, both discounted, for the same service in
    the same months.

    Parameters
    ----------
    owned_usd, rented_usd : array, shape (..., months + 1)
        Cost, money out positive: column 0 today, column k at the end of month k. [USD]
    rate_per_month : float or array of samples
        Effective, above -1; 0 compares undiscounted sums. [1/month]
    residual_usd : float or array, shape (..., months + 1)
        What the owned hardware would bring if sold in that month; not a flow, it counts in its own
        month alone. [USD]
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
    """Present value of rent less owned cost so far, by month; positive where owning is ahead.

    Arguments as :func:`npv_break_even_months`.

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


def break_even_price_usd_per_h(owned_npv_usd: Value, discounted_hours: Value) -> Value:
    """Rent at which both sides have one present value: owned NPV over the discounted hours one
    would rent.

    Parameters
    ----------
    owned_npv_usd : float or array
        Present value of all owned cost less residual and what renting needs besides hours. [USD]
    discounted_hours : float or array
        Sum of the hours of each month times its discount factor, above 0. [h]

    Examples
    --------
    >>> break_even_price_usd_per_h(1_000.0, 500.0)
    2.0
    """
    return as_value(
        within("owned_npv_usd", owned_npv_usd) / above("discounted_hours", discounted_hours)
    )
