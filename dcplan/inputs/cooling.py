"""PUE and WUE of a cooling option at a place, from its components or from a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.catalog.schema import CoolingOption, Parameter, PueRow, Site
from dcplan.catalog.weather import bins
from dcplan.facility.climate import Climate, climate
from dcplan.facility.cooling import (
    Hours,
    Loads,
    Spread,
    electrical_loss,
    over_dry_coolers,
    over_towers,
)
from dcplan.facility.dry_coolers import over_kept_coolers
from dcplan.facility.electrical.chain import Branch, losses_frac
from dcplan.facility.plant import electrical_frac
from dcplan.facility.pue import LARGE, PueEntry, Sizes, lookup
from dcplan.facility.sample import draw
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import chain_at, chain_values
from dcplan.inputs.power.lighting import Range
from dcplan.provenance import Quantity, Status

LIGHTING = {"lighting": "lighting"}
CLASS_LOSSES = {"ups": "ups-efficiency", "distribution": "distribution-loss"}
"""Losses before the racks of a size class, where no power chain is given."""
UPS_FIXED = {"ups_fixed_frac": "ups-fixed-frac"}
COMMON = {
    "fan_pa": "fan-pa",
    "fan_efficiency": "fan-efficiency",
    "air_rise_k": "air-rise-k",
    "facility_rise_k": "facility-rise-k",
    "pump_efficiency": "pump-efficiency",
    "facility_head_kpa": "facility-head-kpa",
    "tower_fan_efficiency": "tower-fan-efficiency",
    "cdu_frac": "cdu-pump-frac",
    "pump_fixed_frac": "pump-fixed-frac",
    "air_j_per_m3_k": "air-heat-j-per-m3-k",
    "water_kj_per_kg_k": "water-heat-kj-per-kg-k",
    "vaporisation_kj_per_kg": "water-vaporisation-kj-per-kg",
}
TOWER = {
    "chiller_load": "chiller-load",
    "chiller_cop_factor": "chiller-cop-factor",
    "cycles": "cycles-of-concentration",
    "tower_approach_k": "tower-approach-k",
    "exchanger_approach_k": "exchanger-approach-k",
    "tower_range_k": "tower-range-k",
    "windage_frac": "windage-frac",
    "tower_head_kpa": "tower-head-kpa",
    "tower_fan_pa": "tower-fan-pa",
    "liquid_to_air": "liquid-to-air",
    "air_kg_per_m3": "air-kg-per-m3",
    "condenser_min_c": "condenser-min-c",
    "least_cop": "chiller-least-cop",
    "room_water_c": "room-water-max-c",
}
WATERSIDE = TOWER | {"fan_pa": "fan-waterside-pa", "tower_head_kpa": "tower-head-waterside-kpa"}
DRY = {
    "dry_approach_k": "dry-approach-k",
    "spray_approach_k": "spray-approach-k",
    "dry_air_rise_k": "dry-air-rise-k",
    "dry_fan_pa": "dry-fan-pa",
}
CHILLERS = {
    key: TOWER[key]
    for key in ("chiller_load", "chiller_cop_factor", "condenser_min_c", "least_cop")
}
KEPT = CHILLERS | {
    "cooler_approach_k": "cooler-approach-k",
    "cooler_fan_k": "cooler-fan-k",
    "cooler_air_to_water": "cooler-air-to-water",
    "cooler_air_exponent": "cooler-air-exponent",
    "cooler_air_resistance_frac": "cooler-air-resistance-frac",
    "cooler_least_flow_frac": "cooler-least-flow-frac",
    "pad_saturation_frac": "pad-saturation-frac",
    "room_water_c": "room-water-max-c",
}
"""Dry coolers, pads and chillers of a design with its own supply temperature."""
CHILLER_PRICE = "cooling-air-chiller-usd-per-kw"
SOURCE = (
    "dcplan facility: components with the weather of the place, or Lei et al. 2025 by climate zone"
)
MODELS = {"tower": TOWER, "waterside": WATERSIDE, "dry": DRY}


@dataclass(frozen=True)
class Setting:
    """Operating conditions of a cooling option."""

    name: str
    zone: str | None
    climate: Climate | None
    sizes: Sizes
    air_frac: float
    """Share of IT heat that room fans remove."""
    load: float = 1.0
    supply_c: float | None = None
    """Supply temperature of facility water; None: the option's range. [C]"""
    branches: tuple[Branch, ...] = ()
    """Load classes behind power blocks, whose losses count; empty: the losses of a size class."""
    lighting: Range | None = None
    """Lighting over IT power by floor area; None: that of the size class. [-]"""


