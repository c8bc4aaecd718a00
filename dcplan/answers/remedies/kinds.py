"""Kinds of change that could be enough for an infeasible scenario, alone or together."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from dcplan.answers.remedies.amounts import (
    Group,
    groups_of,
    joined,
    lacking_move,
    sized_move,
    sized_moves,
)
from dcplan.answers.remedies.change import MOST_KINDS, Move, after
from dcplan.answers.remedies.infeasible import Infeasible
from dcplan.answers.remedies.times import time_moves
from dcplan.errors import InputError
from dcplan.planning.explain.shortages import (
    Relaxed,
    is_expressible,
    relaxation_of,
    relaxed,
    without_bounds,
)
from dcplan.planning.keys import Key
from dcplan.planning.limits import HALL, PENALTIES, SITE_POWER
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.status import SolveStatus
from dcplan.scenario.load import Question

RELAXED_SHARE = 0.1
"""Share of the remaining time for one elastic relaxation."""
MIXES = 3
"""Changes of several limits that are tried."""


def moves(
    asked: Infeasible, part: PlanningProblem, matrix: Matrix, *, known: bool
) -> Iterable[Move]:
    """Yield kinds of change that could be enough alone, amounts and dates in turn."""
    amounts: list[Move] = []
    for group in groups_of(matrix.rows, asked.question).values():
        if not known:
            amounts += sized_moves(group, part, asked.question)
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
    return [move] if move is not None else sized_moves(group, part, asked.question)


def _lacks(asked: Infeasible, matrix: Matrix, soft: Container[Key]) -> Relaxed | None:
    """Return what some rows lack: with integers if that takes little time, otherwise without.

    It is None if no amount is enough.
    """

    def price_of(row: Key) -> float | None:
        return PENALTIES.get(row.name) if row in soft else None

    stop = asked.request.stop
    found = relaxed(matrix, price_of, asked.share_s(RELAXED_SHARE), stop=stop)
    if not found.found:
        return None
    whole = relaxed(matrix, price_of, asked.share_s(RELAXED_SHARE), kept=None, stop=stop)
    if whole.status is SolveStatus.INFEASIBLE:
        return None
    return whole if whole.found else found


def mixes(
    asked: Infeasible, part: PlanningProblem, matrix: Matrix, enough: Callable[[], bool]
) -> Iterable[Move]:
    """Yield changes of several limits, those of few kinds first.

    Parameters
    ----------
    enough : callable
        Whether a remedy of few kinds was found, so that larger changes are left out.
    """
    groups = groups_of(matrix.rows, asked.question)
    found = list(_lacking(asked, part, matrix, dict(groups)))
    many = [parts for parts in found if len(parts) > MOST_KINDS]
    yield from (joined(parts.values()) for parts in found if 1 < len(parts) <= MOST_KINDS)
    for parts in many:
        if enough():
            return
        yield joined(_fewer(asked, part, matrix, groups, parts).values())
    yield from (joined(parts.values()) for parts in many if not enough())


def _lacking(
    asked: Infeasible, part: PlanningProblem, matrix: Matrix, groups: dict[Group, Sequence[Key]]
) -> Iterable[dict[Group, Move]]:
    """Yield what several limits lack together; after each, the most expensive one may not change."""
    for _ in range(MIXES):
        if asked.done:
            return
        found = _lacks(asked, matrix, {row for rows in groups.values() for row in rows})
        if found is None or not found.lacks:
            return
        parts = _parts(groups, found.lacks, part, asked.question)
        if not parts:
            return
        yield parts
        del groups[max(parts, key=lambda group: parts[group].price_musd)]


def _fewer(
    asked: Infeasible,
    part: PlanningProblem,
    matrix: Matrix,
    groups: Mapping[Group, Sequence[Key]],
    parts: Mapping[Group, Move],
) -> Mapping[Group, Move]:
    """Return fewer kinds of change that could be enough: one kind after the other is left out.

    The most expensive kind is left out first, and stays if the others cannot replace it.
    """
    for group in sorted(parts, key=lambda x: -parts[x].price_musd):
        if len(parts) <= MOST_KINDS or asked.done:
            break
        left = {row for other in parts if other != group for row in groups[other]}
        found = _lacks(asked, matrix, left)
        less = _parts(groups, found.lacks, part, asked.question) if found is not None else {}
        if less:
            parts = less
    return parts


def dated_mixes(asked: Infeasible) -> Iterable[Move]:
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


def site_mixes(asked: Infeasible, part: PlanningProblem, matrix: Matrix) -> Iterable[Move]:
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
