"""Tables of the power sources over a year and by hour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dcplan.answers.facility.energy.plants import Built, annual_usd
from dcplan.answers.facility.energy.supply import Supply
from dcplan.answers.facility.energy.year import Year
from dcplan.catalog.schema import OnsitePower
from dcplan.energy.dispatch import Dispatch, Source, starts
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.plants import taken
from dcplan.result import Table
from dcplan.specs.facility import energy as specs
from dcplan.units import HOURS_PER_YEAR, KG_PER_TONNE, KW_PER_MW


def sources_table(
    supply: Supply, result: Dispatch, year: Year, log: InputLog, rating_mw: Mapping[str, float]
) -> list[specs.OnsiteRow]:
    """Return one row per source; ``rating_mw`` has the ratings that a sizing chose."""
    by_name = {b.row.id: b for b in supply.plants}
    rows = [
        _plant_row(by_name[s.name], result, year, log, rating_mw.get(s.name))
        if s.name in by_name
        else _grid_row(s, result, carbon_known=supply.asked.grid_carbon_known)
        for s in supply.sources
    ]
    whole = sum(b.mwh for _, _, b in supply.batteries.values())
    discharged = float(result.flows.discharged_mw @ year.weights)
    for row, mw, battery in supply.batteries.values():
        mwh = discharged * battery.mwh / whole
        rows.append(_battery_row(row, mw, mwh, log, rating_mw.get(row.id)))
    return rows


def _plant_row(
    each: Built, result: Dispatch, year: Year, log: InputLog, chosen_mw: float | None
) -> specs.OnsiteRow:
    row, mwh = each.row, result.mwh[each.row.id]
    capex, fixed = (
        taken(row, key, log) * each.mw * KW_PER_MW
        for key in ("capex_usd_per_kw", "fixed_usd_per_kw_year")
    )
    plant = each.plant
    lost = each.curtailed_mw(result.flows.by_source[row.id])
    yearly, energy = annual_usd(row, each.mw, log), mwh * each.source.usd_per_mwh
    heat = taken(row, "heat_rate_gj_per_mwh", log) if row.heat_rate_gj_per_mwh else None
    return specs.OnsiteRow(
        source=row.id,
        mw=each.mw,
        units=plant.units if plant else None,
        spare_units=plant.units - plant.needed if plant else None,
        design_mw=each.design_mw,
        mwh=mwh,
        load_frac=mwh / (each.mw * HOURS_PER_YEAR),
        curtailed_mwh=float(lost @ year.weights) if lost is not None else None,
        usd_per_mwh=each.source.usd_per_mwh,
        energy_usd=energy,
        capex_usd=capex,
        fixed_usd_per_year=fixed,
        annual_usd=yearly + energy if yearly is not None else None,
        fuel_gj=mwh * heat if heat is not None else None,
        carbon_t=mwh * each.source.kg_co2_per_mwh / KG_PER_TONNE,
        chosen_mw=chosen_mw,
        starts=starts(result.flows.by_source[row.id], plant.unit_mw) if plant else None,
        planned_out_h_per_year=_value(row, "planned_outage_h_per_year"),
        forced_out_frac=_value(row, "forced_outage_frac"),
        lead_quarters=row.lead_quarters,
    )


def _value(row: OnsitePower, key: str) -> float | None:
    quantity = getattr(row, key)
    return quantity.value if quantity is not None else None


def _grid_row(source: Source, result: Dispatch, *, carbon_known: bool) -> specs.OnsiteRow:
    mw, mwh = float(np.max(source.mw)), result.mwh[source.name]
    return specs.OnsiteRow(
        source=source.name,
        mw=mw,
        units=None,
        spare_units=None,
        design_mw=mw,
        mwh=mwh,
        load_frac=mwh / (mw * HOURS_PER_YEAR) if mw else None,
        curtailed_mwh=None,
        usd_per_mwh=source.usd_per_mwh,
        energy_usd=mwh * source.usd_per_mwh,
        capex_usd=None,
        fixed_usd_per_year=None,
        annual_usd=mwh * source.usd_per_mwh,
        fuel_gj=None,
        carbon_t=mwh * source.kg_co2_per_mwh / KG_PER_TONNE if carbon_known else None,
        chosen_mw=None,
        starts=None,
        planned_out_h_per_year=None,
        forced_out_frac=None,
        lead_quarters=None,
    )


def _battery_row(
    row: OnsitePower, mw: float, mwh: float, log: InputLog, chosen_mw: float | None
) -> specs.OnsiteRow:
    """Return the row of a battery, whose energy is its share of all batteries' discharge."""
    capex, fixed = (
        taken(row, key, log) * mw * KW_PER_MW
        for key in ("capex_usd_per_kw", "fixed_usd_per_kw_year")
    )
    return specs.OnsiteRow(
        source=row.id,
        mw=mw,
        units=None,
        spare_units=None,
        design_mw=None,
        mwh=mwh,
        load_frac=mwh / (mw * HOURS_PER_YEAR),
        curtailed_mwh=None,
        usd_per_mwh=None,
        energy_usd=None,
        capex_usd=capex,
        fixed_usd_per_year=fixed,
        annual_usd=annual_usd(row, mw, log),
        fuel_gj=None,
        carbon_t=None,
        chosen_mw=chosen_mw,
        starts=None,
        planned_out_h_per_year=None,
        forced_out_frac=_value(row, "forced_outage_frac"),
        lead_quarters=row.lead_quarters,
    )


def hours_table(result: Dispatch, plants: Sequence[Built], year: Year) -> Table:
    """Return the power of every hour, one column for each source."""
    flows = result.flows
    dry = [None] * year.load_mw.size if year.dry_c is None else year.dry_c.tolist()
    lost = [each.curtailed_mw(flows.by_source[each.row.id]) for each in plants]
    curtailed = sum((mw for mw in lost if mw is not None), np.zeros(year.load_mw.size))
    own = zip(
        dry,
        year.load_mw.tolist(),
        year.cut.tolist(),
        flows.charged_mw.tolist(),
        flows.discharged_mw.tolist(),
        flows.stored_mwh.tolist(),
        curtailed.tolist(),
        flows.short_mw.tolist(),
        strict=True,
    )
    names = [f"{name}_mw" for name in flows.by_source]
    powers = np.array(list(flows.by_source.values())).reshape(len(names), -1).T.tolist()
    powers = powers or [[]] * year.load_mw.size
    rows = (
        (specs.OnsiteHourRow(hour, *cells), dict(zip(names, mws, strict=True)))
        for hour, (cells, mws) in enumerate(zip(own, powers, strict=True), start=1)
    )
    return specs.ONSITE_HOURS.wide_table(rows, names)
