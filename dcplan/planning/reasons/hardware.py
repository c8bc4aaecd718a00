"""Reasons why a given fleet, assets or orders do not fit in their halls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dcplan.errors import Problem
from dcplan.planning.problem.terms import (
    FleetTerms,
    HallTerms,
    Placement,
    PlanningProblem,
    SiteTerms,
)
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.units import KW_PER_MW


def fleet_problems(question: Question, problem: PlanningProblem) -> list[Problem]:
    """Return the problems of a given fleet: no fabric, or too few rack positions, ports or MW."""
    fleet = problem.fleet
    if fleet is None:
        return []
    placed = [p for p in problem.placements if (p.hall, p.system) == (fleet.hall, fleet.system)]
    if not placed:
        why = next((f": {x.reason}" for x in problem.excluded if x.id == fleet.system), "")
        cause = f"no fabric can connect the fleet of {fleet.system}{why}"
        help_text = "give `fabric:` or `fabrics:` for its port rate and protocol"
        return [question.tree.problem("DC033", cause, ("fleet",), help=help_text)]
    path = ("fleet", "accelerators")
    return [
        question.tree.problem("DC033", cause, path, help=help_text)
        for cause, help_text in _excesses(problem, fleet, placed)
    ]


def _excesses(
    problem: PlanningProblem, fleet: FleetTerms, placed: Sequence[Placement]
) -> Iterator[tuple[str, str]]:
    """Yield what a fleet exceeds in its best placement, with the next step."""
    hall, n = problem.hall(fleet.hall), fleet.accelerators
    slots = math.ceil(min(p.slots * n / p.accelerators for p in placed))
    have = hall.racks * hall.count
    if slots > have:
        yield f"the fleet needs {slots} rack positions, but {hall.id} has {have}", ""
    ports = min(math.ceil(n / p.accelerators) * p.ports for p in placed)
    classes = {p.port_class for p in placed}
    options = [o for o in problem.fabrics if o.hall == hall.id]
    reach = max((o.reach.get(c, 0) for o in options for c in classes), default=0)
    if ports > reach:
        yield (
            f"the fleet has {ports:,} NIC ports, but the largest allowed network in {hall.id} "
            f"reaches {reach:,}",
            "allow more tiers or planes, larger switches, or oversubscription",
        )
    design_kw = min(
        p.rated_kw * problem.cooled(p.key).peak_pue * n / p.accelerators for p in placed
    )
    mw, most_mw = design_kw / KW_PER_MW, _first_mw(problem.site(hall.site))
    if mw > most_mw:
        yield (
            f"the fleet needs {mw:.4g} MW on the design day, but {hall.site} has {most_mw:g} MW",
            "",
        )


def _first_mw(site: SiteTerms) -> float:
    """Return the power of a site in the first quarter: utility, tranches and plants."""
    plants = sum(o.unit_mw * o.most_units for o in site.onsite if not o.weather and o.lead == 0)
    return site.utility_mw[0] + (sum(x.mw[0] for x in site.tranches) + plants)


def existing_problems(question: Question, problem: PlanningProblem) -> list[Problem]:
    """Return the problems of assets in a hall that opens later, and of hardware that exceeds its hall."""
    return [
        question.tree.problem("DC033", cause, _existing_path(question, key), help=help_text)
        for hall in problem.halls
        for key, cause, help_text in _in_hall(problem, hall)
    ]


def _in_hall(problem: PlanningProblem, hall: HallTerms) -> Iterator[tuple[str, str, str]]:
    """Yield the asset or order, the cause and the next step of each problem of a hall."""
    placed = problem.placed
    mine = [x for x in problem.existing if x.key[0] == hall.id]
    first = next((x for x in mine if x.in_service), None)
    if first is not None and hall.available_from > 0:
        cause = f"{first.id} is in {hall.id}, which is available only from a later quarter"
        yield first.id, cause, ""
    staying = [x for x in mine if x.in_service or not x.disposal_window]
    slots = sum(placed[x.key].slots * x.racks for x in staying)
    kw = sum((placed[x.key].rated_kw + placed[x.key].overhead_kw) * x.racks for x in staying)
    now = hall.start or hall
    for what, need, have in (
        ("rack positions", slots, float(now.racks * hall.count)),
        ("MW of IT", kw / KW_PER_MW, now.it_mw * hall.count),
    ):
        if need > have * (1 + 1e-9):
            names = ", ".join(x.id for x in staying)
            cause = (
                f"{names}: existing and on-order hardware needs {need:.4g} {what}, but {hall.id} "
                f"has {have:.4g}"
            )
            help_text = "correct the hall or the hardware, or give orders a cancellation_fee_frac"
            yield staying[0].id, cause, help_text


def _existing_path(question: Question, key: str) -> Path:
    """Return the path of an asset or order."""
    kinds = {"assets": question.scenario.assets, "orders": question.scenario.orders}
    return next(
        (kind, i) for kind, found in kinds.items() for i, x in enumerate(found) if x.id == key
    )
