"""Integer switch counts in the complete model, where it is small enough: the last stage of the search.

The program of halls shares switches by port, so its bound is below every plan by what integer switch counts
add. The complete model with step costs has a higher bound. Columns that no better plan can use are
left out (reduced-cost fixing: Nemhauser and Wolsey 1988, Integer and combinatorial optimization,
II.5.2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.solve import highs
from dcplan.planning.solve.highs import Point
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.large.racks import MOST_STEPS, Found, RackStage
from dcplan.planning.solve.large.small_model import Limits, SmallModel
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.starts import known, without_switches
from dcplan.planning.solve.status import Phase, SolveStatus
from dcplan.planning.solve.strong import strengthened

MOST_COLUMNS = 6_000
"""Maximum size of the complete model with step costs."""
AUDIT_SHARE = 0.4
"""Share of the remaining time for each try to make its plan pass the audit."""
LEAST_GAP = 0.4
"""Smallest share of the requested gap for the model; the rest covers what its steps do not include,
which is what the best plan costs more in its audit than in the model."""
TINY = 1e-9


@dataclass(frozen=True)
class Proof:
    """The best plan and the bound after the last stage."""

    plan: Found | None
    bound: float
    nodes: int = 0


def proved_whole(stage: RackStage, best: Found | None, bound: float) -> Proof:
    """Return a plan at least as good, and a bound at least as high, with integer switch counts counted."""
    begun = Proof(best, bound)
    if stage.relaxed or len(stage.base.columns) > MOST_COLUMNS:
        return begun
    problem = with_steps(stage.problem, MOST_STEPS, exact=False)
    if not problem.integer_switches:
        return begun
    matrix = strengthened(PROGRAMS.compiled(problem), problem)
    if len(matrix.columns) > MOST_COLUMNS:
        return begun
    stage.session.reporter.enter(Phase.WHOLE)
    try:
        point = highs.relaxation(matrix, stage.session.clock.left())
    except highs.OutOfTimeError:
        stage.session.clock.note(SolveStatus.LIMIT)
        return begun
    if point is None:  # an audited plan refutes it
        return begun if best is not None else Proof(None, math.inf)
    begun = Proof(best, max(bound, point.objective))
    start: dict[int, float] = {}
    if best is not None:
        matrix = _without(matrix, point, best.value - point.objective)
        start = without_switches(known(matrix, best.integer_values), matrix)
    model = SmallModel(problem, matrix, tuple(range(len(problem.run_options))))
    return _proved(stage, model, start, begun)


def _proved(stage: RackStage, model: SmallModel, start: Mapping[int, float], begun: Proof) -> Proof:
    """Return the plan and the bound of the complete model."""
    best, gap, session = begun.plan, stage.session.gap, stage.session

    def done(bound: float) -> bool:
        return best is not None and best.value - bound <= gap * abs(best.value)

    if done(begun.bound) or session.clock.left() <= 0:
        return begun
    beyond = 0.0
    if best is not None:
        here = session.solve(model.matrix, LEAST_GAP * gap, fixed=start, silent=True)
        if here.values is not None:
            beyond = (best.value - here.objective) / max(abs(best.value), TINY)
    shown = session.reporter.of_solver(Phase.WHOLE, plans=False, started=bool(start))
    outcome = session.solve(
        model.matrix,
        max(gap - max(beyond, 0.0), LEAST_GAP * gap),
        start=start,
        prove=best is not None,
        watch=highs.Watch(shown, session.request.stop),
    )
    none_better = math.inf if best is None else best.value  # columns above it are left out
    bound = max(begun.bound, min(outcome.bound, none_better))
    session.reporter.proved(bound)
    if outcome.values is None:
        return Proof(best, bound, outcome.nodes)
    found = stage.rounds(model, model.matrix, {}, AUDIT_SHARE, Limits(gap), first=outcome)
    if found is not None and (best is None or found.value < best.value):
        best = found
    return Proof(best, bound, outcome.nodes)


def _without(matrix: Matrix, point: Point, most: float) -> Matrix:
    """Return the program without unused integer columns whose reduced cost exceeds ``most``."""
    gone = matrix.integer & (matrix.lower <= 0)
    gone &= (point.values <= TINY) & (point.reduced_costs > most)
    return replace(matrix, upper=np.where(gone, 0.0, matrix.upper))
