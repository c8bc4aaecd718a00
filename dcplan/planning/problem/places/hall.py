"""Halls of a scenario with each of their cooling options."""

from __future__ import annotations

from dcplan.inputs.excluded import ExcludedOption
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.hall import HallLoad
from dcplan.planning.problem.places.cooling import cooling_terms
from dcplan.planning.problem.places.upgrades import with_upgrades
from dcplan.planning.problem.storage import given_storage
from dcplan.planning.problem.terms import HallTerms
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Hall, Scenario, Site
from dcplan.units import KW_PER_MW, quarter_index


def hall_terms(
    hall: Hall,
    site: Site,
    load: HallLoad,
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> HallTerms:
    """Resolve one hall type and each of its cooling options."""
    scenario = question.scenario
    key = f"sites.{site.id}.halls.{hall.id}"
    it_mw = log.take(f"{key}.it_mw", hall.it_mw) / hall.modules
    coolings = [
        terms
        for option in hall.cooling
        if (terms := cooling_terms(hall, site, load, option, log, excluded)) is not None
    ]
    start = quarter_index(scenario.horizon.start)
    available = quarter_index(hall.available_from) - start if hall.available_from else 0
    lead = hall.lead_quarters
    pace, feeders = hall.fit_out_mw_per_quarter, hall.energized_mw
    storage = (
        given_storage(question, log)
        if home_of(scenario) == f"{site.id}/{hall.id}"
        else (0.0, 0.0, 0.0)
    )
    built = HallTerms(
        id=f"{site.id}/{hall.id}",
        site=site.id,
        name=hall.id,
        count=hall.count * hall.modules,
        racks=hall.racks // hall.modules,
        it_mw=it_mw,
        existing=hall.existing,
        available_from=max(available, lead or 0),
        needs_blocks=not hall.existing and site.lease is None and not hall.power_included,
        redundancy=load.redundancy,
        coolings=tuple(coolings),
        rack_units=log.chosen(f"{key}.rack_units", hall.rack_units, "facility", "rack-units"),
        full_kw=it_mw * KW_PER_MW * log.parameter("facility", "full-hall-frac"),
        storage_kw=storage[0],
        storage_racks=storage[1],
        storage_usd=storage[2],
        lead=0 if lead is None else int(log.assumed(f"{key}.lead_quarters", lead, lead)),
        fit_out_mw_per_quarter=log.take(f"{key}.fit_out_mw_per_quarter", pace) if pace else None,
        energized_mw=log.series(f"{key}.energized_mw", feeders, scenario.horizon.quarters)
        if feeders
        else (),
    )
    return with_upgrades(built, hall, site, load, log, excluded) if hall.upgrades else built


def home_of(scenario: Scenario) -> str:
    """Return the hall of storage that the scenario names.

    It is the hall of the fleet, or the first hall of the first site.
    """
    home_site = (scenario.fleet and scenario.fleet.site) or scenario.sites[0].id
    first = next(s for s in scenario.sites if s.id == home_site).halls[0].id
    return f"{home_site}/{(scenario.fleet and scenario.fleet.hall) or first}"
