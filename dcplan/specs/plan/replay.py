"""Replay of a plan by hour: metrics and tables of `dcplan plan --replay-hours`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec, pattern

REASON_FRAC = 0.01
"""Difference of a year's energy or cost above which the answer names its reason."""

LARGEST = MetricSpec(
    "replay.largest_difference_frac",
    "",
    "Largest difference between the hours and the plan, without its sign: energy or its cost, of "
    "any site and year, over the plan's",
    gate=False,
    better=Better.LOWER,
    main=True,
    label="Largest difference of a year by hour from the plan",
)
ENERGY = MetricSpec(
    "replay.energy_difference_frac",
    "",
    "Energy of all sites by hour over that of the plan, less 1",
    gate=False,
)
COST = MetricSpec(
    "replay.cost_difference_frac",
    "",
    "Cost of that energy by hour, without demand charges, over that of the plan, less 1",
    gate=False,
)
UNSERVED = MetricSpec(
    "replay.unserved_mwh",
    "MWh",
    "Load that neither grid nor plants serve by hour, over all sites and years",
    gate=False,
    better=Better.LOWER,
)

Site = Annotated[str, Column("Id of the site")]
FirstQuarter = Annotated[str, Column("First quarter of the year of the plan, as YYYY-Qn")]


@dataclass(frozen=True)
class ReplayRow:
    """One site in one year of the plan."""

    site: Site
    first_quarter: FirstQuarter
    quarters: Annotated[int, Column("Quarters of the plan in this year, at most 4")]
    energy_mwh: Annotated[float, Column("Energy of the site in the plan")]
    hours_mwh: Annotated[float, Column("Energy of the site by hour: load that is served")]
    energy_change_frac: Annotated[
        float | None, Column("Energy by hour over that of the plan, less 1")
    ]
    energy_usd: Annotated[
        float, Column("Cost of energy from the grid and plants in the plan, without demand charges")
    ]
    hours_usd: Annotated[float, Column("The same cost by hour")]
    cost_change_frac: Annotated[float | None, Column("Cost by hour over that of the plan, less 1")]
    peak_mw: Annotated[
        float, Column("Peak of the plan: rated power times the PUE of the design day")
    ]
    hours_peak_mw: Annotated[
        float, Column("Highest hour of the year: mean IT power of the quarter times the hour's PUE")
    ]
    limit_mw: Annotated[
        float, Column("Firm and interruptible power and plants, in the quarter of the highest hour")
    ]
    over_limit_h: Annotated[float, Column("Hours with a load above the limit of their quarter")]
    unserved_mwh: Annotated[float, Column("Load that neither grid nor plants serve")]
    carbon_t: Annotated[float, Column("Operational CO2 in the plan")]
    hours_carbon_t: Annotated[float, Column("Operational CO2 by hour")]
    carbon_change_frac: Annotated[float | None, Column("CO2 by hour over that of the plan, less 1")]
    water_m3: Annotated[float, Column("Water of the site in the plan")]
    hours_water_m3: Annotated[float, Column("Water of the site by hour")]
    water_change_frac: Annotated[
        float | None, Column("Water by hour over that of the plan, less 1")
    ]


REPLAY = TableSpec(
    "replay", ReplayRow, "Years of the plan by hour", section=Section.RISK, by_item=True
)


@dataclass(frozen=True)
class ReplayPartRow:
    """One part of the difference between the hours and the plan, of one site and year."""

    site: Site
    first_quarter: FirstQuarter
    part: Annotated[str, Column("What this part of the difference comes from")]
    energy_mwh: Annotated[float, Column("Change of energy; the parts sum to the difference")]
    energy_change_frac: Annotated[float | None, Column("That change over the plan's energy")]
    energy_usd: Annotated[float, Column("Change of cost; the parts sum to the difference")]
    cost_change_frac: Annotated[float | None, Column("That change over the plan's cost")]
    carbon_t: Annotated[float, Column("Change of CO2; the parts sum to the difference")]
    water_m3: Annotated[float, Column("Change of water; the parts sum to the difference")]
    reason: Annotated[
        bool, Column("Whether the energy or the cost of the year differs by more than 1 %")
    ]


REPLAY_PARTS = TableSpec(
    "replay_parts",
    ReplayPartRow,
    "Parts of the difference of years by hour",
    section=Section.RISK,
    by_item=True,
    brief=lambda x: x.reason,
)


@dataclass(frozen=True)
class ReplayHourRow:
    """One hour of one site in one quarter of the plan."""

    site: Site
    quarter: Annotated[str, Column("Calendar quarter, as YYYY-Qn")]
    hour: Annotated[int, Column("Hour of the typical calendar year, from 1")]
    duration_h: Annotated[
        float, Column("Length of the hour in the sums: a quarter of the plan has 2,191.5 hours")
    ]
    outdoor_c: Annotated[float | None, Column("Outdoor dry bulb; empty without weather")]
    usd_per_mwh: Annotated[float, Column("Price of the grid in the hour")]
    load_mw: Annotated[float, Column("Load of the site: IT power times the PUE of the hour")]
    unserved_mw: Annotated[float, Column("Load that no source serves")]


REPLAY_HOURS = TableSpec(
    "replay_hours",
    ReplayHourRow,
    "Hours of the plan's years",
    shown=Shown.DATA,
    by_item=True,
    wide=(
        pattern("<source>_mw", "Power of this source in the hour: grid, or a plant of the site"),
    ),
)
