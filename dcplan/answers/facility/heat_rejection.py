"""Central plant on the design day, the water permit, lead times, and a run's footprint."""

from __future__ import annotations

from datetime import date, timedelta

from dcplan.answers.common.long_lead import CONNECTION_LEAD, HALL_LEAD, lead_time
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.electrical.ratings import equal_units
from dcplan.facility.pue import sizes
from dcplan.inputs.cooling.losses import hall_losses_frac, lighting_range
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.embodied import system_footprint
from dcplan.result import Metric, Table
from dcplan.specs.facility import cooling
from dcplan.specs.facility import hall as specs
from dcplan.units import DAYS_PER_YEAR, KG_PER_TONNE

UNIT_KEYS = {
    "chiller": "chiller-unit-mw",
    "tower": "tower-cell-mw",
    "dry-cooler": "dry-cooler-unit-mw",
    "exchanger": "exchanger-unit-mw",
}
"""Largest heat of one unit of the plant, by equipment."""


def plant_table(
    option: CoolingOption, found: Performance, resolved: ResolvedFacility, log: InputLog
) -> Table:
    """Return chillers, towers and dry coolers for the design day, with one spare unit each.

    For options from the table, economizers do not help on that day: chillers move the hall's heat
    (IT power, losses before the racks, room fans), and towers the heat of all site power.
    """
    rows: list[specs.PlantRow] = []
    for name in option.plant:
        mw = plant_heat_mw(name, option, found, resolved, log)
        count, each = plant_units(name, mw, log)
        basis = "model" if found.modeled else "estimate"
        rows.append(specs.PlantRow(name, mw, each, count, basis))
    return specs.PLANT.table(rows)


def plant_units(equipment: str, heat_mw: float, log: InputLog) -> tuple[int, float]:
    """Return the equal units for a heat with one spare unit, and the rating of one [MW]; none without heat.

    None is above the largest unit of its class, so a small hall has small units.
    """
    largest = log.parameter("facility", UNIT_KEYS[equipment])
    if heat_mw <= 0.0:
        return 0, largest
    running, each = equal_units(heat_mw, largest)
    return running + 1, each


def plant_heat_mw(
    equipment: str,
    option: CoolingOption,
    found: Performance,
    resolved: ResolvedFacility,
    log: InputLog,
) -> float:
    """Return the heat that chillers move, or that towers or dry coolers reject, on the design day."""
    if equipment == "chiller":
        chilled = found.peak_chilled
        return resolved.it_mw * (_hall_heat(option, resolved, log) if chilled is None else chilled)
    rejected = found.peak_rejected
    hall = found.peak_pue - found.peak_main_frac  # main transformers stand outdoors
    return resolved.it_mw * (hall if rejected is None else rejected)


def _hall_heat(option: CoolingOption, resolved: ResolvedFacility, log: InputLog) -> float:
    """Return the heat of a hall over its IT power, including losses before racks and room fans."""
    by_size = sizes(resolved.it_mw)
    losses = hall_losses_frac(resolved.counted_branches(log), by_size, log)
    lighting = lighting_range(resolved.lighting(option, log), by_size, log)[1]
    fans = log.take(f"cooling.{option.id}.fan_frac", option.fan_frac) if option.fan_frac else 0.0
    return 1.0 + losses + lighting + fans


def lead_table(energization_date: str, log: InputLog) -> Table:
    """Return lead times, and the last days to order for the date of energization.

    Raises
    ------
    InputError
        When the text is not a date.
    """
    day = _day(energization_date)
    rows: list[specs.LeadTimeRow] = []
    for name in CONNECTION_LEAD + HALL_LEAD:
        lead = lead_time(name, log)
        by, safe = (str(day - timedelta(weeks=w)) for w in (lead.weeks, lead.high_weeks))
        row = specs.LeadTimeRow(name, lead.weeks, lead.low_weeks, lead.high_weeks, by, safe)
        rows.append(row)
    return specs.LEAD_TIMES.table(rows)


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
        _ = day - timedelta(weeks=1000)
    except (ValueError, OverflowError):
        problem = Problem(
            "DC062", f"{text!r} is not a date such as 2028-01-01", Place("--energization-date")
        )
        raise InputError([problem]) from None
    return day


def permit(
    resolved: ResolvedFacility, cap_m3: float, day: Metric | None
) -> tuple[dict[str, Metric], str]:
    """Return the IT power under a water permit on the design day, with a sentence on it."""
    if day is None or day.value is None:
        msg = (
            "the water use on the design day is unknown for options from the table, so the "
            "permit is not checked"
        )
        return cooling.PERMIT_IT(None), msg
    per_day_m3 = float(day.value)
    most = resolved.it_mw * cap_m3 / per_day_m3 if per_day_m3 > 0.0 else None
    water = f"{per_day_m3:,.0f} m3 of water on the design day"
    if most is None or most >= resolved.it_mw:
        words = f"{water} is within the permit of {cap_m3:,.0f} m3"
    else:
        words = f"{water} exceeds the permit of {cap_m3:,.0f} m3, which allows {most:.1f} MW of IT"
    return cooling.PERMIT_IT(most), words


def run_metrics(
    found: Performance,
    resolved: ResolvedFacility,
    days: float,
    energy_it_mwh: float,
    accelerators: int,
    log: InputLog,
) -> dict[str, Metric]:
    r"""Return energy, water and carbon of one training run in this hall.

    Energy is the energy of the run's nodes times PUE; embodied carbon, that of the row or of the
    class, is spread over the hardware's life by time, :math:`E \cdot days / life`.
    """
    mwh = energy_it_mwh * found.pue.value
    metrics = specs.RUN_DAYS(days) | specs.RUN_ENERGY(mwh)
    if found.wue_l_per_kwh:
        # L/kWh is m3/MWh
        metrics |= specs.RUN_WATER(energy_it_mwh * found.wue_l_per_kwh.value)
    site, system = resolved.where.site, resolved.system
    if site and site.grid_g_per_kwh:
        grid = log.take(f"sites.{site.id}.grid_g_per_kwh", site.grid_g_per_kwh)
        metrics |= specs.RUN_CARBON(mwh * grid / KG_PER_TONNE)
    footprint = system_footprint(system, log) if system else None
    if system and footprint:
        share = days / (log.parameter("finance", "hardware-life-years") * DAYS_PER_YEAR)
        own = footprint.times(accelerators / system.accelerators * share / KG_PER_TONNE)
        metrics |= specs.RUN_EMBODIED(own.kg, low=own.low_kg, high=own.high_kg)
    return metrics
