"""Metrics and tables of a hall's energy, water and cooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Cooling
from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, TableSpec

PEAK_ELECTRICAL = MetricSpec(
    "power.peak_electrical_mw", "MW", "Electrical design peak of the racks", better=Better.LOWER
)
ANNUAL_PUE = MetricSpec("power.annual_pue", "", "Annual mean PUE", better=Better.LOWER)
PEAK_PUE = MetricSpec("power.peak_pue", "", "PUE on the design day", better=Better.LOWER)
PEAK_IT = MetricSpec("power.peak_it_mw", "MW", "IT power built for", better=Better.LOWER)
PEAK_FACILITY = MetricSpec(
    "power.peak_facility_mw", "MW", "All of the site on the design day", better=Better.LOWER
)
ANNUAL_WUE = MetricSpec(
    "water.annual_wue_l_per_kwh", "L/kWh", "Site water over IT energy", better=Better.LOWER
)
ANNUAL_WATER = MetricSpec(
    "water.annual_m3", "m3", "Site water of a year at this load", better=Better.LOWER
)
PEAK_DAY_WATER = MetricSpec(
    "water.peak_day_m3", "m3", "A day at the design condition", better=Better.LOWER
)
PERMIT_IT = MetricSpec(
    "water.permit_it_mw", "MW", "IT power that the water permit carries", better=Better.HIGHER
)
CHILLER_HEAT = MetricSpec("cooling.chiller_heat_frac", "", "Heat that chillers move over the year")
FIT_OUT_USD = MetricSpec("cooling.capex_usd", "USD", "Fit-out of the hall")
FLOW = MetricSpec("cooling.flow_l_per_min", "L/min", "Coolant through racks")
CDU_COUNT = MetricSpec(
    "cooling.cdu_count", "", "Coolant distribution units by heat and by flow, one of them spare"
)
CDU_USD = MetricSpec("cooling.cdu_usd", "USD", "Their price, part of the fit-out")
RACK_FLOW = MetricSpec("cooling.rack_flow_l_per_min", "L/min", "Coolant of one rack")
CDU_KW = MetricSpec("cooling.cdu_kw", "kW", "Their pumps")
RIDE_THROUGH_PUMPS = MetricSpec(
    "cooling.ride_through_pumps_s", "s", "Cold plates when the pumps of the rack loop stop"
)
RIDE_THROUGH_PLANT = MetricSpec(
    "cooling.ride_through_plant_s", "s", "Both loops without heat rejection, pumps running"
)
DESIGN_DAY_SUPPLY = MetricSpec(
    "cooling.design_day_supply_c",
    "C",
    "Facility water that sprayed dry coolers reach on the design day",
)
ITUE = MetricSpec("power.itue", "", "IT power over power without server fans")
TUE = MetricSpec("power.tue", "", "Site power over IT power without server fans")
KW_PER_PFLOPS = MetricSpec(
    "power.facility_kw_per_pflops",
    "kW",
    "Site power, network and storage in it, of one dense BF16 PFLOP/s of peak speed",
)
ANNUAL_ENERGY = MetricSpec("energy.annual_mwh", "MWh", "Site energy of a year at this load")
CARBON = MetricSpec(
    "carbon.operational_t", "t", "Of that energy on the site's grid", better=Better.LOWER
)


@dataclass(frozen=True)
class OptionRow:
    """One cooling option at the place; empty but for the reason where it cannot hold the hall."""

    cooling: Cooling
    basis: Annotated[str | None, Column("Computed from components, or table by climate zone")] = (
        None
    )
    supply_c: Annotated[
        float | None,
        Column("Facility water supplied; empty where the option's whole range is taken"),
    ] = None
    annual_pue: Annotated[float | None, Column("Annual mean PUE")] = None
    pue_low: Annotated[float | None, Column("Low bound of the annual mean PUE")] = None
    pue_high: Annotated[float | None, Column("High bound of the annual mean PUE")] = None
    peak_pue: Annotated[float | None, Column("PUE on the design day")] = None
    wue_l_per_kwh: Annotated[float | None, Column("Annual site water over IT energy")] = None
    peak_facility_mw: Annotated[
        float | None, Column("All of the site's power on the design day")
    ] = None
    tue: Annotated[
        float | None,
        Column("Total usage effectiveness, site power over IT power without server fans"),
    ] = None
    fit_out_usd: Annotated[float | None, Column("Price of the hall's fit-out")] = None
    usd_per_year: Annotated[
        float | None,
        Column("Energy of the whole site in a year and fit-out spread over its life, undiscounted"),
    ] = None
    facility_kw_per_pflops: Annotated[
        float | None,
        Column("Site power, network and storage in it, of one dense BF16 PFLOP/s of peak"),
    ] = None
    why_not: Annotated[str | None, Column("Why the option cannot hold the hall")] = None


@dataclass(frozen=True)
class HeatRow:
    """Heat of one path."""

    path: Annotated[str, Column("Liquid or air")]
    heat_kw: Annotated[float, Column("IT heat that takes this path at the asked load")]
    capacity_kw: Annotated[
        float, Column("Most that the cooling option carries this way in a hall of this IT power")
    ]
    holds: Annotated[bool, Column("Whether the capacity is enough")]


@dataclass(frozen=True)
class QuarterRow:
    """One quarter of the year."""

    quarter: Annotated[str, Column("Quarter of the year, Q1 to Q4")]
    pue: Annotated[float, Column("Mean PUE of the quarter")]
    wue_l_per_kwh: Annotated[float | None, Column("Site water over IT energy of the quarter")]


@dataclass(frozen=True)
class WarmWaterRow:
    """The hall with facility water of one ASHRAE class."""

    water_class: Annotated[str, Column("ASHRAE class of facility water", name="class")]
    supply_c: Annotated[float, Column("Warmest supply of the class")]
    pue: Annotated[float, Column("Annual mean PUE with water of this temperature")]
    peak_pue: Annotated[float, Column("PUE on the design day with water of this temperature")]
    wue_l_per_kwh: Annotated[float | None, Column("Annual site water over IT energy with it")]
    chiller_heat_frac: Annotated[
        float | None, Column("Share of the year's heat that chillers move with it")
    ]


@dataclass(frozen=True)
class ReportedRow:
    """What one real site reports."""

    site: Annotated[str, Column("Name of the real site")]
    basis: Annotated[str, Column("Measured by third parties, or reported by the operator")]
    zone: Annotated[str | None, Column("ASHRAE climate zone of the real site")]
    same_place: Annotated[
        bool, Column("Whether it is at the asked catalog site, not only in its climate zone")
    ]
    pue: Annotated[float, Column("Annual PUE of the real site")]
    wue_l_per_kwh: Annotated[
        float | None, Column("Annual site water over IT energy of the real site")
    ]


OPTIONS = TableSpec("options", OptionRow, "Cooling options")
HEAT = TableSpec("heat", HeatRow, "Heat by path")
QUARTERS = TableSpec("quarters", QuarterRow, "By quarter")
WARM_WATER = TableSpec("warm_water", WarmWaterRow, "What warmer facility water saves")
REPORTED = TableSpec(
    "reported_sites",
    ReportedRow,
    "Beside it: what real sites here or in this climate zone report, whatever cools them",
)
