"""Metrics and tables of a hall's power sources by hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec, pattern

ONSITE_USD = MetricSpec(
    "onsite.energy_usd_per_year", "USD", "Annual cost of fuel, variable cost and grid energy"
)
ONSITE_CARBON = MetricSpec("onsite.carbon_t", "t", "Operational CO2 of that energy")
ONSITE_UNSERVED = MetricSpec("onsite.unserved_mwh", "MWh", "Unserved load per year", main=True)
ONSITE_CURTAILED = MetricSpec(
    "onsite.curtailed_mwh", "MWh", "Energy of PV and wind per year that nothing takes"
)
ONSITE_RENEWABLE = MetricSpec(
    "onsite.renewable_frac", "", "Share of the served load that the grid and fuels do not generate"
)
ONSITE_SERVED = MetricSpec("onsite.served_frac", "", "Share of the load that is served")
ONSITE_ANNUAL = MetricSpec(
    "onsite.annual_usd",
    "USD",
    "Annual cost of all sources: energy, fixed cost, and capital as an annuity over the life",
    unknown="a source has no life_years in the catalog: add it in an overlay",
)
ONSITE_PEAK_LOAD = MetricSpec("onsite.peak_load_mw", "MW", "Highest load of an hour")
ONSITE_MARGIN = MetricSpec(
    "onsite.peak_margin_mw",
    "MW",
    "Grid and running units on the design day less its peak, without spare units and batteries",
)
ONSITE_FUEL = MetricSpec(
    "onsite.fuel_gj", "GJ", "Fuel of a year on the lower heating value, all plants"
)
ONSITE_SHORT_HOURS = MetricSpec(
    "onsite.outage_short_h_per_year",
    "h",
    "Expected hours of a year with a shortage, over forced outages of units, without batteries",
    unknown="no source has units: add a turbine, an engine or a fuel cell with --onsite",
)
ONSITE_SHORT_MWH = MetricSpec(
    "onsite.outage_unserved_mwh",
    "MWh",
    "Expected unserved load of a year, over forced outages of units, without batteries",
    unknown="no source has units: add a turbine, an engine or a fuel cell with --onsite",
)
TIME_TO_POWER = MetricSpec(
    "onsite.time_to_power_quarters",
    "quarters",
    "Time to power: quarters until the last source is available",
)


@dataclass(frozen=True)
class OnsiteRow:
    """One source of the hall's power over a year."""

    source: Annotated[str, Column("Catalog id of the plant; grid for the utility")]
    mw: Annotated[float, Column("Rating of the source: all units, with spare units")]
    units: Annotated[int | None, Column("Units with spare units; empty for the grid")]
    spare_units: Annotated[int | None, Column("Units that run only while another one is out")]
    design_mw: Annotated[
        float | None,
        Column("Power to count on at the design day, without spare units; empty for batteries"),
    ]
    mwh: Annotated[
        float | None, Column("Energy generated in a year; for batteries discharged energy")
    ]
    load_frac: Annotated[
        float | None, Column("Capacity factor: energy over the rating in all hours of the year")
    ]
    curtailed_mwh: Annotated[
        float | None, Column("Energy of PV or wind that nothing takes; empty for other sources")
    ]
    usd_per_mwh: Annotated[float | None, Column("Fuel and variable cost, or the grid tariff")]
    energy_usd: Annotated[
        float | None, Column("Annual cost of fuel, variable cost, or grid energy")
    ]
    capex_usd: Annotated[float | None, Column("Price of the plant, with spare units")]
    fixed_usd_per_year: Annotated[float | None, Column("Fixed operating cost per year")]
    annual_usd: Annotated[
        float | None,
        Column("Annual cost: energy, fixed cost, and capital as an annuity over the life"),
    ]
    fuel_gj: Annotated[float | None, Column("Fuel per year on the lower heating value")]
    carbon_t: Annotated[float | None, Column("Operational CO2 per year")]
    chosen_mw: Annotated[
        float | None, Column("Rating that the sizing chose, before whole and spare units")
    ]
    starts: Annotated[
        int | None, Column("Starts of units in the year, all units of the source together")
    ]
    planned_out_h_per_year: Annotated[
        float | None, Column("Hours of planned outage of one unit per year")
    ]
    forced_out_frac: Annotated[
        float | None, Column("Share of the other hours in which a unit has failed")
    ]
    lead_quarters: Annotated[int | None, Column("Lead time in quarters")]


@dataclass(frozen=True)
class OnsiteHourRow:
    """One hour of the year."""

    hour: Annotated[int, Column("Hour of the typical year, from 1")]
    outdoor_c: Annotated[float | None, Column("Outdoor dry bulb; empty without weather")]
    load_mw: Annotated[float, Column("Load of the hall: IT power times the PUE of the hour")]
    grid_cut: Annotated[bool, Column("Whether the utility cuts its power")]
    charged_mw: Annotated[float, Column("Power into the batteries")]
    discharged_mw: Annotated[float, Column("Power from the batteries")]
    stored_mwh: Annotated[float, Column("Energy in the batteries at the start of the hour")]
    curtailed_mw: Annotated[float, Column("Power of PV and wind that nothing takes")]
    unserved_mw: Annotated[float, Column("Load that no source serves")]


ONSITE = TableSpec(
    "onsite",
    OnsiteRow,
    "Power sources of the site over a year",
    section=Section.DESIGN,
    by_item=True,
)
ONSITE_HOURS = TableSpec(
    "onsite_hours",
    OnsiteHourRow,
    "Power of the hall by hour",
    shown=Shown.DATA,
    wide=(pattern("<source>_mw", "Power of this source in the hour"),),
)


@dataclass(frozen=True)
class BatteryDutyRow:
    """One duty of a battery on the site, or the battery for all of them."""

    duty: Annotated[str, Column("Duty of the battery")]
    grid: Annotated[
        str | None, Column("Whether the duty is with or without the grid; empty for the sum")
    ]
    power_mw: Annotated[float, Column("Power of the duty at the terminals")]
    energy_mwh: Annotated[
        float | None, Column("Energy of the duty at the terminals; empty where no energy is enough")
    ]
    rated_mw: Annotated[float | None, Column("Rated power of a battery for this duty alone")]
    rated_mwh: Annotated[
        float | None,
        Column(
            "Rated capacity for this duty alone: with depth of discharge, loss of one way, capacity "
            "at the end of life, failed modules, and the shortest duration of the product"
        ),
    ]
    capex_usd: Annotated[
        float | None,
        Column("Price of a battery for this duty alone, by its rated power and its rated capacity"),
    ]
    counts: Annotated[bool, Column("Whether the battery for all duties has this one")]


BATTERY_DUTIES = TableSpec(
    "battery_duties", BatteryDutyRow, "Battery by duty", section=Section.DESIGN, by_item=True
)
BATTERY_MW = MetricSpec(
    "battery.rated_mw", "MW", "Rated power of a battery for all duties", main=True
)
BATTERY_MWH = MetricSpec(
    "battery.rated_mwh", "MWh", "Rated capacity of a battery for all duties", main=True
)
BATTERY_USD = MetricSpec("battery.capex_usd", "USD", "Price of a battery for all duties", main=True)
