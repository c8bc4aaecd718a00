"""Sites and halls of a scenario with the catalog's climate, tariffs and cooling coefficients."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.catalog.schema import CoolingOption, System
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.facility.climate import Climate
from dcplan.facility.electrical.chain import Branch
from dcplan.facility.pue import sizes
from dcplan.inputs.cooling import (
    Performance,
    Setting,
    chillers_usd_per_kw,
    hall_losses_frac,
    performance,
    weather_at,
    weather_of,
)
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.heat_paths import most_air, room_air_frac
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import branches
from dcplan.planning.problem import site_costs
from dcplan.planning.problem.contracts import (
    TariffPrices,
    carbon_price,
    contract_terms,
    matched_terms,
)
from dcplan.planning.problem.energy import onsite_terms, response_terms, tranche_terms
from dcplan.planning.problem.finance import price_level
from dcplan.planning.problem.storage import given_storage
from dcplan.planning.problem.terms import CoolingTerms, HallTerms, SiteTerms
from dcplan.provenance import Quantity, Status
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Hall, Scenario, Site
from dcplan.units import HOURS_PER_WEEK, KW_PER_MW, quarter_index

LOSSES = "dcplan facility: transformers, UPS and busway behind the power blocks of a full hall"
AIR_SHARE = "network, storage and {}, the largest share of the systems that may stand in the hall"


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
        redundancy=log.text(
            f"{key}.power.redundancy",
            site.power.redundancy or "n+1",
            Status.INPUT if site.power.redundancy else Status.DEFAULT,
            None if site.power.redundancy else "dcplan default: one spare block",
        ),
        block_mw=block_mw,
        block_usd=blocks * block_mw * KW_PER_MW,
        lease_usd_per_kw_month=site_costs.lease(site, quarters, log),
        staff_usd_per_quarter=site_costs.staff(site, log),
        opex_usd_per_kw_quarter=site_costs.opex(site, log),
        land_tax_usd_per_quarter=site_costs.land_tax(site, question, log),
        tranches=tranche_terms(site, scenario, log),
        onsite=plants,
        block_lead=int(log.assumed(f"{key}.power.lead_quarters", site.power.lead_quarters, 0.0)),
        contracts=contracts,
        matched=matched_terms(site, contracts, plants, question, log),
        residual_g_per_kwh=log.take(f"{key}.carbon.residual_g_per_kwh", residual)
        if residual
        else None,
        response=response_terms(site, level, log),
        carbon_usd_per_t=prices,
        carbon_by_market=by_market,
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


@dataclass(frozen=True)
class HallLoad:
    """What a hall is designed for: systems that may stand in it, and racks behind power blocks."""

    systems: tuple[System, ...]
    other_frac: float
    """Share of IT power in network and storage racks."""
    branches: tuple[Branch, ...]

    @classmethod
    def of(
        cls, hall: Hall, systems: tuple[System, ...], block: tuple[str, float], log: InputLog
    ) -> HallLoad:
        """Return the load of a full hall behind blocks of a redundancy rule and a rating in MW."""
        other = log.parameter("facility", "network-storage-share")
        rule, block_mw = block
        return cls(systems, other, branches(hall.it_mw.value, other, (rule, rule), block_mw))


def hall_terms(
    hall: Hall,
    site: Site,
    load: HallLoad,
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> HallTerms:
    """Resolve one hall type and each of its cooling options."""
    scenario = question.scenario
    key = f"sites.{site.id}.halls.{hall.id}"
    it_mw = log.take(f"{key}.it_mw", hall.it_mw) / hall.modules
    coolings = [
        terms
        for option in hall.cooling
        if (terms := _cooling(hall, site, load, option, log, excluded)) is not None
    ]
    start = quarter_index(scenario.horizon.start)
    available = quarter_index(hall.available_from) - start if hall.available_from else 0
    storage = (
        given_storage(question, log)
        if home_of(scenario) == f"{site.id}/{hall.id}"
        else (0.0, 0.0, 0.0)
    )
    return HallTerms(
        id=f"{site.id}/{hall.id}",
        site=site.id,
        name=hall.id,
        count=hall.count * hall.modules,
        racks=hall.racks // hall.modules,
        it_mw=it_mw,
        existing=hall.existing,
        available_from=max(available, 0),
        needs_blocks=not hall.existing and site.lease is None,
        coolings=tuple(coolings),
        rack_units=log.chosen(f"{key}.rack_units", hall.rack_units, "facility", "rack-units"),
        full_kw=it_mw * KW_PER_MW * log.parameter("facility", "full-hall-frac"),
        storage_kw=storage[0],
        storage_racks=storage[1],
        storage_usd=storage[2],
    )


def site_weather(site: Site, log: InputLog) -> Climate | None:
    """Return the weather of a site: of its climate zone if given, else of its location."""
    location = log.catalog.get("sites", site.location, CatalogSite)
    weather = weather_at(location) if site.climate_zone is None else None
    return weather or weather_of(f"zone-{_zone(site, location)}", None, None)


def _zone(site: Site, location: CatalogSite) -> str:
    return site.climate_zone or location.climate_zone or "all"


def _cooling(
    hall: Hall,
    site: Site,
    load: HallLoad,
    option: str,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> CoolingTerms | None:
    key = f"sites.{site.id}.halls.{hall.id}"
    row, it_mw = log.catalog.get("cooling", option, CoolingOption), hall.it_mw.value / hall.modules
    location = log.catalog.get("sites", site.location, CatalogSite)
    system = most_air(load.systems, row, load.other_frac)
    at = Setting(
        site.location,
        _zone(site, location),
        site_weather(site, log),
        sizes(hall.it_mw.value),
        room_air_frac(system, row, load.other_frac),
        supply_c=_supply_c(row, log),
        branches=load.branches,
    )
    try:
        found = performance(row, at, log)
    except LookupError as error:
        excluded.append(ExcludedOption(Kind.COOLING, row.id, key, str(error)))
        return None
    if hall.pue is None or hall.peak_pue is None:
        _record(key, row, at, system, log)
    mean = log.take(f"{key}.{row.id}.pue", hall.pue or found.mean(found.pue))
    peak = max(mean, log.take(f"{key}.{row.id}.peak_pue", hall.peak_pue or found.peak()))
    water = hall.wue_l_per_kwh or (found.mean(found.wue_l_per_kwh) if found.wue_l_per_kwh else None)
    wue = log.take(f"{key}.{row.id}.wue_l_per_kwh", water) if water else 0.0
    air, liquid = hall.air_mw, hall.liquid_mw
    air_mw = (
        log.take(f"{key}.air_mw", air) / hall.modules
        if air
        else it_mw * log.take(f"cooling.{row.id}.air_share_frac", row.air_share_frac)
    )
    liquid_mw = (
        log.take(f"{key}.liquid_mw", liquid) / hall.modules
        if liquid
        else it_mw * log.take(f"cooling.{row.id}.liquid_share_frac", row.liquid_share_frac)
    )
    fit_out = (
        log.take(f"{key}.fit_out_usd_per_kw", hall.fit_out_usd_per_kw)
        if hall.fit_out_usd_per_kw
        else log.take(f"cooling.{row.id}.fit_out_usd_per_kw", row.fit_out_usd_per_kw)
    )
    if hall.fit_out_usd_per_kw is None:
        fit_out += _chillers_usd_per_kw(row, found, f"{key}.{row.id}", log)
    building = 0.0
    if (
        not hall.existing and site.lease is None
    ):  # the shell is priced per MW of facility power, so the peak PUE of the option counts
        building = log.parameter("power", "building-shell-usd-per-mw") * it_mw * peak
    fit_out_usd = fit_out * it_mw * KW_PER_MW
    return CoolingTerms(row.id, air_mw, liquid_mw, mean, peak, wue, fit_out_usd, building, at)


def _record(key: str, row: CoolingOption, at: Setting, own: System | None, log: InputLog) -> None:
    """Log the losses of the power chain of a full hall, and the air share of a computed option."""
    losses, name = hall_losses_frac(at.branches, at.sizes, log), f"{key}.electrical_losses_frac"
    log.take(name, Quantity(value=losses, status=Status.DERIVED, source=LOSSES))
    if row.model is not None:
        source = AIR_SHARE.format(own.id if own else "no system")
        share = Quantity(value=at.air_frac, status=Status.DERIVED, source=source)
        log.take(f"{key}.{row.id}.room_air_frac", share)


def _chillers_usd_per_kw(row: CoolingOption, found: Performance, key: str, log: InputLog) -> float:
    """Return the price of chillers for the design day, with their share of heat in the input log."""
    each = chillers_usd_per_kw(row, found, log)
    if each and found.peak_chilled:
        share = Quantity(value=found.peak_chilled, status=Status.DERIVED)
        log.take(f"{key}.peak_chilled_frac", share)
    return each


def _supply_c(row: CoolingOption, log: InputLog) -> float | None:
    """Return the facility water temperature of a liquid option at its usual coolant temperature."""
    if row.model is None or row.coolant_supply_c is None:
        return None
    coolant = log.take(f"cooling.{row.id}.coolant_supply_c", row.coolant_supply_c)
    return coolant - log.parameter("facility", "cdu-approach-k")


def home_of(scenario: Scenario) -> str:
    """Return the hall of storage that the scenario names.

    It is the hall of the fleet, or the first hall of the first site.
    """
    home_site = (scenario.fleet and scenario.fleet.site) or scenario.sites[0].id
    first = next(s for s in scenario.sites if s.id == home_site).halls[0].id
    return f"{home_site}/{(scenario.fleet and scenario.fleet.hall) or first}"
