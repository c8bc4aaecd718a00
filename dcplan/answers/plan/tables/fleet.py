"""The fleet of a plan by quarter, whatever its origin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.audit.rent.use import use_by_month
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Table
from dcplan.specs.plan import fleet as specs
from dcplan.specs.plan.fleet import Origin
from dcplan.units import MONTHS_PER_QUARTER

Lot = tuple[str, str, Origin]
"""Hall, system and origin."""


def fleet(problem: PlanningProblem, d: Decisions) -> Table:
    """Return the accelerators in service by quarter, hall, system and origin, and those rented.

    The racks of a hall and system sum to those that the audit counts.
    """
    rows = [*_owned(problem, d), *_rented(problem, d)]
    return specs.FLEET.table(sorted(rows, key=lambda r: (r.quarter, r.hall, r.system, r.origin)))


def _racks(problem: PlanningProblem, d: Decisions) -> dict[Lot, list[tuple[int, int]]]:
    """Return racks and accelerators by quarter of every lot."""
    placed = {p.key: p for p in problem.placements}
    life, quarters = problem.finance.life_quarters, range(problem.quarters)
    found: dict[Lot, list[tuple[int, int]]] = defaultdict(lambda: [(0, 0)] * problem.quarters)

    def add(key: tuple[str, str, str], origin: Origin, t: int, racks: int) -> None:
        of = found[key[0], key[2], origin]
        n, accelerators = of[t]
        of[t] = n + racks, accelerators + racks * placed[key].accelerators

    for t in quarters:
        for key, n in d.fleet.items():
            if t < life:
                add(key, Origin.GIVEN, t, n)
        for x in problem.existing:
            origin = Origin.BEFORE if x.in_service else Origin.ON_ORDER
            if x.serves(t):
                add(x.key, origin, t, d.existing_racks(x, t))
        for (h, c, k, q), n in d.ordered.items():
            if q + placed[h, c, k].lead <= t < q + placed[h, c, k].lead + life:
                add((h, c, k), Origin.ORDERED, t, n)
        for key in {(h, c, k) for h, c, k, _, _ in d.leased}:
            add(key, Origin.ORDERED, t, -d.returned(problem, key, t))
    return found


def _owned(problem: PlanningProblem, d: Decisions) -> Iterator[specs.FleetRow]:
    for (hall, system, origin), counts in _racks(problem, d).items():
        before = counts[0] if origin is Origin.BEFORE else (0, 0)
        for t, (racks, accelerators) in enumerate(counts):
            change = accelerators - before[1]
            if racks or before[0]:
                yield specs.FleetRow(
                    quarter=quarter_at(problem, t),
                    hall=hall,
                    system=system,
                    origin=origin.value,
                    racks=racks,
                    accelerators=accelerators,
                    arrived=max(change, 0),
                    left=max(-change, 0),
                )
            before = racks, accelerators


def _rented(problem: PlanningProblem, d: Decisions) -> Iterator[specs.FleetRow]:
    for offer in problem.offers:
        use = use_by_month(problem, d, offer)
        for t in range(problem.quarters):
            first = t * MONTHS_PER_QUARTER
            months = range(first, first + MONTHS_PER_QUARTER)
            mean = sum(use.get(m, 0.0) for m in months) / MONTHS_PER_QUARTER
            if mean > 0.0:
                yield specs.FleetRow(
                    quarter=quarter_at(problem, t),
                    hall="",
                    system=offer.id,
                    origin=Origin.RENTED.value,
                    racks=None,
                    accelerators=mean,
                    arrived=None,
                    left=None,
                )
