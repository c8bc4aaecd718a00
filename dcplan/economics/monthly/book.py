"""Book depreciation of purchases by year."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.depreciation import book_value_usd, straight_line_usd
from dcplan.economics.monthly.side import by_year
from dcplan.economics.ranges import Array
from dcplan.units import MONTHS_PER_YEAR


@dataclass(frozen=True)
class BookYears:
    """Book depreciation of purchases by year of the horizon, straight line. [USD]."""

    charge_usd: Array
    value_usd: Array
    """Purchases so far less all charges, at the end of each year."""


def book_years(cash_usd: Array, life_years: float) -> BookYears:
    """Write off purchases evenly over their life, from the month of payment on.

    Parameters
    ----------
    cash_usd : array, shape (months,)
        Purchases by month. [USD]
    life_years : float
        Service life, above 0; infinite for what keeps its cost. [years]

    Examples
    --------
    40,000 in the first month, over three years:

    >>> found = book_years(np.eye(1, 24)[0] * 40_000.0, 3.0)
    >>> found.charge_usd.round(0).tolist(), found.value_usd.round(0).tolist()
    ([13333.0, 13333.0], [26667.0, 13333.0])
    """
    charges, value = book_months(cash_usd, life_years)
    months = len(cash_usd)
    ends = np.minimum(np.arange(MONTHS_PER_YEAR, months + MONTHS_PER_YEAR, MONTHS_PER_YEAR), months)
    return BookYears(by_year(charges), value[ends - 1])


def book_life_years(
    asset: AssetClass, life_years: Mapping[AssetClass, float], usual_years: float
) -> float:
    """Return the life over which a class is written off: infinite for land, which never is. [years].

    Parameters
    ----------
    asset : AssetClass
        Class of the purchase.
    life_years : mapping of AssetClass to float
        Service lives of some classes. [years]
    usual_years : float
        Life of every other class. [years]

    References
    ----------
    .. [1] IRS Publication 946 (2024), "How To Depreciate Property", chapter 1: the cost of land is not
       depreciated, because it does not wear out.

    Examples
    --------
    >>> book_life_years(AssetClass.LAND, {}, 5.0), book_life_years(AssetClass.RACKS, {}, 5.0)
    (inf, 5.0)
    """
    return math.inf if asset is AssetClass.LAND else life_years.get(asset, usual_years)


def book_months(cash_usd: Array, life_years: float) -> tuple[Array, Array]:
    """Return the book depreciation of each month, and the book value at its end. [USD].

    Arguments are those of :func:`book_years`.

    Examples
    --------
    >>> charges, value = book_months(np.array([36.0, 0.0, 12.0]), 1.0)
    >>> charges.tolist(), value.tolist()
    ([3.0, 3.0, 4.0], [33.0, 30.0, 38.0])
    >>> book_months(np.array([36.0, 0.0]), math.inf)[1].tolist()
    [36.0, 36.0]
    """
    months = len(cash_usd)
    if math.isinf(life_years):
        return np.zeros(months), np.cumsum(cash_usd)
    charges, value = np.zeros(months), np.zeros(months)
    for first in np.flatnonzero(cash_usd):
        price = float(cash_usd[first])
        each = straight_line_usd(abs(price), life_years * MONTHS_PER_YEAR)[: months - first]
        left = np.zeros(months - first)
        left[: len(each)] = book_value_usd(abs(price), each)
        charges[first : first + len(each)] += np.sign(price) * each
        value[first:] += np.sign(price) * left
    return charges, value
