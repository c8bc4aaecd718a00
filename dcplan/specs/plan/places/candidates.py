"""Candidate sites of a plan: what each has, and what a plan with or without it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class SiteRow:
    """One site where a plan may order racks."""

    site: Annotated[str, Column("Id of the site")]
    chosen: Annotated[bool, Column("Whether the plan orders racks at the site")]
    change_usd: Annotated[
        float | None,
        Column(
            "With --compare-sites: change of the net present cost if at least one rack must be ordered "
            "at the site; of a chosen site, if none may be"
        ),
    ]
    change_low_usd: Annotated[
        float | None, Column("The change is proved to be at least this", shown=Shown.VERBOSE)
    ]
    only_here_npv_usd: Annotated[
        float | None, Column("Net present cost if all new racks are at this site; empty: no plan")
    ]
    only_here_usd_per_accelerator_hour: Annotated[
        float | None, Column("That cost over the accelerator-hours in service over the horizon")
    ]
    break_even_usd_per_kwh: Annotated[
        float | None,
        Column(
            "Mean price of grid energy at the site at which a plan with it costs as much as the plan; "
            "empty: no price above 0, or the site is chosen"
        ),
    ]
    capex_change_usd: Annotated[
        float | None, Column("Part of the change: capital cost", shown=Shown.VERBOSE)
    ]
    energy_change_usd: Annotated[
        float | None, Column("Part of the change: energy", shown=Shown.VERBOSE)
    ]
    opex_change_usd: Annotated[
        float | None,
        Column(
            "Part of the change: operating cost, with property tax on land", shown=Shown.VERBOSE
        ),
    ]
    other_change_usd: Annotated[
        float | None,
        Column(
            "The rest of the change: rent, unserved demand, residual value", shown=Shown.VERBOSE
        ),
    ]
    why: Annotated[
        str,
        Column(
            "Kinds of cost that rise and fall with the change, the largest first, or why no such plan "
            "exists"
        ),
    ]
    utility_mw: Annotated[float, Column("Firm power from the grid in the last quarter")]
    powered_from: Annotated[str | None, Column("First quarter with firm power from the grid")]
    interruptible_mw: Annotated[
        float, Column("Interruptible power in the last quarter", shown=Shown.VERBOSE)
    ]
    interrupted_h_per_year: Annotated[
        float, Column("Most hours a year in which a tranche of it may be interrupted")
    ]
    redundancy: Annotated[str, Column("Redundancy rule of the power blocks", shown=Shown.VERBOSE)]
    energy_usd_per_kwh: Annotated[float, Column("Mean price of grid energy over the quarters")]
    demand_usd_per_kw_month: Annotated[
        float, Column("Charge on the billed peak", shown=Shown.VERBOSE)
    ]
    lease_usd_per_kw_month: Annotated[
        float | None, Column("Rent of a leased site in the first year", shown=Shown.VERBOSE)
    ]
    pue: Annotated[
        float,
        Column("PUE of the cooling option in use; of an unused site, the lowest of its options"),
    ]
    wue_l_per_kwh: Annotated[
        float | None, Column("Site water per kWh of IT energy of that cooling option")
    ]
    grid_g_per_kwh: Annotated[float, Column("Carbon intensity of the grid")]
    land_price_usd: Annotated[
        float,
        Column("Price of the land that the plan buys with the first hall", shown=Shown.VERBOSE),
    ]
    land_usd: Annotated[float | None, Column("Value of the land", shown=Shown.VERBOSE)]
    land_tax_usd_per_year: Annotated[float, Column("Property tax on the land while it is used")]
    sales_tax_frac: Annotated[
        float, Column("Rate of sales tax on equipment at the site", shown=Shown.VERBOSE)
    ]
    property_tax_frac_per_year: Annotated[
        float, Column("Rate of property tax on equipment at the site", shown=Shown.VERBOSE)
    ]
    farthest_users_rtt_ms: Annotated[
        float | None,
        Column(
            "Round trip to the farthest users of services with regions; empty: none have regions"
        ),
    ]


SITES = TableSpec("sites", SiteRow, "Candidate sites", section=Section.LIMITS, by_item=True)
