"""Problems with one system per hall.

A second system of a hall has its own leaf switches. In a small hall they cost more than the rack,
and the model's cost, a lower bound with shares of leaf switches, does not show it. If a plan mixes
systems in a hall, each system is therefore also planned alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem

MOST = 3
"""Maximum number of other problems tried; each takes as long as the plan."""


def single_system(problem: PlanningProblem, d: Decisions) -> list[PlanningProblem]:
    """Return problems in which halls with several systems order only one system.

    The first uses only the existing systems of such halls.
    """
    kinds: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for (h, _, k, _), n in d.ordered.items():
        kinds[h][k] += n
    there: dict[str, set[str]] = defaultdict(set)
    for x in problem.existing:
        there[x.key[0]].add(x.key[2])
    if problem.fleet:
        there[problem.fleet.hall].add(problem.fleet.system)
    mixed = {h for h, found in kinds.items() if len(found.keys() | there[h]) > 1}
    if not mixed:
        return []
    racks: dict[str, int] = defaultdict(int)
    for h in mixed:
        for k, n in kinds[h].items():
            racks[k] += n
    wanted = sorted(racks, key=lambda k: (-racks[k], k))
    keeps = [{h: {k} for h in mixed} for k in wanted]
    if any(there[h] for h in mixed):
        keeps.insert(0, {h: there[h] or kinds[h].keys() for h in mixed})  # type: ignore[misc]
    systems = {(p.hall, p.system) for p in problem.placements if p.system not in problem.forced}
    return [
        replace(
            problem,
            closed=problem.closed | {(h, k) for h, k in systems if h in mixed and k not in keep[h]},
        )
        for keep in keeps[:MOST]
    ]
