"""Water rights of sites by quarter, and the WUE of their cooling by calendar quarter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dcplan.catalog.schema import CoolingOption
from dcplan.inputs.cooling.performance import performance
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.terms import Cooled, CoolingTerms, HallTerms, SiteTerms
from dcplan.scenario.load import Question
from dcplan.units import QUARTERS_PER_YEAR


def with_rights(
    sites: Iterable[SiteTerms], question: Question, log: InputLog
) -> tuple[SiteTerms, ...]:
    """Return the sites with the water that each may take in a quarter."""
    given = {s.id: s.water.max_m3_per_quarter for s in question.scenario.sites}
    quarters = question.scenario.horizon.quarters
    return tuple(
        replace(
            site,
            water_right_m3=log.series(f"sites.{site.id}.water.max_m3_per_quarter", right, quarters),
        )
        if (right := given[site.id])
        else site
        for site in sites
    )


def with_seasons(
    halls: Iterable[HallTerms], sites: Iterable[SiteTerms], log: InputLog
) -> tuple[HallTerms, ...]:
    """Return the halls with the WUE of each calendar quarter, at sites with a water right."""
    limited = {site.id for site in sites if site.water_right_m3}
    return tuple(
        replace(hall, coolings=tuple(_seasonal(c, log) for c in hall.coolings))
        if hall.site in limited
        else hall
        for hall in halls
    )


def _seasonal(cooling: CoolingTerms, log: InputLog) -> CoolingTerms:
    """Return an option with its WUE by season, of the hall and of the systems with their own."""
    own = tuple(
        (system, replace(x, water_by_season=_seasons(x, log))) for system, x in cooling.by_system
    )
    return replace(cooling, water_by_season=_seasons(cooling.other, log), by_system=own)


def _seasons(cooled: Cooled, log: InputLog) -> tuple[float, ...]:
    """Return the WUE of each calendar quarter over that of the year; empty without weather."""
    if cooled.setting is None or cooled.wue_l_per_kwh <= 0.0:
        return ()
    row = log.catalog.get("cooling", cooled.id, CoolingOption)
    found = performance(row, cooled.setting, InputLog(log.catalog)).quarters
    mean = sum(wue for _, wue in found) / QUARTERS_PER_YEAR
    if len(found) != QUARTERS_PER_YEAR or mean <= 0.0:
        return ()
    return tuple(wue / mean for _, wue in found)
