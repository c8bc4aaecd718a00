"""Metrics and tables of a hall's power chain, racks, plant and training run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Equipment
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

FLOOR_RACKS = MetricSpec("floor.racks", "", "Rack positions of the hall", main=True)
FLOOR_ROWS = MetricSpec("floor.rows", "", "Rows of racks")
FLOOR_AREA = MetricSpec("floor.area_m2", "m2", "White space: rows, aisles and perimeter")
FLOOR_DENSITY = MetricSpec("floor.kw_per_m2", "kW/m2", "Design IT power per white space")
FLOOR_ACCELERATORS = MetricSpec("floor.accelerators", "", "Accelerators in the hall", main=True)
SWING_AMPLITUDE = MetricSpec("swing.amplitude_mw", "MW", "Power swing at every training step")
SWING_FREQUENCY = MetricSpec("swing.frequency_hz", "Hz", "Steps per second")
SWING_RAMP = MetricSpec("swing.ramp_mw_per_s", "MW/s", "Ramp rate of the power swing")
SWING_LOW_POWER = MetricSpec(
    "swing.low_power_frac", "", "Share of the step in which all accelerators wait or exchange data"
)
RUN_DAYS = MetricSpec(
    "train.days_p50", "days", "Median duration of the run", main=True, label="Median duration"
)
RUN_ENERGY = MetricSpec("train.energy_mwh", "MWh", "Site energy of the run", main=True)
RUN_WATER = MetricSpec("train.water_m3", "m3", "Site water of the run")
RUN_CARBON = MetricSpec(
    "train.carbon_operational_t", "t", "Operational CO2 of the run's energy on the site's grid"
)
RUN_EMBODIED = MetricSpec(
    "train.carbon_embodied_t",
    "t",
    "Run's share of the systems' embodied carbon, by time over their life",
)


@dataclass(frozen=True)
class PowerBlockRow:
    """Power blocks of one load class."""

    load_class: Annotated[
        str,
        Column("Load class: compute, network and storage, or cooling and lighting", name="class"),
    ]
    load_mw: Annotated[
        float, Column("Load of the class on the design day, without losses before it")
    ]
    redundancy: Annotated[str, Column("Redundancy rule of its power blocks")]
    blocks: Annotated[int, Column("Power blocks for the load under the redundancy rule")]
    installed_mw: Annotated[float, Column("Rating of all these blocks")]
    block_load_frac: Annotated[
        float | None, Column("Load over the installed rating, shared by all blocks")
    ]
    ups_frac: Annotated[
        float | None,
        Column(
            "Efficiency of the UPS at this load: power out over power in; empty where no UPS is "
            "counted"
        ),
    ]
    transformer_frac: Annotated[float | None, Column("Efficiency of the transformer at this load")]
    busway_frac: Annotated[
        float | None, Column("Efficiency of busway and cables behind the UPS at this load")
    ]
    chain_frac: Annotated[
        float | None, Column("Power at the racks over power from the utility, at this load")
    ]


@dataclass(frozen=True)
class EfficiencyRow:
    """The power chain at one load."""

    load_frac: Annotated[float, Column("Load of every stage over its rating")]
    transformer_frac: Annotated[float, Column("Efficiency of the transformer at this load")]
    ups_frac: Annotated[
        float | None, Column("Efficiency of the UPS at this load; empty without one")
    ]
    busway_frac: Annotated[float, Column("Efficiency of the busway at this load")]
    power_shelf_frac: Annotated[float, Column("Efficiency of the rack's power shelf at this load")]
    ac_chain_frac: Annotated[float, Column("Efficiency of the whole AC chain, utility to chip")]
    dc_800_chain_frac: Annotated[
        float, Column("Efficiency of the whole chain with 800 V DC in the hall")
    ]


@dataclass(frozen=True)
class RackRow:
    """Racks of one kind."""

    kind: Annotated[
        str,
        Column("Kind of rack: compute, tank, network and storage, or coolant distribution (cdu)"),
    ]
    racks: Annotated[int, Column("Racks, or tanks, of the kind in the hall")]
    system: Annotated[str | None, Column("Catalog id of the system")] = None
    nodes_per_rack: Annotated[
        int | None, Column("Systems in one rack; 1 if a system fills one rack or more")
    ] = None
    rack_kw: Annotated[float | None, Column("Rated IT power of one rack")] = None
    node_units: Annotated[float | None, Column("Height of one node in rack units (U)")] = None
    node_limit: Annotated[str | None, Column("Limit that sets the number of nodes in a rack")] = (
        None
    )


@dataclass(frozen=True)
class FloorRow:
    """One row of racks."""

    row: Annotated[int, Column("Number of the row of racks")]
    racks: Annotated[int, Column("Occupied rack positions of the row")]
    line_up: Annotated[str, Column("Kinds of racks along the row, from one end to the other")]


@dataclass(frozen=True)
class PlantRow:
    """One kind of plant on the design day."""

    equipment: Equipment
    design_heat_mw: Annotated[float, Column("Heat moved or rejected on the design day")]
    unit_mw: Annotated[float, Column("Heat of one of the equal units")]
    units_with_spare: Annotated[int, Column("Units for that heat, including one spare")]
    basis: Annotated[str, Column("Basis of the heat: model or estimate")]


@dataclass(frozen=True)
class OversubscriptionRow:
    """Power of the hall's racks against its limit for one number of jobs."""

    jobs: Annotated[int, Column("Jobs of equal size that start and stop independently")]
    over_frac: Annotated[
        float, Column("Share of the time in which the racks exceed the hall's IT power")
    ]
    over_h_per_year: Annotated[float, Column("Hours per year in which they do")]
    mean_over_mw: Annotated[float, Column("Mean excess over the hall's IT power in these hours")]
    worst_over_mw: Annotated[float, Column("Excess when all jobs run at once")]


