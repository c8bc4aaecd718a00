"""Racks of a plan: ordered, given, or existing."""

from __future__ import annotations

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import ExistingTerms, Placement, PlanningProblem
from dcplan.result import Table
from dcplan.specs.plan import decided as specs

GIVEN, TO_ORDER = "given by the scenario", "to order (this plan)"
"""What a plan does with racks, in the table."""


def racks(problem: PlanningProblem, d: Decisions) -> Table:
    """Return the racks of every order, of the given fleet and of existing or on-order hardware."""
    placed = {p.key: p for p in problem.placements}
    entries = [(0, key, n, GIVEN) for key, n in d.fleet.items()]
    entries += [
        (order[3], order[:3], own, TO_ORDER)
        for order, n in d.ordered.items()
        if (own := n - d.leased_racks(order)) or not n
    ]
    entries += [(t, (h, c, k), n, f"to lease ({x})") for (h, c, k, x, t), n in d.leased.items()]
    rows = [
        _bought(problem, placed[key], t, n, how)
        for t, key, n, how in sorted(entries, key=lambda e: (e[0], e[1]))
    ]
    return specs.RACKS.table(
        [*rows, *(_existing(problem, d, x, placed[x.key]) for x in problem.existing)]
    )


def _bought(problem: PlanningProblem, p: Placement, t: int, n: int, how: str) -> specs.RacksRow:
    """Return the row of one order, of its racks under a lease, or of the given fleet."""
    return specs.RacksRow(
        order_quarter=quarter_at(problem, t),
        serves_from=quarter_at(problem, t if how == GIVEN else t + p.lead),
        hall=p.hall,
        cooling=p.cooling,
        system=p.system,
        racks=n,
        nodes_per_rack=p.nodes,
        accelerators=n * p.accelerators,
        rated_kw=round(n * p.rated_kw, 6),
        price_usd=n * p.rack_usd(t),
        decision=how,
        node_limit=p.fit_reason,
    )


def _existing(
    problem: PlanningProblem, d: Decisions, x: ExistingTerms, p: Placement
) -> specs.RacksRow:
    """Return the row of existing or on-order hardware: racks kept, and racks sold or cancelled."""
    disposed = {t: n for (i, t), n in sorted(d.disposed.items()) if i == x.id}
    word = "cancelled" if x.cancel_usd is not None else "sold"
    disposals = "".join(
        f", {n} racks {word} in {quarter_at(problem, t)}" for t, n in disposed.items()
    )
    kind = "already in service" if x.in_service else "already on order"
    kept = x.racks - sum(disposed.values())
    return specs.RacksRow(
        order_quarter=None,
        serves_from=None if x.in_service else quarter_at(problem, x.first),
        hall=p.hall,
        cooling=p.cooling,
        system=p.system,
        racks=kept,
        nodes_per_rack=p.nodes,
        accelerators=kept * p.accelerators,
        rated_kw=round(kept * p.rated_kw, 6),
        price_usd=kept * x.due_usd,
        decision=f"{kind}{disposals}",
        asset_and_end=f"{x.id}, until {quarter_at(problem, x.last)}",
    )
