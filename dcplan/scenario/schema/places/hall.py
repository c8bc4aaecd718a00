"""Halls of a site: their limits, the price of their fit-out, and upgrades of existing halls."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import Fraction, Megawatts, NonNegative, Positive, Pue, Series
from dcplan.scenario.schema.base import CountOrZero, Key, Part, Quarter
from dcplan.scenario.schema.places.power import HallPower

Racks = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]


class Upgrade(Part):
    """A retrofit of an existing hall, which the plan may order once or not at all. Upgrades of a hall
    follow each other in their order. One that only lowers power, positions or heat capacity is an
    error; one that adds a cooling option or raises another of them may.
    """

    id: Key
    """Name of the upgrade, used in keys and tables."""
    usd: Positive
    """Price of all its works, due in the quarter in which they begin."""
    cooling: str | None = None
    """Catalog cooling option that systems may also use after the works. Default: those of before."""
    it_mw: Megawatts | None = None
    """Limit on rated IT power of the hall after the works. Default: as before."""
    racks: Racks | None = None
    """Rack positions after the works. Default: as before."""
    rack_kw_max: Positive | None = None
    """Electrical limit of one rack under its cooling option. Default: that of the hall."""
    air_mw: NonNegative | None = None
    """Heat rejection capacity of the air path after the works. Default: as before."""
    liquid_mw: NonNegative | None = None
    """Heat rejection capacity of the liquid path after the works. Default: the liquid_share_frac of
    `cooling` of the IT power after the works; as before without `cooling`."""
    lead_quarters: CountOrZero = 0
    """Quarters from its order to the begin of its works."""
    works_quarters: CountOrZero = 0
    """Quarters from the begin of its works to the first quarter with its capacity."""
    out_of_service_frac: Fraction | None = None
    """Share of the rack positions, IT power and heat capacity of before that is out of service during
    the works. Default: none."""


class Hall(Part):
    """A hall type; ``count`` is the number of identical halls."""

    id: Key
    """Name of the hall type, used in keys and tables."""
    racks: Racks
    """Rack positions, including network and storage racks."""
    rack_kw_max: Positive
    """Electrical limit of one rack, applied to rated power."""
    it_mw: Megawatts
    """Limit on rated IT power of the hall: racks, network and storage together."""
    air_mw: NonNegative | None = None
    """Heat rejection capacity of the air path. Default: the cooling option's air_share_frac of
    it_mw."""
    liquid_mw: NonNegative | None = None
    """Heat rejection capacity of the liquid path. Default: the cooling option's liquid_share_frac
    of it_mw."""
    rack_kg_max: Positive | None = None
    """Weight limit of one rack. Default: no limit."""
    rack_units: Positive | None = None
    """Height of a rack. Default: `facility/rack-units`."""
    cooling: Annotated[tuple[str, ...], Field(min_length=1)]
    """Catalog cooling options to choose from; each hall uses one."""
    count: Annotated[int, Field(ge=1, le=1000, strict=True)] = 1
    """Number of identical halls of this type."""
    modules: Annotated[int, Field(ge=1, le=1000, strict=True)] = 1
    """Equal parts in which a hall is built, each paid when a plan needs it. `racks`, `it_mw`, `air_mw`
    and `liquid_mw` are those of the whole hall; `racks` must be a multiple of it."""
    existing: bool = False
    """Whether the hall already exists: only fit-out is paid, no building and no power blocks."""
    available_from: Quarter | None = None
    """First quarter of use. Default: the start of the horizon."""
    lead_quarters: CountOrZero | None = None
    """Quarters from the order of a hall or a module, or of the fit-out of an existing shell, to its
    use. The price is due in the quarter of first use. Default: none."""
    building_usd_per_kw: Positive | None = None
    """Price of the shell, or of a prefabricated module, per kW of it_mw. Default:
    `power/building-shell-usd-per-mw` of facility power."""
    power_included: bool = False
    """Whether the price of a prefabricated module has its UPS and generators: the site buys no power
    blocks for it."""
    fit_out_mw_per_quarter: Positive | None = None
    """IT power that can be fitted out in a quarter, the first in the first quarter of use. A hall in
    modules opens them at this pace. Default: no limit."""
    energized_mw: Series | None = None
    """IT power of all halls of the type that the feeders of the hall carry, one number or one per
    quarter as energization proceeds. Default: `it_mw`."""
    fit_out_usd_per_kw: Positive | None = None
    """Fit-out price of cooling and rack power distribution per kW of it_mw. Default: the price of
    the cooling option."""
    pue: Pue | None = None
    """Your own annual PUE of the hall, for any cooling option. Default: computed from weather, size,
    systems and power blocks, or the catalog value by climate and size with the losses of the blocks."""
    peak_pue: Pue | None = None
    """Your own PUE on the design day, at least the annual PUE. Default: computed from the
    weather."""
    wue_l_per_kwh: NonNegative | None = None
    """Your own annual WUE, water per IT energy. Default: computed."""

    upgrades: tuple[Upgrade, ...] = ()
    """Retrofits of an existing hall with one cooling option, each with price, lead time and downtime.
    The plan chooses whether and when."""

    power: HallPower | None = None
    """Power chain of a hall that exists or is leased. Default: that of the site."""

    @model_validator(mode="after")
    def _whole_modules(self) -> Hall:
        if self.racks % self.modules:
            code = "modules"
            text = "racks ({racks}) must be a multiple of modules ({modules})"
            raise PydanticCustomError(code, text, {"racks": self.racks, "modules": self.modules})
        return self

    @model_validator(mode="after")
    def _peak_above_mean(self) -> Hall:
        if self.pue is not None and self.peak_pue is not None:
            annual, peak = self.pue.value, self.peak_pue.value
            if peak < annual:
                code, text = (
                    "peak_pue",
                    "peak_pue ({peak}) must be at least the annual pue ({annual})",
                )
                raise PydanticCustomError(code, text, {"peak": peak, "annual": annual})
        return self
