"""Areas of a hall by room: white space, electrical rooms, mechanical rooms, and outdoors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dcplan.answers.facility.equipment.supply import FEEDER, MAIN_TRANSFORMER, SWITCHGEAR
from dcplan.catalog.schema import Parameter
from dcplan.facility.floor import room_m2
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.facility import equipment as specs
from dcplan.specs.facility.hall import FLOOR_AREA, FLOOR_RACKS
from dcplan.units import A_PER_KA, KVA_PER_MVA, KW_PER_MW

ELECTRICAL, MECHANICAL, OUTDOOR = "electrical rooms", "mechanical rooms", "outdoors"
PLACES = {
    "transformer": (ELECTRICAL, "floor-transformer-m2-per-mva"),
    "switchgear": (ELECTRICAL, "floor-switchgear-m2-per-ka"),
    SWITCHGEAR: (ELECTRICAL, "floor-medium-panel-m2"),
    FEEDER: (ELECTRICAL, "floor-medium-panel-m2"),
    MAIN_TRANSFORMER: (OUTDOOR, "floor-main-transformer-m2-per-mva"),
    "ups": (ELECTRICAL, "floor-ups-m2-per-mw"),
    "generator": (OUTDOOR, "floor-generator-m2-per-mw"),
    "chiller": (MECHANICAL, "floor-chiller-m2-per-mw"),
    "tower": (OUTDOOR, "floor-tower-m2-per-mw"),
    "dry-cooler": (OUTDOOR, "floor-dry-cooler-m2-per-mw"),
    "facility-pump": (MECHANICAL, "floor-pump-m2"),
    "condenser-pump": (MECHANICAL, "floor-pump-m2"),
    "exchanger": (MECHANICAL, "floor-exchanger-m2-per-mw"),
    "air-handler": (MECHANICAL, "floor-fan-wall-m2-per-mw"),
}
"""Room and footprint of a kind of equipment; distribution units are in the rows of racks."""
PANELS = {SWITCHGEAR: 2.0, FEEDER: 1.0}
"""Panels of one unit of medium-voltage switchgear: a section has one for its supply and one for a tie."""
CLEARANCE = {
    ELECTRICAL: "clearance-electrical-m",
    MECHANICAL: "clearance-mechanical-m",
    OUTDOOR: "clearance-outdoor-m",
}
AREAS = {
    ELECTRICAL: specs.ELECTRICAL_AREA,
    MECHANICAL: specs.MECHANICAL_AREA,
    OUTDOOR: specs.OUTDOOR_AREA,
}
PUMP_FLOW_M3_PER_H = 1_000.0
"""Flow to which the footprint of a pump refers."""


def rooms_tables(
    schedules: Mapping[str, Table], metrics: Mapping[str, Metric], log: InputLog
) -> tuple[dict[str, Table], dict[str, Metric]]:
    """Return the areas of the equipment of both schedules, and of the rows of racks where known."""
    rows = list(_white_space(metrics))
    for tag, name, count, size in _units(schedules):
        room, key = PLACES[name]
        each = _bounded(key, log)
        space = _bounded(CLEARANCE[room], log)
        low, area, high = (
            room_m2(count, size * footprint, between)
            for footprint, between in zip(each, space, strict=True)
        )
        rows.append(specs.RoomRow(room, tag, name, count, size * each[1], area, low, high))
    places = ("white space", *CLEARANCE)
    rows.sort(key=lambda row: places.index(row.room))
    found: dict[str, Metric] = {}
    for room, spec in AREAS.items():
        found |= spec(sum(row.area_m2 for row in rows if row.room == room))
    return {specs.ROOMS.name: specs.ROOMS.table(rows)}, found


def _white_space(metrics: Mapping[str, Metric]) -> Iterator[specs.RoomRow]:
    racks, area = metrics.get(FLOOR_RACKS.key), metrics.get(FLOOR_AREA.key)
    if racks is not None and area is not None:
        m2, count = float(area.value or 0.0), int(racks.value or 0)
        yield specs.RoomRow("white space", None, "rack positions", count, None, m2, None, None)


def _units(schedules: Mapping[str, Table]) -> Iterator[tuple[str, str, int, float]]:
    """Return tag, kind, count and size of the equipment in rooms: MVA, kA, MW, panels, or 1,000 m3/h."""
    for line in specs.ELECTRICAL.rows(schedules[specs.ELECTRICAL.name]):
        if line.count and line.equipment in PLACES:
            size = PANELS.get(line.equipment) or (
                (line.rating_kva or 0.0) / KVA_PER_MVA
                + (line.rating_amps or 0.0) / A_PER_KA
                + (line.rating_kw or 0.0) / KW_PER_MW
            )
            yield line.tag, line.equipment, line.count, size
    for each in specs.MECHANICAL.rows(schedules[specs.MECHANICAL.name]):
        if each.count and each.equipment in PLACES:
            rated, flow = each.rating_kw, each.flow_m3_per_h or 0.0
            size = flow / PUMP_FLOW_M3_PER_H if rated is None else rated / KW_PER_MW
            yield each.tag, each.equipment, each.count, size


def _bounded(key: str, log: InputLog) -> tuple[float, float, float]:
    """Return low, value and high of a parameter."""
    low, high = log.catalog.get("facility", key, Parameter).value.bounds
    return low, log.parameter("facility", key), high
