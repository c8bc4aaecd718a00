"""Fixed costs of a site: lease, staff, operation and the property tax on its land."""

from __future__ import annotations

from dcplan.errors import InputError
from dcplan.inputs.financing import site_rate
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.places.land import land_price_usd
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Site
from dcplan.units import QUARTERS_PER_YEAR


def lease(site: Site, quarters: int, log: InputLog) -> tuple[float, ...] | None:
    """Return the rent per kW and month by quarter, with its yearly rise; None without a lease."""
    if site.lease is None:
        return None
    rent = log.take(f"sites.{site.id}.lease.usd_per_kw_month", site.lease.usd_per_kw_month)
    key = f"sites.{site.id}.lease.escalator_frac_per_year"
    rise = log.chosen(
        key, site.lease.escalator_frac_per_year, "finance", "lease-escalator-frac-per-year"
    )
    return tuple(rent * (1 + rise) ** (t // QUARTERS_PER_YEAR) for t in range(quarters))


def staff(site: Site, log: InputLog) -> float:
    """Return the pay of the site's staff, in USD per quarter; 0 without named staff."""
    if site.staff is None:
        return 0.0
    people = log.take(f"sites.{site.id}.staff.people", site.staff.people)
    key = f"sites.{site.id}.staff.usd_per_person_year"
    pay = log.chosen(key, site.staff.usd_per_person_year, "finance", "staff-usd-per-person-year")
    return people * pay / QUARTERS_PER_YEAR


def opex(site: Site, log: InputLog) -> float:
    """Return the operating cost in USD per kW of rated IT and quarter.

    If staff is given, it is maintenance only; otherwise all fixed cost.
    """
    key = "facility-maintenance-usd-per-kw-year" if site.staff else "fixed-opex-usd-per-kw-year"
    if site.lease:  # the landlord maintains the building
        return 0.0
    return log.parameter("finance", key) / QUARTERS_PER_YEAR


def land_tax(site: Site, question: Question, log: InputLog) -> float:
    """Return the property tax on the land of a site, in USD per quarter.

    Its base is the assessed value, or the price of land that the plan buys.

    Raises
    ------
    InputError
        When the land has a value and no rate, or a rate has no land to tax.
    """
    scenario, tree, name = question.scenario, question.tree, "land_property_tax_frac_per_year"
    rate, at = site_rate(scenario.finance, site, name), scenario.sites.index(site)
    if site.land_usd is None and site.land is not None:
        if rate is None:
            return 0.0
        return log.take(*rate) * land_price_usd(site, log) / QUARTERS_PER_YEAR
    if site.land_usd is not None:
        if rate is None:
            cause = f"{site.id}: the land has a value and no rate of property tax"
            more = f"give finance.tax.{name} or sites.{site.id}.tax.{name}, or remove land_usd"
            path: Path = ("sites", at, "land_usd")
            raise InputError([tree.problem("DC015", cause, path, help=more)])
        value = log.take(f"sites.{site.id}.land_usd", site.land_usd)
        return log.take(*rate) * value / QUARTERS_PER_YEAR
    if site.tax is not None and site.tax.land_property_tax_frac_per_year is not None:
        cause = f"{site.id}: the property tax on land has nothing to tax without land_usd or land"
        more = f"give sites.{site.id}.land_usd or sites.{site.id}.land, or remove the rate"
        path = ("sites", at, "tax", name)
        raise InputError([tree.problem("DC015", cause, path, help=more)])
    landless = all(other.land_usd is None and other.land is None for other in scenario.sites)
    if rate is not None and landless:
        cause = "no site has land_usd or land, so the property tax on land has nothing to tax"
        more = "give land_usd or land of a site, or remove the rate"
        path = ("finance", "tax", name)
        raise InputError([tree.problem("DC015", cause, path, help=more)])
    return 0.0
