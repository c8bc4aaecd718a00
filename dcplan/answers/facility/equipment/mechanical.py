"""Mechanical schedule: chillers, towers, dry coolers, pumps, distribution units and air handlers."""

from __future__ import annotations

import numpy as np

from dcplan.answers.facility.heat_rejection import plant_heat_mw, plant_units
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption
from dcplan.facility.electrical.ratings import equal_units, next_motor_kw
from dcplan.facility.liquid import flow_l_per_min, units
from dcplan.facility.plant import pump_frac
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.result import Table
from dcplan.specs.facility.equipment import MECHANICAL, MechanicalRow
from dcplan.units import KPA_PER_BAR, KW_PER_MW, L_PER_M3, MINUTES_PER_HOUR

TAGS = {"chiller": "CH", "tower": "CT", "dry-cooler": "DC"}
SPARE = "n+1"
FROM_TABLE = "the option comes from a table of PUE, which has no flows"
ROOM_WATER = (
    "the maker's rating is for water of 20 C and return air of 36 C; other water moves less"
)


def mechanical_table(
    option: CoolingOption, found: Performance, resolved: ResolvedFacility, cdus: int, log: InputLog
) -> Table:
    """Return the mechanical schedule of a hall on its design day.

    Heat rejection is that of the plant table; loops and room air are at the design IT power.
    """
    it_kw = resolved.it_mw * KW_PER_MW
    air_kw = it_kw * resolved.air_frac(option)
    lines = [_plant(name, option, found, resolved, log) for name in option.plant]
    lines += _pumps(option, found, resolved, log)
    if option.tank:
        reason = "every tank has its own pumps and exchanger, from the maker of the tank"
        lines.append(MechanicalRow("CDU", "cdu", None, not_sized=reason))
    elif cdus:
        lines += _cdus(it_kw - air_kw, cdus, log)
    lines.append(_air_handlers(option, air_kw, log))
    return MECHANICAL.table(lines)


def _plant(
    name: str, option: CoolingOption, found: Performance, resolved: ResolvedFacility, log: InputLog
) -> MechanicalRow:
    heat_mw = plant_heat_mw(name, option, found, resolved, log)
    count, each_mw = plant_units(name, heat_mw, log)
    return MechanicalRow(
        TAGS[name],
        name,
        count,
        rating_kw=each_mw * KW_PER_MW,
        redundancy=SPARE,
        load_frac=heat_mw / (count * each_mw) if count else None,
    )


def _pumps(
    option: CoolingOption, found: Performance, resolved: ResolvedFacility, log: InputLog
) -> list[MechanicalRow]:
    """Return facility pumps; where there are towers, condenser-water pumps and exchangers."""
    if not found.modeled:
        return [MechanicalRow("P-FW", "facility-pump", None, not_sized=FROM_TABLE)]
    it_kw = resolved.it_mw * KW_PER_MW
    keys = ("facility-rise-k", "facility-head-kpa")
    lines = [_pump("P-FW", "facility-pump", it_kw, keys, log)]
    if "tower" in option.plant:
        heat_kw = plant_heat_mw("tower", option, found, resolved, log) * KW_PER_MW
        head = "tower-head-waterside-kpa" if option.model == "waterside" else "tower-head-kpa"
        lines.append(_pump("P-CW", "condenser-pump", heat_kw, ("tower-range-k", head), log))
        lines.append(_exchangers(it_kw, log))
    return lines


def _pump(
    tag: str, name: str, heat_kw: float, keys: tuple[str, str], log: InputLog
) -> MechanicalRow:
    """Return equal pumps for a heat, none above the largest flow, and one spare pump."""
    rise_k, head_kpa = (log.parameter("facility", key) for key in keys)
    water = log.parameter("facility", "water-heat-kj-per-kg-k")
    efficiency = log.parameter("facility", "pump-efficiency")
    power = pump_frac(np.array(head_kpa), np.array(efficiency), np.array(rise_k), np.array(water))
    whole = _m3_per_h(flow_l_per_min(heat_kw, rise_k, water))
    running, each = equal_units(whole, log.parameter("facility", "pump-unit-m3-per-h"))
    shaft_kw = heat_kw * float(power)
    return MechanicalRow(
        tag,
        name,
        running + 1,
        flow_m3_per_h=each,
        head_bar=head_kpa / KPA_PER_BAR,
        shaft_kw=shaft_kw,
        motor_kw=next_motor_kw(shaft_kw / running),
        redundancy=SPARE,
        load_frac=running / (running + 1),
    )


def _exchangers(it_kw: float, log: InputLog) -> MechanicalRow:
    """Return plate exchangers between tower water and facility water, for all heat of the hall."""
    count, each_mw = plant_units("exchanger", it_kw / KW_PER_MW, log)
    each_kw = each_mw * KW_PER_MW
    return MechanicalRow(
        "HX",
        "exchanger",
        count,
        rating_kw=each_kw,
        redundancy=SPARE,
        load_frac=it_kw / (count * each_kw),
    )


def _cdus(liquid_kw: float, count: int, log: InputLog) -> list[MechanicalRow]:
    """Return distribution units with their pumps of technology water.

    The load is the larger of heat and flow over the rating. A spare unit has spare pumps.
    """
    rating_kw, rated_flow, rise, each = (
        log.parameter("facility", key)
        for key in (
            "cdu-rating-kw",
            "cdu-flow-l-per-min",
            "coolant-rise-k",
            "coolant-heat-kj-per-l-k",
        )
    )
    pumps = round(log.parameter("facility", "cdu-pumps"))
    head = log.parameter("facility", "cdu-head-bar")
    shaft_kw = liquid_kw * log.parameter("facility", "cdu-pump-frac")
    flow = flow_l_per_min(liquid_kw, rise, each)
    load = max(liquid_kw / rating_kw, flow / rated_flow) / count
    unit = MechanicalRow(
        "CDU",
        "cdu",
        count,
        rating_kw=rating_kw,
        flow_m3_per_h=_m3_per_h(rated_flow),
        head_bar=head,
        redundancy=SPARE,
        load_frac=load,
    )
    pump = MechanicalRow(
        "P-TCS",
        "technology-pump",
        count * pumps,
        flow_m3_per_h=_m3_per_h(rated_flow) / pumps,
        head_bar=head,
        shaft_kw=shaft_kw,
        motor_kw=next_motor_kw(shaft_kw / (load * count * pumps)),
        redundancy=SPARE,
        load_frac=load,
    )
    return [unit, pump]


def _air_handlers(option: CoolingOption, air_kw: float, log: InputLog) -> MechanicalRow:
    tag, name = "AHU", "air-handler"
    if option.model is None:
        return MechanicalRow(tag, name, None, not_sized=FROM_TABLE)
    if air_kw <= 0.0:
        reason = "room fans move no heat: doors or tanks take it"
        return MechanicalRow(tag, name, 0, not_sized=reason)
    rating_kw = log.parameter("facility", "fan-wall-kw")
    count = units(air_kw, rating_kw)
    return MechanicalRow(
        tag,
        name,
        count,
        rating_kw=rating_kw,
        flow_m3_per_h=log.parameter("facility", "fan-wall-m3-per-h"),
        redundancy=SPARE,
        load_frac=air_kw / (count * rating_kw),
        not_sized=ROOM_WATER,
    )


def _m3_per_h(l_per_min: float) -> float:
    return l_per_min * MINUTES_PER_HOUR / L_PER_M3
