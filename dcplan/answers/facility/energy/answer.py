"""On-site power of a hall: dispatch by hour, cost, risk of outages, and time to power."""

from __future__ import annotations

import numpy as np

from dcplan.answers.facility.energy.plants import combined
from dcplan.answers.facility.energy.sizing import BLOCK_H, TOLERANCE, Sized, sized
from dcplan.answers.facility.energy.supply import Supply, asked_of, supply_of
from dcplan.answers.facility.energy.tables import hours_table, sources_table
from dcplan.answers.facility.energy.year import Year, year_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.energy.dispatch import Dispatch, dispatch
from dcplan.energy.plants import outage_risk
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.facility import energy as specs


def onsite(
    resolved: ResolvedFacility, found: Performance, log: InputLog
) -> tuple[dict[str, Table], dict[str, Metric], list[str]]:
    """Dispatch the hall's load over the hours of a year from grid and on-site sources.

    The load is that of ``--load-hours``, else IT power times the PUE of the hour; minimum loads of
    engines are ignored. The default utility power is the peak of the file, else of the design day.

    Raises
    ------
    InputError
        When a source is unknown, an amount is out of range, or the grid has no known tariff.
    """
    year = year_of(resolved, found, log)
    own = resolved.request.load_hours is not None
    peak = float(year.load_mw.max()) if own else found.peak_pue * resolved.it_mw
    asked = asked_of(resolved, year, peak, log)
    chosen = sized(asked, resolved, year, log) if resolved.request.size_onsite else None
    if chosen is not None:
        supply, result = chosen.supply, chosen.result
    else:
        supply = supply_of(asked, asked.mw, resolved, year, log)
        battery = combined({name: b for name, (_, _, b) in supply.batteries.items()})
        result = dispatch(year.load_mw, supply.sources, battery, hours=year.weights)
    rows = sources_table(supply, result, year, log, chosen.rating_mw if chosen else {})
    tables = {
        "onsite": specs.ONSITE.table(rows),
        "onsite_hours": hours_table(result, supply.plants, year),
    }
    metrics = _metrics(supply, result, year, peak) | _sums(rows)
    return tables, metrics, [*_notes(supply, result, year, (peak, own)), *_chosen(chosen, resolved)]


def _metrics(supply: Supply, result: Dispatch, year: Year, peak: float) -> dict[str, Metric]:
    rows = [b.row for b in supply.plants] + [row for row, _, _ in supply.batteries.values()]
    risk = _risk(supply, year)
    curtailed = {
        b.row.id: b.curtailed_mw(result.flows.by_source[b.row.id])
        for b in supply.plants
        if b.by_weather
    }
    lost = sum(float(mw @ year.weights) for mw in curtailed.values() if mw is not None)
    carbon = result.t_co2 if supply.asked.grid_carbon_known else None
    load = float(year.load_mw @ year.weights)
    served = load - result.short_mwh
    burnt = sum(mwh for name, mwh in result.mwh.items() if name not in curtailed)
    return {
        **specs.ONSITE_USD(result.usd),
        **specs.ONSITE_CARBON(carbon),
        **specs.ONSITE_UNSERVED(result.short_mwh),
        **specs.ONSITE_SERVED(served / load),
        **specs.ONSITE_RENEWABLE(
            max(1.0 - burnt / served, 0.0) if curtailed and served > 0 else 0.0
        ),
        **specs.ONSITE_CURTAILED(lost),
        **specs.ONSITE_SHORT_HOURS(risk[0] if risk else None),
        **specs.ONSITE_SHORT_MWH(risk[1] if risk else None),
        **specs.ONSITE_PEAK_LOAD(float(year.load_mw.max())),
        **specs.ONSITE_MARGIN(supply.firm_mw - peak),
        **specs.TIME_TO_POWER(max((row.lead_quarters for row in rows), default=0)),
    }


def _risk(supply: Supply, year: Year) -> tuple[float, float] | None:
    """Return expected hours and MWh of shortage over forced outages; None without units."""
    plants = [b.plant for b in supply.plants if b.plant]
    if not plants:
        return None
    firm = np.zeros(year.load_mw.size)
    if supply.asked.grid is not None:
        firm = firm + supply.asked.grid.mw
    for each in supply.plants:
        if each.plant is None:
            firm = firm + each.source.mw
    chance, short = outage_risk(year.load_mw, firm, plants)
    return float(chance @ year.weights), float(short @ year.weights)


def _sums(rows: list[specs.OnsiteRow]) -> dict[str, Metric]:
    """Return fuel and annual cost of all sources; no cost where a source has none."""
    costs = [row.annual_usd for row in rows]
    known = [usd for usd in costs if usd is not None]
    return {
        **specs.ONSITE_FUEL(sum(row.fuel_gj or 0.0 for row in rows)),
        **specs.ONSITE_ANNUAL(sum(known) if len(known) == len(costs) else None),
    }


def _chosen(chosen: Sized | None, resolved: ResolvedFacility) -> list[str]:
    """Say how the sizes were chosen, and what they do not serve."""
    if chosen is None:
        return []
    none = [name for name in chosen.supply.asked.rows if name not in chosen.rating_mw]
    notes = [f"the sizing builds no {name}" for name in none]
    if chosen.margin_frac > 0:
        notes.append(
            f"the sizing served a load larger by {chosen.margin_frac * 100:.1f} %, because a step "
            f"of it averages {BLOCK_H} hours: the cost may be above the least by about this share"
        )
    if chosen.served_frac < resolved.request.served_frac - TOLERANCE:
        notes.append(
            f"the sizes serve {chosen.served_frac * 100:.3f} % by hour, less than --served-frac: "
            "raise it, or the MW in --onsite"
        )
    return notes


def _notes(supply: Supply, result: Dispatch, year: Year, peak: tuple[float, bool]) -> list[str]:
    """Say what is short, and what the catalog does not know."""
    notes = []
    if result.short_mwh > 1e-6:
        hours = int((result.flows.short_mw > 1e-6).sum())
        notes.append(
            f"{result.short_mwh:,.0f} MWh per year unserved in {hours} hours: add MW or battery hours"
        )
    risk = _risk(supply, year)
    if risk is not None and risk[1] > result.short_mwh + 0.5:
        notes.append(
            f"forced outages of units leave an expected {risk[1]:,.0f} MWh per year unserved in "
            f"{risk[0]:,.0f} hours, without batteries: more --spare-units make it less"
        )
    margin = supply.firm_mw - peak[0]
    if margin < -1e-9:
        when = "of the load by hour" if peak[1] else "on the design day"
        notes.append(f"the peak of {peak[0]:.1f} MW {when} exceeds all sources by {-margin:.1f} MW")
    if year.cut.any() and supply.batteries:
        notes.append(
            "the batteries are full before each cut of the grid only where the sources have "
            "energy for it in the hours between; the dispatch knows the cuts in advance"
        )
    return [*notes, *(note for each in supply.plants for note in each.notes)]