@dataclass(frozen=True)
class Performance:
    """Annual performance of an option; quarters, chillers and spread only for modeled options."""

    pue: Spread
    wue_l_per_kwh: Spread | None
    peak_pue: float
    peak_wue_l_per_kwh: float | None
    quarters: tuple[tuple[float, float], ...]
    """PUE and WUE of each quarter."""
    chiller_frac: float | None
    peak_chilled: float | None
    """Heat that chillers remove on the design day, as a share of IT power."""
    peak_rejected: float | None
    """Heat that towers or dry coolers reject on the design day, as a share of IT power."""
    modeled: bool
    bin_pues: tuple[float, ...] = ()
    """PUE in each bin of the weather; empty for tabulated options."""

    def mean(self, of: Spread) -> Quantity:
        """Return the annual PUE or WUE as a plan input, with its spread."""
        status = Status.DERIVED if self.modeled else Status.CATALOG
        low, high = min(of.low, of.value), max(of.high, of.value)
        return Quantity(value=of.value, low=low, high=high, status=status, source=SOURCE)

    def peak(self) -> Quantity:
        """Return the design-day PUE as a plan input."""
        return Quantity(
            value=self.peak_pue,
            status=Status.DERIVED if self.modeled else Status.ESTIMATE,
            source=SOURCE,
        )


def performance(option: CoolingOption, at: Setting, log: InputLog) -> Performance:
    """Return PUE and WUE of an option under its operating conditions.

    Raises
    ------
    LookupError
        If the option is neither modeled with the weather of the place nor tabulated for its zone.
    """
    if option.model is None or at.climate is None:
        return _tabulated(option, at, log)
    weather = at.climate
    year = hours_of(option, at, weather, log)
    dry, wet = weather.design_dry_c, weather.design_wet_c
    hot = Climate(
        weather.place, np.array([2]), np.array([dry]), np.array([wet]), np.array([1.0]), dry, wet
    )
    full = replace(at, load=1.0)
    worst = hours_of(option, full, hot, log)
    built = year if at.load >= 1.0 else hours_of(option, full, weather, log)
    pue, wue = weather.mean(year.pue), weather.mean(year.wue_l_per_kwh)
    by_quarter = [np.median(weather.by_quarter(x), axis=0) for x in (year.pue, year.wue_l_per_kwh)]
    # medians are not additive, so the quarters are scaled to average to the year
    means = [float(np.median(whole)) for whole in (pue, wue)]
    rows = np.stack(
        [x * (m / max(float(x.mean()), 1e-12)) for x, m in zip(by_quarter, means, strict=True)],
        axis=1,
    )
    quarters = tuple((float(p), float(w)) for p, w in rows)
    worst_bin = float(np.median(built.wue_l_per_kwh, axis=0).max())
    return Performance(
        Spread.of(pue),
        Spread.of(wue),
        max(float(np.median(worst.pue)), float(np.median(weather.mean(built.pue)))),
        max(float(np.median(worst.wue_l_per_kwh)), worst_bin),
        quarters,
        float(np.median(weather.mean(year.chiller_frac))),
        float(np.median(worst.chilled)),
        float(np.median(worst.rejected)),
        modeled=True,
        bin_pues=tuple(np.median(year.pue, axis=0).tolist()),
    )


def hours_of(option: CoolingOption, at: Setting, weather: Climate, log: InputLog) -> Hours:
    """Compute all samples of the model for every bin of the weather."""
    sampled = _sampled(option, at, log)
    supply = sampled["supply"] if at.supply_c is None else np.full((1, 1), at.supply_c)
    loads = _loads(option, at)
    if option.model != "dry":
        dry_c = None if at.supply_c is None else weather.dry_c
        return over_towers(weather.wet_c, supply, sampled, loads, dry_c)
    over = over_dry_coolers if at.supply_c is None else over_kept_coolers
    return over(weather.dry_c, weather.wet_c, supply, sampled, loads)


