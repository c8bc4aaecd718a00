"""Sites and halls: where the hardware may stand and what limits it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dcplan.provenance import AtLeastOne, Fraction, Megawatts, NonNegative, Positive, Series, YearHours
from dcplan.scenario.schema.base import CountOrZero, Key, Part, Quarter

Redundancy = Literal["n", "n+1", "2n", "4n/3", "3n/2"]


class Energy(Part):
    """Tariff of a site; what is left out comes from ``catalogs/sites``."""

    usd_per_kwh: Series | None = None
    demand_usd_per_kw_month: NonNegative | None = None
    minimum_take_frac: Fraction | None = None
    """Billed kW = max(peak, fraction x utility_mw of that quarter), once the site is used."""


class Power(Part):
    """Backup power: blocks of UPS and generators with a redundancy rule; only new halls pay for them."""

    redundancy: Redundancy | None = None
    block_mw: Positive | None = None
    usd_per_kw: Positive | None = None
    lead_quarters: CountOrZero | None = None
    """From the order of blocks to their service: no new hall is powered before; left out, they are there at once."""


class Interruptible(Part):
    """A grid tranche that the utility may cut: cheaper or sooner than firm power, paid in paused work."""

    id: Key
    mw: Series
    available_from: Quarter | None = None
    """Quarter of its energisation; left out, the start of the horizon."""
    hours_per_year: YearHours
    """Hours in which it may be cut; the load on it pauses then."""


class Onsite(Part):
    """Power made at the site: bridging until the grid comes, or for good. A row of ``catalogs/power/onsite.yaml``."""

    id: str
    max_mw: Positive
    spare_units: CountOrZero = 1
    """Units beyond those that carry load, once any serves."""
    lead_quarters: CountOrZero | None = None
    usd_per_mwh: Positive | None = None
    """Energy bought under a contract (PPA behind the meter): replaces capital, fixed cost and fuel."""


class Carbon(Part):
    """Grid intensity and yearly cap of operational carbon."""

    grid_g_per_kwh: NonNegative | None = None
    max_operational_t_per_year: Positive | None = None


class Water(Part):
    """Yearly cap of site water."""

    max_l_per_year: Positive | None = None


class Lease(Part):
    """Colocation rent per contracted kW of hall IT; replaces building and power capex."""

    usd_per_kw_month: Positive
    escalator_frac_per_year: Fraction | None = None


class Staff(Part):
    """People at the site and what one costs in a year, all in."""

    people: NonNegative
    usd_per_person_year: Positive | None = None


class Hall(Part):
    """A hall type; ``count`` alike halls are one type (DESIGN section 2, Halls)."""

    id: Key
    racks: Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
    rack_kw_max: Positive
    it_mw: Megawatts
    air_mw: NonNegative | None = None
    liquid_mw: NonNegative | None = None
    rack_kg_max: Positive | None = None
    rack_units: Positive | None = None
    cooling: Annotated[tuple[str, ...], Field(min_length=1)]
    count: Annotated[int, Field(ge=1, le=1000, strict=True)] = 1
    existing: bool = False
    available_from: Quarter | None = None
    fit_out_usd_per_kw: Positive | None = None
    pue: AtLeastOne | None = None
    """Your own annual PUE for the hall, whatever its cooling; left out, the catalog's by climate and size."""
    peak_pue: AtLeastOne | None = None
    wue_l_per_kwh: NonNegative | None = None


class Site(Part):
    """One place with one utility connection."""

    id: Key
    location: str
    climate_zone: str | None = None
    utility_mw: Series
    interruptible: tuple[Interruptible, ...] = ()
    onsite: tuple[Onsite, ...] = ()
    energy: Energy = Energy()
    power: Power = Power()
    carbon: Carbon = Carbon()
    water: Water = Water()
    lease: Lease | None = None
    staff: Staff | None = None
    halls: Annotated[tuple[Hall, ...], Field(min_length=1)]
