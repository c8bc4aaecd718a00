"""Depreciation of an asset: tax, book and market value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, above, as_value, within

SHARES_TOLERANCE = 1e-4
"""Tolerance on the sum of published tables, which are rounded to 0.01 % per year."""


def tax_depreciation_usd(
    basis_usd: Value, shares_frac: npt.ArrayLike, *, bonus_frac: Value = 0.0
) -> Array:
    r"""Deduct a basis by tax year: :math:`D_1 = B\,(b + (1-b)\,s_1),\ D_t = B\,(1-b)\,s_t`.

    Parameters
    ----------
    basis_usd : float or array
        Depreciable basis, at least 0. [USD]
    shares_frac : array, shape (years,)
        Yearly shares, such as a published tax table; sum 1. [-]
    bonus_frac : float or array
        Share deducted at once in the first year, the rest by the shares. [-]

    Returns
    -------
    array, shape (..., years)
        Sums to the basis. [USD]

    Raises
    ------
    ValueError
        When the shares do not sum to 1 within the rounding of published tables.

    References
    ----------
    .. [1] US Internal Revenue Code, sections 168(b) and 168(k).

    Examples
    --------
    The MACRS table of 5-year property, half-year convention (IRS Publication 946, table A-1):

    >>> macrs = [0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576]
    >>> tax_depreciation_usd(250_000, macrs).round(0).tolist()
    [50000.0, 80000.0, 48000.0, 28800.0, 28800.0, 14400.0]
    >>> tax_depreciation_usd(100.0, [0.5, 0.5], bonus_frac=0.4).tolist()
    [70.0, 30.0]
    """
    shares = within("shares_frac", shares_frac, 0.0, 1.0)
    if abs(shares.sum() - 1.0) > SHARES_TOLERANCE:
        msg = f"shares_frac must sum to 1, got {shares.sum():g}"
        raise ValueError(msg)
    basis, bonus = within("basis_usd", basis_usd, 0.0), within("bonus_frac", bonus_frac, 0.0, 1.0)
    # a table rounded to 0.01 % still writes off exactly the full basis
    by_year = (1.0 - bonus)[..., None] * (shares / shares.sum())
    by_year[..., 0] += bonus
    return np.asarray(basis[..., None] * by_year)


def straight_line_usd(
    cost_usd: Value, life_years: float, *, salvage_usd: Value = 0.0, first_year_frac: float = 1.0
) -> Array:
    """Depreciate cost minus salvage in equal years; a fractional life ends with a part of a year.

    Parameters
    ----------
    cost_usd, salvage_usd : float or array
        At least 0, salvage at most cost. [USD]
    life_years : float
        Above 0; 5.5 gives five full years and a half. [years]
    first_year_frac : float
        Part of the first year in service, 0 to 1. [-]

    Returns
    -------
    array, shape (..., years)
        Sums to cost less salvage. [USD]

    Examples
    --------
    >>> straight_line_usd(40_000, 3).round(0).tolist()
    [13333.0, 13333.0, 13333.0]
    >>> straight_line_usd(55.0, 5.5).round(6).tolist()
    [10.0, 10.0, 10.0, 10.0, 10.0, 5.0]
    """
    cost, life = within("cost_usd", cost_usd, 0.0), float(above("life_years", life_years))
    part = float(above("first_year_frac", within("first_year_frac", first_year_frac, 0.0, 1.0)))
    depreciable = within(
        "cost_usd less salvage_usd", cost - within("salvage_usd", salvage_usd, 0.0), 0.0
    )
    years = 1 + max(0, int(np.ceil(life - part - 1e-9)))
    ends = np.minimum(np.arange(years) + part, life)
    return np.asarray(depreciable[..., None] * np.diff(ends, prepend=0.0) / life)


def book_value_usd(cost_usd: Value, depreciation_usd: npt.ArrayLike) -> Array:
    """Return cost less all depreciation so far, at the end of each year.

    Parameters
    ----------
    cost_usd : float or array
        [USD]
    depreciation_usd : array, shape (..., years)
        [USD]

    Examples
    --------
    >>> book_value_usd(100.0, [20.0, 32.0]).tolist()
    [80.0, 48.0]
    """
    charged = np.cumsum(np.asarray(depreciation_usd, dtype=np.float64), axis=-1)
    return np.asarray(np.asarray(cost_usd, dtype=np.float64)[..., None] - charged)


def economic_value_usd(price_usd: Value, years: Value, oom_per_year: Value) -> Value:
    r"""Return the market value after some years of steady decline: :math:`V = P\,10^{-k t}`.

    Parameters
    ----------
    price_usd : float or array
        Value at the start. [USD]
    years : float or array
        Since then, at least 0. [years]
    oom_per_year : float or array
        Orders of magnitude lost a year; negative where values rise. [1/year]

    References
    ----------
    .. [1] B. Cottier et al., "The rising costs of training frontier AI models", arXiv 2405.21015.

    Examples
    --------
    >>> round(economic_value_usd(1.0, 1.0, 0.14), 4)
    0.7244
    """
    return as_value(
        np.asarray(price_usd) * 10.0 ** (-np.asarray(oom_per_year) * within("years", years, 0.0))
    )
