"""Sites and halls of a plan: plants, contracts, units, power and long-lead equipment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Equipment, Hall, Quarter
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class OnsiteRow:
    """One plant of a site in one quarter."""

    site: Annotated[str, Column("Id of the site")]
    source: Annotated[str, Column("Catalog id of the plant; grid for the utility")]
    quarter: Quarter
    units_ordered: Annotated[int, Column("Units ordered in the quarter")]
    serve_from: Annotated[str | None, Column("Quarter from which these units serve")]
    ordered_mw: Annotated[float, Column("Rating of the units ordered in the quarter")]
    capex_usd: Annotated[
        float, Column("Price of the plant; in a plan, of the units ordered in the quarter")
    ]
    generated_mwh: Annotated[
        float, Column("Energy generated in the quarter; below 0: losses of a battery")
    ]
    curtailed_mwh: Annotated[
        float | None, Column("Energy of PV or wind in the quarter that the load does not take")
    ]
    energy_usd: Annotated[
        float, Column("Fuel and variable cost of that energy, and the price of contracts")
    ]


ONSITE = TableSpec(
    "onsite",
    OnsiteRow,
    "Power sources of the site",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
    by_item=True,
)


@dataclass(frozen=True)
class ContractRow:
    """One contract of a site in one quarter."""

    site: Annotated[str, Column("Id of the site")]
    contract: Annotated[str, Column("Name of the contract")]
    quarter: Quarter
    signed_mw: Annotated[float, Column("Power whose delivery starts in the quarter")]
    contracted_mw: Annotated[float, Column("Power under contract in the quarter")]
    output_mwh: Annotated[float, Column("Energy of the contract in the quarter")]
    used_mwh: Annotated[float, Column("Part of it that the load uses, hour by hour")]
    surplus_mwh: Annotated[float, Column("Part of it beyond the load, sold or lost")]
    energy_usd: Annotated[
        float,
        Column("Price of all energy, with delivery of the used and less sales of the surplus"),
    ]


CONTRACTS = TableSpec(
    "contracts",
    ContractRow,
    "Contracts for power through the grid",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
    by_item=True,
)


@dataclass(frozen=True)
class MatchedRow:
    """Carbon-free energy of one site in one year of the plan."""

    site: Annotated[str, Column("Id of the site")]
    first_quarter: Annotated[str, Column("First quarter of the year")]
    energy_mwh: Annotated[float, Column("Energy of the site in the year")]
    carbon_free_mwh: Annotated[
        float,
        Column("Energy of carbon-free contracts, used or not, and of PV and wind on the site"),
    ]
    matched_annual_frac: Annotated[
        float, Column("Carbon-free energy of the year over the energy, at most 1")
    ]
    matched_hourly_frac: Annotated[
        float, Column("The same with, in each hour, no more than the load (24/7 CFE score)")
    ]
    location_t: Annotated[float, Column("Carbon with the mix of the grid for all its energy")]
    market_t: Annotated[
        float,
        Column("Carbon with none for contracted carbon-free energy, the residual mix for the rest"),
    ]


MATCHING = TableSpec(
    "matching",
    MatchedRow,
    "Carbon-free energy, and carbon by location and market",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
)


@dataclass(frozen=True)
class HallRow:
    """One hall type in the last quarter."""

    hall: Hall
    units_fitted: Annotated[
        str, Column("Units of the hall type in the last quarter, by cooling option")
    ]
    racks: Annotated[float, Column("Rack positions occupied by compute racks in the last quarter")]
    positions: Annotated[int, Column("Rack positions of the fitted units")]
    hall_mw: Annotated[
        float,
        Column(
            "Rated power of racks, network, storage and in-hall pumps and fans, in the last quarter"
        ),
    ]
    limit_mw: Annotated[float, Column("Largest IT power of the fitted units")]
    liquid_mw: Annotated[float, Column("Heat into liquid at rated power, in the last quarter")]
    air_mw: Annotated[
        float,
        Column("Heat into air at rated power, including network and storage, in the last quarter"),
    ]


HALLS = TableSpec(
    "halls", HallRow, "Halls in the last quarter", shown=Shown.VERBOSE, section=Section.DESIGN
)


@dataclass(frozen=True)
class UpgradeRow:
    """One upgrade of an existing hall that the plan orders."""

    hall: Hall
    upgrade: Annotated[str, Column("Id of the upgrade")]
    order_quarter: Annotated[str, Column("Quarter of its order")]
    works_from: Annotated[str, Column("Quarter in which its works begin and its price is due")]
    serves_from: Annotated[str, Column("First quarter with its capacity")]
    cooling: Annotated[str | None, Column("Cooling option that it adds")]
    it_before_mw: Annotated[float, Column("Largest IT power of the hall before it")]
    it_after_mw: Annotated[float, Column("Largest IT power of the hall after it")]
    out_of_service_frac: Annotated[
        float, Column("Share of the capacity that is out of service during the works")
    ]
    racks_stopped: Annotated[int, Column("Most racks that are off in a quarter of the works")]
    capex_usd: Annotated[float, Column("Price of the upgrade")]


UPGRADES = TableSpec(
    "upgrades", UpgradeRow, "Upgrades of existing halls", section=Section.DESIGN, by_item=True
)


@dataclass(frozen=True)
class PowerRow:
    """Power of one site in one quarter."""

    site: Annotated[str, Column("Id of the site")]
    quarter: Quarter
    it_mw: Annotated[float, Column("Rated power of racks, network and storage in service")]
    facility_mw: Annotated[
        float, Column("Peak power of the site: rated power times the design-day PUE")
    ]
    heat_pump_mw: Annotated[
        float | None,
        Column("Power of the heat pump for sold heat, in addition to the peak of the data center"),
    ]
    utility_mw: Annotated[float, Column("Firm power from the grid")]
    interruptible_mw: Annotated[
        float,
        Column("Interruptible power that the peak needs in addition to firm power and plants"),
    ]
    onsite_mw: Annotated[
        float, Column("Load that the plants on site can carry without spare units")
    ]
    electrical_peak_mw: Annotated[
        float, Column("Electrical design peak of racks, network and storage, the load on breakers")
    ]
    energy_mwh: Annotated[
        float, Column("Energy of the whole site in the quarter, from grid and plants")
    ]
    power_blocks: Annotated[int, Column("Power blocks of the site in the quarter")]


POWER = TableSpec(
    "power", PowerRow, "Power by site and quarter", shown=Shown.VERBOSE, section=Section.DESIGN
)


@dataclass(frozen=True)
class LeadTimeRow:
    """One kind of equipment of one new hall."""

    hall: Hall
    powered_from: Annotated[
        str, Column("First day of the quarter in which the new hall is first used")
    ]
    equipment: Equipment
    weeks: Annotated[float, Column("Usual lead time, from order to delivery")]
    weeks_high: Annotated[float, Column("Lead time at its high bound")]
    order_by: Annotated[str, Column("Last day to order at the usual lead time")]
    weeks_before_start: Annotated[
        float, Column("Weeks from that day to the plan's start; 0 if that day is later")
    ]


LEAD_TIMES = TableSpec(
    "lead_times",
    LeadTimeRow,
    "Long-lead equipment",
    brief=lambda x: x.weeks_before_start > 0,
    section=Section.RISK,
)
