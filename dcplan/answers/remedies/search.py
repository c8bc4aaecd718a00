"""The search for remedies: changes of a scenario, each built, solved and audited again."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dcplan.answers.common.request import ScenarioRequest
from dcplan.answers.remedies.amounts import Group, groups_of, joined, lacking_move, sized_move
from dcplan.answers.remedies.change import Change, Move, after
from dcplan.answers.remedies.times import site_moves, time_moves
from dcplan.errors import AuditError, InputError
from dcplan.planning.explain.shortages import (
    Relaxed,
    expressible,
    is_expressible,
    most_served,
    relaxation_of,
    relaxed,
    without_bounds,
)
from dcplan.planning.keys import Key
from dcplan.planning.limits import HALL, PENALTIES, SITE_POWER
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.objective import solve_objective
from dcplan.planning.solve.request import Clock, SolveRequest
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import LEAST_S, UnknownDecisionError
from dcplan.result import Table
from dcplan.scenario.load import Question

T = TypeVar("T")
ROUGH_GAP = 0.05
"""Relative gap of a tested plan."""
MOST = 5
"""Remedies shown."""
HALVINGS = 4
TRY_SHARE = 0.25
"""Share of the remaining time for one test."""
RELAXED_SHARE = 0.1
"""Share of the remaining time for one elastic relaxation."""
MIXES = 3
"""Changes of several limits that are tried."""
FEW = 3
"""Remedies below which changes of several limits are tried, too."""


@dataclass(frozen=True)
class Remedy:
    """A change of the scenario with which an audited plan was found."""

    change: Change
    cost_usd: float
    size: float


@dataclass(frozen=True)
class Infeasible:
    """A scenario without a plan, and how a changed one is solved.

    Parameters
    ----------
    request : ScenarioRequest
        Scenario with all its changes.
    prepare : callable
        Planning problem of a changed question, with an earlier plan if there is one.
    fixed : Table, optional
        Decisions that the plan must keep.
    """

    request: ScenarioRequest
    question: Question
    problem: PlanningProblem
    clock: Clock
    prepare: Callable[[Question, Built], PlanningProblem] = lambda _, built: built.problem
    fixed: Table | None = None

    @property
    def done(self) -> bool:
        """Whether the time is over, or the user wants to stop."""
        return self.request.stopped or self.clock.left() <= LEAST_S


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
    served = most_served(part, matrix, _share_s(asked, TRY_SHARE), asked.request.stop)
    whole, soft = part == asked.problem, without_bounds(part, matrix)
    found = [
        x
        for x in (_first(asked, move) for move in _moves(asked, part, soft, known=whole))
        if x is not None
    ]
    if len(found) < FEW:
        mixed = _mixes(asked, part, soft) if whole else _site_mixes(asked, part, soft)
        mixed = itertools.chain(site_moves(asked.question), mixed, _dated_mixes(asked))
        found += [x for x in (_first(asked, move) for move in mixed) if x is not None]
    found = sorted(_least([(x, x[2]) for x in found]), key=_order)[:MOST]
    near = [_nearer(asked, *x) for x in found]
    kept = _least([(x, x) for x in near])
    return Explained(part, served, tuple(sorted(kept, key=lambda x: (x.cost_usd, x.size))))


def _least(found: Sequence[tuple[T, Remedy]]) -> list[T]:
    """Return what has no other remedy whose edits are a part of its own."""
    edits = [set(x.change.edits) for _, x in found]
    return [
        one
        for i, (one, _) in enumerate(found)
        if not any(other < edits[i] for other in edits) and edits[i] not in edits[:i]
    ]


Found = tuple[Move, float, Remedy]
"""A move, the largest size that gave no plan, and the remedy."""


def _order(found: Found) -> tuple[float, float]:
    return found[2].cost_usd, found[2].size


def _share_s(asked: Infeasible, share: float) -> float:
    return max(asked.clock.left() * share, LEAST_S)


def _moves(
    asked: Infeasible, part: PlanningProblem, matrix: Matrix, *, known: bool
) -> Iterable[Move]:
    """Yield kinds of change that could be enough alone, amounts and dates in turn."""
    amounts: list[Move] = []
    for group in groups_of(matrix.rows, asked.question).values():
        if not known:
            amounts.append(sized_move(group, part, asked.question))
        elif not asked.done:
            amounts += _alone(asked, part, matrix, group)
    amounts.sort(key=lambda move: move.price_musd)
    for pair in itertools.zip_longest(amounts, time_moves(asked.question)):
        yield from (move for move in pair if move is not None)


def _alone(
    asked: Infeasible, part: PlanningProblem, matrix: Matrix, group: Sequence[Key]
) -> list[Move]:
    """Return the move of a group if more of it alone could be enough."""
    found = _lacks(asked, matrix, set(group))
    if found is None:
        return []
    move = lacking_move(group, found.lacks, part, asked.question)
    return [move or sized_move(group, part, asked.question)]


def _lacks(asked: Infeasible, matrix: Matrix, soft: Container[Key]) -> Relaxed | None:
    """Return what some rows lack: with integers if that takes little time, otherwise without.

    It is None if no amount is enough.
    """

    def price_of(row: Key) -> float | None:
        return PENALTIES.get(row.name) if row in soft else None

    stop = asked.request.stop
    found = relaxed(matrix, price_of, _share_s(asked, RELAXED_SHARE), stop=stop)
    if not found.found:
        return None
    whole = relaxed(matrix, price_of, _share_s(asked, RELAXED_SHARE), kept=None, stop=stop)
    if whole.status is SolveStatus.INFEASIBLE:
        return None
    return whole if whole.found else found


def _mixes(asked: Infeasible, part: PlanningProblem, matrix: Matrix) -> Iterable[Move]:
    """Yield changes of several limits; after each, the most expensive one may not change."""
    groups = groups_of(matrix.rows, asked.question)
    for _ in range(MIXES):
        if asked.done:
            return
        found = _lacks(asked, matrix, {row for rows in groups.values() for row in rows})
        if found is None or not found.lacks:
            return
        parts = _parts(groups, found.lacks, part, asked.question)
        if not parts:
            return
        if len(parts) > 1:
            yield joined(parts.values())
        del groups[max(parts, key=lambda group: parts[group].price_musd)]


def _dated_mixes(asked: Infeasible) -> Iterable[Move]:
    """Yield the largest change of each date with what its scenario still lacks."""
    for date in time_moves(asked.question):
        change = date.change(date.ladder[-1]) if date.ladder and not asked.done else None
        if change is None:
            continue
        try:
            question = asked.request.question(*change.edits)
        except InputError:
            continue
        problem = asked.prepare(question, build(question))
        matrix = relaxation_of(problem) if is_expressible(problem) else None
        if matrix is None:
            continue
        groups = groups_of(matrix.rows, question)
        rows = {row for group in groups.values() for row in group}
        found = _lacks(asked, without_bounds(problem, matrix), rows)
        parts = _parts(groups, found.lacks, problem, question) if found is not None else {}
        if parts:
            yield after(change, joined(parts.values()))


def _site_mixes(asked: Infeasible, part: PlanningProblem, matrix: Matrix) -> Iterable[Move]:
    """Yield more power and larger halls of each site together."""
    sites: dict[object, list[Move]] = defaultdict(list)
    for (kind, path), rows in groups_of(matrix.rows, asked.question).items():
        if kind in (HALL, SITE_POWER):
            sites[path[1]].append(sized_move(rows, part, asked.question))
    yield from (joined(moves) for moves in sites.values() if len(moves) > 1)


def _parts(
    groups: Mapping[Group, Sequence[Key]],
    lacks: Mapping[Key, float],
    problem: PlanningProblem,
    question: Question,
) -> dict[Group, Move]:
    found = {}
    for group, rows in groups.items():
        own = {row: lacks[row] for row in rows if row in lacks}
        move = lacking_move(rows, own, problem, question) if own else None
        if move is not None:
            found[group] = move
    return found


def _first(asked: Infeasible, move: Move) -> Found | None:
    """Return the first size of a move that gives a plan; None if no size does in time."""
    least, seen = move.least, set[tuple[str, ...]]()
    most = [x for x in move.ladder if move.change(x) is not None][-1:]
    if move.screened and most:
        change = move.change(most[0])
        cost = None if change is None or asked.done else _cost_usd(asked, change)
        if change is None or cost is None:
            return None
        if len(move.ladder) == 1:
            return move, least, Remedy(change, cost, most[0])
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
                time_limit_s=_share_s(asked, TRY_SHARE),
                fixed=asked.fixed,
                stop=asked.request.stop,
            ),
        )
    except (InputError, AuditError, UnknownDecisionError):
        return None  # the scenario cannot express this size, or no plan passes its audit
    return solved.audit.npv_usd if solved.audit is not None and solved.audit.passed else None
