"""Sites, cooling options and parts of a site."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from dcplan.catalog.schema.base import Row, Strict
from dcplan.catalog.schema.hardware import Cooling
from dcplan.catalog.schema.ranges import Fraction, NonNegative, Positive
from dcplan.provenance import Quantity

SIZES = ("large", "midsize", "small")
"""Size classes of halls: at least 10 MW of IT, 1 to 10 MW, and below 1 MW."""


class Site(Row):
    """A metropolitan area: climate, tariff, grid. If climate or price is missing, the scenario must
    give it.
    """

    country: str
    """Country code of two letters."""
    lat: float = Field(ge=-90, le=90)
    """Latitude. [degrees]"""
    lon: float = Field(ge=-180, le=180)
    """Longitude. [degrees]"""
    elevation_m: Quantity | None = None
    """Elevation above sea level."""
    climate_zone: str | None = None
    """ASHRAE 169 climate zone, such as 4A."""
    climate: str | None = None
    """Key in ``climate_bins.csv``; None: no bin table, so the scenario names a zone or a file.
    """
    design_dry_bulb_c: Quantity | None = None
    """Design dry bulb, exceeded in 0.4 % of the hours."""
    design_wet_bulb_c: Quantity | None = None
    """Design wet bulb, exceeded in 0.4 % of the hours."""
    mean_dry_bulb_c: Quantity | None = None
    """Annual mean dry bulb."""
    mean_wet_bulb_c: Quantity | None = None
    """Annual mean wet bulb."""
    usd_per_kwh: Positive | None = None
    """Industrial price of energy, including demand charges."""
    demand_usd_per_kw_month: NonNegative | None = None
    """Demand charge, if listed."""
    grid_g_per_kwh: NonNegative | None = None
    """Carbon intensity of the grid at the power plants."""
    grid_lifecycle_g_per_kwh: NonNegative | None = None
    """Life-cycle carbon intensity of the grid; used if the other value is missing."""


class Tank(Strict):
    """Immersion tank of a cooling option; its heat limit is ``liquid_rack_kw_max``."""

    phase: Literal["single", "two"]
    """Whether the fluid stays liquid (single), or boils on the chips and condenses (two)."""
    fluid: str
    """Kind of fluid."""
    rack_units: Positive
    """Height of all servers in one tank, in which they stand upright."""
    rack_positions: int = Field(ge=1)
    """Rack positions that one tank occupies; it uses the feeds of all of them."""
    fluid_l: Positive
    """Fluid of one tank."""
    fluid_usd_per_l: Positive
    """Price of the fluid; the fit-out price includes it."""
    filled_kg: Positive
    """Weight of one tank with fluid and without servers."""
    water_max_c: Quantity
    """Maximum facility water temperature at which the tank removes its heat."""


class CoolingOption(Row):
    """A cooling option of a hall; ``pue.csv`` holds PUE and WUE by size class and climate zone."""

    accepts: tuple[Cooling, ...] = Field(min_length=1)
    """Cooling modes of systems that it supports."""
    air_rack_kw_max: NonNegative
    """Maximum heat of one rack to room air (or to its rear door)."""
    liquid_rack_kw_max: NonNegative
    """Maximum heat of one rack, or of one tank, to liquid."""
    air_share_frac: Fraction
    """Default of ``air_mw`` as a share of the hall's ``it_mw``."""
    liquid_share_frac: Fraction
    """Default of `liquid_mw` as a share of the hall's `it_mw`."""
    coolant_supply_c: Quantity | None = None
    """Supply temperature on the design day; it must not exceed the maximum of the system."""
    cdu_frac: Fraction | None = None
    """CDU pump power divided by liquid heat; counts in the hall's electrical limit."""
    fan_frac: Fraction | None = None
    """Room fan power divided by air heat; counts in the hall's electrical limit."""
    model: Literal["tower", "waterside", "dry"] | None = None
    """Component model of its PUE and WUE; without it they come from ``pue.csv``."""
    supply: str | None = None
    """Parameter with the supply temperature of facility water, which the model samples."""
    plant: tuple[Literal["chiller", "tower", "dry-cooler"], ...] = ()
    """Equipment of the central plant."""
    pump: str | None = None
    """Parameter with the pump power over the liquid heat, which the model samples. Default:
    `facility/cdu-pump-frac`."""
    room_air_frac: Fraction | None = None
    """Share of IT heat that room fans remove, if the system does not define it."""
    tank: Tank | None = None
    """Tank of an option that accepts immersion."""
    fit_out_usd_per_kw: Positive
    """Fit-out price per kW of a hall's IT power."""

    @property
    def takes_liquid(self) -> bool:
        """Return whether cold plates or a tank bring heat into liquid."""
        return bool({"liquid", "immersion"} & set(self.accepts))

    @model_validator(mode="after")
    def _tank(self) -> Self:
        if ("immersion" in self.accepts) != (self.tank is not None):
            msg = "an option that accepts immersion needs a tank, and no other option has one"
            raise ValueError(msg)
        return self


