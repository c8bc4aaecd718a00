"""Annual price change implied by two commitments of different length."""

from __future__ import annotations

import numpy as np

from dcplan.economics.ranges import Array, Value, above, as_value, within

HALVINGS = 200
"""Bisections: enough for the last bit of a double over the range searched."""
SEARCH_HIGHEST_FACTOR = 1e3
"""Highest annual factor in the search."""


def term_weight(yearly_factor: Value, years: float) -> Value:
    r"""Return the sum of the annual prices of a term divided by the first: :math:`1 + r + r^2 + …`.

    A fractional year counts in part.

    Examples
    --------
    >>> term_weight(0.5, 3), term_weight(0.5, 1.5), term_weight(1.0, 3)
    (1.75, 1.25, 3.0)
    """
    length = float(above("years", years))
    whole = int(length)
    powers = within("yearly_factor", yearly_factor, 0.0)[..., None] ** np.arange(whole + 1)
    return as_value(powers @ np.append(np.ones(whole), length - whole))


def implied_yearly_factor(
    short_usd: float, short_years: float, long_usd: float, long_years: float
) -> float:
    r"""Return the implied ratio of one year's price to the price of the year before.

    The price of a term is the sum of the prices of its years.

    .. math:: \frac{p_1 n_1}{\sum_{k<n_1} r^k} = \frac{p_3 n_3}{\sum_{k<n_3} r^k}

    With one and three years this is :math:`p_1 (1 + r + r^2) = 3 p_3`. Above 1 prices are expected
    to rise.

    Parameters
    ----------
    short_usd, long_usd : float
        Level price of the short and of the long term, per hour or any unit, above 0. [USD]
    short_years, long_years : float
        Lengths of the terms, above 0, the second longer. [years]

    Raises
    ------
    ValueError
        If the terms are not in order or both within one year, or no factor fits because the long term
        costs less in total than the short one.

    References
    ----------
    .. [1] Term structure of AWS p5 commitments, Hacker News comment 40246398.

    Examples
    --------
    >>> round(implied_yearly_factor(7.20, 1, 5.40, 3), 4)
    0.7247
    >>> round(implied_yearly_factor(2.0, 1, 2.0, 3), 9)
    1.0
    """
    if not above("long_years", long_years) > above("short_years", short_years):
        msg = f"long_years must be above short_years, got {long_years:g} and {short_years:g}"
        raise ValueError(msg)
    goal = (
        float(above("long_usd", long_usd))
        * long_years
        / (float(above("short_usd", short_usd)) * short_years)
    )

    def total(factor: float) -> float:  # of the long term over the short one: rises with the factor
        return float(term_weight(factor, long_years)) / float(term_weight(factor, short_years))

    low, high = 0.0, SEARCH_HIGHEST_FACTOR
    if long_years <= 1.0:
        msg = "both terms end within the first year and give no information on later years"
        raise ValueError(msg)
    if not total(low) * (1.0 - 1e-12) <= goal <= total(high):
        msg = f"no yearly factor fits: the long term costs {goal:g} times the short one in total"
        raise ValueError(msg)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total(middle) < goal else (low, middle)
    return 0.5 * (low + high)


def yearly_prices(short_usd: float, short_years: float, yearly_factor: float, years: int) -> Array:
    r"""Return the price of each year that a term and the yearly factor imply.

    The first year costs :math:`p_1 n_1 / \sum_{k<n_1} r^k`, each later one r times the year before.

    Parameters
    ----------
    short_usd : float
        Level price of the term. [USD]
    short_years : float
        Length of the term, above 0. [years]
    yearly_factor : float
        As :func:`implied_yearly_factor`. [-]
    years : int
        Number of prices.

    Examples
    --------
    >>> yearly_prices(7.20, 1, implied_yearly_factor(7.20, 1, 5.40, 3), 3).round(2).tolist()
    [7.2, 5.22, 3.78]
    """
    first = short_usd * short_years / float(term_weight(yearly_factor, short_years))
    return np.asarray(first * yearly_factor ** np.arange(years))
