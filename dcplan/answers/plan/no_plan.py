"""Answers of ``dcplan plan`` that hold no plan: impossible, infeasible, nothing found yet."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.plan.tables.excluded import excluded_options
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_INTERRUPTED, Problem
from dcplan.planning.explain.remedies import remedies
from dcplan.planning.problem.build import Built
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Result, Table
from dcplan.scenario.load import Question
from dcplan.specs import no_plan as specs


def nothing_yet(question: Question, built: Built, solved: Solved) -> Result:
    """Answer that time ran out, or whole switches fit nowhere, before any plan was found.

    Nothing is proved then.
    """
    stopped = solved.status == SolveStatus.INTERRUPTED
    note = "give more time: --time-limit"
    if solved.status == SolveStatus.ROUNDING:
        note = (
            "whole switches and scalable units do not fit the limits, though fractions would: "
            "widen a limit a little"
        )
    return Result(
        verb="plan",
        status="interrupted" if stopped else "incomplete",
        exit_code=EXIT_INTERRUPTED if stopped else EXIT_INCOMPLETE,
        headline=f"{question.scenario.name}: no plan found in {solved.seconds:.0f} s; "
        "none is proved impossible",
        scenario=describe(question),
        solver=solver_block(solved),
        tables={"excluded": excluded_options(built.problem)},
        inputs=inputs_of(built),
        warnings=[{"code": "note", "message": note}],
    )


def impossible(question: Question, built: Built, problems: list[Problem]) -> Result:
    """Answer what the data alone shows before any solving, all of it at once."""
    return Result(
        verb="plan",
        status="infeasible",
        exit_code=EXIT_INFEASIBLE,
        headline=f"{question.scenario.name}: infeasible, shown without solving: "
        f"{problems[0].cause}",
        scenario=describe(question),
        tables={"conflict": conflict_of(problems), "excluded": excluded_options(built.problem)},
        inputs=inputs_of(built),
    )


def conflict_of(problems: Sequence[Problem]) -> Table:
    """Return why no plan can exist, as found without solving."""
    return specs.CONFLICT.table(
        specs.ConflictRow(p.code, str(p.place), p.cause, p.help) for p in problems
    )


def _fixed_broken(
    question: Question, built: Built, solved: Solved, problems: Sequence[str]
) -> Result:
    """Answer that given decisions exceed limits."""
    help_text = "change the decision or the limit"
    rows = [specs.ConflictRow("audit", "--fix-decisions", text, help_text) for text in problems]
    return Result(
        verb="plan",
        status="infeasible",
        exit_code=EXIT_INFEASIBLE,
        headline=f"{question.scenario.name}: the fixed decisions break a limit: {problems[0]}",
        scenario=describe(question),
        solver={**solver_block(solved), "gap_frac": math.nan},
        tables={
            "conflict": specs.CONFLICT.table(rows),
            "excluded": excluded_options(built.problem),
        },
        inputs=inputs_of(built),
    )


def infeasible(question: Question, built: Built, solved: Solved) -> Result:
    """Answer that the scenario is proved infeasible, with the smallest changes that would help."""
    if solved.audit is not None:
        return _fixed_broken(question, built, solved, solved.audit.problems)
    found = remedies(solved.problem, solved.matrix, fixed=solved.fixed)
    rows = [
        specs.RemedyRow(r.what, r.amount, f"{r.unit}, at least" if r.at_least else r.unit)
        for r in found
    ]
    first = f"smallest change found: {found[0].sentence()}" if found else "no remedy found in time"
    return Result(
        verb="plan",
        status="infeasible",
        exit_code=EXIT_INFEASIBLE,
        headline=f"{question.scenario.name}: proved infeasible; {first}",
        scenario=describe(question),
        solver={**solver_block(solved), "gap_frac": math.nan},
        tables={
            "remedies": specs.REMEDIES.table(rows),
            "excluded": excluded_options(built.problem),
        },
        inputs=inputs_of(built),
    )