def _loads(option: CoolingOption, at: Setting) -> Loads:
    liquid = option.model != "waterside"
    designed = at.supply_c is not None
    return Loads(at.air_frac, liquid, not liquid, at.load, designed, at.branches)


def losses_frac_now(option: CoolingOption, at: Setting, log: InputLog) -> float:
    """Return losses before the racks and lighting over IT power, at the load and catalog values."""
    keys = {} if at.branches else CLASS_LOSSES | UPS_FIXED
    values = {name: np.array(sized_parameter(key, at.sizes, log)[1]) for name, key in keys.items()}
    values["lighting"] = np.array(lighting_range(at.lighting, at.sizes, log)[1])
    if at.branches:
        values |= chain_values(at.branches, log)
    return float(electrical_loss(values, _loads(option, at)))


def _keys(option: CoolingOption, at: Setting) -> dict[str, str]:
    """Return the catalog row of every parameter of the model, without its size class."""
    keys = LIGHTING | COMMON
    if not at.branches:
        keys |= CLASS_LOSSES | UPS_FIXED
    keys["cdu_frac"] = option.pump or "cdu-pump-frac"
    if at.supply_c is None:
        keys["supply"] = option.supply or "supply-tower-c"
    kept = option.model == "dry" and at.supply_c is not None
    return keys | (KEPT if kept else MODELS[option.model or "tower"])


def _sampled(option: CoolingOption, at: Setting, log: InputLog) -> dict[str, np.ndarray]:
    """Sample every parameter of the model between its catalog bounds.

    Parameters without a range are constants.
    """
    spread, fixed = {}, {}
    for name, key in _keys(option, at).items():
        low, value, high = (
            lighting_range(at.lighting, at.sizes, log)
            if name == "lighting"
            else sized_parameter(key, at.sizes, log)
        )
        if low < high:
            spread[name] = (low, high)
        else:
            fixed[name] = np.full((1, 1), value)
    if not at.branches:
        return draw(spread) | fixed
    # sampled in the places of the class losses, so that all other samples are the same
    found = draw(spread | dict.fromkeys((*CLASS_LOSSES, *UPS_FIXED), (0.0, 1.0)))
    ranks = [found.pop(name) for name in (*CLASS_LOSSES, *UPS_FIXED)]
    return found | chain_at(ranks[0], at.branches, log) | fixed


def sized_parameter(key: str, sizes: Sizes, log: InputLog) -> tuple[float, float, float]:
    """Return low, value and high of a parameter of a hall, between its size classes by weight.

    A class without a row of its own has the row without a class.
    """
    low = value = high = 0.0
    for size, weight in sizes:
        sized = f"{key}-{size}"
        own = sized if sized in log.catalog.rows["facility"] else key
        value += weight * log.parameter("facility", own)
        bounds = log.catalog.get("facility", own, Parameter).value.bounds
        low, high = low + weight * bounds[0], high + weight * bounds[1]
    return low, value, high


def lighting_range(by_area: Range | None, sizes: Sizes, log: InputLog) -> Range:
    """Return low, value and high of lighting over IT power: by floor area, or of the size classes.

    The class of large halls keeps its own value, whose range has that of dense racks.
    """
    if by_area is None:
        return sized_parameter(LIGHTING["lighting"], sizes, log)
    large = tuple((size, weight) for size, weight in sizes if size == LARGE)
    low, value, high = sized_parameter(LIGHTING["lighting"], large, log)
    rest = 1.0 - sum(weight for _, weight in large)
    return low + rest * by_area[0], value + rest * by_area[1], high + rest * by_area[2]


def _tabulated(option: CoolingOption, at: Setting, log: InputLog) -> Performance:
    """Return the rows of the table for the size classes of the hall, by weight."""
    rows = [(_row(option, size, at, log), weight) for size, weight in at.sizes]
    for row, _ in rows:
        for name in ("pue", "peak_pue", "wue_l_per_kwh"):
            if getattr(row, name):
                log.take(f"pue.{row.id}.{name}", getattr(row, name))
    pue = _weighted([(row.pue, weight) for row, weight in rows])
    peak = _weighted([(row.peak_pue, weight) for row, weight in rows])
    water = [(row.wue_l_per_kwh, weight) for row, weight in rows if row.wue_l_per_kwh]
    change = _chain_less_class(at, rows, log)
    return Performance(
        Spread(pue.low + change, pue.value + change, pue.high + change),
        _weighted(water) if len(water) == len(rows) else None,
        max(pue.value, peak.value) + change,
        None,
        (),
        None,
        None,
        None,
        modeled=False,
    )


