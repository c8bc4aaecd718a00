"""Sums that divide a large model: new halls by quarter, hall units, fabric reach, sites in use."""

from __future__ import annotations

from collections import defaultdict

from dcplan.planning.decisions import DECISIONS, FABRIC, FITTED, Branch
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.large.branching import Count
from dcplan.planning.solve.matrix import Matrix


def counts(matrix: Matrix, problem: PlanningProblem) -> list[Count]:
    """Return sums of strategic integers: wide sums first, then each integer alone.

    Sums that only improve the bound come last.
    """
    sums: dict[str, list[int]] = defaultdict(list)
    reach = {(o.hall, o.id): o.least_reach for o in problem.fabrics}
    limits = {
        h.id: sorted({most for (hall, _), most in reach.items() if hall == h.id})
        for h in problem.halls
    }
    new = {h.id for h in problem.halls if h.needs_blocks}
    singles, later = [], []
    for i, column in enumerate(matrix.columns):
        branch = DECISIONS[column.name].branch if column.name in DECISIONS else Branch.NEVER
        if branch is Branch.LATER:
            later.append(Count(str(column), (i,), 1))
        if branch is not Branch.FIRST:
            continue
        singles.append(Count(str(column), (i,)))
        if column.name == FITTED.variable:
            hall, _, t = column.ids
            sums[f"halls[{t}]"].append(i)
            sums[f"units[{hall},{t}]"].append(i)
            if hall in new:
                sums[f"new halls[{t}]"].append(i)
        if column.name == FABRIC.variable:
            hall = column.ids[0]
            for least in (x for x in limits[hall] if x <= reach[column.ids]):
                sums[f"reach[{hall},{least}]"].append(i)
                sums[f"reach[{least}]"].append(i)
    wide = [Count(name, tuple(columns)) for name, columns in sums.items() if len(columns) > 1]
    return [*wide, *singles, *later]
