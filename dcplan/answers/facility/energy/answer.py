"""On-site power of a hall: dispatch by hour, cost, risk of outages, and time to power."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.facility.energy.plants import Built, built, by_weather, combined, stored
from dcplan.answers.facility.energy.profiles import profiles_of
from dcplan.answers.facility.energy.tables import hours_table, sources_table
from dcplan.answers.facility.energy.year import Year, year_of
from dcplan.answers.facility.request import amounts_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import OnsitePower
from dcplan.energy.dispatch import Battery, Dispatch, Source, dispatch
from dcplan.energy.plants import outage_risk
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.cooling import Performance
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.facility import energy as specs
from dcplan.units import KW_PER_MW

BATTERY = "battery"


@dataclass(frozen=True)
class Supply:
    """Everything that supplies the hall."""

    grid: Source | None
    utility_mw: float
    grid_carbon_known: bool
    plants: tuple[Built, ...]
    batteries: dict[str, tuple[OnsitePower, float, Battery]]
    """Row, rated power and battery by name."""

    @property
    def sources(self) -> list[Source]:
        """Grid and plants."""
        return [*([self.grid] if self.grid else []), *(b.source for b in self.plants)]


def onsite(
    resolved: ResolvedFacility, found: Performance, log: InputLog
) -> tuple[dict[str, Table], dict[str, Metric], list[str]]:
    """Dispatch the hall's load over the hours of a year from grid and on-site sources.

    The load is IT power times the PUE of the hour; minimum loads of engines are ignored. The
    default utility power is the design day's peak.

    Raises
    ------
    InputError
        When a source is unknown, an amount is out of range, or the grid has no known tariff.
    """
    year = year_of(resolved, found, log)
    peak = found.peak_pue * resolved.it_mw
    supply = _supply(resolved, year, peak, log)
    battery = combined({name: b for name, (_, _, b) in supply.batteries.items()})
    result = dispatch(year.load_mw, supply.sources, battery, hours=year.weights)
    rows = sources_table(
        supply.sources,
        supply.plants,
        supply.batteries,
        result,
        year,
        log,
        grid_known=supply.grid_carbon_known,
    )
    tables = {
        "onsite": specs.ONSITE.table(rows),
        "onsite_hours": hours_table(result, supply.plants, year),
    }
    metrics = _metrics(supply, result, year, peak) | _fuel(rows)
    return tables, metrics, _notes(supply, result, year, peak)


def _supply(resolved: ResolvedFacility, year: Year, peak: float, log: InputLog) -> Supply:
    request = resolved.request
    chosen = amounts_of(request.onsite)
    rows = {name: named(log.catalog, "onsite", name, OnsitePower, "--onsite") for name in chosen}
    utility = peak if request.utility_mw is None else request.utility_mw
    grid, known = _grid(resolved, utility, year, log) if utility > 0 else (None, True)
    profiles = profiles_of(request.profile, rows)
    plants, batteries = [], {}
    for name, mw in chosen.items():
        if rows[name].kind == BATTERY:
            batteries[name] = (rows[name], mw, stored(rows[name], mw, log))
        elif name in profiles:
            plants.append(by_weather(rows[name], mw, profiles[name], log))
        else:
            plants.append(built(rows[name], mw, year, resolved, log))
    return Supply(grid, utility, known, tuple(plants), batteries)


def _grid(
    resolved: ResolvedFacility, utility_mw: float, year: Year, log: InputLog
) -> tuple[Source, bool]:
    """Return the grid outside its cuts, and whether its carbon is known."""
    where = resolved.where
    price = where.site.usd_per_kwh if where.site else None
    if price is None:
        cause = "the grid tariff is known only for catalog sites: use --site or set --utility-mw 0"
        raise InputError([Problem("DC062", cause, Place("--utility-mw"), help="--site")])
    carbon = where.site.grid_g_per_kwh if where.site else None
    usd = log.take(f"sites.{where.name}.usd_per_kwh", price) * KW_PER_MW
    mw = np.where(year.cut, 0.0, utility_mw)
    return Source("grid", mw, usd, carbon.value if carbon else 0.0), carbon is not None


def _metrics(supply: Supply, result: Dispatch, year: Year, peak: float) -> dict[str, Metric]:
    rows = [b.row for b in supply.plants] + [row for row, _, _ in supply.batteries.values()]
    firm = sum(b.design_mw for b in supply.plants)
    chance, short = _risk(supply, year)
    curtailed = {
        b.row.id: b.curtailed_mw(result.flows.by_source[b.row.id])
        for b in supply.plants
        if b.by_weather
    }
    lost = sum(float(mw @ year.weights) for mw in curtailed.values() if mw is not None)
    carbon = result.t_co2 if supply.grid_carbon_known else None
    load = float(year.load_mw @ year.weights)
    served = load - result.short_mwh
    burnt = sum(mwh for name, mwh in result.mwh.items() if name not in curtailed)
    return {
        **specs.ONSITE_USD(result.usd),
        **specs.ONSITE_CARBON(carbon),
        **specs.ONSITE_UNSERVED(result.short_mwh),
        **specs.ONSITE_SERVED(served / load),
        **specs.ONSITE_RENEWABLE(max(1.0 - burnt / served, 0.0) if served > 0 else None),
        **specs.ONSITE_CURTAILED(lost),
        **specs.ONSITE_SHORT_HOURS(float(chance @ year.weights)),
        **specs.ONSITE_SHORT_MWH(float(short @ year.weights)),
        **specs.ONSITE_PEAK_LOAD(float(year.load_mw.max())),
        **specs.ONSITE_MARGIN(supply.utility_mw + firm - peak),
        **specs.TIME_TO_POWER(max((row.lead_quarters for row in rows), default=0)),
    }


def _risk(supply: Supply, year: Year) -> tuple[np.ndarray, np.ndarray]:
    """Return chance and mean power of a shortage by hour, over forced outages of units."""
    firm = np.zeros(year.load_mw.size)
    for source in [*([supply.grid] if supply.grid else [])]:
        firm = firm + source.mw
    for each in supply.plants:
        if each.plant is None:
            firm = firm + each.source.mw
    return outage_risk(year.load_mw, firm, [b.plant for b in supply.plants if b.plant])


def _fuel(rows: list[specs.OnsiteRow]) -> dict[str, Metric]:
    return {**specs.ONSITE_FUEL(sum(row.fuel_gj or 0.0 for row in rows))}


def _notes(supply: Supply, result: Dispatch, year: Year, peak: float) -> list[str]:
    """Say what is short, and what the catalog does not know."""
    notes = []
    if result.short_mwh > 1e-6:
        hours = int((result.flows.short_mw > 1e-6).sum())
        notes.append(
            f"{result.short_mwh:,.0f} MWh per year unserved in {hours} hours: add MW or battery hours"
        )
    margin = supply.utility_mw + sum(b.design_mw for b in supply.plants) - peak
    if margin < -1e-9:
        notes.append(
            f"the peak of {peak:.1f} MW on the design day exceeds all sources by {-margin:.1f} MW"
        )
    if year.cut.any() and supply.batteries:
        notes.append(
            "the batteries are full before each cut of the grid only where the sources have "
            "energy for it in the hours between; the dispatch knows the cuts in advance"
        )
    return [*notes, *(note for each in supply.plants for note in each.notes)]
