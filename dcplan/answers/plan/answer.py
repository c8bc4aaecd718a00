"""``dcplan plan``: the optimal, audited plan of a scenario."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcplan.answers.common.result_blocks import describe, inputs_of, solver_block
from dcplan.answers.plan.headline import headline
from dcplan.answers.plan.metrics import metrics_of
from dcplan.answers.plan.no_plan import impossible, infeasible, nothing_yet
from dcplan.answers.plan.notes import warnings_of
from dcplan.answers.plan.replan import decisions_of, kept_from
from dcplan.answers.plan.request import PlanRequest, refuse_conflicts
from dcplan.answers.plan.sites.compare import Compared, compared, refuse_no_comparison
from dcplan.answers.plan.sites.table import sites_table
from dcplan.answers.plan.tables.lead_times import lead_times
from dcplan.answers.plan.tables.limits import binding
from dcplan.answers.plan.tables.overview import tables_of
from dcplan.answers.plan.tables.procurement.schedule import purchases
from dcplan.answers.plan.waiting import waiting_of
from dcplan.errors import (
    EXIT_INCOMPLETE,
    EXIT_INTERRUPTED,
    EXIT_NO,
    EXIT_OK,
    InputError,
    Place,
    Problem,
)
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.jobs.soonest import with_later_starts
from dcplan.planning.solve.exact import UnknownDecisionError
from dcplan.planning.solve.objective import solve_objective
from dcplan.planning.solve.request import LEAST_S, Clock, SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import Phase, SolveStatus, begin
from dcplan.result import Result, Table
from dcplan.scenario.expect import check_metrics, evaluate
from dcplan.scenario.load import Question
from dcplan.specs.verb import verb

if TYPE_CHECKING:
    from dcplan.answers.plan.replay.given import Given


@verb(PlanRequest, "plan")
def plan(request: PlanRequest) -> Result:
    """Find the best plan of a scenario under its objective, and prove how good it is.

    The plan is audited: a second implementation recomputes its limits and its cost.

    Raises
    ------
    InputError
        When the scenario has errors; the exception carries all of them.
    AuditError
        When a plan fails its own audit, which is a bug.
    """
    refuse_conflicts(request)
    if request.hedge:
        from dcplan.answers.plan.hedge.answer import hedge  # rarely used

        return hedge(request)
    began = time.monotonic()
    begin(request.progress, Phase.OPTIONS)
    question = request.question()
    problems = check_metrics(question.scenario, question.catalog, question.tree)
    if problems:
        raise InputError(problems)
    sites = [s.id for s in question.scenario.sites]
    given = None
    if request.replay_hours:
        from dcplan.answers.plan.replay.given import given_of  # rarely used

        given = given_of(request, sites)
    built = build(question)
    if request.compare_sites:
        refuse_no_comparison(built.problem, question)
    if request.earlier is not None:  # its runs may have waited
        built = replace(built, problem=with_later_starts(built.problem))
    found = presolve(question, built)
    if found:
        return _remedied(request, question, built, impossible(question, built, found), began)
    solved = _solved(request, question, built)
    if solved.status == SolveStatus.INFEASIBLE:
        answer = infeasible(question, built, solved)
        fixed = solved.audit is not None
        return answer if fixed else _remedied(request, question, built, answer, began)
    if solved.audit is None:
        return nothing_yet(question, built, solved)
    answer = _answer(request, question, built, solved, given)
    seconds = {"seconds": time.monotonic() - began, "solve_seconds": solved.seconds}
    return replace(answer, run={name: round(value, 3) for name, value in seconds.items()})


def _remedied(
    request: PlanRequest, question: Question, built: Built, answer: Result, began: float
) -> Result:
    """Return the answer without a plan with its balance and with tested remedies."""
    if not request.remedies_limit_s:
        return answer
    # a scenario with a plan needs no remedies
    from dcplan.answers.remedies.infeasible import Infeasible
    from dcplan.answers.remedies.search import explained
    from dcplan.answers.remedies.tables import with_remedies

    begin(request.progress, Phase.REMEDIES)
    left_s = max(request.time_limit_s - (time.monotonic() - began), LEAST_S)
    limit_s = min(left_s, request.remedies_limit_s)
    given = request.fix_decisions

    def prepared(changed: Question, its: Built) -> PlanningProblem:
        return replace(its.problem, earlier=kept_from(request, changed, its))

    asked = Infeasible(
        request,
        question,
        with_later_starts(prepared(question, built)),
        Clock(limit_s),
        prepared,
        decisions_of(given, "--fix-decisions") if given else None,
    )
    return with_remedies(answer, asked, explained(asked))


def _solved(request: PlanRequest, question: Question, built: Built) -> Solved:
    """Solve a scenario, with the decisions of an earlier plan if there is one."""
    problem = replace(built.problem, earlier=kept_from(request, question, built))
    try:
        return solve_objective(problem, question, _search(request))
    except UnknownDecisionError as error:
        raise InputError([Problem("DC015", str(error), Place("--fix-decisions"))]) from error


def _search(request: PlanRequest) -> SolveRequest:
    """Return the request of the plan's solve."""
    given = request.fix_decisions
    return SolveRequest(
        gap=request.gap,
        time_limit_s=request.time_limit_s,
        fixed=decisions_of(given, "--fix-decisions") if given else None,
        progress=request.progress,
        stop=request.stop,
        team=request.team,
    )


