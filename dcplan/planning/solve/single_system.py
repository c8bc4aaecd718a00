"""Plans with fewer kinds of hardware in a hall.

The model sees shares of leaves, the bill has whole ones of each kind.

A second system of a hall has leaves of its own. In a small hall that costs more than the rack, and
the model's cost, a lower bound, does not show it. So where a plan mixes systems, each of them alone
is tried, too.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem

MOST = 3
"""Other menus tried; each takes as long as the plan did."""


def single_system(problem: PlanningProblem, d: Decisions) -> list[PlanningProblem]:
    """Menus in which the halls that mix systems are ordered for with one system.

    Or with what stands there alone.
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
