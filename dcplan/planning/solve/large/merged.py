"""Demands that every accelerator serves in the same way, as one demand.

Two demands are equal if they differ in their amounts only, and what an accelerator serves of them is
in one ratio for all accelerators. What serves one may then serve the other, so only their sum matters:
the problem with the sum has the same optimum.
"""

from __future__ import annotations

import math
from dataclasses import replace

from dcplan.planning.goal import COMPUTE
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.planning.solve.large.aggregate import without
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.strong import DEMAND, SERVING

SERVED = (SERVING, "rented")
"""Columns that serve a demand."""
ALIKE_EPS = 1e-9
"""Largest relative difference of ratios that count as the same."""


def merged(problem: PlanningProblem) -> PlanningProblem:
    """Return the problem with one demand in place of those that every accelerator serves in the same way.

    The first demand of each group stays; it asks for the sum, in its unit. Demands stay apart where
    they have a price, replicas, parts, pools or a limit of their own.
    """
    if COMPUTE in problem.goal.measures:
        return problem
    bound = {d.row for d in problem.demands} | {
        x for p in problem.pairs for x in (p.prefill, p.decode)
    }
    kept: list[DemandTerms] = []
    for demand in problem.demands:
        others = () if demand.id in bound or _has_more(demand) else enumerate(kept)
        for n, first in others:
            ratio = None if first.id in bound else _ratio(first, demand)
            if ratio is not None:
                wanted = zip(first.wanted, demand.wanted, strict=True)
                kept[n] = replace(first, wanted=tuple(x + y / ratio for x, y in wanted))
                break
        else:
            kept.append(demand)
    return problem if len(kept) == len(problem.demands) else replace(problem, demands=tuple(kept))


def of_merged(matrix: Matrix, problem: PlanningProblem, lean: PlanningProblem) -> Matrix:
    """Return the program of the problem with merged demands, from that of the problem."""
    asked = {d.id: d.wanted for d in lean.demands}
    changed = {d.id for d in problem.demands if asked.get(d.id) != d.wanted}
    if not changed:
        return matrix
    lower = matrix.row_lower.copy()
    for i, key in enumerate(matrix.rows):
        if key.name == DEMAND and key.ids[0] in changed:
            demand, t = key.ids
            lower[i] = asked[demand][t] if demand in asked else -math.inf
    gone = (i for i in matrix.of(SERVED) if matrix.columns[i].ids[0] not in asked)
    return without(replace(matrix, row_lower=lower), gone)


def _has_more(demand: DemandTerms) -> bool:
    """Return whether more than the amounts of a demand matters."""
    parts = demand.row or demand.peak_part or demand.kept_frac_without_site
    return bool(parts or demand.replica) or demand.unmet_usd is not None


def _ratio(first: DemandTerms, other: DemandTerms) -> float | None:
    """Return what each accelerator serves of the other demand per unit of the first; None if it differs."""
    same = replace(
        other,
        id=first.id,
        wanted=first.wanted,
        each=first.each,
        load=first.load,
        scenario_unit=first.scenario_unit,
    )
    if same != first or other.each.keys() != first.each.keys() or not first.each:
        return None
    if min(first.each.values()) <= 0:
        return None
    ratios = [other.each[key] / value for key, value in first.each.items()]
    low, high = min(ratios), max(ratios)
    return ratios[0] if low > 0 and math.isclose(low, high, rel_tol=ALIKE_EPS) else None
