"""Cooling options of a hall, with its PUE, heat paths and price at the climate of the site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dcplan.catalog.schema import CoolingOption, System
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.facility.climate import Climate
from dcplan.facility.pue import sizes
from dcplan.inputs.cooling.losses import hall_losses_frac
from dcplan.inputs.cooling.performance import chillers_usd_per_kw, performance
from dcplan.inputs.cooling.setting import Performance, Setting
from dcplan.inputs.cooling.weather import weather_at, weather_of
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.heat_paths import misfit, most_air, room_air_frac
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.hall import HallLoad
from dcplan.inputs.power.lighting import lighting_by_area
from dcplan.planning.problem.terms import Cooled, CoolingTerms
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema import Hall, Site
from dcplan.units import KW_PER_MW

LOSSES = "dcplan facility: transformers, UPS and busway behind the power blocks of a full hall"
AIR_SHARE = "network, storage and {}, the largest share of the systems that may stand in the hall"


def site_weather(site: Site, log: InputLog) -> Climate | None:
    """Return the weather of a site: of its climate zone if given, else of its location."""
    location = log.catalog.get("sites", site.location, CatalogSite)
    weather = weather_at(location) if site.climate_zone is None else None
    return weather or weather_of(f"zone-{_zone(site, location)}", None, None)


def _zone(site: Site, location: CatalogSite) -> str:
    return site.climate_zone or location.climate_zone or "all"


def cooling_terms(
    hall: Hall,
    site: Site,
    load: HallLoad,
    option: str,
    log: InputLog,
    excluded: list[ExcludedOption],
    *,
    priced: bool = True,
) -> CoolingTerms | None:
    """Return a cooling option of a hall; None with a reason in ``excluded`` if it has no weather.

    An option that is not ``priced`` comes with an upgrade, whose price has its fit-out.
    """
    key = f"sites.{site.id}.halls.{hall.id}"
    row, it_mw = log.catalog.get("cooling", option, CoolingOption), hall.it_mw.value / hall.modules
    location = log.catalog.get("sites", site.location, CatalogSite)
    system = most_air(load.systems, row, load.other_frac)
    bare = Setting(
        site.location,
        _zone(site, location),
        site_weather(site, log),
        sizes(hall.it_mw.value),
        1.0,
        supply_c=_supply_c(row, log),
        branches=load.branches,
    )
    at = _with_shares(bare, system, row, load.other_frac, log)
    try:
        found = performance(row, at, log)
    except LookupError as error:
        excluded.append(ExcludedOption(Kind.COOLING, row.id, key, str(error)))
        return None
    if hall.pue is None or hall.peak_pue is None:
        _record(key, row, at, system, log)
    rates = _rates(hall, found)
    own = _taken(row, at, rates, f"{key}.{row.id}", log)
    season = _pue_by_season(hall, found)
    peak = max(own.peak_pue, own.pue * max(season, default=1.0))
    own = replace(own, peak_pue=peak, water_by_season=found.water_by_season, pue_by_season=season)
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
    fit_out = _fit_out_usd_per_kw(hall, row, found, key, log) if priced else 0.0
    new = priced and not hall.existing and site.lease is None
    building = _building_usd(hall, key, it_mw, own.peak_pue, log) if new else 0.0
    fit_out_usd = fit_out * it_mw * KW_PER_MW
    return CoolingTerms(
        *(row.id, air_mw, liquid_mw, own.pue, own.peak_pue, own.wue_l_per_kwh),
        *(fit_out_usd, building, at),
        heat_c=_heat_c(row, at.supply_c, site, log),
        water_by_season=own.water_by_season,
        pue_by_season=own.pue_by_season,
        water_known="wue_l_per_kwh" in rates,
        by_system=tuple(_by_system(hall, load, row, at, own, f"{key}.{row.id}", log)),
    )


def _with_shares(
    bare: Setting, system: System | None, row: CoolingOption, other_frac: float, log: InputLog
) -> Setting:
    """Return the conditions of a hall of one system, with its air share and lighting."""
    lighting = lighting_by_area(system, row, other_frac, log) if row.model else None
    return replace(bare, air_frac=room_air_frac(system, row, other_frac), lighting=lighting)


def _rates(hall: Hall, found: Performance) -> dict[str, Quantity]:
    """Return PUE, peak PUE and WUE: those of the hall, or computed; without a WUE if none is known."""
    rates = {"pue": hall.pue or found.mean(found.pue), "peak_pue": hall.peak_pue or found.peak()}
    water = hall.wue_l_per_kwh or (found.mean(found.wue_l_per_kwh) if found.wue_l_per_kwh else None)
    return rates | ({"wue_l_per_kwh": water} if water else {})


def _taken(
    row: CoolingOption, at: Setting, rates: Mapping[str, Quantity], key: str, log: InputLog
) -> Cooled:
    """Log PUE and WUE under a key; the design day is never below the mean of the year."""
    used = {name: log.take(f"{key}.{name}", rate) for name, rate in rates.items()}
    mean = used["pue"]
    return Cooled(row.id, mean, max(mean, used["peak_pue"]), used.get("wue_l_per_kwh", 0.0), at)


def _pue_by_season(hall: Hall, found: Performance) -> tuple[float, ...]:
    """Return the PUE of each calendar quarter over that of the year; a PUE of the hall has no seasons."""
    return () if hall.pue else found.pue_by_season


def _by_system(
    hall: Hall,
    load: HallLoad,
    row: CoolingOption,
    at: Setting,
    design: Cooled,
    key: str,
    log: InputLog,
) -> Iterator[tuple[str, Cooled]]:
    """Yield the systems whose racks have another PUE or WUE than the hall is designed for.

    Their air share and lighting are those of a hall of this system alone. A value that the hall
    states holds for all systems.
    """
    stated = {name for name in ("pue", "peak_pue", "wue_l_per_kwh") if getattr(hall, name)}
    for system in load.systems if row.model else ():
        if misfit(system, row) is not None:
            continue
        own = _with_shares(at, system, row, load.other_frac, log)
        if (own.air_frac, own.lighting) == (at.air_frac, at.lighting):
            continue
        found = performance(row, own, log)
        rates = _rates(hall, found)
        places = {name: key if name in stated else f"{key}.{system.id}" for name in rates}
        used = {name: log.take(f"{places[name]}.{name}", x) for name, x in rates.items()}
        season = _pue_by_season(hall, found)
        pue = used["pue"]
        peak = max(pue * max(season, default=1.0), used["peak_pue"])
        wue = used.get("wue_l_per_kwh", design.wue_l_per_kwh)
        cooled = Cooled(row.id, pue, peak, wue, own, found.water_by_season, season)
        if cooled != design:
            yield system.id, cooled


def _building_usd(hall: Hall, key: str, it_mw: float, peak_pue: float, log: InputLog) -> float:
    """Return the price of the shell of a unit: given, or by its facility power on the design day."""
    own = hall.building_usd_per_kw
    if own is not None:
        return log.take(f"{key}.building_usd_per_kw", own) * it_mw * KW_PER_MW
    return log.parameter("power", "building-shell-usd-per-mw") * it_mw * peak_pue


def _fit_out_usd_per_kw(
    hall: Hall, row: CoolingOption, found: Performance, key: str, log: InputLog
) -> float:
    """Return the price of the fit-out of a kW of IT power: given, or that of the option."""
    if hall.fit_out_usd_per_kw:
        return log.take(f"{key}.fit_out_usd_per_kw", hall.fit_out_usd_per_kw)
    each = log.take(f"cooling.{row.id}.fit_out_usd_per_kw", row.fit_out_usd_per_kw)
    return each + _chillers_usd_per_kw(row, found, f"{key}.{row.id}", log)


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


def _heat_c(row: CoolingOption, supply_c: float | None, site: Site, log: InputLog) -> float | None:
    """Return the temperature of the water that returns from liquid-cooled racks, if heat is sold."""
    if supply_c is None or "liquid" not in row.accepts or site.heat_reuse is None:
        return None
    return supply_c + log.parameter("facility", "coolant-rise-k")
