"""Taxes, payment terms and debt of a scenario, with the catalog's tables of depreciation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dcplan.catalog.schema import DepreciationTable
from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.financing import Debt, Financing, PlantTax, SiteTaxes
from dcplan.economics.monthly.payments import Milestones
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema import Finance, Site
from dcplan.scenario.schema.top import Payment
from dcplan.units import MONTHS_PER_YEAR

BUILDING_TABLE = "building-39"
PLANT_LIFE = {
    AssetClass.BUILDING: "building-life-years",
    AssetClass.POWER: "power-life-years",
    AssetClass.COOLING: "cooling-life-years",
}
"""Catalog parameters of service lives; all other capital has the life of hardware."""
PLANT_TAX = {
    AssetClass.BUILDING: "building_property_tax_frac_per_year",
    AssetClass.COOLING: "cooling_property_tax_frac_per_year",
    AssetClass.POWER: "power_property_tax_frac_per_year",
}
"""Fields of ``finance.tax`` with the property tax of each class of plant."""
SITE_TAX = ("sales_tax_frac", "property_tax_frac_per_year", *PLANT_TAX.values())
"""Fields of ``finance.tax`` and ``sites.ID.tax`` on what is bought."""
EQUIPMENT_TABLE = "straight-line-5"
"""Tax depreciation of equipment without a table in the scenario."""


def financing_of(
    finance: Finance, sites: Iterable[Site], rate_per_year: float, life_years: float, log: InputLog
) -> Financing:
    """Return the financing of a scenario, and log the values that count.

    Equipment, cooling and power follow the scenario's table; buildings are written off over 39
    years.

    Parameters
    ----------
    finance : Finance
        The scenario's ``finance:``.
    sites : iterable of Site
        Its ``sites:``, which may have rates of their own.
    rate_per_year : float
        Effective discount rate. [1/year]
    life_years : float
        Service life of hardware. [years]
    log : InputLog
        Log of the values.
    """
    tax, payment = finance.tax, finance.payment
    income = log.take("finance.tax.income_rate", tax.income_rate) if tax.income_rate else 0.0
    own, house = _shares(finance, log if income else InputLog(log.catalog))
    sales, each = tax.sales_tax_frac, tax.property_tax_frac_per_year
    return Financing(
        rate_per_year,
        life_years,
        income,
        own,
        house,
        log.take("finance.tax.sales_tax_frac", sales) if sales else 0.0,
        log.take("finance.tax.property_tax_frac_per_year", each) if each else 0.0,
        payment_of(payment, log) if payment is not None else None,
        _debt(finance, log),
        tuple(_plant_taxes(finance, log)),
        tuple(_site_taxes(finance, sites, log)),
    )


def _plant_taxes(finance: Finance, log: InputLog) -> Iterator[PlantTax]:
    """Yield the property tax of buildings, cooling and power, where the scenario gives a rate."""
    for asset, name in PLANT_TAX.items():
        rate = getattr(finance.tax, name)
        if rate is not None and rate.value:
            share = log.take(f"finance.tax.{name}", rate)
            yield PlantTax(asset, share, log.parameter("finance", PLANT_LIFE[asset]))


def _site_taxes(finance: Finance, sites: Iterable[Site], log: InputLog) -> Iterator[SiteTaxes]:
    """Yield the rates of each site with a rate of its own on what is bought there."""
    for site in sites:
        own = site.tax
        if own is None or all(getattr(own, name) is None for name in SITE_TAX):
            continue
        each = {
            name: log.take(*key) for name in SITE_TAX if (key := site_rate(finance, site, name))
        }
        plants = (
            PlantTax(asset, each[name], log.parameter("finance", PLANT_LIFE[asset]))
            for asset, name in PLANT_TAX.items()
            if each.get(name)
        )
        yield SiteTaxes(
            site.id,
            each.get("sales_tax_frac", 0.0),
            each.get("property_tax_frac_per_year", 0.0),
            tuple(plants),
        )


def site_rate(finance: Finance, site: Site, name: str) -> tuple[str, Quantity] | None:
    """Return the key and the rate of a tax at a site: its own, else that of all sites; None without one."""
    own: Quantity | None = getattr(site.tax, name) if site.tax is not None else None
    general: Quantity | None = getattr(finance.tax, name)
    if own is not None:
        return f"sites.{site.id}.tax.{name}", own
    return None if general is None else (f"finance.tax.{name}", general)


def _shares(finance: Finance, log: InputLog) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the yearly tax depreciation of equipment and of buildings."""
    given = finance.tax.depreciation
    status = Status.INPUT if given else Status.DEFAULT
    name = log.text("finance.tax.depreciation", given or EQUIPMENT_TABLE, status)
    own = log.catalog.get("depreciation", name, DepreciationTable).share_frac
    house = log.catalog.get("depreciation", BUILDING_TABLE, DepreciationTable).share_frac
    return tuple(own), tuple(house)


def payment_of(payment: Payment, log: InputLog) -> Milestones:
    """Return the scenario's payment terms of equipment."""
    deposit = log.take("finance.payment.deposit_frac", payment.deposit_frac)
    accepted = log.take("finance.payment.acceptance_frac", payment.acceptance_frac)
    return Milestones(
        deposit, payment.deposit_months_before, accepted, payment.acceptance_months_after
    )


def _debt(finance: Finance, log: InputLog) -> Debt | None:
    """Return the scenario's loan."""
    debt = finance.debt
    if debt is None:
        return None
    months = max(round(log.take("finance.debt.term_years", debt.term_years) * MONTHS_PER_YEAR), 1)
    share = log.take("finance.debt.share", debt.share)
    return Debt(share, log.take("finance.debt.rate", debt.rate), months)
