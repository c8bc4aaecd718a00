"""Metrics and tables of a hall's power chain, racks, plant, and the run that it trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Equipment
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, TableSpec

FLOOR_RACKS = MetricSpec("floor.racks", "", "Rack positions of the hall")
FLOOR_ROWS = MetricSpec("floor.rows", "", "Rows of racks")
FLOOR_AREA = MetricSpec("floor.area_m2", "m2", "White space: rows, aisles and the way round them")
FLOOR_DENSITY = MetricSpec("floor.kw_per_m2", "kW/m2", "IT power built for over it")
FLOOR_ACCELERATORS = MetricSpec("floor.accelerators", "", "Accelerators that the hall holds")
ONSITE_USD = MetricSpec(
    "onsite.energy_usd_per_year", "USD", "Fuel, variable cost and grid energy of a year"
)
ONSITE_CARBON = MetricSpec("onsite.carbon_t", "t", "Operational, of that energy")
ONSITE_SHORT = MetricSpec("onsite.unserved_mwh", "MWh", "Load that nothing serves")
ONSITE_PEAK_LOAD = MetricSpec(
    "onsite.peak_load_mw", "MW", "Highest mean load of a quarter, the dispatch's own"
)
ONSITE_MARGIN = MetricSpec(
    "onsite.peak_margin_mw",
    "MW",
    "Grid when it is there, and sources, less the design day's peak; batteries left out",
)
TIME_TO_POWER = MetricSpec(
    "onsite.time_to_power_quarters", "quarters", "Until the last source can be there"
)
SWING_AMPLITUDE = MetricSpec(
    "swing.amplitude_mw", "MW", "Power that falls and rises with every step"
)
SWING_FREQUENCY = MetricSpec("swing.frequency_hz", "Hz", "Steps a second")
SWING_RAMP = MetricSpec("swing.ramp_mw_per_s", "MW/s", "Change of power at the edges")
SWING_LOW_SHARE = MetricSpec(
    "swing.low_power_frac", "", "Share of the job's step in which all wait or exchange data"
)
RUN_DAYS = MetricSpec("train.days_p50", "days", "The run, half of all runs take longer")
RUN_ENERGY = MetricSpec("train.energy_mwh", "MWh", "Site energy of the run")
RUN_WATER = MetricSpec("train.water_m3", "m3", "Site water of the run")
RUN_CARBON = MetricSpec("train.carbon_operational_t", "t", "Of its energy on the site's grid")
RUN_EMBODIED = MetricSpec(
    "train.carbon_embodied_t", "t", "Share of the systems' embodied carbon, by time over their life"
)


@dataclass(frozen=True)
class ChainRow:
    """Power blocks of one load class."""

    load_class: Annotated[
        str, Column("Load class, compute, network and storage, or cooling and losses", name="class")
    ]
    load_mw: Annotated[float, Column("Load of the class on the design day")]
    redundancy: Annotated[str, Column("Redundancy rule of its power blocks")]
    blocks: Annotated[int, Column("Whole power blocks that carry the load under the rule")]
    installed_mw: Annotated[float, Column("Rating of these blocks together")]
    block_load_frac: Annotated[
        float | None, Column("Load over the installed rating, all blocks sharing it")
    ]
    ups_frac: Annotated[
        float | None, Column("Efficiency of the UPS at that load, power out over power in")
    ]


@dataclass(frozen=True)
class EfficiencyRow:
    """The power chain at one load."""

    load_frac: Annotated[float, Column("Load of every stage over its rating")]
    transformer_frac: Annotated[float, Column("Efficiency of the transformer at that load")]
    ups_frac: Annotated[float, Column("Efficiency of the UPS at that load")]
    busway_frac: Annotated[float, Column("Efficiency of the busway at that load")]
    power_shelf_frac: Annotated[float, Column("Efficiency of the rack's power shelf at that load")]
    ac_chain_frac: Annotated[
        float, Column("Efficiency of all stages together, utility to chip, alternating current")
    ]
    dc_800_chain_frac: Annotated[float, Column("The same with direct current of 800 V in the hall")]


@dataclass(frozen=True)
class OnsiteRow:
    """One source of the hall's power over a year."""

    source: Annotated[str, Column("Catalog id of the plant; grid for the utility")]
    mw: Annotated[float, Column("Rating of the source")]
    mwh: Annotated[
        float | None, Column("Energy served from the source in a year; not told of batteries")
    ]
    load_frac: Annotated[
        float | None, Column("That energy over the rating in all hours of the year")
    ]
    usd_per_mwh: Annotated[float | None, Column("Fuel and variable cost, or the grid's tariff")]
    capex_usd: Annotated[
        float | None, Column("Price of the plant, in a plan of the units ordered in the quarter")
    ]
    fixed_usd_per_year: Annotated[float | None, Column("Fixed upkeep in a year")]
    carbon_t: Annotated[float | None, Column("Operational CO2 of the year's energy")]
    lead_quarters: Annotated[int | None, Column("Quarters until it can be there")]


