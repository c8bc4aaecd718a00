"""Sites, cooling options and what a site is built of."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from dcplan.catalog.schema.base import Row
from dcplan.catalog.schema.hardware import Cooling
from dcplan.provenance import Fraction, NonNegative, Positive, Quantity

SIZES = ("large", "midsize", "small")
"""Size classes of halls: from 10 MW of IT, from 1 to 10 MW, and below 1 MW."""


class Site(Row):
    """A metro: climate, tariff, grid. Missing climate or price is said, and the scenario must give
    it.
    """

    country: str
    """Two letters."""
    lat: float = Field(ge=-90, le=90)
    """Latitude. [degrees]"""
    lon: float = Field(ge=-180, le=180)
    """Longitude. [degrees]"""
    elevation_m: Quantity | None = None
    """Above the sea."""
    climate_zone: str | None = None
    """ASHRAE 169 zone, such as 4A."""
    climate: str | None = None
    """Key of ``climate_bins.csv``; None means: no bin table, the scenario names a zone or a file.
    """
    design_dry_bulb_c: Quantity | None = None
    """Exceeded in 0.4 % of the hours."""
    design_wet_bulb_c: Quantity | None = None
    """Exceeded in 0.4 % of the hours."""
    mean_dry_bulb_c: Quantity | None = None
    """Annual mean."""
    mean_wet_bulb_c: Quantity | None = None
    """Annual mean."""
    usd_per_kwh: Positive | None = None
    """Industrial price of energy, demand charges in it."""
    demand_usd_per_kw_month: NonNegative | None = None
    """Demand charge where one is listed."""
    grid_g_per_kwh: NonNegative | None = None
    """CO2 of the grid at the plants."""
    grid_lifecycle_g_per_kwh: NonNegative | None = None
    """The same over the life cycle; used where the other is missing."""


class CoolingOption(Row):
    """What a hall can be fitted with; PUE and WUE stand in ``pue.csv`` by size class and climate
    zone.
    """

    accepts: tuple[Cooling, ...] = Field(min_length=1)
    """Cooling modes of systems that it takes."""
    air_rack_kw_max: NonNegative
    """Heat one rack may leave in the room air (or give to its rear door)."""
    liquid_rack_kw_max: NonNegative
    """Heat one rack may leave in liquid."""
    air_share_frac: Fraction
    """Default of ``air_mw`` as a share of the hall's ``it_mw``."""
    liquid_share_frac: Fraction
    """Default of `liquid_mw` as a share of the hall's `it_mw`."""
    coolant_supply_c: Quantity | None = None
    """Supply temperature the option reaches on the design day; must not exceed what the system
    takes."""
    cdu_frac: Fraction | None = None
    """CDU pump power over liquid heat; inside the hall's electrical limit."""
    fan_frac: Fraction | None = None
    """Room fan power over air heat; inside the hall's electrical limit."""
    model: Literal["tower", "waterside", "dry"] | None = None
    """Component model of its PUE and WUE; without one they stand in ``pue.csv``."""
    supply: str | None = None
    """Parameter with the facility water's supply temperature that the model draws from."""
    plant: tuple[Literal["chiller", "tower", "dry-cooler"], ...] = ()
    """Equipment of its central plant."""
    room_air_frac: Fraction | None = None
    """Share of IT heat that room fans move, where the system does not say."""
    fit_out_usd_per_kw: Positive
    """Price for each kW of a hall's IT power."""


class PueRow(Row):
    """PUE and WUE of one cooling option, size class and climate zone (``all`` = pooled over
    zones).
    """

    cooling: str
    """Row of cooling."""
    size: Literal["large", "midsize", "small"]
    """Size class of the hall."""
    zone: str
    """ASHRAE zone."""
    pue: Positive
    """Annual mean."""
    peak_pue: Positive
    """On the design day."""
    wue_l_per_kwh: NonNegative | None = None
    """Site water over IT energy."""


class ReportedSite(Row):
    """PUE and WUE of a real site, to stand beside what is computed; nothing is fitted to it."""

    basis: Literal["measured", "reported"]
    """Measured by third parties, or told by the operator."""
    site: str | None = None
    """Catalog site of the same place."""
    zone: str | None = None
    """ASHRAE zone."""
    pue: Positive
    """Annual."""
    wue_l_per_kwh: NonNegative | None = None
    """Annual site water over IT energy."""


class OnsitePower(Row):
    """A source of power at the site, or a battery."""

    kind: Literal["turbine", "engine", "fuel-cell", "battery"]
    """What makes or keeps the power."""
    unit_mw: Positive | None = None
    """Smallest unit."""
    capex_usd_per_kw: Positive
    """Overnight cost."""
    fixed_usd_per_kw_year: NonNegative
    """Fixed operation and maintenance."""
    variable_usd_per_mwh: NonNegative
    """Variable cost without fuel."""
    heat_rate_gj_per_mwh: Positive | None = None
    """Fuel over electricity, lower heating value."""
    fuel: Literal["natural-gas", "diesel"] | None = None
    """What it burns."""
    g_co2_per_kwh: NonNegative | None = None
    """CO2 of what it makes."""
    min_load_frac: Fraction | None = None
    """Lowest load of a running unit."""
    lead_quarters: int = Field(ge=0)
    """From order to service."""
    hours: Positive | None = None
    """Battery: stored energy over power."""
    round_trip_frac: Fraction | None = None
    """Battery: energy out over energy in."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        stored, burnt = (
            ("hours", "round_trip_frac"),
            ("heat_rate_gj_per_mwh", "fuel", "g_co2_per_kwh"),
        )
        needed = stored if self.kind == "battery" else burnt
        lacking = [name for name in needed if getattr(self, name) is None]
        if lacking:
            msg = f"a {self.kind} needs {', '.join(lacking)}"
            raise ValueError(msg)
        return self
