"""On-site power of a hall: dispatch by hour, cost, and time to power."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.facility.request import amounts_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import OnsitePower
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.dispatch import Array, Battery, Source, dispatch
from dcplan.inputs.cooling import Performance
from dcplan.inputs.energy import running_usd_per_mwh
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.facility import hall as specs
from dcplan.units import (
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    KG_PER_TONNE,
    KW_PER_MW,
    QUARTERS_PER_YEAR,
    TYPICAL_YEAR_HOURS,
)

WINDOW_HOURS = 4
"""Length of one interruption."""


def onsite(
    resolved: ResolvedFacility, found: Performance, log: InputLog
) -> tuple[Table, dict[str, Metric]]:
    """Dispatch the hall's load over a year of grid and on-site sources.

    The load is IT power times the quarter's PUE; minimum loads of engines are ignored. The default
    utility power is the design day's peak. Grid interruptions are windows of four hours on the
    first days of the third quarter, the tightest season of most grids.

    Raises
    ------
    InputError
        When a source is unknown, an amount is out of range, or the grid has no known tariff.
    """
    chosen = amounts_of(resolved.request.onsite)
    grid_outage_h = resolved.request.grid_outage_h
    rows = {name: named(log.catalog, "onsite", name, OnsitePower, "--onsite") for name in chosen}
    peak = found.peak_pue * resolved.it_mw
    utility_mw = peak if resolved.request.utility_mw is None else resolved.request.utility_mw
    load, outage = _load(resolved, found), _outages(grid_outage_h)
    grid_price = resolved.where.site.usd_per_kwh if resolved.where.site else None
    sources, batteries, grid_known = [], [], True
    if utility_mw > 0:
        if grid_price is None:
            cause = (
                "the grid tariff is known only for catalog sites: use --site or set --utility-mw 0"
            )
            raise InputError([Problem("DC062", cause, Place("--utility-mw"), help="--site")])
        carbon = resolved.where.site.grid_g_per_kwh if resolved.where.site else None
        grid_known = carbon is not None
        price = log.take(f"sites.{resolved.where.name}.usd_per_kwh", grid_price) * KW_PER_MW
        grid = np.where(outage, 0.0, utility_mw)
        sources.append(Source("grid", grid, price, carbon.value if carbon else 0.0))
    for name, mw in chosen.items():
        row = rows[name]
        if row.kind == "battery":
            hours, trip = (_taken(row, key, log) for key in ("hours", "round_trip_frac"))
            batteries.append(Battery(mw, mw * hours, trip))
        else:
            sources.append(
                Source(name, mw, running_usd_per_mwh(row, log), _taken(row, "g_co2_per_kwh", log))
            )
    both = _combined(batteries)
    result = dispatch(load, sources, both, hours=_hours(outage))
    table = _table(sources, rows, chosen, result.mwh, log, grid_known=grid_known)
    late = max((row.lead_quarters for row in rows.values()), default=0)
    firm_mw = sum(mw for name, mw in chosen.items() if rows[name].kind != "battery")
    return table, {
        **specs.ONSITE_USD(result.usd),
        **specs.ONSITE_CARBON(result.t_co2 if grid_known else None),
        **specs.ONSITE_UNSERVED(result.short_mwh),
        **specs.ONSITE_PEAK_LOAD(float(load.max())),
        **specs.ONSITE_MARGIN(utility_mw + firm_mw - peak),
        **specs.TIME_TO_POWER(late),
    }


def _taken(row: OnsitePower, key: str, log: InputLog) -> float:
    return log.take(f"onsite.{row.id}.{key}", getattr(row, key))


def _load(resolved: ResolvedFacility, found: Performance) -> Array:
    """Return the load by hour with the quarter's PUE, or the annual PUE if unknown [MW]."""
    it_mw = resolved.it_mw * resolved.load
    pues = [pue for pue, _ in found.quarters] or [found.pue.value] * QUARTERS_PER_YEAR
    return np.repeat(np.array(pues) * it_mw, TYPICAL_YEAR_HOURS // QUARTERS_PER_YEAR)


def _outages(grid_outage_h: float) -> npt.NDArray[np.bool_]:
    """Return which hours of the typical year have no grid."""
    outage = np.zeros(TYPICAL_YEAR_HOURS, dtype=np.bool_)
    hours = math.ceil(grid_outage_h)
    third = TYPICAL_YEAR_HOURS // QUARTERS_PER_YEAR * 2
    for day, done in enumerate(range(0, hours, WINDOW_HOURS)):
        start = third + day * int(HOURS_PER_DAY)
        outage[start : start + min(WINDOW_HOURS, hours - done)] = True
    return outage


def _hours(outage: npt.NDArray[np.bool_]) -> Array:
    """Return the weight of each hour of the typical year; hours without grid count once."""
    done = int(outage.sum())
    longer = (HOURS_PER_YEAR - done) / (TYPICAL_YEAR_HOURS - done)
    return np.where(outage, 1.0, longer)


def _combined(batteries: list[Battery]) -> Battery | None:
    if not batteries:
        return None
    mwh = sum(b.mwh for b in batteries)
    trip = sum(b.mwh * b.round_trip_frac for b in batteries) / mwh
    return Battery(sum(b.mw for b in batteries), mwh, trip)


def _table(
    sources: list[Source],
    rows: Mapping[str, OnsitePower],
    chosen: Mapping[str, float],
    mwh: Mapping[str, float],
    log: InputLog,
    *,
    grid_known: bool,
) -> Table:
    """Return one row per source; ``grid_known`` states whether the grid's carbon is known."""
    cells: list[specs.OnsiteRow] = []
    prices = {s.name: s for s in sources}
    names = (["grid"] if "grid" in prices else []) + list(chosen)
    for name in names:
        row, source = rows.get(name), prices.get(name)
        mw = chosen[name] if row else float(np.max(prices[name].mw))
        energy = mwh.get(name)
        each = (
            [_taken(row, key, log) for key in ("capex_usd_per_kw", "fixed_usd_per_kw_year")]
            if row
            else None
        )
        capex, fixed = (x * mw * KW_PER_MW for x in each) if each else (None, None)
        used = energy / (mw * HOURS_PER_YEAR) if energy is not None and mw else None
        carbon = (
            source.kg_co2_per_mwh * energy / KG_PER_TONNE if source and energy is not None else None
        )
        carbon = carbon if grid_known or name != "grid" else None
        cells.append(
            specs.OnsiteRow(
                source=name,
                mw=mw,
                mwh=energy,
                load_frac=used,
                usd_per_mwh=source.usd_per_mwh if source else None,
                capex_usd=capex,
                fixed_usd_per_year=fixed,
                carbon_t=carbon,
                lead_quarters=row.lead_quarters if row else None,
            )
        )
    return specs.ONSITE.table(cells)
