"""Equipment schedules and the hourly series of a hall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Equipment
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, TableSpec

ALL = "all"
"""Load class of the supply: every class is behind it."""
Tag = Annotated[str, Column("Tag of the equipment in the schedule")]
Count = Annotated[
    int | None, Column("Units installed, spare units included; empty where it is not sized")
]
Redundancy = Annotated[str | None, Column("Redundancy rule of the units")]
LoadFrac = Annotated[
    float | None,
    Column("Load on the design day over the rating of all installed units, which share it"),
]
NotSized = Annotated[
    str | None, Column("Why the equipment, or a part of its rating, is not sized; else empty")
]


@dataclass(frozen=True)
class ElectricalRow:
    """One line of the electrical schedule."""

    tag: Tag
    equipment: Equipment
    load_class: Annotated[
        str,
        Column(
            "Load class: compute, network and storage, cooling and lighting, or all behind the supply",
            name="class",
        ),
    ]
    load_kw: Annotated[
        float | None,
        Column(
            "Load of the class on the design day that these units supply; each class has transformers "
            "of its own"
        ),
    ]
    count: Count
    rating_kva: Annotated[float | None, Column("Rated apparent power of one unit")] = None
    rating_kw: Annotated[float | None, Column("Rated power of one unit")] = None
    rating_amps: Annotated[float | None, Column("Rated current of one unit")] = None
    supply_volts: Annotated[
        float | None,
        Column("Voltage between lines on the supply side of a transformer, or of the utility"),
    ] = None
    line_volts: Annotated[float | None, Column("Voltage between lines on the load side")] = None
    short_circuit_ka: Annotated[
        float | None,
        Column(
            "Rated short-circuit current: behind one transformer of the least impedance of IEC 60076-5, "
            "with a grid without impedance; motors and generators add nothing"
        ),
    ] = None
    redundancy: Redundancy = None
    load_frac: LoadFrac = None
    not_sized: NotSized = None


@dataclass(frozen=True)
class MechanicalRow:
    """One line of the mechanical schedule."""

    tag: Tag
    equipment: Equipment
    count: Count
    rating_kw: Annotated[float | None, Column("Heat that one unit moves at its rating")] = None
    flow_m3_per_h: Annotated[float | None, Column("Flow of one unit")] = None
    head_bar: Annotated[float | None, Column("Pressure difference at that flow")] = None
    shaft_kw: Annotated[
        float | None,
        Column("Electric power of all units together at the design IT power, from the PUE model"),
    ] = None
    motor_kw: Annotated[
        float | None,
        Column("Rated output of the motor of one pump, from the series of IEC 60072-1"),
    ] = None
    redundancy: Redundancy = None
    load_frac: LoadFrac = None
    not_sized: NotSized = None


@dataclass(frozen=True)
class RoomRow:
    """Area of one kind of equipment in one room."""

    room: Annotated[
        str, Column("Room: white space, electrical rooms, mechanical rooms, or outdoors")
    ]
    tag: Annotated[
        str | None, Column("Tag of the equipment in its schedule; empty for rows of racks")
    ]
    equipment: Equipment
    count: Annotated[int, Column("Units installed, spare units included")]
    footprint_m2: Annotated[float | None, Column("Footprint of one unit")]
    area_m2: Annotated[float, Column("Area with the space between units")]
    low_m2: Annotated[float | None, Column("Area at the low bounds of footprint and space")]
    high_m2: Annotated[float | None, Column("Area at the high bounds of footprint and space")]


@dataclass(frozen=True)
class HourRow:
    """One hour of a weather file, or all hours of one pair of temperatures in a quarter."""

    hour: Annotated[
        int | None, Column("Hour of the year, from 1; empty where weather is known as bins only")
    ]
    quarter: Annotated[int, Column("Quarter of the year, 1 to 4")]
    duration_h: Annotated[float, Column("Hours of the year with the values of the row")]
    dry_bulb_c: Annotated[float, Column("Dry bulb outdoors")]
    wet_bulb_c: Annotated[float, Column("Wet bulb outdoors")]
    it_kw: Annotated[float, Column("IT power")]
    losses_kw: Annotated[float, Column("Losses between utility and racks, and lighting")]
    cooling_kw: Annotated[float, Column("Power of cooling: fans, pumps, chillers and towers")]
    facility_kw: Annotated[float, Column("Site power: IT, losses and cooling")]
    pue: Annotated[float, Column("Site power over IT power")]
    water_m3_per_h: Annotated[float, Column("Water used at the site")]


ELECTRICAL = TableSpec(
    "electrical_schedule",
    ElectricalRow,
    "Electrical equipment",
    section=Section.DESIGN,
    by_item=True,
)
MECHANICAL = TableSpec(
    "mechanical_schedule",
    MechanicalRow,
    "Mechanical equipment",
    section=Section.DESIGN,
    by_item=True,
)
ROOMS = TableSpec("rooms", RoomRow, "Areas by room", section=Section.DESIGN)
ELECTRICAL_AREA = MetricSpec(
    "floor.electrical_m2", "m2", "Electrical rooms: transformers, switchgear and UPS"
)
MECHANICAL_AREA = MetricSpec(
    "floor.mechanical_m2", "m2", "Mechanical rooms: chillers, pumps, exchangers and air handlers"
)
OUTDOOR_AREA = MetricSpec(
    "floor.outdoor_m2", "m2", "Outdoor area: generators, towers and dry coolers"
)
HOURS = TableSpec("hours", HourRow, "Hours of a year", section=Section.DESIGN)
"""Written by ``--hours`` alone."""
