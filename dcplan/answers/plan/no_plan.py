"""Answers of ``dcplan plan`` without a plan: impossible, infeasible, nothing found yet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.plan.tables.excluded import excluded_options
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_INTERRUPTED, Problem
from dcplan.planning.problem.build import Built
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Result, Table
from dcplan.scenario.load import Question
from dcplan.specs import no_plan as specs


def nothing_yet(question: Question, built: Built, solved: Solved) -> Result:
    """Answer that no plan was found in time, or that integer switch counts do not fit the limits.

    Infeasibility is not proven in either case.
    """
    stopped = solved.status == SolveStatus.INTERRUPTED
    note = "raise the limit with --time-limit"
    if solved.status == SolveStatus.ROUNDING:
        note = (
            "the relaxation is feasible, but integer switch and scalable-unit counts do not fit "
            "the limits: relax a limit slightly"
        )
    return Result(
        verb="plan",
        status="interrupted" if stopped else "incomplete",
        exit_code=EXIT_INTERRUPTED if stopped else EXIT_INCOMPLETE,
        headline=f"{question.scenario.name}: no plan found in {solved.seconds:.0f} s; "
        "the scenario is not proved infeasible",
        scenario=describe(question),
        solver=solver_block(solved),
        tables={"excluded": excluded_options(built.problem)},
        inputs=inputs_of(built),
        warnings=[{"code": "note", "message": note}],
    )


def impossible(question: Question, built: Built, problems: list[Problem]) -> Result:
    """Answer with every reason for infeasibility that the data shows before solving."""
    why = f"infeasible, found before solving: {problems[0].cause}"
    return _infeasible(question, built, why, {"conflict": conflict_of(problems)})


def conflict_of(problems: Sequence[Problem]) -> Table:
    """Return the reasons why no plan can exist, found before solving."""
    return specs.CONFLICT.table(
        specs.ConflictRow(p.code, str(p.place), p.cause, p.help) for p in problems
    )


def infeasible(question: Question, built: Built, solved: Solved) -> Result:
    """Answer that the scenario is proved infeasible, or that fixed decisions exceed limits."""
    why, conflict = "proved infeasible", dict[str, Table]()
    if solved.audit is not None:
        broken = solved.audit.problems
        why = f"the fixed decisions exceed a limit: {broken[0]}"
        help_text = "change the decision or the limit"
        rows = [specs.ConflictRow("audit", "--fix-decisions", text, help_text) for text in broken]
        conflict = {"conflict": specs.CONFLICT.table(rows)}
    answer = _infeasible(question, built, why, conflict)
    return replace(answer, solver={**solver_block(solved), "gap_frac": math.nan})


def _infeasible(
    question: Question, built: Built, why: str, conflict: Mapping[str, Table]
) -> Result:
    return Result(
        verb="plan",
        status="infeasible",
        exit_code=EXIT_INFEASIBLE,
        headline=f"{question.scenario.name}: {why}",
        scenario=describe(question),
        tables={**conflict, "excluded": excluded_options(built.problem)},
        inputs=inputs_of(built),
    )
