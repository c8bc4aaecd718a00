"""Sites and halls: where the hardware may stand and what limits it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dcplan.provenance import (
    AtLeastOne,
    Fraction,
    Megawatts,
    NonNegative,
    Positive,
    Series,
    YearHours,
)
from dcplan.scenario.schema.base import CountOrZero, Key, Part, Quarter

Redundancy = Literal["n", "n+1", "2n", "4n/3", "3n/2"]


class Energy(Part):
    """Tariff of a site; what is left out comes from ``catalogs/sites``."""

    usd_per_kwh: Series | None = None
    """Price of energy, one number or by quarter; left out, the catalog's of the location."""
    demand_usd_per_kw_month: NonNegative | None = None
    """Charge on the billed peak; left out, none, because catalog prices hold it."""
    minimum_take_frac: Fraction | None = None
    """Billed kW = max(peak, fraction x utility_mw of that quarter), once the site is used."""


class Power(Part):
    """Backup power: blocks of UPS and generators with a redundancy rule; only new halls pay for
    them.
    """

    redundancy: Redundancy | None = None
    """Rule of the blocks: any one block may fail (n: none); left out, n+1."""
    block_mw: Positive | None = None
    """Load that one block carries; left out, `power/block-mw-default`."""
    usd_per_kw: Positive | None = None
    """Price of an installed kW of blocks; left out, `power/power-blocks-usd-per-kw`."""
    lead_quarters: CountOrZero | None = None
    """From the order of blocks to their service: no new hall is powered before; left out, they are
    there at once."""


class Interruptible(Part):
    """A grid tranche that the utility may cut: cheaper or sooner than firm power, paid in paused
    work.
    """

    id: Key
    """Name of the tranche."""
    mw: Series
    """Power of the tranche, one number or by quarter."""
    available_from: Quarter | None = None
    """Quarter of its energisation; left out, the start of the horizon."""
    hours_per_year: YearHours
    """Hours in which it may be cut; the load on it pauses then."""


class Onsite(Part):
    """Power made at the site: bridging until the grid comes, or for good. A row of
    ``catalogs/power/onsite.yaml``.
    """

    id: str
    """Row of the catalog kind onsite."""
    max_mw: Positive
    """Most that may be installed."""
    spare_units: CountOrZero = 1
    """Units beyond those that carry load, once any serves."""
    lead_quarters: CountOrZero | None = None
    """From the order to service; left out, the catalog row's."""
    usd_per_mwh: Positive | None = None
    """Energy bought under a contract (PPA behind the meter): replaces capital, fixed cost and
    fuel."""


class Carbon(Part):
    """Grid intensity and yearly cap of operational carbon."""

    grid_g_per_kwh: NonNegative | None = None
    """Carbon intensity of the grid; left out, the catalog's of the location."""
    max_operational_t_per_year: Positive | None = None
    """Most CO2 of owned racks in a year, a hard limit; left out, none."""


class Water(Part):
    """Yearly cap of site water."""

    max_l_per_year: Positive | None = None
    """Most site water in a year, a hard limit; left out, none."""


class Lease(Part):
    """Colocation rent per contracted kW of hall IT; replaces building and power capex."""

    usd_per_kw_month: Positive
    """Rent of a contracted kW of hall IT power."""
    escalator_frac_per_year: Fraction | None = None
    """Yearly rise of the rent; left out, `finance/lease-escalator-frac-per-year`."""


class Staff(Part):
    """People at the site and what one costs in a year, all in."""

    people: NonNegative
    """Full-time people at the site, from its first use on."""
    usd_per_person_year: Positive | None = None
    """What one costs, all in; left out, `finance/staff-usd-per-person-year`."""


class Hall(Part):
    """A hall type; ``count`` alike halls are one type."""

    id: Key
    """Name of the hall type, used in keys and tables."""
    racks: Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
    """Rack positions, network and storage racks included."""
    rack_kw_max: Positive
    """Electrical limit of one rack, on rated power."""
    it_mw: Megawatts
    """IT power of the hall, rated: racks, network and storage together."""
    air_mw: NonNegative | None = None
    """Heat that the air path carries; left out, the cooling option's air_share_frac of it_mw."""
    liquid_mw: NonNegative | None = None
    """Heat that the liquid path carries; left out, the cooling option's liquid_share_frac of
    it_mw."""
    rack_kg_max: Positive | None = None
    """Floor limit of one rack; left out, none."""
    rack_units: Positive | None = None
    """Height of a rack; left out, `facility/rack-units`."""
    cooling: Annotated[tuple[str, ...], Field(min_length=1)]
    """Catalog cooling options to choose from; a hall takes one."""
    count: Annotated[int, Field(ge=1, le=1000, strict=True)] = 1
    """Alike halls of this type."""
    existing: bool = False
    """It stands already: only fit-out is paid, no building and no power blocks."""
    available_from: Quarter | None = None
    """First quarter of its use; left out, the start of the horizon."""
    fit_out_usd_per_kw: Positive | None = None
    """Price of racks' cooling and distribution for each kW of it_mw; left out, the cooling
    option's."""
    pue: AtLeastOne | None = None
    """Your own annual PUE for the hall, whatever its cooling; left out, the catalog's by climate
    and size."""
    peak_pue: AtLeastOne | None = None
    """Your own PUE on the design day, at least the annual one; left out, computed from the
    weather."""
    wue_l_per_kwh: NonNegative | None = None
    """Your own annual water use over IT energy; left out, computed."""


class Site(Part):
    """One place with one utility connection."""

    id: Key
    """Name of the site, used in keys and tables."""
    location: str
    """Row of the catalog kind sites: weather, energy price, grid carbon."""
    climate_zone: str | None = None
    """ASHRAE zone in place of the location's weather."""
    utility_mw: Series
    """Firm grid power, one number or by quarter as it is energised."""
    interruptible: tuple[Interruptible, ...] = ()
    """Grid power beside it that the utility may cut."""
    onsite: tuple[Onsite, ...] = ()
    """Plants that may be built at the site."""
    energy: Energy = Energy()
    """Tariff."""
    power: Power = Power()
    """Blocks of UPS and generators for new halls."""
    carbon: Carbon = Carbon()
    """Grid intensity and cap."""
    water: Water = Water()
    """Cap of site water."""
    lease: Lease | None = None
    """Colocation: rent in place of building and power capex."""
    staff: Staff | None = None
    """People; left out, their cost is in the facility's fixed cost."""
    halls: Annotated[tuple[Hall, ...], Field(min_length=1)]
    """Hall types of the site."""
