"""Sales, property and income tax of a side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.economics.depreciation import tax_depreciation_usd
from dcplan.economics.monthly.side import (
    INCOME_TAX,
    PROPERTY_TAX,
    SALES_TAX,
    Line,
    Side,
    at_year_ends,
    by_year,
)
from dcplan.economics.ranges import Array
from dcplan.economics.taxes import income_tax, property_tax_usd
from dcplan.units import MONTHS_PER_YEAR


def book_by_year(cash_usd: Array, life_years: float) -> Array:
    """Return the book value at the start of each year, written off evenly. [USD].

    It covers earlier purchases. Purchases in the first month count from the first year.
    """
    months = len(cash_usd)
    starts = np.arange(0, months, MONTHS_PER_YEAR)
    bought = np.arange(months)
    age = np.maximum((starts[:, None] - bought) / MONTHS_PER_YEAR, 0.0)
    there = bought[None, :] <= starts[:, None]
    return np.asarray((there * np.maximum(1.0 - age / life_years, 0.0)) @ cash_usd)


def with_property_tax(
    side: Side, taxed: Sequence[Line], rate_frac: float, life_years: float
) -> Side:
    """Add property tax at the end of each year on the book value at its start.

    It counts the taxed capital lines, from their delivery on with what was paid before the horizon.
    The months of a last, shorter year are taxed in proportion.
    The tax of other classes with their own rate and life adds up in one line.
    """
    value = book_by_year(np.asarray(sum(side.basis_usd(line) for line in taxed)), life_years)
    begun = side.months - np.arange(0, side.months, MONTHS_PER_YEAR)
    share = np.minimum(begun / MONTHS_PER_YEAR, 1.0)
    cash = at_year_ends(property_tax_usd(value, rate_frac) * share, side.months)
    cash = side.lines.get(PROPERTY_TAX, 0.0) + cash
    return replace(side, lines={**side.lines, PROPERTY_TAX: cash})


def with_sales_tax(side: Side, taxed: Sequence[Line], rate_frac: float, site: str = "") -> Side:
    """Add sales tax in the months in which the taxed capital lines are paid, as a line of a site."""
    cash = rate_frac * np.asarray(sum(side.lines[line] for line in taxed))
    return replace(side, lines={**side.lines, replace(SALES_TAX, site=site): cash})


@dataclass(frozen=True)
class TaxYears:
    """Income tax of a side by year of the horizon, with what it follows from. [USD]."""

    running_usd: Array
    """What is deducted in its year: all lines but capital, and advances for canceled orders."""
    depreciation_usd: Array
    interest_usd: Array
    disposal_usd: Array
    """Residual value less the tax value not yet written off, in the last year."""
    tax_usd: Array

    @property
    def taxable_usd(self) -> Array:
        """Return the taxable income; negative is a loss, used at once elsewhere."""
        return np.asarray(
            self.disposal_usd - self.running_usd - self.depreciation_usd - self.interest_usd
        )


def tax_years(
    side: Side, capital: Mapping[Line, Sequence[float]], rate_frac: float, interest_usd: Array
) -> TaxYears:
    """Return income tax by year; arguments as :func:`with_income_tax`.

    A line without shares, land, is not written off: its price is deducted from its sale at the end.

    References
    ----------
    .. [1] IRS Publication 946 (2024), "How To Depreciate Property", chapter 1: the cost of land is not
       depreciated.

    Examples
    --------
    Land of 100, sold for 130 at the end of the year: 30 are taxed at 20 %:

    >>> from dcplan.economics.cash_flow import AssetClass
    >>> land = Line("land", AssetClass.LAND)
    >>> side = Side({land: np.eye(1, 12)[0] * 100.0}, {land: 130.0})
    >>> tax_years(side, {land: []}, 0.2, np.zeros(12)).tax_usd.tolist()
    [6.0]

    100 of racks, written off half in the year of payment, and 10 a month of running cost:

    >>> racks = Line("racks", AssetClass.RACKS)
    >>> side = Side({racks: np.eye(1, 12)[0] * 100.0, Line("staff"): np.full(12, 10.0)})
    >>> found = tax_years(side, {racks: [0.5, 0.5]}, 0.2, np.zeros(12))
    >>> found.taxable_usd.tolist(), found.tax_usd.tolist()
    ([-220.0], [-44.0])
    """
    months = side.months
    years = -(-months // MONTHS_PER_YEAR)
    running = sum(
        (side.basis_usd(line) for line in side.lines if line not in capital), np.zeros(months)
    )
    written, basis = np.zeros(years), 0.0
    for line, shares in capital.items():
        for year, usd in enumerate(by_year(side.basis_usd(line))):
            basis += float(usd)
            if usd and len(shares):
                part = tax_depreciation_usd(abs(float(usd)), shares)[: years - year] * np.sign(usd)
                written[year : year + len(part)] += part
    paid, disposal = by_year(np.asarray(running)), np.zeros(years)
    disposal[-1] = sum(side.end_usd.values()) - (basis - written.sum())
    interest = by_year(interest_usd)
    tax = income_tax(
        disposal - paid, written, interest, rate_frac=rate_frac, losses="used-at-once"
    ).tax_usd
    return TaxYears(paid, written, interest, disposal, np.asarray(tax))


def with_income_tax(
    side: Side, capital: Mapping[Line, Sequence[float]], rate_frac: float, interest_usd: Array
) -> Side:
    """Add the saved income tax.

    Running cost, depreciation and interest reduce other taxable income at once; sales are taxed.
    ``capital`` names the capital lines with their yearly shares; each is written off from the year
    it is paid, and a line without shares never is. The remaining basis at the end is deducted from the
    residual value. Running cost outside the horizon saves its tax in its own month.
    """
    tax = tax_years(side, capital, rate_frac, interest_usd).tax_usd
    later = {line: pairs for line, pairs in side.outside.items() if line not in capital}
    saved = tuple((m, -rate_frac * usd) for pairs in later.values() for m, usd in pairs)
    return replace(
        side,
        lines={**side.lines, INCOME_TAX: at_year_ends(tax, side.months)},
        outside={**side.outside, INCOME_TAX: saved} if saved else side.outside,
    )
