"""The search for remedies: changes of a scenario, each built, solved and audited again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from dcplan.answers.remedies.change import Change, Move
from dcplan.answers.remedies.infeasible import Infeasible
from dcplan.answers.remedies.kinds import dated_mixes, mixes, moves, site_mixes
from dcplan.answers.remedies.times import site_moves
from dcplan.errors import AuditError, InputError
from dcplan.planning.explain.shortages import (
    Relaxed,
    expressible,
    most_served,
    relaxation_of,
    without_bounds,
)
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.exact import UnknownDecisionError
from dcplan.planning.solve.objective import solve_objective
from dcplan.planning.solve.request import SolveRequest

T = TypeVar("T")
ROUGH_GAP = 0.05
"""Relative gap of a tested plan."""
MOST = 5
"""Remedies shown."""
HALVINGS = 4
SCREENED = 1.0
"""Size that is tried where the largest one gives no plan: as much as there is, again."""
WIDE, CHEAPER = 8.0, 0.1
"""Size of a limit with room for other hardware, relative to the smallest one with a plan, and the reduction of the
cost from which it is a remedy of its own."""
TRY_SHARE = 0.25
"""Share of the remaining time for one test."""
FEW = 3
"""Remedies below which changes of several limits are tried, too."""


@dataclass(frozen=True)
class Remedy:
    """A change of the scenario with which an audited plan was found."""

    change: Change
    cost_usd: float
    """Present cost, after taxes and debt if the objective is."""
    size: float


@dataclass(frozen=True)
class Explained:
    """What an infeasible scenario serves at most, and its remedies, cheapest first."""

    part: PlanningProblem
    """Problem without the jobs and demands that nothing can serve."""
    served: Relaxed | None
    """None if the model cannot be written."""
    remedies: tuple[Remedy, ...]


def explained(asked: Infeasible) -> Explained:
    """Return what a scenario serves at most, and its remedies."""
    part = expressible(asked.problem)
    matrix = relaxation_of(part)
    if matrix is None:
        return Explained(part, None, ())
    served = most_served(part, matrix, asked.share_s(TRY_SHARE), asked.request.stop)
    whole, soft = part == asked.problem, without_bounds(part, matrix)
    found = [
        x
        for x in (_first(asked, move) for move in moves(asked, part, soft, known=whole))
        if x is not None
    ]

    def few_found() -> bool:
        return any(move.few for move, *_ in found)

    if len(found) < FEW:
        mixed = mixes(asked, part, soft, few_found) if whole else site_mixes(asked, part, soft)
        mixed = itertools.chain(site_moves(asked.question), mixed, dated_mixes(asked))
        for move in mixed:
            remedy = _first(asked, move) if move.few or not few_found() else None
            found += [] if remedy is None else [remedy]
    small = [x for x in found if x[0].few]
    found = sorted(_least([(x, x[2]) for x in small or found]), key=_order)[:MOST]
    near = [_nearer(asked, *x) for x in found]
    wide = [_wider(asked, move, one) for (move, *_), one in zip(found, near, strict=True)]
    near += [x for x in wide if x is not None]
    kept = _least([(x, x) for x in near])
    return Explained(part, served, tuple(sorted(kept, key=lambda x: (x.cost_usd, x.size))))


def _least(found: Sequence[tuple[T, Remedy]]) -> list[T]:
    """Return what has no other remedy that changes a part of the same for no higher cost."""
    edits = [set(x.change.edits) for _, x in found]
    return [
        one
        for i, (one, own) in enumerate(found)
        if not any(other < edits[i] for other in edits)
        and edits[i] not in edits[:i]
        and not any(
            other.change.is_part_of(own.change) and other.cost_usd <= own.cost_usd
            for _, other in found
        )
    ]


Found = tuple[Move, float, Remedy]
"""A move, the largest size that gave no plan, and the remedy."""


def _order(found: Found) -> tuple[float, float]:
    return found[2].cost_usd, found[2].size


def _first(asked: Infeasible, move: Move) -> Found | None:
    """Return the first size of a move that gives a plan; None if no size does in time."""
    least, seen = move.least, set[tuple[str, ...]]()
    if move.screened and (largest := _largest(asked, move)) is not None:
        if len(move.ladder) == 1:
            return move, least, largest
    elif move.screened:
        return None
    for size in move.ladder:
        change = move.change(size)
        if change is None or asked.done:
            return None
        if change.edits in seen:
            continue
        seen.add(change.edits)
        cost = _cost_usd(asked, change)
        if cost is not None:
            return move, least, Remedy(change, cost, size)
        least = size
    return None


def _largest(asked: Infeasible, move: Move) -> Remedy | None:
    """Return the largest size of a move with a plan, of its largest one and that of SCREENED; None without.

    A limit of the budget may forbid the largest one.
    """
    sizes = [x for x in move.ladder if move.change(x) is not None]
    for size in (*sizes[-1:], *(x for x in sizes[:-1] if x == SCREENED)):
        change = move.change(size)
        cost = None if change is None or asked.done else _cost_usd(asked, change)
        if change is not None and cost is not None:
            return Remedy(change, cost, size)
    return None


def _nearer(asked: Infeasible, move: Move, least: float, found: Remedy) -> Remedy:
    """Bisect between a size without a plan and one with a plan, a few times."""
    below = move.change(least) if least else None
    tried = {found.change.edits, *([below.edits] if below else [])}
    for _ in range(HALVINGS):
        size = (least + found.size) / 2.0
        change = move.change(size)
        if change is None or change.edits in tried or asked.done:
            break
        tried.add(change.edits)
        cost = _cost_usd(asked, change)
        if cost is None:
            least = size
        else:
            found = Remedy(change, cost, size)
    return found


def _wider(asked: Infeasible, move: Move, found: Remedy) -> Remedy | None:
    """Return a remedy with more of the same limit at a clearly lower cost, if there is one.

    The smallest amount with a plan may leave room for expensive hardware only.
    """
    most = max(WIDE * found.size, *move.ladder) if move.screened else WIDE * found.size
    change = move.change(most) if move.gives else None
    if change is None or change.edits == found.change.edits or asked.done:
        return None
    cost = _cost_usd(asked, change)
    if cost is None or found.cost_usd - cost < CHEAPER * abs(found.cost_usd):
        return None
    wide, least = Remedy(change, cost, most), found.size
    enough_usd = cost + CHEAPER * (found.cost_usd - cost)
    for _ in range(HALVINGS):
        size = (least + wide.size) / 2.0
        change = move.change(size)
        if change is None or change.edits == wide.change.edits or asked.done:
            break
        cost = _cost_usd(asked, change)
        if cost is None or cost > enough_usd:
            least = size
        else:
            wide = Remedy(change, cost, size)
    return wide


def _cost_usd(asked: Infeasible, change: Change) -> float | None:
    """Return the cost of an audited plan of the changed scenario; None if none was found in time."""
    try:
        question = asked.request.question(*change.edits)
        built = build(question)
        if presolve(question, built):
            return None
        solved = solve_objective(
            asked.prepare(question, built),
            question,
            SolveRequest(
                gap=ROUGH_GAP,
                time_limit_s=asked.share_s(TRY_SHARE),
                fixed=asked.fixed,
                stop=asked.request.stop,
            ),
        )
    except (InputError, AuditError, UnknownDecisionError):
        return None  # the scenario cannot express this size, or no plan passes its audit
    return solved.cost_usd if solved.audit is not None and solved.audit.passed else None
