"""Sites and their limits, tariffs and plants."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import (
    DayHours,
    EnergyPrice,
    EnergyPrices,
    EventHours,
    Fraction,
    NonNegative,
    Positive,
    Series,
    WeekHours,
    YearHours,
)
from dcplan.scenario.schema.assets import YearlyChange
from dcplan.scenario.schema.base import CountOrZero, Key, Part, Quarter
from dcplan.scenario.schema.places.energy import DemandResponse, HeatReuse, Matching, PowerContract
from dcplan.scenario.schema.places.hall import Hall
from dcplan.scenario.schema.places.power import Power


class RatePeriod(Part):
    """A period of a time-of-use tariff, such as peak or night."""

    id: Key
    """Name of the period."""
    hours_per_week: WeekHours
    """Hours of a week at this price; the periods of a tariff sum to 168."""
    usd_per_kwh: EnergyPrices
    """Price of energy in these hours, one number or one per quarter."""


class Tier(Part):
    """A block of a tiered tariff: the energy of a month up to a limit, at a price."""

    up_to_mwh_per_month: Positive | None = None
    """Energy of a month at which the tier ends; the last tier has no end."""
    usd_per_kwh: EnergyPrice
    """Price of the energy in this tier."""


class Energy(Part):
    """Tariff of a site; missing values come from ``catalogs/sites``."""

    usd_per_kwh: EnergyPrices | None = None
    """Price of energy, one number or one per quarter. Default: the catalog price of the
    location."""
    time_of_use: tuple[RatePeriod, ...] = ()
    """Prices by hours of the week, instead of `usd_per_kwh`. Every hour takes the same energy, so the
    price is their mean by hours."""
    tiers: tuple[Tier, ...] = ()
    """Prices by energy of a month, instead of `usd_per_kwh`; for `tco` with a fleet, whose energy is
    known, and refused elsewhere."""
    demand_usd_per_kw_month: NonNegative | None = None
    """Charge on the billed peak. Default: none, because catalog prices include it."""
    minimum_take_frac: Fraction | None = None
    """Minimum billed demand as a fraction of utility_mw, from the first use of the site on: billed
    kW = max(peak, fraction x utility_mw)."""


class Interruptible(Part):
    """A grid tranche that the utility may interrupt: cheaper or earlier than firm power, but work
    pauses.
    """

    id: Key
    """Name of the tranche."""
    mw: Series
    """Power of the tranche, one number or one per quarter."""
    available_from: Quarter | None = None
    """Quarter of energization. Default: the start of the horizon."""
    hours_per_year: YearHours
    """Hours per year in which the utility may interrupt it; its load then pauses."""
    event_h: EventHours | None = None
    """Longest interruption. A battery on the site may then carry the load through it. Default: no battery
    does."""


SPARE_UNITS = 1
"""Spare units of a plant on the site by default."""


class Onsite(Part):
    """On-site generation, as a bridge until grid power is available or permanently, or a battery. A row
    of ``catalogs/power/onsite.yaml``.
    """

    id: str
    """Row of the catalog kind onsite."""
    max_mw: Positive
    """Maximum power that may be installed."""
    spare_units: CountOrZero | None = None
    """Spare units in addition to those that carry load, as soon as any unit is in service. Default: 1;
    none for PV, wind and batteries."""
    lead_quarters: CountOrZero | None = None
    """Lead time from order to service. Default: the value of the catalog row."""
    usd_per_mwh: Positive | None = None
    """Price of energy under a contract (PPA behind the meter); it replaces capital, fixed and fuel
    cost. For PV and wind it is paid for all output, taken or not."""
    profile: str | None = None
    """File with the capacity factor of each hour of a year, for PV and wind: a CSV of 8,760 numbers from
    0 to 1 in the last column, in local standard time. Relative to the scenario."""
    peak_h: DayHours | None = None
    """Hours a day for which the peak of the site lasts, for a battery, which may then lower the peak.
    Default: it lowers no peak."""
    permit_hours_per_year: YearHours | None = None
    """Hours at full power that a permit allows in a calendar year: the energy of the plant is at most
    its bought MW times these hours, a fourth for each quarter in service. Default: no limit."""


class Carbon(Part):
    """Carbon intensity of the grid, the annual cap on operational carbon, and its price."""

    grid_g_per_kwh: NonNegative | None = None
    """Carbon intensity of the grid. Default: the catalog value of the location."""
    residual_g_per_kwh: NonNegative | None = None
    """Carbon intensity of energy without certificates (residual mix), for market-based carbon. Default:
    that of the grid."""
    max_operational_t_per_year: Positive | None = None
    """Annual limit on operational CO2 of owned racks. Default: no limit."""
    usd_per_t: Series | None = None
    """Price of operational CO2, such as a tax or an internal price, one number or one per quarter.
    Default: none."""
    basis: Literal["location", "market"] | None = None
    """Carbon that has this price. location: all energy of the grid has that of the grid; market: the
    residual mix, less carbon-free contracts of the year, paid in its last quarter. Default: location."""


class Water(Part):
    """Annual cap on site water, its price, and whether water is scarce."""

    max_l_per_year: Positive | None = None
    """Annual limit on site water. Default: no limit."""
    max_m3_per_quarter: Series | None = None
    """Water right: most site water in each quarter, one number or one per quarter. Its WUE is that of the
    calendar quarter, where the weather of the site gives it. Default: no limit."""
    usd_per_m3: Series | None = None
    """Price of site water, with sewage and water rights, one number or one per quarter. Default: 0."""
    stressed: bool | None = None
    """Whether the site is in an area of high water stress, for the table `sustainability`. Default: not
    known."""


class Lease(Part):
    """Colocation rent per contracted kW of hall IT; replaces building and power capex."""

    usd_per_kw_month: Positive
    """Rent per contracted kW of hall IT power."""
    escalator_frac_per_year: Fraction | None = None
    """Annual increase of the rent. Default: `finance/lease-escalator-frac-per-year`."""


class Staff(Part):
    """Staff of the site and the fully loaded cost of one person per year."""

    people: NonNegative
    """Full-time staff of the site, from its first use on."""
    usd_per_person_year: Positive | None = None
    """Fully loaded cost of one person per year. Default: `finance/staff-usd-per-person-year`."""


OF_THE_COMPANY = {
    "income_rate": "income tax is on the income of the company, which states and countries share by rules "
    "of their own, not by the place of a cost; losses and the interest of debt are those of the company, "
    "too; give finance.tax.income_rate",
    "depreciation": "the tax write-off follows the income tax of the company; give finance.tax.depreciation",
}
"""Fields of ``finance.tax`` without a value by site: why, and the next step."""


class SiteTax(Part):
    """Rates of sales tax and property tax at one site, each in place of that of `finance.tax`. A rate of 0
    is an exemption. Income tax has one rate for all sites.
    """

    sales_tax_frac: Fraction | None = None
    """Sales tax on racks, storage and networks of the site. Default: `finance.tax.sales_tax_frac`."""
    property_tax_frac_per_year: Fraction | None = None
    """Property tax on the book value of racks, storage and networks of the site. Default:
    `finance.tax.property_tax_frac_per_year`."""
    building_property_tax_frac_per_year: Fraction | None = None
    """Property tax on the book value of the site's buildings. Default:
    `finance.tax.building_property_tax_frac_per_year`."""
    cooling_property_tax_frac_per_year: Fraction | None = None
    """Property tax on the book value of the site's cooling and fit-out. Default:
    `finance.tax.cooling_property_tax_frac_per_year`."""
    power_property_tax_frac_per_year: Fraction | None = None
    """Property tax on the book value of the site's power blocks and plants. Default:
    `finance.tax.power_property_tax_frac_per_year`."""
    land_property_tax_frac_per_year: Fraction | None = None
    """Property tax on the site's `land_usd`, or on the price of its `land`. Default:
    `finance.tax.land_property_tax_frac_per_year`."""

    @model_validator(mode="before")
    @classmethod
    def _of_the_company(cls, data: Any) -> Any:
        for name, why in OF_THE_COMPANY.items():
            if isinstance(data, dict) and name in data:
                code, text = "site_tax", f"{name} by site is not supported: {why}"
                raise PydanticCustomError(code, "{text}", {"text": text})
        if data == {}:
            code, text = "site_tax", "an empty tax has no effect: give a rate, or remove tax"
            raise PydanticCustomError(code, "{text}", {"text": text})
        return data


class Land(Part):
    """Land of the site, bought once in the quarter in which the plan fits out its first hall. It is
    not depreciated. Give `usd`, or `area_m2` with `usd_per_m2`; a hectare has 10,000 m2, an acre
    4,046.86 m2.
    """

    usd: Positive | None = None
    """Price of the land."""
    area_m2: Positive | None = None
    """Area of the land."""
    usd_per_m2: Positive | None = None
    """Price of a square meter."""
    growth_frac_per_year: YearlyChange | None = None
    """Yearly change of the value of the land after its purchase. Default: 0, the land is worth its cost
    at the end of the horizon."""


class Site(Part):
    """One place with one utility connection."""

    id: Key
    """Name of the site, used in keys and tables."""
    location: str
    """Row of the catalog kind sites: weather, energy price, grid carbon."""
    climate_zone: str | None = None
    """ASHRAE climate zone, used instead of the location's weather."""
    utility_mw: Series
    """Firm grid power, one number or one per quarter as energization proceeds."""
    interruptible: tuple[Interruptible, ...] = ()
    """Interruptible grid power in addition to firm power."""
    onsite: tuple[Onsite, ...] = ()
    """Generation plants that may be built at the site."""
    ppa: tuple[PowerContract, ...] = ()
    """Contracts for power of plants elsewhere, delivered through the grid."""
    matched_share_min: Matching = Matching()
    """Least share of energy that carbon-free contracts and PV, wind, nuclear and geothermal plants give."""
    heat_reuse: HeatReuse | None = None
    """Sale of waste heat. Default: none."""
    ramp_limit_mw_per_min: Positive | None = None
    """Fastest change of the site's load that the grid allows. A run falls faster at waits, restarts and its
    end: it needs a battery, the first one in `onsite`, and is refused at a site without one. Default: no
    limit."""
    demand_response: DemandResponse | None = None
    """Program that pays for load that pauses when it is called. Default: none."""
    paused_racks: Literal["switched_off", "idle"] | None = None
    """What racks do while they pause in interruptions and calls: `switched_off`, they draw nothing; `idle`,
    they draw their idle power, and firm power carries it with that of network, storage and cooling.
    Default: switched_off."""
    energy: Energy = Energy()
    """Electricity tariff."""
    power: Power = Power()
    """Blocks of UPS and generators for new halls."""
    carbon: Carbon = Carbon()
    """Carbon intensity of the grid and the carbon cap."""
    water: Water = Water()
    """Cap on site water."""
    lease: Lease | None = None
    """Colocation: rent instead of building and power capex."""
    staff: Staff | None = None
    """Staff. Default: part of the facility's fixed cost."""
    floor_m2: Positive | None = None
    """Total floor area of the site, for the table `sustainability`. Default: not known."""
    land_usd: Positive | None = None
    """Assessed value of the site's land, of which `finance.tax.land_property_tax_frac_per_year` is
    paid. Default: the price of `land`; without both, no property tax on land."""
    land: Land | None = None
    """Land that the plan buys for the site. Default: none is bought."""
    tax: SiteTax | None = None
    """Rates of sales tax and property tax at this site. Default: those of `finance.tax`."""
    halls: Annotated[tuple[Hall, ...], Field(min_length=1)]
    """Hall types of the site."""
