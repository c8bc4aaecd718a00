"""Mid-sized models in stages.

The stages are a plan without integer switch counts, its racks with them, and the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dcplan.planning.decisions import FABRIC, RUN
from dcplan.planning.keys import Key
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.request import SolveSession
from dcplan.planning.solve.status import SolveStatus

DIRECT_COLUMNS = 5_000
"""Models up to this size do not branch on counts (``large``)."""
CHOICES = (RUN.variable, FABRIC.variable)
"""Decisions that a rough plan fixes for a better plan."""
ENDED = (SolveStatus.INTERRUPTED, SolveStatus.LIMIT)
"""Statuses of a solve that did not reach its gap."""
ROUGH_GAP = 0.02
"""Gap of the model without integer switch counts, whose plan is only a start."""


def in_stages(matrix: Matrix, plain: Matrix, session: SolveSession, gap: float) -> Outcome:
    """Solve a model with integer switch counts, starting from the same model without them.

    The stages give a good plan early, then the bound.

    ``plain`` is a relaxation, so its bound and its infeasibility hold. Its runs and fabrics, fixed,
    give the start. If the session starts from another plan, the runs and fabrics of that plan give
    the start, if they are feasible here.
    """
    if session.request.near:
        there = known(matrix, session.request.near)
        chosen = {i: there[i] for i in matrix.of(CHOICES) if i in there}
        like = session.solve(matrix, gap, fixed=chosen, start=there, silent=True)
        if like.values is not None and like.status not in ENDED:
            start = integer_values(matrix, dict(enumerate(like.values)))
            return session.solve(matrix, gap, start=start, prove=True)
    rough = session.solve(plain, max(2 * gap, ROUGH_GAP))
    if rough.values is None:
        return rough
    start = start_from(matrix, plain, rough.values)
    chosen = {i: round(start[i]) for i in matrix.of(CHOICES)}
    first = session.solve(
        matrix, gap, fixed=chosen, start=integer_values(matrix, start), silent=True
    )
    if first.status in ENDED or rough.status in ENDED:
        best = first if first.values is not None else rough
        status = first.status if first.status in ENDED else rough.status
        return replace(best, status=status, bound=rough.bound, values=first.values)
    begin = integer_values(
        matrix, dict(enumerate(first.values)) if first.values is not None else start
    )
    found = session.solve(matrix, gap, start=begin, prove=first.values is not None)
    return replace(found, bound=max(found.bound, rough.bound))


def known(matrix: Matrix, near: Mapping[Key, float]) -> dict[int, float]:
    """Return the columns that a plan for another problem also has."""
    return {
        i: near[name] for i, name in enumerate(matrix.columns) if matrix.integer[i] and name in near
    }


def integer_values(matrix: Matrix, values: Mapping[int, float]) -> dict[int, float]:
    """Return the integers of a start; the continuous values follow from them."""
    return {i: float(round(v)) for i, v in values.items() if matrix.integer[i]}


def start_from(matrix: Matrix, source: Matrix, values: Vector) -> dict[int, float]:
    """Return values of one model as a start for another with the same column names."""
    known = dict(zip(source.columns, values, strict=True))
    return {i: float(known[name]) for i, name in enumerate(matrix.columns) if name in known}
