"""A plan improved site by site: the integers of all other sites keep their values.

The program of one site is small, so it ends in about a second where the program of all sites does not
end in a minute (docs/decisions.md). Runs, rented nodes and sales are free in each of them, because they
connect sites. The method is fix and optimize (Helber and Sahling 2010, A fix-and-optimize approach for
the multi-level capacitated lot sizing problem, International Journal of Production Economics 123(2)).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dcplan.planning.decision_specs import RUN
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.matrix import Matrix

LEAST_GAIN = 1e-4
"""Reduction of the objective by all sites in turn, relative to it, from which they have another turn."""

SiteSolver = Callable[[Mapping[int, float], Mapping[int, float]], Outcome]
"""Function of fixed columns and a start that solves the program."""


def improved_by_site(
    problem: PlanningProblem,
    matrix: Matrix,
    start: Mapping[int, float],
    solve: SiteSolver,
    enough: float,
) -> Outcome | None:
    """Return a better solution that differs from the start by one site at a time, if there is one.

    Parameters
    ----------
    problem : PlanningProblem
        Problem of the program.
    matrix : Matrix
        The program.
    start : mapping
        Integers of a plan by column; without a value for each integer, no site is improved.
    solve : SiteSolver
        Solves the program with fixed columns.
    enough : float
        Objective at which the search ends.
    """
    places = _sites(problem, matrix)
    sites = sorted(set(places.values()))
    if len(sites) < 2 or len(start) < int(matrix.integer.sum()):
        return None
    values, best = dict(start), None
    while True:
        before = best.objective if best else None
        for site in sites:
            fixed = {i: v for i, v in values.items() if places.get(i, site) != site}
            found = solve(fixed, values)
            if found.values is None or (best and found.objective >= best.objective):
                continue
            best = found
            values = {i: float(round(found.values[i])) for i in values}
            if best.objective <= enough:
                return best
        if best is None or (
            before is not None and before - best.objective < LEAST_GAIN * abs(best.objective)
        ):
            return best


def of_other_sites(
    problem: PlanningProblem, matrix: Matrix, tighter: Matrix, values: Mapping[int, float]
) -> dict[int, float]:
    """Return the integers of the sites whose limits are the same in a tighter program."""
    changed = matrix.row_upper != tighter.row_upper
    changed |= matrix.row_lower != tighter.row_lower
    site = _site_of(problem)
    tight = {
        site[matrix.rows[i].ids[0]]
        for i in np.flatnonzero(changed)
        if matrix.rows[i].ids[0] in site
    }
    return {i: values[i] for i, x in _sites(problem, matrix).items() if x not in tight}


def _site_of(problem: PlanningProblem) -> dict[str, str]:
    """Return the site of each site and hall."""
    return {s.id: s.id for s in problem.sites} | {h.id: h.site for h in problem.halls}


def _sites(problem: PlanningProblem, matrix: Matrix) -> dict[int, str]:
    """Return the site of each integer column that belongs to one."""
    site = _site_of(problem)
    found = {}
    for i, key in enumerate(matrix.columns):
        if matrix.integer[i] and key.name != RUN.variable and key.ids[0] in site:
            found[i] = site[key.ids[0]]
    return found
