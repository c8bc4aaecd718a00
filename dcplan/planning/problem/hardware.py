"""Hardware of a plan: systems in halls, with the fabrics, storage and cloud offers around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.catalog.schema import System
from dcplan.errors import InputError
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.hall import HallLoad, blocks_of
from dcplan.planning.problem.existing.places import connected, existing_placements
from dcplan.planning.problem.existing.racks import existing_terms
from dcplan.planning.problem.fabrics.options import fabric_options, without_slow
from dcplan.planning.problem.finance import finance_terms
from dcplan.planning.problem.placement import placements
from dcplan.planning.problem.places.hall import hall_terms, home_of
from dcplan.planning.problem.storage import PlanStorage, chosen_storage, with_data_set, with_storage
from dcplan.planning.problem.storage_tiers import tier_prices
from dcplan.planning.problem.systems import SystemTerms, requested_systems, system_terms
from dcplan.planning.problem.terms import (
    ExistingTerms,
    FabricOption,
    FinanceTerms,
    FleetTerms,
    HallTerms,
    Placement,
    SiteTerms,
)
from dcplan.scenario.checks.existing import hall_of
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Existing, Fleet, Hall, Scenario


@dataclass(frozen=True)
class Hardware:
    """Halls with everything that a plan may place in them or that is there."""

    halls: dict[str, HallTerms]
    placed: list[Placement]
    fabrics: list[FabricOption]
    orderable: frozenset[str]
    """Systems that may be ordered."""
    fleet: FleetTerms | None
    existing: tuple[ExistingTerms, ...]
    storage: PlanStorage
    finance: FinanceTerms


def hardware_of(
    question: Question, log: InputLog, sites: tuple[SiteTerms, ...], excluded: list[ExcludedOption]
) -> Hardware:
    """Return the hardware of a plan; what cannot be used is added to ``excluded``.

    Raises
    ------
    InputError
        If given hardware does not fit its hall, or has no power or price.
    """
    scenario = question.scenario
    halls: dict[str, HallTerms] = {}
    given: dict[str, Hall] = {}
    unsold: list[ExcludedOption] = []
    wanted = requested_systems(scenario, log, unsold)
    for site, backup in zip(scenario.sites, sites, strict=True):
        for hall in site.halls:
            rows = _rows(question, wanted, f"{site.id}/{hall.id}")
            load = HallLoad.of(hall, rows, blocks_of(hall, site.id, backup.blocks, log), log)
            terms = hall_terms(hall, site, load, question, log, excluded)
            halls[terms.id], given[terms.id] = terms, hall
    excluded += unsold
    placed, fleet = _placements(question, log, wanted, halls, given, excluded)
    placed = existing_placements(question, log, halls, given, placed, excluded)
    fabrics = [
        o for hall in halls.values() for o in _fabrics(hall, placed, question, log, excluded)
    ]
    fabrics = connected(question, halls, fabrics, excluded)
    finance = finance_terms(scenario, log)
    by_id = {s.id: s for s in sites}
    prices = tier_prices(halls, by_id, finance, scenario.horizon.start)
    storage = chosen_storage(question, log, prices)
    placed = with_storage(_connected(placed, fabrics, excluded), storage)
    home = home_of(scenario)
    halls[home] = with_data_set(halls[home], question, log, storage)
    return Hardware(
        halls=halls,
        placed=placed,
        fabrics=fabrics,
        orderable=frozenset(s.row.id for s in wanted),
        fleet=fleet,
        existing=existing_terms(question, log, halls, placed, excluded),
        storage=storage,
        finance=finance,
    )


def _rows(question: Question, wanted: Sequence[SystemTerms], hall: str) -> tuple[System, ...]:
    """Return the systems that may stand in a hall: those to buy, its fleet, its assets and orders."""
    scenario = question.scenario
    there = [x.system for x in (*scenario.assets, *scenario.orders) if _home(x, scenario) == hall]
    if scenario.fleet is not None and home_of(scenario) == hall:
        there.append(scenario.fleet.system)
    rows = {s.row.id: s.row for s in wanted}
    found = (question.catalog.get("systems", name, System) for name in there)
    return tuple((rows | {row.id: row for row in found}).values())


def _home(entry: Existing, scenario: Scenario) -> str | None:
    place = hall_of(entry, scenario)
    return None if place is None else f"{place[0]}/{place[1].id}"


def _placements(
    question: Question,
    log: InputLog,
    wanted: list[SystemTerms],
    halls: dict[str, HallTerms],
    given: dict[str, Hall],
    excluded: list[ExcludedOption],
) -> tuple[list[Placement], FleetTerms | None]:
    scenario = question.scenario
    per_su = scenario.fabric.nodes_per_su if scenario.fabric else None
    placed = [
        p
        for system in wanted
        for key, hall in halls.items()
        for p in placements(system, hall, given[key], log, excluded, nodes_per_su=per_su)
    ]
    if scenario.fleet is None:
        return placed, None
    own = _fleet_placements(question, log, scenario.fleet, halls, given, excluded)
    terms = FleetTerms(own[0].hall, own[0].system, scenario.fleet.accelerators)
    others = [p for p in placed if (p.hall, p.system) != (terms.hall, terms.system)]
    return others + own, terms


def _fleet_placements(
    question: Question,
    log: InputLog,
    fleet: Fleet,
    halls: dict[str, HallTerms],
    given: dict[str, Hall],
    excluded: list[ExcludedOption],
) -> list[Placement]:
    """Return the placements of a given fleet in its hall; there is at least one."""
    scenario = question.scenario
    per_su = scenario.fabric.nodes_per_su if scenario.fabric else None
    row = log.catalog.get("systems", fleet.system, System)
    site = fleet.site or scenario.sites[0].id
    name = fleet.hall or next(s for s in scenario.sites if s.id == site).halls[0].id
    hall = halls[f"{site}/{name}"]
    for field, value in (("rated_kw", row.rated_kw), ("price_usd", row.price_usd)):
        if value is None:
            cause = f"fleet: {row.id} has no {field}; give it under prices"
            raise InputError([question.tree.problem("DC003", cause, ("fleet", "system"))])
    busy = (
        log.take("fleet.utilization_frac", fleet.utilization_frac)
        if fleet.utilization_frac
        else 0.0
    )
    own = placements(
        system_terms(row, scenario, log),
        hall,
        given[hall.id],
        log,
        excluded,
        fleet.nodes_per_rack,
        per_su,
        busy,
        fleet.accelerators // row.accelerators,
    )
    if not own:
        reasons = "; ".join(f"{x.where}: {x.reason}" for x in excluded if x.id == row.id)
        raise InputError(
            [
                question.tree.problem(
                    "DC033", f"fleet: {row.id} does not fit {hall.id}: {reasons}", ("fleet",)
                )
            ]
        )
    return own


def _fabrics(
    hall: HallTerms,
    placed: list[Placement],
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> list[FabricOption]:
    own = [p for p in placed if p.hall == hall.id]
    if not own:
        return []
    found = fabric_options(hall, own, question.scenario, log, excluded)
    # a demand in FLOP/s counts the slowest fabric of a hall
    return without_slow(found, excluded) if _referenced(question) else found


def _referenced(question: Question) -> bool:
    work = question.scenario.workloads
    given = [*(c.reference for c in work.capacity), *(c.reference for c in work.queue)]
    return any(x is not None for x in given)


def _connected(
    placed: list[Placement], fabrics: list[FabricOption], excluded: list[ExcludedOption]
) -> list[Placement]:
    """Return the placements that a fabric of their hall can connect."""
    served = {(o.hall, c) for o in fabrics for c in o.shares}
    kept = []
    for p in placed:
        if (p.hall, p.port_class) in served:
            kept.append(p)
        else:
            protocols = "/".join(p.port_class.protocols)
            reason = f"no allowed fabric connects its {p.port_class.gbps:g} Gb/s {protocols} ports"
            excluded.append(ExcludedOption(Kind.SYSTEM, p.system, f"{p.hall} {p.cooling}", reason))
    return kept
