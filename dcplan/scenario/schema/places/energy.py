"""Energy of a site that does not come from its tariff: contracts for power through the grid."""

from __future__ import annotations

from typing import Literal

from dcplan.catalog.schema.ranges import (
    CarnotFraction,
    Fraction,
    Fractions,
    HeatC,
    NonNegative,
    Positive,
    Series,
    Share,
    YearHours,
)
from dcplan.scenario.schema.base import Key, Part, Quarter

STEP_MW = 1.0
"""Multiple of which the MW of a contract are, by default."""


class PowerContract(Part):
    """A contract for the power of a plant elsewhere, delivered through the grid (PPA). The plan chooses
    its MW and its first quarter; it lasts at least to the end of the horizon.
    """

    id: Key
    """Name of the contract."""
    kind: Literal["as_produced", "baseload"]
    """as_produced: the output of a plant by hour, as its profile gives it; baseload: the same power in
    every hour."""
    max_mw: Positive
    """Most MW that may be contracted: of an as-produced contract, rated power of the plant."""
    step_mw: Positive | None = None
    """The contracted MW are a multiple of it. Default: 1 MW."""
    usd_per_mwh: Series
    """Price of all energy of the contract, used or not, one number or one per quarter."""
    profile: str | None = None
    """File with the capacity factor of each hour of a year, for as_produced: a CSV of 8,760 numbers from
    0 to 1 in the last column, in local standard time. Relative to the scenario."""
    surplus_usd_per_mwh: Series | None = None
    """Spot price at which energy beyond the load of an hour is sold, one number or one per quarter.
    Default: the surplus earns nothing."""
    surplus_frac: Fraction | None = None
    """Instead of `surplus_usd_per_mwh`: the share of the price of the contract at which surplus is sold."""
    delivery_usd_per_mwh: Series | None = None
    """Grid charges that stay on the contracted energy that the load uses, one number or one per quarter.
    Default: none, so that a MWh used saves the whole price of the tariff."""
    available_from: Quarter | None = None
    """First quarter of delivery. Default: the start of the horizon."""
    carbon_free: bool = True
    """Whether the energy comes with certificates of carbon-free generation. Only then it counts for
    matching and for market-based carbon."""


class DemandResponse(Part):
    """A program that pays for load which pauses when the grid calls it. The plan chooses the MW of each
    quarter.
    """

    max_mw: Positive
    """Most load that may be enrolled; no more than the mean load of the quarter counts."""
    usd_per_mw_year: Series
    """Payment for one MW enrolled for a year, one number or one per quarter; a quarter has a fourth."""
    hours_per_year: YearHours
    """Hours per year in which the load is called; it then pauses, as that of interruptible power does."""


class HeatReuse(Part):
    """Sale of waste heat from liquid-cooled racks. A heat pump lifts it where the facility water is too
    cold for the buyer.
    """

    needed_c: HeatC
    """Temperature of the water that the buyer needs."""
    usd_per_mwh: Series
    """Price of the heat at that temperature, one number or one per quarter."""
    hours_frac: Fractions
    """Share of the hours in which the buyer takes all heat, one number or one per quarter."""
    connection_usd: NonNegative | None = None
    """Price of the connection with its pipes, exchangers and heat pump, paid in the first quarter.
    Default: the buyer pays it."""
    available_from: Quarter | None = None
    """First quarter of the sale. Default: the start of the horizon."""
    carnot_frac: CarnotFraction | None = None
    """Efficiency of the heat pump over that of Carnot. Default: `facility/heat-pump-carnot-frac`."""
    own_grid_connection: bool = False
    """Whether the heat pump has a grid connection of its own. Default: its power is part of the site's
    load: utility_mw, plants and batteries carry it, and it pays the demand charge."""


class Matching(Part):
    """Least share of a site's energy, in each year of the plan, that carbon-free contracts and PV, wind,
    nuclear and geothermal plants give. Default: no limit.
    """

    annual: Share | None = None
    """Carbon-free energy of the year over the energy of the year, whenever it is generated."""
    hourly: Share | None = None
    """The same hour by hour: in each hour, no more than its load counts (24/7 matching)."""