def _chain_less_class(at: Setting, rows: Sequence[tuple[PueRow, float]], log: InputLog) -> float:
    """Return the losses of the chain less those of the size classes, which the table contains."""
    if not at.branches:
        return 0.0
    inside = sum(
        weight * hall_losses_frac((), ((row.losses_of or row.size, 1.0),), log)
        for row, weight in rows
    )
    return hall_losses_frac(at.branches, at.sizes, log) - inside


def hall_losses_frac(branches: tuple[Branch, ...], sizes: Sizes, log: InputLog) -> float:
    """Return losses before the racks over IT power, of a full hall, at the catalog values.

    They are those of the load classes behind blocks; without any, those of the size class.
    """
    if branches:
        return float(losses_frac(branches, 1.0, chain_values(branches, log)))
    ups, distribution = (
        np.array(sized_parameter(key, sizes, log)[1]) for key in CLASS_LOSSES.values()
    )
    return float(electrical_frac(ups, distribution, np.zeros_like(ups)))


def _row(option: CoolingOption, size: str, at: Setting, log: InputLog) -> PueRow:
    """Return the row of the table for a size class and the zone, or for all zones."""
    rows = log.catalog.table("pue", PueRow).values()
    entries = [
        PueEntry(
            r.cooling,
            r.size,
            r.zone,
            r.pue.value,
            r.peak_pue.value,
            r.wue_l_per_kwh.value if r.wue_l_per_kwh else None,
        )
        for r in rows
    ]
    entry = lookup(entries, option.id, size, at.zone or "all")
    if entry is None:
        msg = f"the catalog has no PUE of {option.id} for a {size} hall in zone {at.zone or 'unknown'}"
        raise LookupError(msg)
    return log.catalog.get("pue", f"{option.id}-{size}-{entry.zone.lower()}", PueRow)


def _weighted(rows: Sequence[tuple[Quantity, float]]) -> Spread:
    low, value, high = (
        sum(weight * x for x, (_, weight) in zip(values, rows, strict=True))
        for values in zip(*((q.bounds[0], q.value, q.bounds[1]) for q, _ in rows), strict=True)
    )
    return Spread(low, value, high)


def chillers_usd_per_kw(option: CoolingOption, found: Performance, log: InputLog) -> float:
    """Return the price of chillers for the design day, which the fit-out does not have [USD/kW of IT].

    It is 0 for options whose fit-out has chillers: air handlers, and options from the table.
    """
    if option.model not in ("tower", "dry") or not found.peak_chilled:
        return 0.0
    return found.peak_chilled * log.parameter("power", CHILLER_PRICE)


def weather_of(place: str | None, dry: Quantity | None, wet: Quantity | None) -> Climate | None:
    """Return weather and design day of a place in the packaged bin table; None if it is not there.

    Raises
    ------
    ValueError
        If the table is out of range.
    """
    rows = bins().get(place) if place else None
    if rows is None or place is None:
        return None
    design = (dry.value if dry else None, wet.value if wet else None)
    dry_c, wet_c, hours = (np.array(c) for c in (rows.dry_c, rows.wet_c, rows.hours))
    return climate(place, np.array(rows.quarter), dry_c, wet_c, hours, design)


def weather_at(site: Site) -> Climate | None:
    """Return the weather of a catalog site, or of its zone's city; None if neither is known.

    Hours of the city come with the design day of the city, or of the site if that is hotter, so
    that no hour is worse than the design day of the plant. South of the equator, the seasons are
    exchanged.
    """
    dry, wet = site.design_dry_bulb_c, site.design_wet_bulb_c
    if site.climate is not None:
        return weather_of(site.climate, dry, wet)
    city = weather_of(f"zone-{site.climate_zone}", None, None)
    if city is None:
        return None
    hotter = [
        max(x.value, own) if x else own
        for x, own in ((dry, city.design_dry_c), (wet, city.design_wet_c))
    ]
    quarter = (city.quarter + 2) % 4 if site.lat < 0 else city.quarter
    return replace(city, quarter=quarter, design_dry_c=hotter[0], design_wet_c=hotter[1])
