"""Places of existing and on-order hardware: its halls, racks and fabrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.catalog.schema import Fabric, System
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.placement import placements
from dcplan.planning.problem.systems import system_terms
from dcplan.planning.problem.terms import FabricOption, HallTerms, Placement
from dcplan.scenario.checks.existing import hall_of
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Asset, Hall, Order


@dataclass(frozen=True)
class Where:
    """Hardware with its resolved place."""

    entry: Asset | Order
    hall: str
    cooling: str
    system: System


def entries_of(question: Question, halls: dict[str, HallTerms]) -> list[Where]:
    """Return assets and orders with their hall and cooling."""
    found = []
    entries: list[Asset | Order] = [*question.scenario.assets, *question.scenario.orders]
    for entry in entries:
        place = hall_of(entry, question.scenario)
        if place is None:  # the checks of the scenario report the place
            msg = f"{entry.id} has no hall"
            raise ValueError(msg)
        hall = halls[f"{place[0]}/{place[1].id}"]
        row = question.catalog.get("systems", entry.system, System)
        found.append(Where(entry, hall.id, entry.cooling or place[1].cooling[0], row))
    return found


def existing_placements(
    question: Question,
    log: InputLog,
    halls: dict[str, HallTerms],
    given: dict[str, Hall],
    placed: list[Placement],
    excluded: list[ExcludedOption],
) -> list[Placement]:
    """Add the placements of existing and on-order hardware.

    They are placements that the plan may not order, or with another number of nodes per rack.
    """
    per_su = question.scenario.fabric.nodes_per_su if question.scenario.fabric else None
    groups: dict[tuple[str, str], list[Where]] = defaultdict(list)
    for item in entries_of(question, halls):
        groups[item.hall, item.system.id].append(item)
    for (hall, system), items in groups.items():
        nodes = items[0].entry.nodes_per_rack
        there = any((p.hall, p.system) == (hall, system) for p in placed)
        if there and nodes is None:
            continue
        total = sum(x.entry.accelerators for x in items) // items[0].system.accelerators
        own = placements(
            system_terms(items[0].system, question.scenario, log),
            halls[hall],
            given[hall],
            log,
            excluded,
            nodes,
            per_su,
            0.0,
            None if there else total,
        )
        placed = [p for p in placed if (p.hall, p.system) != (hall, system)] + own
    return placed


def connected(
    question: Question,
    halls: dict[str, HallTerms],
    fabrics: Sequence[FabricOption],
    excluded: list[ExcludedOption],
) -> list[FabricOption]:
    """Return the fabric options; a hall with assets keeps only the family of its assets."""
    own = {
        x.hall: question.catalog.get("fabrics", x.entry.fabric, Fabric).id
        for x in entries_of(question, halls)
        if isinstance(x.entry, Asset) and x.entry.fabric
    }
    kept = []
    for option in fabrics:
        if own.get(option.hall, option.family) == option.family:
            kept.append(option)
        else:
            excluded.append(
                ExcludedOption(
                    Kind.FABRIC,
                    option.id,
                    option.hall,
                    f"the assets of the hall use {own[option.hall]}",
                )
            )
    return kept
