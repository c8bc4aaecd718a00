"""``dcplan check``: syntax, references and physical plausibility; solves nothing."""

from __future__ import annotations

from dcplan.answers.check.class_values import class_values
from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.plan.no_plan import conflict_of
from dcplan.answers.plan.tables.excluded import excluded_options
from dcplan.answers.tco.conventions import has_conventions, planned_question
from dcplan.errors import EXIT_INFEASIBLE, EXIT_OK, InputError
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.result import Result
from dcplan.scenario.axes import axes_of
from dcplan.scenario.expect import check_metrics
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.check import EXCLUDED_OPTIONS
from dcplan.specs.verb import verb


@verb(ScenarioRef, "check")
def check(ref: ScenarioRef) -> Result:
    """Check a scenario without a solver.

    Raises
    ------
    InputError
        When the scenario is invalid; lists every problem.
    """
    question = ref.question()
    problems = check_metrics(question.scenario, question.catalog, question.tree)
    try:
        axes_of(question.scenario, question.tree)
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(problems)
    built = build(planned_question(question) if has_conventions(question) else question)
    found = presolve(question, built)
    problem = built.problem
    inputs = inputs_of(built)
    tables = {"class_values": class_values(inputs), "excluded": excluded_options(problem)}
    if found:
        tables["conflict"] = conflict_of(found)
    parts = (
        (len(problem.sites), "sites"),
        (len(problem.halls), "hall types"),
        (len(problem.placements), "system placements"),
        (len(problem.fabrics), "fabric options"),
        (len(problem.run_options), "job configurations"),
        (len(problem.offers), "offers"),
    )
    counts = ", ".join(f"{n} {what}" for n, what in parts)
    verdict = f"no plan can exist: {found[0].cause}" if found else "no error found"
    return Result(
        verb="check",
        status="infeasible" if found else "ok",
        exit_code=EXIT_INFEASIBLE if found else EXIT_OK,
        headline=f"{question.scenario.name}: {verdict} ({counts})",
        scenario=describe(question),
        metrics=EXCLUDED_OPTIONS(len(problem.excluded)),
        tables=tables,
        inputs=inputs,
        warnings=[{"code": "note", "message": text} for text in problem.warnings],
    )
