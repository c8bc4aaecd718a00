"""Three-point estimates: mean, variance and quantile of a triangle, mean and variance of PERT, and
of sums.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, as_value, within

PERT_WEIGHT = 4.0
"""How much the most likely value counts over an end, in PERT of 1959."""


def _ordered(low: Value, likely: Value, high: Value) -> tuple[Array, Array, Array]:
    a, b, c = within("low", low), within("likely", likely), within("high", high)
    if np.any((a > b) | (b > c)):
        msg = "a three-point estimate needs low <= likely <= high"
        raise ValueError(msg)
    return a, b, c


def triangular_mean(low: Value, likely: Value, high: Value) -> Value:
    """Mean of the triangular distribution: (a + b + c) / 3; the most likely value lies elsewhere
    unless symmetric.

    Raises
    ------
    ValueError
        When the three are not in order.

    References
    ----------
    .. [1] GAO-20-195G, Cost Estimating and Assessment Guide, 2020, chapter 12.

    Examples
    --------
    >>> triangular_mean(32_300, 35_547, 52_500)
    40115.666666666664
    """
    a, b, c = _ordered(low, likely, high)
    return as_value((a + b + c) / 3.0)


def triangular_variance(low: Value, likely: Value, high: Value) -> Value:
    """Variance of the triangular distribution: (a² + b² + c² - ab - ac - bc) / 18.

    Examples
    --------
    >>> triangular_variance(0.0, 3.0, 6.0)
    1.5
    """
    a, b, c = _ordered(low, likely, high)
    return as_value(((b - a) ** 2 + (c - b) ** 2 + (c - a) ** 2) / 36.0)


def triangular_quantile(share: npt.ArrayLike, low: Value, likely: Value, high: Value) -> Value:
    """Value below which a share of the triangular distribution lies; the inverse of its cumulative
    function.

    Parameters
    ----------
    share : float or array
        0 to 1. [-]
    low, likely, high : float or array
        In order; all three equal give that value.

    Examples
    --------
    >>> triangular_quantile(0.5, 0.0, 1.0, 2.0), triangular_quantile(0.125, 0.0, 1.0, 2.0)
    (1.0, 0.5)
    """
    a, b, c = _ordered(low, likely, high)
    q, width = within("share", share, 0.0, 1.0), c - a
    left = a + np.sqrt(q * width * (b - a))
    right = c - np.sqrt((1.0 - q) * width * (c - b))
    return as_value(np.where(q * width < b - a, left, right))


def pert_mean(low: Value, likely: Value, high: Value, *, weight: Value = PERT_WEIGHT) -> Value:
    """Mean of PERT: (a + w b + c) / (w + 2).

    Examples
    --------
    >>> pert_mean(1.0, 2.0, 9.0)
    3.0
    """
    a, b, c = _ordered(low, likely, high)
    w = within("weight", weight, 0.0)
    return as_value((a + w * b + c) / (w + 2.0))


def pert_variance(
    low: Value,
    likely: Value,
    high: Value,
    *,
    weight: Value = PERT_WEIGHT,
    rule: Literal["beta", "one-sixth"] = "beta",
) -> Value:
    r"""Variance of PERT: of the beta distribution itself, or the rule of 1959.

    .. math:: \frac{(\mu - a)(c - \mu)}{w + 3} \quad\text{or}\quad \left(\frac{c - a}{6}\right)^2

    Examples
    --------
    >>> pert_variance(0.0, 3.0, 6.0), round(pert_variance(0.0, 3.0, 6.0, rule="one-sixth"), 6)
    (1.2857142857142858, 1.0)
    """
    a, _, c = _ordered(low, likely, high)
    if rule == "one-sixth":
        return as_value(((c - a) / 6.0) ** 2)
    mean = np.asarray(pert_mean(low, likely, high, weight=weight))
    return as_value((mean - a) * (c - mean) / (np.asarray(weight) + 3.0))


def sum_variance(variances: npt.ArrayLike, correlation: float = 0.0) -> float:
    r"""Variance of a sum of lines that all have one correlation: :math:`(1-\rho)\sum\sigma^2 +
    \rho(\sum\sigma)^2`.

    Parameters
    ----------
    variances : array, shape (lines,)
        At least 0.
    correlation : float
        Between any two lines, 0 to 1. GAO asks that it be stated: none makes the sum look too sure.
        [-]

    Examples
    --------
    >>> sum_variance([9.0, 16.0]), sum_variance([9.0, 16.0], 1.0)
    (25.0, 49.0)
    """
    parts, rho = (
        within("variances", variances, 0.0),
        float(within("correlation", correlation, 0.0, 1.0)),
    )
    return float((1.0 - rho) * parts.sum() + rho * np.sqrt(parts).sum() ** 2)
