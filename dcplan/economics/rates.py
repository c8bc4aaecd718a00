"""Interest rates: of a period and of a year, real and nominal."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dcplan.economics.ranges import Value, above, as_value

Compounding = Literal["nominal", "effective"]


def periodic_rate(
    rate_per_year: Value, periods_per_year: float, compounding: Compounding = "nominal"
) -> Value:
    r"""Rate of one period: :math:`r/m` of a nominal yearly rate, :math:`(1+r)^{1/m}-1` of an
    effective one.

    Loans, Excel's PMT and ASIC Clouds use the nominal one; discount rates and IRR are effective.

    Parameters
    ----------
    rate_per_year : float or array
        Above -1, 0.08 for 8 %. [1/year]
    periods_per_year : float
        12 for months, 4 for quarters. [1/year]
    compounding : {"nominal", "effective"}
        What the yearly rate means.

    Examples
    --------
    >>> round(periodic_rate(0.12, 12), 6), round(periodic_rate(0.12, 12, "effective"), 6)
    (0.01, 0.009489)
    """
    rate = above("rate_per_year", rate_per_year, -1.0)
    periods = above("periods_per_year", periods_per_year)
    if compounding == "nominal":
        return as_value(rate / periods)
    return as_value(np.expm1(np.log1p(rate) / periods))


def yearly_rate(
    rate_per_period: Value, periods_per_year: float, compounding: Compounding = "effective"
) -> Value:
    r"""Inverse of :func:`periodic_rate`: :math:`(1+i)^m - 1` effective (an IRR of monthly flows),
    :math:`m\,i` nominal.

    Examples
    --------
    >>> round(yearly_rate(0.01, 12), 6), round(yearly_rate(0.01, 12, "nominal"), 6)
    (0.126825, 0.12)
    """
    rate = above("rate_per_period", rate_per_period, -1.0)
    periods = above("periods_per_year", periods_per_year)
    if compounding == "nominal":
        return as_value(rate * periods)
    return as_value(np.expm1(np.log1p(rate) * periods))


def real_rate(nominal_rate: Value, inflation: Value) -> Value:
    r"""Fisher: :math:`(1+n)/(1+\pi) - 1`; rates of the same period, all above -1.

    Examples
    --------
    >>> round(real_rate(0.10, 0.02), 6), round(nominal_rate(real_rate(0.10, 0.02), 0.02), 6)
    (0.078431, 0.1)
    """
    return as_value(
        (1.0 + above("nominal_rate", nominal_rate, -1.0))
        / (1.0 + above("inflation", inflation, -1.0))
        - 1
    )


def nominal_rate(real_rate: Value, inflation: Value) -> Value:
    r"""Inverse of :func:`real_rate`: :math:`(1+r)(1+\pi) - 1`."""
    return as_value(
        (1.0 + above("real_rate", real_rate, -1.0)) * (1.0 + above("inflation", inflation, -1.0))
        - 1.0
    )
