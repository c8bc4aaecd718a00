"""Models with services in stages: fractions of replicas first, then complete ones.

Fractions of replicas cost little less than complete ones, and their model is solved in seconds. Its
bound holds. Complete replicas are then sought only where the first stage serves, with its runs and
fabrics; the complete model starts from that plan if time is left and the gap is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dcplan.planning.decision_specs import HOSTED, REPLICAS
from dcplan.planning.solve.highs import Outcome, Watch
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.request import SolveSession
from dcplan.planning.solve.starts import CHOICES, integer_values, start_from
from dcplan.planning.solve.status import Phase, SolveStatus

SERVED = (REPLICAS.variable, HOSTED.variable)
"""Integers that the first stage relaxes."""
FIRST_SHARE, SECOND_SHARE = 0.5, 0.6
"""Shares of the remaining time for the first and the second stage."""
FIRST_GAP, SECOND_GAP = 0.4, 0.3
"""Shares of the requested gap for the first and the second stage."""
TINY = 1e-6


def has_replicas(matrix: Matrix) -> bool:
    """Return whether a model has services with replicas."""
    return bool(len(matrix.of(SERVED)))


def in_hosting_stages(matrix: Matrix, plain: Matrix, session: SolveSession, gap: float) -> Outcome:
    """Solve a model with replicas in stages; the bound of the first stage holds for all.

    ``plain`` is the same model without integer switch counts, which is a relaxation.
    """
    loose = replace(plain, integer=plain.integer & ~_mask(plain, SERVED))
    shown = session.reporter.of_solver(Phase.FRACTIONS, plans=False)
    watch = Watch(shown, session.request.stop)
    first = session.part(FIRST_SHARE).solve(loose, FIRST_GAP * gap, watch=watch)
    if first.values is None:
        return first
    second = _complete(matrix, start_from(matrix, plain, first.values), session, gap)
    best = replace(second, bound=first.bound, nodes=first.nodes + second.nodes)
    if best.gap_frac <= gap:
        return replace(best, status=_status(best, gap))
    if session.stopped:  # the second stage is restricted, so without a plan it proves nothing
        return replace(best, status=SolveStatus.INTERRUPTED)
    start = None
    if best.values is not None:
        start = integer_values(matrix, dict(enumerate(best.values)))
    last = session.solve(matrix, gap, start=start)
    if last.values is None or last.objective > best.objective:
        last = replace(last, values=best.values, objective=best.objective)
    last = replace(last, bound=max(first.bound, last.bound), nodes=best.nodes + last.nodes)
    return replace(last, status=_status(last, gap))


def _complete(
    matrix: Matrix, values: Mapping[int, float], session: SolveSession, gap: float
) -> Outcome:
    """Return the best plan with complete replicas where the first stage serves."""
    upper = matrix.upper.copy()
    for i in matrix.of(SERVED):
        if values.get(i, 0.0) < TINY:
            upper[i] = 0.0
    near = replace(matrix, upper=upper)
    chosen = {i: float(round(values[i])) for i in matrix.of(CHOICES) if i in values}
    part = session.part(SECOND_SHARE)
    found = part.solve(near, SECOND_GAP * gap, fixed=chosen, silent=True)
    return found if found.values is not None else part.solve(near, SECOND_GAP * gap, silent=True)


def _status(found: Outcome, gap: float) -> SolveStatus:
    if found.values is None or found.status is SolveStatus.INTERRUPTED:
        return found.status
    return SolveStatus.OPTIMAL if found.gap_frac <= gap + TINY else SolveStatus.LIMIT


def _mask(matrix: Matrix, names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    mask = np.zeros(len(matrix.columns), dtype=bool)
    mask[list(matrix.of(names))] = True
    return mask


def columns_without_services(matrix: Matrix) -> int:
    """Return the size of a model without the columns of its services."""
    names = {*SERVED, "serving", "rented", "covered"}
    return sum(key.name not in names for key in matrix.columns)
