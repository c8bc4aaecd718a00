"""Upgrades of an existing hall: price, works, and what the hall holds after each of them."""

from __future__ import annotations

from dataclasses import replace

from dcplan.inputs.excluded import ExcludedOption
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.hall import HallLoad
from dcplan.planning.problem.places.cooling import cooling_terms
from dcplan.planning.problem.terms import Capacity, CoolingTerms, HallTerms, UpgradeTerms
from dcplan.provenance import Quantity, Status
from dcplan.scenario.schema import Hall, Site, Upgrade

BEFORE = "as before the upgrade"


def with_upgrades(
    terms: HallTerms,
    hall: Hall,
    site: Site,
    load: HallLoad,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> HallTerms:
    """Return a hall with its upgrades; its limits are then the largest that it ever has.

    Without weather for its cooling option the hall holds nothing, before and after upgrades.
    """
    if not terms.coolings:
        return terms
    own = terms.coolings[0]
    start = Capacity(terms.racks, terms.it_mw, own.air_mw, own.liquid_mw)
    state, opens = start, terms.available_from
    upgrades, coolings = [], [own]
    for upgrade in hall.upgrades:
        key = f"sites.{site.id}.halls.{hall.id}.upgrades.{upgrade.id}"
        it_mw = log.take(f"{key}.it_mw", upgrade.it_mw) if upgrade.it_mw else state.it_mw
        after = replace(state, racks=upgrade.racks or state.racks, it_mw=it_mw)
        cooling = _cooling(after, hall, upgrade, site, load, log, excluded)
        if cooling is None:
            after = _heat(after, upgrade, key, log)
        else:
            after = replace(after, air_mw=cooling.air_mw, liquid_mw=cooling.liquid_mw)
            coolings.append(cooling)
        first = max(opens, upgrade.lead_quarters)
        upgrades.append(
            UpgradeTerms(
                id=upgrade.id,
                after=after,
                usd=log.take(f"{key}.usd", upgrade.usd),
                first=first,
                works=upgrade.works_quarters,
                lead=upgrade.lead_quarters,
                out_frac=log.take(f"{key}.out_of_service_frac", upgrade.out_of_service_frac)
                if upgrade.out_of_service_frac
                else 0.0,
                cooling=cooling.id if cooling else "",
            )
        )
        state, opens = after, first + upgrade.works_quarters
    states = (start, *(x.after for x in upgrades))
    air_mw, liquid_mw = max(x.air_mw for x in states), max(x.liquid_mw for x in states)
    return replace(
        terms,
        racks=max(x.racks for x in states),
        it_mw=max(x.it_mw for x in states),
        coolings=tuple(replace(c, air_mw=air_mw, liquid_mw=liquid_mw) for c in coolings),
        upgrades=tuple(upgrades),
        start=start,
    )


def _cooling(
    after: Capacity,
    hall: Hall,
    upgrade: Upgrade,
    site: Site,
    load: HallLoad,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> CoolingTerms | None:
    """Return the cooling option that an upgrade adds, with the heat capacity after it."""
    if upgrade.cooling is None:
        return None
    kept = Quantity(value=after.air_mw, status=Status.DERIVED, source=BEFORE)
    changed = hall.model_copy(
        update={
            "id": f"{hall.id}.upgrades.{upgrade.id}",
            "it_mw": Quantity(value=after.it_mw, status=Status.DERIVED),
            "air_mw": upgrade.air_mw or kept,
            "liquid_mw": upgrade.liquid_mw,
        }
    )
    found = cooling_terms(changed, site, load, upgrade.cooling, log, excluded, priced=False)
    if found is None or upgrade.rack_kw_max is None:
        return found
    most = log.take(f"sites.{site.id}.halls.{changed.id}.rack_kw_max", upgrade.rack_kw_max)
    return replace(found, rack_kw_max=most)


def _heat(after: Capacity, upgrade: Upgrade, key: str, log: InputLog) -> Capacity:
    """Return the capacity with the heat that an upgrade without a cooling option gives."""
    air, liquid = upgrade.air_mw, upgrade.liquid_mw
    return replace(
        after,
        air_mw=log.take(f"{key}.air_mw", air) if air else after.air_mw,
        liquid_mw=log.take(f"{key}.liquid_mw", liquid) if liquid else after.liquid_mw,
    )
