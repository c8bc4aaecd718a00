"""Explanation of an infeasible scenario: conflicting limits and tested remedies."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.explain.later_deadline import LaterDeadline
from dcplan.answers.explain.resolve import Asked
from dcplan.answers.plan.tables.excluded import excluded_options
from dcplan.errors import EXIT_INFEASIBLE
from dcplan.planning.explain.remedies import Alternative, Remedy, alternatives
from dcplan.planning.keys import Key
from dcplan.planning.limits import family_of, is_users, place_of, words_of
from dcplan.planning.solve.elastic import conflict
from dcplan.planning.solve.solved import Solved
from dcplan.result import Result
from dcplan.scenario.load import Question
from dcplan.scenario.schema import job_path
from dcplan.specs import explain as specs
from dcplan.units import USD_PER_MUSD, money

INTEGER_INFEASIBLE = (
    "the relaxation is feasible, but integer racks, halls or runs are not; see the table "
    "tested_remedies"
)


def no_plan(asked: Asked, solved: Solved) -> Result:
    """Answer with the conflict and up to three remedies, each verified by a solve."""
    question, left_s = asked.question, asked.left_s()
    rows = _conflict(question, solved, left_s / 4)
    found = alternatives(
        solved.problem, solved.matrix, time_limit_s=left_s / 8, stop=asked.request.stop
    )
    tested = [
        row for i, alternative in enumerate(found) for row in _rows(i + 1, alternative, question)
    ]
    first = _sentence(found[0]) if found else "no remedy found in time"
    return Result(
        "explain",
        "infeasible",
        EXIT_INFEASIBLE,
        f"{question.scenario.name}: proved infeasible; {first}",
        scenario=describe(question),
        solver={**solver_block(solved), "gap_frac": math.nan},
        tables={
            "conflict": specs.CONFLICT.table(rows),
            "tested_remedies": specs.TESTED_REMEDIES.table(tested),
            "excluded": excluded_options(asked.built.problem),
        },
        inputs=inputs_of(asked.built),
        warnings=[] if rows else [{"code": "note", "message": INTEGER_INFEASIBLE}],
    )


def with_later_deadlines(
    result: Result, found: Sequence[LaterDeadline], question: Question
) -> Result:
    """Return the answer with later deadlines as further remedies."""
    if not found:
        return result
    tables = dict(result.tables)
    old = (
        specs.TESTED_REMEDIES.rows(tables["tested_remedies"]) if "tested_remedies" in tables else []
    )
    scenario = question.scenario
    first = len({row.remedy for row in old}) + 1
    rows = [
        specs.TestedRemedyRow(
            remedy=first + i,
            change=f"{x.trial.key} of {x.trial.job}: {x.trial.value}",
            amount=x.trial.more,
            unit=x.trial.unit,
            place=str(question.tree.place((*job_path(x.trial.job, scenario), x.trial.key))),
            resulting_plan=f"USD {money(x.cost_usd)}",
        )
        for i, x in enumerate(found)
    ]
    tables["tested_remedies"] = specs.TESTED_REMEDIES.table([*old, *rows])
    return replace(result, tables=tables)


def _conflict(question: Question, solved: Solved, time_limit_s: float) -> list[specs.ConflictRow]:
    """Return the user's limits in the conflict, one line per limit."""
    families: dict[Key, list[Key]] = defaultdict(list)
    for row in conflict(solved.matrix, time_limit_s):
        if is_users(row):
            families[family_of(row)].append(row)
    return [
        specs.ConflictRow(
            words_of(rows[0], solved.problem.start)[0], place_of(rows[0], question), len(rows)
        )
        for rows in families.values()
    ]


def _merged(remedies: Sequence[Remedy]) -> list[Remedy]:
    """Return one change per limit: the largest of all quarters."""
    best: dict[Key, Remedy] = {}
    for remedy in remedies:
        family = family_of(remedy.rows[0])
        if family not in best or remedy.amount > best[family].amount:
            best[family] = remedy
    return sorted(best.values(), key=lambda r: -r.amount)


def _rows(number: int, alternative: Alternative, question: Question) -> list[specs.TestedRemedyRow]:
    cost = (
        f"USD {money(alternative.cost_musd * USD_PER_MUSD)}"
        if alternative.cost_musd is not None
        else "not found in time"
    )
    return [
        specs.TestedRemedyRow(number, r.what, r.amount, r.unit, place_of(r.rows[0], question), cost)
        for r in _merged(alternative.remedies)
    ]


def _sentence(alternative: Alternative) -> str:
    parts = " and ".join(r.sentence() for r in _merged(alternative.remedies)[:3])
    checked = (
        "verified: the model then has a plan, apart from integer switch counts"
        if alternative.cost_musd is not None
        else "not verified in time"
    )
    return f"smallest remedy found: {parts} ({checked})"