@dataclass(frozen=True)
class SwingRow:
    """One option to smooth the load swings."""

    remedy: Annotated[str, Column("Measure that smooths the load")]
    store_mw: Annotated[
        float | None, Column("Power of the energy storage that absorbs the swing")
    ] = None
    store_kwh: Annotated[float | None, Column("Capacity of this energy storage")] = None
    floor_mw: Annotated[float | None, Column("Lowest load allowed (power floor)")] = None
    extra_mean_mw: Annotated[float | None, Column("Mean power added by the floor")] = None
    energy_usd_per_year: Annotated[
        float | None, Column("Annual cost of the energy added by the floor, at the site's tariff")
    ] = None


@dataclass(frozen=True)
class LeadTimeRow:
    """Lead time of one kind of equipment, for the required date of energization."""

    equipment: Equipment
    weeks: Annotated[float, Column("Usual lead time, from order to delivery")]
    low_weeks: Annotated[float, Column("Lead time at its low bound")]
    high_weeks: Annotated[float, Column("Lead time at its high bound")]
    order_by: Annotated[str, Column("Last day to order at the usual lead time")]
    order_by_if_slow: Annotated[str, Column("Last day to order at the high bound of the lead time")]


POWER_BLOCKS = TableSpec("power_blocks", PowerBlockRow, "Power blocks")
POWER_CHAIN = TableSpec(
    "power_chain",
    EfficiencyRow,
    "Efficiency of the power chain, utility to chip",
    shown=Shown.VERBOSE,
)
RACKS = TableSpec("racks", RackRow, "Racks of the hall", section=Section.ORDERS, by_item=True)
FLOOR = TableSpec("floor", FloorRow, "Rows of racks", shown=Shown.VERBOSE)
PLANT = TableSpec("plant", PlantRow, "Plant on the design day")
OVERSUBSCRIPTION = TableSpec(
    "oversubscription",
    OversubscriptionRow,
    "Racks above the hall's power limit, by number of equal jobs",
)


@dataclass(frozen=True)
class SwingEventRow:
    """Fall of the load at one kind of event."""

    event: Annotated[str, Column("Event at which the load falls")]
    fall_mw: Annotated[float, Column("Fall of the load")]
    lasts_s: Annotated[
        float | None, Column("Time until the load returns; empty where it does not return")
    ]
    store_mw: Annotated[float, Column("Power of the energy storage that absorbs the swing")]
    store_kwh: Annotated[
        float | None,
        Column(
            "Storage that keeps the ramp limit at this event; empty where a flat load is impossible"
        ),
    ]


SWING_EVENTS = TableSpec(
    "swing_events", SwingEventRow, "Energy storage by event", shown=Shown.VERBOSE, by_item=True
)
SWINGS = TableSpec(
    "load_swings", SwingRow, "Options to smooth the load swings", shown=Shown.VERBOSE, by_item=True
)
LEAD_TIMES = TableSpec("lead_times", LeadTimeRow, "Long-lead equipment", section=Section.RISK)
