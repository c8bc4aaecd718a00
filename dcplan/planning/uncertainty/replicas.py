"""Accelerators of a plan's replicas: what each service may use in a sampled scenario."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms

P = tuple[str, str, str]


def serving_limits(problem: PlanningProblem, d: Decisions) -> dict[tuple[str, P, int], float]:
    """Return the accelerators of each service without its spares, by demand, placement and quarter.

    The replicas of the plan stay. Idle accelerators hold further complete replicas of the services
    that the plan has there, one service after the other.
    """
    found: dict[tuple[str, P, int], float] = {}
    for place in problem.placements:
        here = [x for x in problem.demands if (place.hall, place.system) in x.replica]
        for t in range(problem.quarters) if here else ():
            counts = {x.id: d.replicas.get((x.id, *place.key, t), 0) for x in here}
            _fill(problem, d, place, here, counts, t)
            for x in here:
                serving = max(counts[x.id] - x.spare_replicas, 0)
                size = x.replica[place.hall, place.system].accelerators
                found[x.id, place.key, t] = float(size * serving)
    return found


def _fill(
    problem: PlanningProblem,
    d: Decisions,
    place: Placement,
    here: Sequence[DemandTerms],
    counts: dict[str, int],
    t: int,
) -> None:
    """Add complete replicas of the services in a placement to its idle accelerators."""
    key, size = place.key, {x.id: x.replica[place.hall, place.system].accelerators for x in here}
    busy = d.training.get((*key, t), 0.0) + d.paused.get((*key, t), 0.0)
    room = [d.powered(problem, key, t) * place.accelerators - busy for _ in problem.periods]
    for x in problem.demands:
        own = size[x.id] * counts[x.id] if x.id in size else d.serving.get((x.id, *key, t), 0.0)
        room = [r - own if x.active(p) else r for p, r in enumerate(room)]
    waiting = [x for x in here if counts[x.id] > x.spare_replicas]
    while waiting:
        x = waiting.pop(0)
        active = [p for p in range(len(room)) if x.active(p)]
        if all(room[p] >= size[x.id] for p in active):
            counts[x.id] += 1
            room = [r - size[x.id] if p in active else r for p, r in enumerate(room)]
            waiting.append(x)
