"""Prices that change: by year, in steps, and as two commitments of different length imply."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, above, as_value, within

HALVINGS = 200
"""Bisections: enough for the last bit of a double over the range searched."""
HIGHEST_FACTOR = 1e3
"""Prices that rise a thousandfold a year are no term structure."""


def price_by_year_usd(first_year_usd: Value, yearly_factor: Value, years: int) -> Array:
    r"""Price of year 1, 2 … n: :math:`p_k = p_1 r^{k-1}`. Shape (..., years). [USD]

    Parameters
    ----------
    first_year_usd : float or array
        Price of the first year, of any unit. [USD]
    yearly_factor : float or array
        Price of a year over the one before, at least 0: 0.72 falls by 28 %, 1.05 rises by 5 %. [-]
    years : int
        From 1.

    Examples
    --------
    >>> price_by_year_usd(7.20, 0.7247, 3).round(2).tolist(), price_by_year_usd(100.0, 1.1, 2).round(6).tolist()
    ([7.2, 5.22, 3.78], [100.0, 110.0])
    """
    count = np.arange(int(within("years", years, 1)))
    factor = within("yearly_factor", yearly_factor, 0.0)[..., None] ** count
    return np.asarray(np.asarray(first_year_usd, dtype=np.float64)[..., None] * factor)


def price_at_usd(start_usd: Value, change_frac_per_year: Value, years: npt.ArrayLike) -> Array:
    r"""Price at given times under a steady change, which may be a rise: :math:`p(t) = p_0 (1+g)^t`.

    Parameters
    ----------
    start_usd : float or array of samples
        Price today. [USD]
    change_frac_per_year : float or array of samples
        At least -1; -0.2 falls by a fifth a year. [1/year]
    years : array, shape (times,)
        At least 0; month k of a plan is k/12. [years]

    Returns
    -------
    array, shape (..., times)

    Examples
    --------
    >>> price_at_usd(2.0, -0.19, [0.0, 0.5, 1.0]).round(6).tolist()
    [2.0, 1.8, 1.62]
    """
    factor = 1.0 + within("change_frac_per_year", change_frac_per_year, -1.0)[..., None]
    return np.asarray(
        np.asarray(start_usd, dtype=np.float64)[..., None] * factor ** within("years", years, 0.0)
    )


def stepped_price_usd(
    start_usd: float, steps: Sequence[tuple[float, float]], years: npt.ArrayLike
) -> Array:
    """Price at given times when it changes in steps, each valid from its own time on.

    Parameters
    ----------
    start_usd : float
        Before the first step. [USD]
    steps : sequence of (years, USD)
        In rising order of time.
    years : array
        Times asked for. [years]

    Examples
    --------
    >>> stepped_price_usd(98.32, [(0.5, 55.04)], [0.0, 0.5, 1.0]).tolist()
    [98.32, 55.04, 55.04]
    """
    starts = np.array([at for at, _ in steps], dtype=np.float64)
    if np.any(np.diff(starts) <= 0.0):
        msg = "the steps must rise in time"
        raise ValueError(msg)
    prices = np.array([start_usd, *(usd for _, usd in steps)], dtype=np.float64)
    return np.asarray(prices[np.searchsorted(starts, within("years", years), side="right")])


def term_weight(yearly_factor: Value, years: float) -> Value:
    r"""Sum of the yearly prices of a term over the first: :math:`1 + r + r^2 + …`, a broken year in
    part.

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
    r"""Price of a year over the one before that two commitments imply when a term costs what its
    years cost.

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
        When the terms are not in order or both within one year, or no factor fits: the long term
        costs less in total than the short one.

    References
    ----------
    .. [1] Term structure of AWS p5 commitments, Hacker News comment 40246398, as given in the evidence.

    Examples
    --------
    >>> round(implied_yearly_factor(7.20, 1, 5.40, 3), 4), round(implied_yearly_factor(2.0, 1, 2.0, 3), 9)
    (0.7247, 1.0)
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

    low, high = 0.0, HIGHEST_FACTOR
    if long_years <= 1.0:
        msg = "both terms end within the first year, so they say nothing about the next"
        raise ValueError(msg)
    if not total(low) * (1.0 - 1e-12) <= goal <= total(high):
        msg = f"no yearly factor fits: the long term costs {goal:g} times the short one in total"
        raise ValueError(msg)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total(middle) < goal else (low, middle)
    return 0.5 * (low + high)


def forward_prices_usd(
    term_usd: float, term_years: float, yearly_factor: float, years: int
) -> Array:
    """Price of each single year behind the level price of a term, and on after its end. Shape
    (years,). [USD]

    Examples
    --------
    >>> forward_prices_usd(5.40, 3, 0.7247449, 4).round(2).tolist()
    [7.2, 5.22, 3.78, 2.74]
    """
    first = above("term_usd", term_usd) * term_years / term_weight(yearly_factor, term_years)
    return price_by_year_usd(as_value(first), yearly_factor, years)
