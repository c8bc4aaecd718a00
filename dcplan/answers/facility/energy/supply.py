"""Everything that supplies a hall: the grid, plants with their units, and batteries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.facility.energy.plants import Built, built, by_weather, stored
from dcplan.answers.facility.energy.profiles import profiles_of, sunshine_of
from dcplan.answers.facility.energy.year import Array, Year
from dcplan.answers.facility.request import amounts_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import OnsitePower
from dcplan.energy.dispatch import Battery, Source
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.units import KW_PER_MW

BATTERY = "battery"


@dataclass(frozen=True)
class Asked:
    """The sources of the request: rows, power, profiles, and the grid."""

    rows: Mapping[str, OnsitePower]
    mw: Mapping[str, float]
    profiles: Mapping[str, Array]
    grid: Source | None
    utility_mw: float
    grid_carbon_known: bool


@dataclass(frozen=True)
class Supply:
    """The sources as they are built."""

    asked: Asked
    plants: tuple[Built, ...]
    batteries: dict[str, tuple[OnsitePower, float, Battery]]
    """Row, rated power and battery by name."""

    @property
    def sources(self) -> list[Source]:
        """Grid and plants."""
        grid = self.asked.grid
        return [*([grid] if grid else []), *(b.source for b in self.plants)]

    @property
    def firm_mw(self) -> float:
        """Power to count on at the design day, without spare units and batteries [MW]."""
        return self.asked.utility_mw + sum(b.design_mw for b in self.plants)


def asked_of(resolved: ResolvedFacility, year: Year, peak_mw: float, log: InputLog) -> Asked:
    """Return the sources of the request.

    Raises
    ------
    InputError
        When a source is unknown, an amount is out of range, a profile lacks, or the grid has no
        known tariff.
    """
    request = resolved.request
    chosen = amounts_of(request.onsite)
    rows = {name: named(log.catalog, "onsite", name, OnsitePower, "--onsite") for name in chosen}
    utility = peak_mw if request.utility_mw is None else request.utility_mw
    grid, known = _grid(resolved, utility, year, log) if utility > 0 else (None, True)
    file, dry = request.epw, year.dry_c
    sunny = (lambda: sunshine_of(Path(file), dry, log)) if file and dry is not None else None
    profiles = profiles_of(request.profile, rows, sunny)
    return Asked(rows, chosen, profiles, grid, utility, known)


def supply_of(
    asked: Asked, mw: Mapping[str, float], resolved: ResolvedFacility, year: Year, log: InputLog
) -> Supply:
    """Return the sources as they are built for the power of each.

    For plants, it is the power on the design day; for others, the rating.
    """
    plants: list[Built] = []
    batteries: dict[str, tuple[OnsitePower, float, Battery]] = {}
    for name, power in mw.items():
        row = asked.rows[name]
        if row.kind == BATTERY:
            batteries[name] = (row, power, stored(row, power, log))
        elif name in asked.profiles:
            plants.append(by_weather(row, power, asked.profiles[name], log))
        else:
            plants.append(built(row, power, year, resolved, log))
    return Supply(asked, tuple(plants), batteries)


def _grid(
    resolved: ResolvedFacility, utility_mw: float, year: Year, log: InputLog
) -> tuple[Source, bool]:
    """Return the grid outside its cuts, and whether its carbon is known."""
    where = resolved.where
    price = where.site.usd_per_kwh if where.site else None
    if price is None:
        cause = "the grid tariff is known only for catalog sites: use --site or set --utility-mw 0"
        raise InputError([Problem("DC062", cause, Place("--utility-mw"), help="--site")])
    carbon = where.site.grid_g_per_kwh if where.site else None
    usd = log.take(f"sites.{where.name}.usd_per_kwh", price) * KW_PER_MW
    mw = np.where(year.cut, 0.0, utility_mw)
    return Source("grid", mw, usd, carbon.value if carbon else 0.0), carbon is not None
