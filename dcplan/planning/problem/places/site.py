"""Sites of a scenario: power, tariff, carbon, water, staff and lease."""

from __future__ import annotations

from dcplan.catalog.schema import Site as CatalogSite
from dcplan.facility.electrical.chain import DOUBLE_CONVERSION, Backup
from dcplan.inputs.log import InputLog
from dcplan.planning.problem import site_costs
from dcplan.planning.problem.contracts import (
    TariffPrices,
    carbon_price,
    contract_terms,
    matched_terms,
    water_price,
)
from dcplan.planning.problem.energy import onsite_terms, response_terms, tranche_terms
from dcplan.planning.problem.finance import price_level
from dcplan.planning.problem.places.heat import heat_terms
from dcplan.planning.problem.places.land import land_left_frac, land_price_usd
from dcplan.planning.problem.places.ramp import ramp_terms
from dcplan.planning.problem.terms import SiteTerms
from dcplan.provenance import Quantity, Status
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Scenario, Site
from dcplan.units import HOURS_PER_WEEK, KW_PER_MW


def site_terms(site: Site, question: Question, log: InputLog) -> SiteTerms:
    """Resolve one site: tariff, carbon, redundancy, staff, lease."""
    scenario = question.scenario
    row = log.catalog.get("sites", site.location, CatalogSite)
    quarters = scenario.horizon.quarters
    key = f"sites.{site.id}"
    demand = site.energy.demand_usd_per_kw_month
    take = site.energy.minimum_take_frac
    carbon = site.carbon.grid_g_per_kwh or row.grid_g_per_kwh or row.grid_lifecycle_g_per_kwh
    blocks = log.chosen(
        f"{key}.power.usd_per_kw", site.power.usd_per_kw, "power", "power-blocks-usd-per-kw"
    )
    block_mw = log.chosen(f"{key}.power.block_mw", site.power.block_mw, "power", "block-mw-default")
    cap = site.carbon.max_operational_t_per_year
    water = site.water.max_l_per_year
    residual = site.carbon.residual_g_per_kwh
    level = price_level(scenario.finance, quarters, log) or (1.0,) * quarters
    prices, by_market = carbon_price(site, level, log)
    backup = _backup(site, log)
    tariff = TariffPrices(_usd_per_kwh(site, row, scenario, log), level)
    plants = onsite_terms(site, question, log)
    contracts = contract_terms(site, tariff, question, log)
    return SiteTerms(
        id=site.id,
        utility_mw=log.series(f"{key}.utility_mw", site.utility_mw, quarters),
        usd_per_kwh=tariff.usd_per_kwh,
        demand_usd_per_kw_month=log.take(f"{key}.energy.demand_usd_per_kw_month", demand)
        if demand
        else 0.0,
        minimum_take_frac=log.take(f"{key}.energy.minimum_take_frac", take) if take else 0.0,
        grid_g_per_kwh=log.take(f"{key}.carbon.grid_g_per_kwh", carbon) if carbon else 0.0,
        max_t_per_year=log.take(f"{key}.carbon.max_operational_t_per_year", cap) if cap else None,
        max_l_per_year=log.take(f"{key}.water.max_l_per_year", water) if water else None,
        redundancy=backup.redundancy,
        ups=backup.ups,
        block_mw=block_mw,
        block_usd=blocks * block_mw * KW_PER_MW,
        lease_usd_per_kw_month=site_costs.lease(site, quarters, log),
        staff_usd_per_quarter=site_costs.staff(site, log),
        opex_usd_per_kw_quarter=site_costs.opex(site, log),
        land_tax_usd_per_quarter=site_costs.land_tax(site, question, log),
        land_usd=land_price_usd(site, log),
        land_left_frac=land_left_frac(site, quarters, log),
        tranches=tranche_terms(site, scenario, log),
        onsite=plants,
        block_lead=int(log.assumed(f"{key}.power.lead_quarters", site.power.lead_quarters, 0.0)),
        contracts=contracts,
        matched=matched_terms(site, contracts, plants, question, log),
        residual_g_per_kwh=log.take(f"{key}.carbon.residual_g_per_kwh", residual)
        if residual
        else None,
        response=response_terms(site, level, log),
        ramp=ramp_terms(site, log),
        pauses_idle=_pauses_idle(site, log),
        carbon_usd_per_t=prices,
        water_usd_per_m3=water_price(site, level, log),
        heat=heat_terms(site, question, level, log),
        carbon_by_market=by_market,
    )


def _pauses_idle(site: Site, log: InputLog) -> bool:
    """Return whether racks draw idle power while they pause."""
    if not (site.interruptible or site.demand_response):
        return False
    given, status = site.paused_racks, Status.INPUT if site.paused_racks else Status.DEFAULT
    return log.text(f"sites.{site.id}.paused_racks", given or "switched_off", status) == "idle"


def _backup(site: Site, log: InputLog) -> Backup:
    """Return redundancy and UPS of the site's blocks."""
    key, own = f"sites.{site.id}.power", site.power
    redundancy, spare = own.redundancy or "n+1", "dcplan default: one spare block"
    ups, usual = own.ups or DOUBLE_CONVERSION, "dcplan default: a UPS for all racks"
    stated, default = (Status.INPUT, None), Status.DEFAULT
    return Backup(
        log.text(
            f"{key}.redundancy", redundancy, *(stated if own.redundancy else (default, spare))
        ),
        log.text(f"{key}.ups", ups, *(stated if own.ups else (default, usual))),
    )


def _usd_per_kwh(
    site: Site, row: CatalogSite, scenario: Scenario, log: InputLog
) -> tuple[float, ...]:
    """Return the price of energy by quarter; of a time-of-use tariff, the mean by hours of the week.

    A price by quarter is nominal; other prices rise with inflation.
    """
    key, periods = f"sites.{site.id}.energy", site.energy.time_of_use
    quarters = scenario.horizon.quarters
    level = price_level(scenario.finance, quarters, log) or (1.0,) * quarters
    if not periods:
        price = site.energy.usd_per_kwh or _listed(row.usd_per_kwh)
        found = log.series(f"{key}.usd_per_kwh", price, quarters)
        rises = len(price) == 1
        return tuple(x * usd for x, usd in zip(level, found, strict=True)) if rises else found
    mean = [0.0] * quarters
    for x in periods:
        own = f"{key}.time_of_use.{x.id}"
        share = log.take(f"{own}.hours_per_week", x.hours_per_week) / HOURS_PER_WEEK
        prices = log.series(f"{own}.usd_per_kwh", x.usd_per_kwh, quarters)
        rise = level if len(x.usd_per_kwh) == 1 else (1.0,) * quarters
        mean = [total + share * usd * up for total, usd, up in zip(mean, prices, rise, strict=True)]
    return tuple(mean)


def _listed(quantity: Quantity | None) -> list[Quantity]:
    return [quantity] if quantity is not None else []
