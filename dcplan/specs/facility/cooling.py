"""Metrics and tables of a hall's energy, water and cooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Cooling
from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

PEAK_ELECTRICAL = MetricSpec(
    "power.peak_electrical_mw",
    "MW",
    "Electrical design peak of racks and network, with short peaks of the racks: load on breakers "
    "and busway; power blocks are sized for rated power",
    better=Better.LOWER,
    main=True,
    label="Momentary electrical peak of racks and network, without cooling",
)
ANNUAL_PUE = MetricSpec("power.annual_pue", "", "Annual mean PUE", better=Better.LOWER, main=True)
PEAK_PUE = MetricSpec("power.peak_pue", "", "PUE on the design day", better=Better.LOWER, main=True)
PEAK_IT = MetricSpec("power.peak_it_mw", "MW", "Design IT power", better=Better.LOWER)
PEAK_FACILITY = MetricSpec(
    "power.peak_facility_mw",
    "MW",
    "Peak facility power on the design day, with cooling and losses",
    better=Better.LOWER,
    main=True,
)
ANNUAL_WUE = MetricSpec(
    "water.annual_wue_l_per_kwh",
    "L/kWh",
    "Annual WUE: site water over IT energy",
    better=Better.LOWER,
    main=True,
)
ANNUAL_WATER = MetricSpec(
    "water.annual_m3", "m3", "Annual site water at this load", better=Better.LOWER, main=True
)
PEAK_DAY_WATER = MetricSpec(
    "water.peak_day_m3", "m3", "Site water on a design day", better=Better.LOWER
)
PERMIT_IT = MetricSpec(
    "water.permit_it_mw", "MW", "Largest IT power under the water permit", better=Better.HIGHER
)
CHILLER_HEAT = MetricSpec(
    "cooling.chiller_heat_frac", "", "Share of the annual heat that chillers move"
)
FIT_OUT_USD = MetricSpec("cooling.capex_usd", "USD", "Price of the hall's fit-out", main=True)
FLOW = MetricSpec("cooling.flow_l_per_min", "L/min", "Coolant flow through all racks")
CDU_COUNT = MetricSpec(
    "cooling.cdu_count",
    "",
    "Coolant distribution units, sized by heat and flow, including one spare",
    main=True,
    label="Coolant distribution units",
)
CDU_USD = MetricSpec(
    "cooling.cdu_usd", "USD", "Price of the coolant distribution units, part of the fit-out"
)
ELECTRICAL_LOSSES = MetricSpec(
    "power.electrical_loss_frac",
    "",
    "Losses between utility and racks over IT power, part of the PUE, in a full hall",
)
RACK_FLOW = MetricSpec("cooling.rack_flow_l_per_min", "L/min", "Coolant flow of one rack")
CDU_KW = MetricSpec("cooling.cdu_kw", "kW", "Power of the pumps in the coolant distribution units")
RIDE_THROUGH_PUMPS = MetricSpec(
    "cooling.ride_through_pumps_s",
    "s",
    "Ride-through of the cold plates if the rack-loop pumps stop",
)
RIDE_THROUGH_PLANT = MetricSpec(
    "cooling.ride_through_plant_s",
    "s",
    "Ride-through of both loops without heat rejection, with pumps running",
)
DESIGN_DAY_SUPPLY = MetricSpec(
    "cooling.design_day_supply_c",
    "C",
    "Facility water temperature that dry coolers with wetted pads reach on the design day without "
    "chillers",
)
ITUE = MetricSpec(
    "power.itue", "", "IT usage effectiveness: IT power over IT power without server fans"
)
TUE = MetricSpec(
    "power.tue",
    "",
    "Total usage effectiveness: site power over IT power without server fans",
    main=True,
    label="Total usage effectiveness (TUE)",
)
KW_PER_PFLOPS = MetricSpec(
    "power.facility_kw_per_pflops",
    "kW",
    "Site power per dense BF16 PFLOP/s of peak, including network and storage",
)
ANNUAL_ENERGY = MetricSpec("energy.annual_mwh", "MWh", "Annual site energy at this load", main=True)
CARBON = MetricSpec(
    "carbon.operational_t",
    "t CO2e",
    "Operational CO2 of that energy on the site's grid",
    better=Better.LOWER,
    main=True,
)


@dataclass(frozen=True)
class OptionRow:
    """One cooling option at the site; all cells except the reason are empty if it does not fit."""

    cooling: Cooling
    basis: Annotated[
        str | None, Column("Basis: computed from components, or table by climate zone")
    ] = None
    supply_c: Annotated[
        float | None,
        Column("Facility water supply temperature; empty if sampled over the option's range"),
    ] = None
    annual_pue: Annotated[float | None, Column("Annual mean PUE")] = None
    pue_low: Annotated[
        float | None, Column("P5 of the annual mean PUE; low bound for an option from the table")
    ] = None
    pue_high: Annotated[
        float | None, Column("P95 of the annual mean PUE; high bound for an option from the table")
    ] = None
    peak_pue: Annotated[float | None, Column("PUE on the design day")] = None
    wue_l_per_kwh: Annotated[float | None, Column("Annual WUE: site water over IT energy")] = None
    peak_facility_mw: Annotated[float | None, Column("Facility power on the design day")] = None
    tue: Annotated[
        float | None,
        Column("Total usage effectiveness: site power over IT power without server fans"),
    ] = None
    fit_out_usd: Annotated[float | None, Column("Price of the hall's fit-out")] = None
    usd_per_year: Annotated[
        float | None, Column("Annual site energy plus fit-out spread over its life, undiscounted")
    ] = None
    facility_kw_per_pflops: Annotated[
        float | None,
        Column("Site power per dense BF16 PFLOP/s of peak, including network and storage"),
    ] = None
    why_not: Annotated[str | None, Column("Why the option does not fit the hall")] = None


@dataclass(frozen=True)
class RetrofitRow:
    """One way to put liquid-cooled racks into an air hall."""

    retrofit: Annotated[
        str, Column("Equipment that takes the heat of the cold plates, and the air of the racks")
    ]
    loop: Annotated[
        str | None, Column("Catalog id of the cooling option of the new water loop; empty for none")
    ]
    rack_kw: Annotated[float, Column("Rated power of one rack")]
    sidecars: Annotated[int | None, Column("Sidecars of one rack")] = None
    positions: Annotated[
        int | None, Column("Rack positions for one rack, sidecars and empty positions included")
    ] = None
    position_kw: Annotated[float | None, Column("IT power over these positions")] = None
    room_air_kw: Annotated[
        float | None, Column("Heat of one rack into room air, with fans of sidecars")
    ] = None
    racks: Annotated[int | None, Column("Racks that fit in the hall")] = None
    compute_mw: Annotated[float | None, Column("Rated power of these racks")] = None
    limit: Annotated[
        str | None, Column("What limits the racks: power, air or positions of the hall")
    ] = None
    annual_pue: Annotated[float | None, Column("Annual mean PUE of a hall full of these racks")] = (
        None
    )
    peak_pue: Annotated[float | None, Column("PUE on the design day")] = None
    retrofit_usd: Annotated[
        float | None, Column("Price of the added equipment for the racks that fit")
    ] = None
    usd_per_kw: Annotated[float | None, Column("This price over the power of the racks")] = None
    why_not: Annotated[str | None, Column("Why the retrofit does not fit the hall")] = None


@dataclass(frozen=True)
class HeatRow:
    """Heat of one path."""

    path: Annotated[str, Column("Heat path: liquid or air")]
    heat_kw: Annotated[float, Column("IT heat on this path at the specified load")]
    capacity_kw: Annotated[
        float,
        Column(
            "Largest heat that the cooling option removes on this path in a hall of this IT power"
        ),
    ]
    holds: Annotated[bool, Column("Whether the capacity is sufficient")]


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
    wue_l_per_kwh: Annotated[float | None, Column("Annual WUE with water of this temperature")]
    chiller_heat_frac: Annotated[
        float | None,
        Column("Share of the annual heat that chillers move with water of this temperature"),
    ]


@dataclass(frozen=True)
class ReportedSiteRow:
    """Report of one real site."""

    site: Annotated[str, Column("Name of the real site")]
    basis: Annotated[str, Column("Basis: measured by third parties, or reported by the operator")]
    zone: Annotated[str | None, Column("ASHRAE climate zone of the real site")]
    same_place: Annotated[
        bool, Column("Whether it is at the same catalog site, not only in the same climate zone")
    ]
    pue: Annotated[float, Column("Annual PUE of the real site")]
    wue_l_per_kwh: Annotated[float | None, Column("Annual WUE of the real site")]


OPTIONS = TableSpec("options", OptionRow, "Cooling options", section=Section.ORDERS, by_item=True)
RETROFIT = TableSpec(
    "retrofit", RetrofitRow, "Retrofits of the air hall", section=Section.ORDERS, by_item=True
)
HEAT = TableSpec("heat", HeatRow, "Heat by path")
QUARTERS = TableSpec("quarters", QuarterRow, "PUE and WUE by quarter", shown=Shown.VERBOSE)
WARM_WATER = TableSpec(
    "warm_water", WarmWaterRow, "Effect of warmer facility water", shown=Shown.VERBOSE
)
REPORTED_SITES = TableSpec(
    "reported_sites", ReportedSiteRow, "Sites reported here or in this climate zone", first=5
)