class PueRow(Row):
    """PUE and WUE of one cooling option, size class and climate zone (``all`` = pooled over
    zones).
    """

    cooling: str
    """Row of the catalog kind cooling."""
    size: Literal["large", "midsize", "small"]
    """Size class of the hall."""
    zone: str
    """ASHRAE climate zone."""
    pue: Positive
    """Annual mean PUE."""
    peak_pue: Positive
    """PUE on the design day."""
    wue_l_per_kwh: NonNegative | None = None
    """Site water per IT energy (WUE)."""
    losses_of: Literal["large", "midsize", "small"] | None = None
    """Size class whose losses before the racks the PUE contains, where the row repeats the value of
    another class; else those of its own."""


class ReportedSite(Row):
    """PUE and WUE of a real site, to compare with computed values; no parameter is fitted to it."""

    basis: Literal["measured", "reported"]
    """Measured by third parties, or reported by the operator."""
    site: str | None = None
    """Catalog site of the same place."""
    zone: str | None = None
    """ASHRAE climate zone."""
    pue: Positive
    """Annual PUE."""
    wue_l_per_kwh: NonNegative | None = None
    """Annual site water per IT energy (WUE)."""


WEATHER_KINDS = ("solar", "wind")
"""Kinds of on-site power whose output the weather sets."""
STEADY_KINDS = ("nuclear", "geothermal")
"""Kinds of on-site power that burn nothing and generate in all hours."""
RENEWABLE_KINDS = (*WEATHER_KINDS, "geothermal")
"""Kinds of on-site power whose source renews itself."""


class OnsitePower(Row):
    """On-site generation, or a battery."""

    kind: Literal[
        "turbine", "engine", "fuel-cell", "battery", "solar", "wind", "nuclear", "geothermal"
    ]
    """Technology of generation or storage."""
    unit_mw: Positive | None = None
    """Power of one unit."""
    capex_usd_per_kw: Positive
    """Overnight capital cost."""
    fixed_usd_per_kw_year: NonNegative
    """Fixed operation and maintenance cost."""
    variable_usd_per_mwh: NonNegative
    """Variable cost without fuel."""
    heat_rate_gj_per_mwh: Positive | None = None
    """Heat rate: fuel energy per electricity, lower heating value."""
    fuel: Literal["natural-gas", "diesel"] | None = None
    """Fuel."""
    g_co2_per_kwh: NonNegative | None = None
    """Carbon intensity of the generated energy."""
    min_load_frac: Fraction | None = None
    """Minimum load of a running unit."""
    rated_at_c: Quantity | None = None
    """Outdoor temperature of the rating."""
    derate_frac_per_k: Fraction | None = None
    """Loss of power per kelvin above the temperature of the rating."""
    derate_frac_per_m: Fraction | None = None
    """Loss of power per meter of elevation."""
    planned_outage_h_per_year: NonNegative | None = None
    """Planned outage of one unit per year."""
    forced_outage_frac: Fraction | None = None
    """Share of the time outside planned outages in which a unit has failed."""
    lead_quarters: int = Field(ge=0)
    """Lead time from order to service."""
    life_years: Positive | None = None
    """Years after which the plant is built again."""
    hours: Positive | None = None
    """Duration of a battery: stored energy divided by power."""
    round_trip_frac: Fraction | None = None
    """Round-trip efficiency of a battery: energy out divided by energy in."""
    embodied_kg_per_kw: NonNegative | None = None
    """Embodied carbon per kW of rating, cradle to gate."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        stored, burnt = (
            ("hours", "round_trip_frac"),
            ("heat_rate_gj_per_mwh", "fuel", "g_co2_per_kwh"),
        )
        own: dict[str, tuple[str, ...]] = {"battery": stored, "solar": (), "wind": ()}
        own |= dict.fromkeys(STEADY_KINDS, ("g_co2_per_kwh",))
        needed = own.get(self.kind, burnt)
        lacking = [name for name in needed if getattr(self, name) is None]
        if lacking:
            msg = f"a {self.kind} needs {', '.join(lacking)}"
            raise ValueError(msg)
        return self
