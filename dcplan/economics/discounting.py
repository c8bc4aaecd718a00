"""Discounting and residual values by quarter."""

from __future__ import annotations

from collections.abc import Sequence


def discount_factor(rate_per_year: float, years: float) -> float:
    """Present value of one USD paid after ``years``: (1 + r) ** -years.

    Examples
    --------
    >>> round(discount_factor(0.10, 1.0), 6), discount_factor(0.10, 0.0)
    (0.909091, 1.0)
    """
    return float((1.0 + rate_per_year) ** -years)


def residual_frac(curve: Sequence[float], age_years: float) -> float:
    """Share of the purchase price left at an age, linear between whole years, last value kept.

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
    """Straight line from 1 to a fraction at the end of life, constant after it.

    Examples
    --------
    >>> straight_residual_frac(1.25, 2.5, 0.2), straight_residual_frac(9.0, 2.5, 0.2)
    (0.6, 0.2)
    """
    return max(1.0 - (1.0 - end_frac) * age_years / life_years, end_frac)


def straight_line_frac(age_years: float, life_years: float) -> float:
    """Book value left of an asset written off evenly over its life.

    Examples
    --------
    >>> straight_line_frac(5.0, 20.0), straight_line_frac(30.0, 20.0)
    (0.75, 0.0)
    """
    return max(0.0, 1.0 - age_years / life_years)
