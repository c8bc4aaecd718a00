"""Taxes, payment terms and debt of a side: the one order in which every answer applies them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.economics.cash_flow import CAPITAL, EQUIPMENT, AssetClass
from dcplan.economics.monthly.payments import (
    Loan,
    Milestones,
    loan_of,
    with_lost_goodput,
    with_milestones,
)
from dcplan.economics.monthly.side import (
    Line,
    Side,
    at_year_ends,
    by_year,
    month_factors,
    without_sites,
)
from dcplan.economics.monthly.taxes import (
    TaxYears,
    tax_years,
    with_income_tax,
    with_property_tax,
    with_sales_tax,
)
from dcplan.economics.ranges import Array
from dcplan.units import MONTHS_PER_YEAR

WRITTEN_OFF = CAPITAL | {AssetClass.SALES_TAX}
UNSERVED = Line("unserved demand")
DEBT_SERVICE, TAX_SHIELD = "debt service less payout", "income tax saved by interest"
ValuedLine = tuple[str, float, float]
"""Label, sum and present value of a cost line [USD]."""


@dataclass(frozen=True)
class Debt:
    """A loan for a share of capital cost, with level monthly payments."""

    share_frac: float
    rate_per_year: float
    """Nominal annual rate. [1/year]"""
    term_months: int


@dataclass(frozen=True)
class PlantTax:
    """Property tax on the straight-line book value of one class of plant."""

    asset: AssetClass
    rate_frac_per_year: float
    """[1/year]"""
    life_years: float
    """Service life of the class. [years]"""


@dataclass(frozen=True)
class SiteTaxes:
    """Rates of sales and property tax at one site, in place of those of all other sites."""

    site: str
    sales_tax_frac: float = 0.0
    property_tax_frac_per_year: float = 0.0
    """Of equipment. [1/year]"""
    plant_taxes: tuple[PlantTax, ...] = ()


@dataclass(frozen=True)
class Financing:
    """Discount rate, taxes, payment terms and debt.

    Parameters
    ----------
    rate_per_year : float
        Effective discount rate. [1/year]
    hardware_life_years : float
        Life over which the base of property tax is written off. [years]
    income_rate_frac : float
        Marginal rate of income tax; losses are used at once. [-]
    equipment_shares, building_shares : tuple of float
        Yearly shares of tax depreciation of equipment, cooling and power, and of buildings. [-]
    sales_tax_frac, property_tax_frac_per_year : float
        Taxes on equipment, at its purchase and on its book value. [-], [1/year]
    plant_taxes : tuple of PlantTax, optional
        Property tax on buildings, cooling and power, each with its rate and life.
    milestones : Milestones, optional
        Payment terms of equipment.
    debt : Debt, optional
        Loan for a share of capital cost.
    site_taxes : tuple of SiteTaxes, optional
        Sales and property tax of sites with rates of their own.
    """

    rate_per_year: float
    hardware_life_years: float
    income_rate_frac: float = 0.0
    equipment_shares: tuple[float, ...] = (1.0,)
    building_shares: tuple[float, ...] = (1.0,)
    sales_tax_frac: float = 0.0
    property_tax_frac_per_year: float = 0.0
    milestones: Milestones | None = None
    debt: Debt | None = None
    plant_taxes: tuple[PlantTax, ...] = ()
    site_taxes: tuple[SiteTaxes, ...] = ()

    @property
    def taxed_sites(self) -> frozenset[str]:
        """Return the sites with rates of their own."""
        return frozenset(x.site for x in self.site_taxes)

    def at(self, site: str) -> Financing:
        """Return the financing of what is bought at a site, at its rates.

        Examples
        --------
        >>> terms = Financing(0.1, 5.0, sales_tax_frac=0.06, site_taxes=(SiteTaxes("b", 0.02),))
        >>> terms.at("a").sales_tax_frac, terms.at("b").sales_tax_frac
        (0.06, 0.02)
        """
        for x in self.site_taxes:
            if x.site == site:
                return replace(
                    self,
                    sales_tax_frac=x.sales_tax_frac,
                    property_tax_frac_per_year=x.property_tax_frac_per_year,
                    plant_taxes=x.plant_taxes,
                    site_taxes=(),
                )
        return replace(self, site_taxes=())

    @property
    def by_site(self) -> dict[str, Financing]:
        """Return the financing at each site with rates of its own, and at all others under ""."""
        return {site: self.at(site) for site in ("", *(x.site for x in self.site_taxes))}

    def shares(self, side: Side) -> dict[Line, tuple[float, ...]]:
        """Return the yearly tax depreciation of each capital line; land has none."""
        own = {AssetClass.BUILDING: self.building_shares, AssetClass.LAND: ()}
        return {line: own.get(line.asset, self.equipment_shares) for line in side.of(WRITTEN_OFF)}


@dataclass(frozen=True)
class Financed:
    """A side after taxes, payment terms and debt, with every step."""

    before_tax: Side
    """With sales and property tax."""
    after_tax: Side
    loan: Loan | None
    steps: dict[str, float]
    """Present cost that each step adds. [USD]"""
    npv_usd: float
    shield: Array
    """Income tax saved by interest, by month. [USD]"""
    taxes: TaxYears
    """Income tax by year, with interest."""

    @property
    def cash_usd(self) -> Array:
        """Return the payments by month after tax and debt."""
        financed = self.loan.payments - self.loan.drawn if self.loan is not None else 0.0
        return np.asarray(self.after_tax.cash_usd + financed - self.shield)

    def debt_lines(self, rate: float) -> list[ValuedLine]:
        """Return the lines that debt adds: its service less its payout, and the tax it saves.

        With them, the lines of the side add up to its net present cost.
        """
        if self.loan is None:
            return []
        service = float((self.loan.payments - self.loan.drawn).sum()) + self.loan.owed_at_end_usd
        lines = [(DEBT_SERVICE, service, loan_npv_usd(self.loan, rate))]
        if self.shield.any():
            saved = float(self.shield @ month_factors(rate, len(self.shield)))
            lines.append((TAX_SHIELD, -float(self.shield.sum()), -saved))
        return lines


def financed(
    side: Side, terms: Financing, unserved_usd: Array | None = None, loss_frac: float = 0.0
) -> Financed:
    """Add sales tax, property tax, income tax, payment terms, lost goodput and debt to a side.

    Every step is linear in the payments, as long as no month's capital cost is negative. So the
    present cost of a side is the sum over its payments of a factor for each kind and month
    (:func:`dcplan.economics.monthly.weights.financed_weights`).

    Parameters
    ----------
    side : Side
        Payments by month before taxes and debt.
    terms : Financing
        Discount rate, taxes, payment terms and debt.
    unserved_usd : array, shape (months,), optional
        Value of unserved demand, which is not a payment, so it is not taxed. [USD]
    loss_frac : float
        Lost goodput as a share of all costs, 0 or more. [-]

    Examples
    --------
    100 of racks and 10 a month, written off in the first year, at 20 % tax without interest:

    >>> racks = Line("racks", AssetClass.RACKS)
    >>> side = Side({racks: np.eye(1, 12)[0] * 100.0, Line("staff"): np.full(12, 10.0)})
    >>> found = financed(side, Financing(0.0, 5.0, income_rate_frac=0.2))
    >>> round(found.npv_usd, 9), found.taxes.tax_usd.tolist()
    (176.0, [-44.0])
    """
    rate, steps = terms.rate_per_year, dict[str, float]()

    def stepped(name: str, before: Side, after: Side) -> Side:
        steps[name] = after.npv_usd(rate) - before.npv_usd(rate)
        return after

    taxed = _with_sales_tax(side, terms)
    if taxed is not side:
        side = stepped("sales tax", side, taxed)
    held = _with_property_tax(side, terms)
    if held is not side:
        side = stepped("property tax", side, held)
    gross = _gross_usd(side, terms)
    side = without_sites(side)  # only sales and property tax differ by site
    before, tax = side, terms.income_rate_frac
    loan = _loan(side, terms.debt)
    interest = loan.interest if loan is not None else np.zeros(side.months)
    shares = terms.shares(side)
    taxes = tax_years(side, shares, tax, interest)
    if tax:
        borne = with_income_tax(side, shares, tax, np.zeros(side.months))
        side = stepped("income tax", side, borne)
    if unserved_usd is not None and unserved_usd.any():
        # without it, a side that does less work would look cheaper
        more = replace(side, lines={**side.lines, UNSERVED: unserved_usd})
        side = stepped("value of unserved demand", side, more)
    if terms.milestones is not None and gross is not None:
        moved = with_milestones(side, gross, terms.milestones)
        side = stepped("payment milestones", side, moved)
    if loss_frac:
        side = stepped("lost goodput", side, with_lost_goodput(side, loss_frac))
    total, shield = side.npv_usd(rate), np.zeros(side.months)
    if loan is not None:
        shield = tax * at_year_ends(by_year(loan.interest), side.months)
        service = "debt service at the loan's rate, discounted at the discount rate"
        steps[service] = loan_npv_usd(loan, rate)
        steps[TAX_SHIELD] = -float(shield @ month_factors(rate, side.months))
        total += steps[service] + steps[TAX_SHIELD]
    return Financed(before, side, loan, steps, total, shield, taxes)


def _with_sales_tax(side: Side, terms: Financing) -> Side:
    """Add the sales tax on the equipment of each site; the side itself without any."""
    taxed = side
    for site, own in terms.by_site.items():
        gear = side.of(EQUIPMENT, site)
        if own.sales_tax_frac and gear:
            taxed = with_sales_tax(taxed, gear, own.sales_tax_frac, site)
    return taxed


def _with_property_tax(side: Side, terms: Financing) -> Side:
    """Add the property tax of equipment and of each class of plant; the side itself without any.

    Equipment bears it with its sales tax.
    """
    held = side
    for site, own in terms.by_site.items():
        gear = side.of(EQUIPMENT | {AssetClass.SALES_TAX}, site)
        if own.property_tax_frac_per_year and gear:
            each, years = own.property_tax_frac_per_year, own.hardware_life_years
            held = with_property_tax(held, gear, each, years)
        for tax in own.plant_taxes:
            lines = side.of({tax.asset}, site)
            if lines:
                held = with_property_tax(held, lines, tax.rate_frac_per_year, tax.life_years)
    return held


def _gross_usd(side: Side, terms: Financing) -> Array | None:
    """Return the purchases that payment terms move, with their sales tax, by month; None without any."""
    kinds = EQUIPMENT - {AssetClass.EXISTING}  # earlier orders have their own contracts
    found = [
        (1.0 + own.sales_tax_frac) * np.maximum(sum(side.lines[x] for x in lines), 0.0)
        for site, own in terms.by_site.items()
        if (lines := side.of(kinds, site))
    ]
    return np.asarray(sum(found)) if found else None


def _loan(side: Side, debt: Debt | None) -> Loan | None:
    """Return the loan for the capital cost of a side."""
    if debt is None:
        return None
    capital = sum((side.lines[line] for line in side.of(CAPITAL)), np.zeros(side.months))
    return loan_of(capital, debt.share_frac, debt.rate_per_year, debt.term_months)


def loan_npv_usd(loan: Loan, rate_per_year: float) -> float:
    """Return the present cost of debt service and of what is owed at the end, less the payout. [USD]."""
    months = len(loan.drawn)
    end = float((1.0 + rate_per_year) ** (-months / MONTHS_PER_YEAR))
    paid = float((loan.payments - loan.drawn) @ month_factors(rate_per_year, months))
    return paid + loan.owed_at_end_usd * end