def _answer(
    request: PlanRequest, question: Question, built: Built, solved: Solved, given: Given | None
) -> Result:
    """Return metrics, tables, expectations and warnings of a plan."""
    begin(request.progress, Phase.WAITING)
    waiting = waiting_of(solved, question, _search(request))
    metrics = metrics_of(solved, question.catalog) | (waiting.metrics if waiting else {})
    more: dict[str, Table] = {}
    if question.scenario.uncertainty is not None:
        # scipy.optimize needs a second to import
        from dcplan.answers.plan.simulation import simulation_of

        begin(request.progress, Phase.SAMPLES)
        spread, more = simulation_of(solved, question.scenario.uncertainty, built.log, request.stop)
        metrics |= spread
    begin(request.progress, Phase.TABLES)
    again = None
    if given is not None:
        from dcplan.answers.plan.replay.answer import replay_of  # rarely used

        again = replay_of(solved, question, built.log, given, rows=request.replay_rows)
    if again is not None:
        metrics, more = metrics | again.metrics, more | again.tables
    values = {k: m.value for k, m in metrics.items()}
    expectations = evaluate(question.scenario.expect, values, variant=question.variant)
    tables = tables_of(solved, metrics, question) | more
    tables |= _more_tables(request, question, built, solved)
    status, code = _ending(solved, request.gap, expectations)
    return Result(
        verb="plan",
        status=status,
        exit_code=code,
        headline=headline(question, solved, metrics, status, waiting),
        scenario=describe(question),
        solver=solver_block(solved),
        metrics=metrics,
        tables=tables,
        inputs=inputs_of(built),
        expectations=expectations,
        warnings=warnings_of(solved, question, tables, request.gap)
        + (waiting.warnings if waiting else [])
        + (again.warnings if again else []),
    )


def _more_tables(
    request: PlanRequest, question: Question, built: Built, solved: Solved
) -> dict[str, Table]:
    """Return the caller's tables, binding limits, long-lead equipment and purchases."""
    tables: dict[str, Table] = {}
    for maker in request.more_tables:
        tables |= maker(solved, question, built.log)
    tables["limits"] = binding(solved, question)
    found: dict[str, Compared] = {}
    if request.compare_sites:
        begin(request.progress, Phase.SITES)
        found = compared(solved, question, _search(request))
    tables |= sites_table(solved, question, built.log, found)
    if solved.decisions is not None:
        tables["lead_times"] = lead_times(solved.problem, solved.decisions, built.log)
    if solved.decisions is not None and solved.audit is not None:
        tables["purchases"] = purchases(
            solved.problem, solved.decisions, solved.audit.books, question, built.log
        )
    return tables


def _ending(solved: Solved, gap: float, expectations: Sequence[dict[str, Any]]) -> tuple[str, int]:
    """Return status and exit code of an answer with a plan."""
    failed = any(e["passed"] is False and e["severity"] == "error" for e in expectations)
    if solved.status == SolveStatus.INTERRUPTED:
        return "interrupted", EXIT_INTERRUPTED
    if solved.status == SolveStatus.LIMIT and solved.gap_frac > gap:
        return "incomplete", EXIT_INCOMPLETE
    return ("expectation_failed", EXIT_NO) if failed else ("ok", EXIT_OK)
