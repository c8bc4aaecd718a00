"""A site of a plan in the hours of a typical year: PUE, water, weather, and power of its plants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.answers.plan.replay.given import Given
from dcplan.catalog.schema import CoolingOption, OnsitePower
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.facility.climate import Climate
from dcplan.inputs.cooling.hours import hours_of
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.plants import Outdoors, derating, taken
from dcplan.inputs.power.weather import QUARTER_HOURS, bins_by_hour, hours_of_quarter
from dcplan.planning.problem.places.cooling import site_weather
from dcplan.planning.problem.terms import Cooled
from dcplan.scenario.schema import Site
from dcplan.units import HOURS_PER_QUARTER, QUARTERS_PER_YEAR, TYPICAL_YEAR_HOURS

Array = npt.NDArray[np.float64]
YEAR_WEIGHTS = np.concatenate([np.full(n, HOURS_PER_QUARTER / n) for n in QUARTER_HOURS])
"""Length of each hour of the typical year: four equal quarters of 2,191.5 hours."""


@dataclass(frozen=True)
class Shape:
    """PUE and water of one system under one cooling option of one hall by hour."""

    pue: Array
    wue_l_per_kwh: Array
    by_hour: bool
    """False for an option from the table, which has one PUE for all hours."""

    @property
    def mean_pue(self) -> float:
        """Mean of the hours of the year."""
        return float(np.average(self.pue, weights=YEAR_WEIGHTS))

    @property
    def mean_wue_l_per_kwh(self) -> float:
        """Mean of the hours of the year."""
        return float(np.average(self.wue_l_per_kwh, weights=YEAR_WEIGHTS))


@dataclass(frozen=True)
class UnitHours:
    """A unit of an on-site plant in the typical year."""

    derated: Array
    """Power over rating."""
    planned_out_h: float
    forced_frac: float


@dataclass(frozen=True)
class SiteShapes:
    """What a site has in the hours of the typical year."""

    dry_c: Array | None
    halls: dict[tuple[str, str, str], Shape]
    """By hall, cooling option and system; network and storage have no system."""
    units: dict[str, UnitHours]
    prices: Array | None
    """Prices of a file; None without one. [USD/MWh]"""
    notes: tuple[str, ...]

    @property
    def mildest_hour(self) -> int:
        """First hour of the quarter with the lowest PUE."""
        quarters = [hours_of_quarter(q) for q in range(QUARTERS_PER_YEAR)]
        if not self.halls:
            return 0
        means = [sum(float(x.pue[q].mean()) for x in self.halls.values()) for q in quarters]
        least = min(means)
        flat = max(means) - least < 1e-9 * least
        return 0 if flat else int(quarters[means.index(least)].start)


def shapes_of(
    site: Site,
    used: dict[tuple[str, str, str], Cooled],
    plants: list[str],
    given: Given,
    log: InputLog,
) -> SiteShapes:
    """Return the hours of a site for the cooling options and the plants with units that its plan uses."""
    packaged = site_weather(site, log)
    weather = given.weather.get(site.id, packaged)
    dry = weather.dry_c[bins_by_hour(weather, log)] if weather is not None else None
    shapes = {key: _shape(terms, (packaged, weather), log) for key, terms in used.items()}
    flat = dict.fromkeys(option for (_, option, _), x in shapes.items() if not x.by_hour)
    notes = [
        f"{site.id}: {option} has one PUE for all hours, because it comes from a table by climate zone"
        for option in flat
    ]
    location = log.catalog.get("sites", site.location, CatalogSite)
    at = Outdoors(dry, weather.design_dry_c if weather else None, location)
    units = {}
    for name in plants:
        units[name], more = _unit(log.catalog.get("onsite", name, OnsitePower), at, log)
        notes += [f"{site.id}: {note}" for note in more]
    return SiteShapes(dry, shapes, units, given.prices.get(site.id), tuple(notes))


def _shape(terms: Cooled, weathers: tuple[Climate | None, Climate | None], log: InputLog) -> Shape:
    """Return PUE and water by hour, scaled so that the packaged weather has the plan's year.

    The hours of a file keep the same scale, so their mean may differ from the plan's. Water is the
    mean over the samples: the median is 0 in hours in which less than half of them spray.
    """
    row = log.catalog.get("cooling", terms.id, CoolingOption)
    packaged, weather = weathers
    if row.model is None or terms.setting is None or packaged is None or weather is None:
        one = np.ones(TYPICAL_YEAR_HOURS)
        return Shape(terms.pue * one, terms.wue_l_per_kwh * one, by_hour=False)
    base = hours_of(row, terms.setting, packaged, log)
    own = base if weather is packaged else hours_of(row, terms.setting, weather, log)
    found = []
    for of_base, of_own, mean, middle in (
        (base.pue, own.pue, terms.pue, np.median),
        (base.wue_l_per_kwh, own.wue_l_per_kwh, terms.wue_l_per_kwh, np.mean),
    ):
        year, hours = (
            middle(x, axis=0)[bins_by_hour(w, log)]
            for x, w in ((of_base, packaged), (of_own, weather))
        )
        found.append(scaled_hours(hours, year, mean))
    return Shape(found[0], found[1], by_hour=True)


def scaled_hours(hours: Array, year: Array, mean: float) -> Array:
    """Return the hours with the scale at which a year has a mean; flat where the year has nothing.

    Examples
    --------
    >>> year = np.full(TYPICAL_YEAR_HOURS, 2.0)
    >>> float(scaled_hours(1.5 * year, year, 3.0).mean()), float(scaled_hours(year, 0.0 * year, 3.0).mean())
    (4.5, 3.0)
    """
    before = float(np.average(year, weights=YEAR_WEIGHTS))
    return hours * (mean / before) if before > 0.0 else np.full(hours.size, mean)


def _unit(row: OnsitePower, at: Outdoors, log: InputLog) -> tuple[UnitHours, tuple[str, ...]]:
    hourly, _, notes = derating(row, at, log)
    planned, forced = (
        taken(row, key, log) for key in ("planned_outage_h_per_year", "forced_outage_frac")
    )
    return UnitHours(hourly, planned, forced), notes
