"""Indicators of a hall in a typical year, in the terms of EED and ESRS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.answers.common.indicators import WATER, Known, Report, rows_of
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption
from dcplan.energy.indicators import SiteYear
from dcplan.inputs.log import InputLog
from dcplan.result import Metric, Table
from dcplan.specs.facility import cooling, energy, hall
from dcplan.specs.sustainability import SUSTAINABILITY
from dcplan.units import HOURS_PER_YEAR, KW_PER_MW

YEAR = "typical"


def sustainability(
    option: CoolingOption, resolved: ResolvedFacility, metrics: Mapping[str, Metric], log: InputLog
) -> Table:
    """Return the indicators of one hall in a typical year.

    With plants on the site, the carbon of grid and plants is one sum, which no scope has alone.
    """
    plants = energy.ONSITE_CARBON.key in metrics
    total = _value(metrics, cooling.ANNUAL_ENERGY.key) or 0.0
    carbon = _value(metrics, cooling.CARBON.key)
    share = _value(metrics, energy.ONSITE_RENEWABLE.key) or 0.0
    sums = SiteYear(
        it_mwh=resolved.it_mw * resolved.load * HOURS_PER_YEAR,
        total_mwh=total,
        water_m3=_value(metrics, cooling.ANNUAL_WATER.key),
        own_mwh=share * total,
        carbon_t=carbon,
    )
    report = Report(
        year=YEAR,
        site=resolved.where.name,
        sums=sums,
        installed_it_kw=resolved.it_mw * KW_PER_MW,
        white_m2=_floor(metrics),
        **_heat(resolved.setting(option, log).supply_c, option, log),
        **_scopes(carbon, plants=plants),
        water=WATER if sums.water_m3 is not None else "the water of the option is unknown",
        capital_t=Known(None, "purchases are those of a plan: `dcplan plan`"),
        stressed_m3=Known(None, "the place is not in a scenario: `dcplan plan`"),
    )
    return SUSTAINABILITY.table(rows_of(report))


def _heat(supply_c: float | None, option: CoolingOption, log: InputLog) -> dict[str, Any]:
    """Return why no heat is reused, with the temperature that it would have."""
    why = "a plan sells heat: `sites: heat_reuse`"
    if supply_c is None or "liquid" not in option.accepts:
        return {"heat": why, "heat_c": Known(None, f"{why}; the option has no liquid loop")}
    back = supply_c + log.parameter("facility", "coolant-rise-k")
    warm = f"{why}; facility water returns from the racks at {back:g} C"
    return {"heat": why, "heat_c": Known(None, warm)}


def _floor(metrics: Mapping[str, Metric]) -> Known:
    area = _value(metrics, hall.FLOOR_AREA.key)
    if area is None:
        return Known(None, "--system gives the racks, whose rows have the area")
    return Known(area, "white space: rows of racks, aisles and perimeter")


def _scopes(carbon: float | None, *, plants: bool) -> dict[str, Any]:
    """Return scope 1 and 2 where they can be separated."""
    if plants:
        both = Known(None, "with --onsite, grid and plants are one sum: carbon.operational_t")
        names = ("scope1_t", "fuel_mwh", "location_t", "market_t")
        return dict.fromkeys(names, both)
    if carbon is None:
        return {}
    market = Known(carbon, "as location-based: `facility` knows no contracts")
    return {"location_t": Known(carbon, "energy times the carbon of the grid"), "market_t": market}


def _value(metrics: Mapping[str, Metric], key: str) -> float | None:
    found = metrics.get(key)
    return None if found is None or found.value is None else float(found.value)