@dataclass(frozen=True)
class RackRow:
    """Racks of one kind."""

    kind: Annotated[
        str, Column("Kind of rack, compute, network and storage, or coolant distribution (cdu)")
    ]
    racks: Annotated[int, Column("Racks of the kind in the hall")]
    system: Annotated[str | None, Column("Catalog id of the system")] = None
    nodes_per_rack: Annotated[
        int | None, Column("Systems in one rack; 1 for a system of one rack or more")
    ] = None
    rack_kw: Annotated[float | None, Column("Rated IT power of one rack")] = None
    node_units: Annotated[float | None, Column("Height of one node in rack units (U)")] = None
    limit: Annotated[str | None, Column("What limits the nodes of a rack")] = None


@dataclass(frozen=True)
class FloorRow:
    """One row of racks."""

    row: Annotated[int, Column("Number of the row of racks")]
    racks: Annotated[int, Column("Rack positions of the row that are taken")]
    line_up: Annotated[str, Column("Kinds of racks along the row, from one end to the other")]


@dataclass(frozen=True)
class PlantRow:
    """One kind of plant on the design day."""

    equipment: Equipment
    design_heat_mw: Annotated[float, Column("Heat that it moves or rejects on the design day")]
    unit_mw: Annotated[float, Column("Heat of one unit")]
    units_with_spare: Annotated[int, Column("Units for that heat, one of them spare")]
    basis: Annotated[str, Column("Whether the heat is from the model or an estimate")]


@dataclass(frozen=True)
class OversubscriptionRow:
    """The hall's racks against its power with one number of jobs."""

    jobs: Annotated[int, Column("Jobs of equal size that start and stop independently")]
    over_frac: Annotated[
        float,
        Column(
            "Share of the time in which all racks together ask for more than the hall's IT power"
        ),
    ]
    over_h_per_year: Annotated[float, Column("Hours of a year in which they do")]
    mean_over_mw: Annotated[float, Column("Mean excess over the hall's IT power in these hours")]
    worst_over_mw: Annotated[float, Column("Excess when all jobs run at once")]


@dataclass(frozen=True)
class SwingRow:
    """One way to flatten the load."""

    remedy: Annotated[str, Column("What flattens the load")]
    store_mw: Annotated[float | None, Column("Power of the storage that takes the swing away")] = (
        None
    )
    store_kwh: Annotated[float | None, Column("Energy that this storage holds")] = None
    floor_mw: Annotated[float | None, Column("Power below which the load must not fall")] = None
    extra_mean_mw: Annotated[float | None, Column("Mean power that holding the floor adds")] = None
    energy_usd_per_year: Annotated[
        float | None, Column("Energy that the floor adds in a year, at the site's tariff")
    ] = None


@dataclass(frozen=True)
class LeadTimeRow:
    """What takes long to come, for the date on which power must flow."""

    equipment: Equipment
    weeks: Annotated[float, Column("Weeks from order to delivery, as usual")]
    low_weeks: Annotated[float, Column("Weeks from order to delivery, low bound")]
    high_weeks: Annotated[float, Column("Weeks from order to delivery, high bound")]
    order_by: Annotated[str, Column("Last day to order, at the usual weeks")]
    order_by_if_slow: Annotated[str, Column("Last day to order, at the high bound of weeks")]


CHAIN = TableSpec("power_blocks", ChainRow, "Power blocks")
EFFICIENCY = TableSpec("power_chain", EfficiencyRow, "Power chain, utility to chip")
ONSITE = TableSpec("onsite", OnsiteRow, "Power at the site over a year")
RACKS = TableSpec("racks", RackRow, "Racks of the hall")
FLOOR = TableSpec("floor", FloorRow, "Rows of racks", first=15)
PLANT = TableSpec("plant", PlantRow, "Plant on the design day")
OVERSUBSCRIPTION = TableSpec(
    "oversubscription",
    OversubscriptionRow,
    "Racks together above their feed, by the number of like jobs",
)
SWINGS = TableSpec("load_swings", SwingRow, "What flattens the load")
LEAD_TIMES = TableSpec("lead_times", LeadTimeRow, "Weeks from order to delivery")
