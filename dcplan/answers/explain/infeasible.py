"""Explanation of an infeasible scenario: conflicting limits, balance and remedies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from dcplan.answers.common.request import ScenarioRequest
from dcplan.answers.explain.resolve import Asked
from dcplan.answers.plan.no_plan import infeasible
from dcplan.answers.remedies.infeasible import Infeasible
from dcplan.answers.remedies.search import explained
from dcplan.answers.remedies.tables import with_remedies
from dcplan.planning.explain.elastic import conflict
from dcplan.planning.keys import Key
from dcplan.planning.limit_rows import family_of, is_users, place_of, words_of
from dcplan.planning.problem.build import Built
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.request import Clock
from dcplan.planning.solve.solved import Solved
from dcplan.result import Result, Table
from dcplan.scenario.load import Question
from dcplan.specs import explain as specs

CONFLICT_SHARE = 0.25
"""Share of the remaining time for the conflict."""
INTEGER_INFEASIBLE = (
    "the relaxation is feasible, but integer racks, halls or runs are not; see the table remedies"
)


def no_plan(asked: Asked, solved: Solved) -> Result:
    """Answer with the conflict, the balance and tested remedies."""
    rows = conflict_table(asked.question, solved, asked.left_s() * CONFLICT_SHARE)
    answer = replace(infeasible(asked.question, asked.built, solved), verb="explain")
    answer = replace(
        answer,
        tables={"conflict": rows, **answer.tables},
        warnings=[] if rows.rows else [{"code": "note", "message": INTEGER_INFEASIBLE}],
    )
    return remedied(asked, answer)


def remedied(asked: Asked, answer: Result) -> Result:
    """Return an answer without a plan with its balance and with tested remedies."""
    search = search_of(asked.request, asked.question, asked.built, asked.left_s())
    return with_remedies(answer, search, explained(search))


def search_of(
    request: ScenarioRequest, question: Question, built: Built, limit_s: float
) -> Infeasible:
    """Return the search for the remedies of a scenario, in a time [s]."""
    return Infeasible(request, question, built.problem, Clock(limit_s))


def conflict_table(question: Question, solved: Solved, time_limit_s: float) -> Table:
    """Return the user's limits in the conflict, one line per limit."""
    rows = users_conflict(solved.matrix, time_limit_s)
    return specs.CONFLICT.table(conflict_rows(question, rows, solved.problem.start))


def users_conflict(matrix: Matrix, time_limit_s: float) -> list[Key]:
    """Return the rows of the user's limits in the conflict of a program."""
    return [row for row in conflict(matrix, time_limit_s) if is_users(row)]


def conflict_rows(question: Question, rows: Iterable[Key], start: str) -> list[specs.ConflictRow]:
    """Return the limits of rows in words, one for each limit that differs in words or place."""
    families: dict[Key, list[Key]] = defaultdict(list)
    for row in rows:
        families[family_of(row)].append(row)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for same in families.values():
        counts[words_of(same[0], start)[0], place_of(same[0], question)] += len(same)
    return [specs.ConflictRow(*limit, count) for limit, count in counts.items()]
