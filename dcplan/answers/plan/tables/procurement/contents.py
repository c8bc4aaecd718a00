"""Vendor and contents of a purchase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.answers.plan.calendar import month_at
from dcplan.answers.plan.tables.procurement.alternatives import (
    NOT_NAMED,
    vendor_of_fabric,
    vendor_of_system,
)
from dcplan.catalog.schema import StorageTier
from dcplan.economics.cash_flow import AssetClass, Flow, Unit
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.upgrades import upgrade_bought
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.planning.problem.terms.links import link_of
from dcplan.scenario.load import Question
from dcplan.units import MONTHS_PER_QUARTER


@dataclass(frozen=True)
class Plan:
    """What the rows are computed from."""

    problem: PlanningProblem
    decisions: Decisions
    books: Accounts
    question: Question
    log: InputLog

    def month(self, quarter: int) -> str:
        """Return the first month of a quarter number."""
        return month_at(self.problem, quarter * MONTHS_PER_QUARTER)


def placement_of(plan: Plan, f: Flow) -> Placement | None:
    """Return the placement of the racks that a payment buys."""
    return next((p for p in plan.problem.placements if p.key == f.shared.place), None)


def vendor_of(plan: Plan, f: Flow) -> str:
    """Return the vendors of what a payment buys."""
    catalog, goods = plan.question.catalog, f.goods
    if goods is None:
        return NOT_NAMED
    if f.asset is AssetClass.NETWORK:
        options = (o for o in plan.problem.fabrics if (o.hall, o.id) == (goods.place, goods.item))
        option = next(options, None)
        return vendor_of_fabric(catalog, option) if option else NOT_NAMED
    if f.asset is AssetClass.STORAGE:
        rows = (catalog.find("storage_tiers", tier, StorageTier) for tier in _tiers(plan, f))
        return ", ".join(dict.fromkeys(r.vendor for r in rows if r and r.vendor)) or NOT_NAMED
    return vendor_of_system(catalog, goods.item)


def _tiers(plan: Plan, f: Flow) -> Iterable[str]:
    """Return the storage tiers that a payment buys, if the plan chooses them."""
    place = placement_of(plan, f)
    if place is not None:
        return [tier for tier, n in place.storage_blocks if n]
    halls = (h for h in plan.problem.halls if f.shared.place == (h.id,))
    return [tier for h in halls for tier, n in h.storage_blocks if n]


def contents_of(plan: Plan, f: Flow) -> str:
    """Describe racks by their nodes and accelerators, a network by its parts."""
    place, goods = placement_of(plan, f), f.goods
    if goods is None:
        return ""
    link = link_of(f, plan.problem.links)
    if link is not None:
        return f"end of the link: {link.optic}, {link.gbps:,.0f} Gb/s one way"
    upgrade = upgrade_bought(f, plan.problem.halls)
    if upgrade is not None:
        added = f", adds {upgrade.cooling}" if upgrade.cooling else ""
        return f"works of the hall, then {upgrade.after.it_mw:.4g} MW of IT{added}"
    if f.asset is AssetClass.NETWORK:
        total: dict[str, int] = defaultdict(int)
        for (_, part), n in plan.books.pieces_bought[goods.place, f.quarter].items():
            total[part] += n
        return ", ".join(f"{n:,} {PARTS[part]}" for part, n in total.items() if n > 0)
    if f.asset is AssetClass.STORAGE:
        return ", ".join(_tiers(plan, f))
    if place is None or goods.unit is not Unit.RACK:
        return ""
    nodes, accelerators = goods.quantity * place.nodes, goods.quantity * place.accelerators
    return f"{nodes:,.0f} nodes, {accelerators:,.0f} accelerators"


PARTS = {
    "leaf": "leaf switches",
    "spine": "spine switches",
    "core": "core switches",
    "switch optic": "switch transceivers",
    "node optic": "node transceivers",
    "cable": "cables",
}
"""Role of a part of a network -> its name."""
