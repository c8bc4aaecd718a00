"""The decision tree of a solve: the methods from a planning problem to an audited plan.

::

    solve_problem
    1. by_size
       a. decisions are given, or the model is not large (at most SMALL_COLUMNS columns; with
          replicas of services at most HOSTING_COLUMNS without those of services): with_margins
          For each rounding margin, from none to the widest:
          - model with replicas of services and more than SMALL_COLUMNS columns:
            in_hosting_stages (hosting.py)
          - any other model: HiGHS once
          The plan is audited. If the audit fails, the limits of parts are lowered, and without a
          margin the plan is repaired (repair.py); then the next margin follows.
       b. a larger model: by_halls
          Halls, fabrics and sites first, then racks and runs (large/), for LARGE_SHARE of the
          time; if that finds no plan, HiGHS on the full model with margins.
    2. no decision is given and the gap is open: single systems
       Halls that mix systems are planned with one system each (single_system.py); a cheaper plan
       replaces the first. The bound stays.

    When time runs out:
    - with_margins: HiGHS returns its best plan so far with the proven bound (status LIMIT). If that
      plan fails its audit, each solve of its repair still gets REPAIR_SHARE of the time limit. A
      solve that ends without a plan ends the loop, with status LIMIT and no plan.
    - by_halls: the search returns its best audited plan (status LIMIT). Without a plan, it takes
      EXTRA of its time for one, and then the full model uses the remaining time.
    - single systems: none is tried with less than LEAST_S left; the first plan stays.
    A request to stop has the same effects, with status INTERRUPTED.

``objective.py`` uses this tree for objectives other than cost. The plan of a hedge has its own solve
with margins, ``answers/plan/hedge_plans.py: together``, because all variants are one program.
"""

from __future__ import annotations

import math
from dataclasses import replace

from dcplan.errors import AuditError
from dcplan.planning.audit.measures import measured
from dcplan.planning.audit.run import Audit
from dcplan.planning.decision_table import fixed_columns
from dcplan.planning.decisions import Decisions
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.audited import audited, failed
from dcplan.planning.solve.highs import SMALL_COLUMNS, Outcome
from dcplan.planning.solve.hosting import columns_without_services, has_replicas, in_hosting_stages
from dcplan.planning.solve.large.racks import MOST_STEPS, RackStage
from dcplan.planning.solve.large.search import HallSearch
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.repair import MARGIN_FACTORS, repaired, with_less_parts
from dcplan.planning.solve.request import SolveRequest, SolveSession
from dcplan.planning.solve.single_system import single_system
from dcplan.planning.solve.solved import Solved, SolveReport
from dcplan.planning.solve.starts import known
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strong import strengthened
from dcplan.result import Table
from dcplan.scenario.load import Question

HOSTING_COLUMNS = 5_000
"""Models with replicas up to this size, without the columns of services, have stages of their own."""
LARGE_MARGIN_FACTORS = (1.0, 2.0, 4.0, 16.0)
"""Margins tried if the search of halls finds no plan."""
LARGE_SHARE = 0.8
"""Share of the time for the search of halls."""
LEAST_S = 1.0
"""Minimum remaining time to start another method. [s]"""
WHOLE_SHARE = 0.6
"""Share of the requested gap for the search; the rest covers costs that step costs do not
include."""


class UnknownDecisionError(ValueError):
    """Fixed decisions are malformed or not in the problem."""


def solve_problem(problem: PlanningProblem, question: Question, request: SolveRequest) -> Solved:
    """Solve a problem and audit the plan; a plan that fails its audit is never returned.

    Raises
    ------
    AuditError
        If no rounding margin makes the exact plan feasible, or the plan contradicts the
        catalog.
    UnknownDecisionError
        If fixed decisions are no longer available.
    """
    session = SolveSession.of(question, request)
    found = _by_size(problem, session)
    given = request.fixed is not None or problem.earlier is not None
    if given or found.audit is None or found.decisions is None:
        return found
    for other in single_system(problem, found.decisions):
        if found.gap_frac <= session.gap or session.clock.left() <= LEAST_S or session.stopped:
            break
        try:
            rival = _by_size(other, session.started_from(found.integer_values))
        except AuditError:  # no margin makes this problem feasible: the first plan stays
            continue
        if rival.audit is not None and rival.value < found.value:
            found = replace(
                rival, bound=found.bound, status=found.status, ended=found.ended, timed=found.timed
            )
    return replace(found, seconds=session.clock.spent())


def _by_size(problem: PlanningProblem, session: SolveSession) -> Solved:
    base = compile_model(build_model(replace(problem, margin_factor=0.0))[0])
    if session.request.fixed is None and _is_large(base):
        return _by_halls(problem, session, base)
    return _with_margins(problem, session, base)


def _is_large(base: Matrix) -> bool:
    """Return whether halls are searched first; replicas have a method of their own up to a size."""
    if has_replicas(base):
        return columns_without_services(base) > HOSTING_COLUMNS
    return len(base.columns) > SMALL_COLUMNS


def _with_margins(problem: PlanningProblem, session: SolveSession, base: Matrix) -> Solved:
    """Solve with increasing rounding margins until the audit passes."""
    bound, given = -math.inf, session.request.fixed
    last: Audit | None = None
    stepped = with_steps(problem, MOST_STEPS, exact=True) if given is None else problem
    steps = stepped.integer_switches
    for factor in MARGIN_FACTORS:
        tried = replace(stepped, margin_factor=factor)
        matrix = base if factor == 0 and not steps else compile_model(build_model(tried)[0])
        fixed = _fixed(tried, matrix, given)
        outcome = _direct(session, tried, matrix, base, fixed)
        bound = outcome.bound if factor == 0 else bound
        judged = replace(
            tried, parts=problem.parts
        )  # audited with the user's limits, not with the lowered ones
        report = SolveReport(
            *(bound, session.clock.spent(), outcome.nodes, matrix, judged, fixed),
            *(outcome.gap_frac, outcome.objective),
        )
        if outcome.values is None:
            proved = outcome.status is not SolveStatus.INFEASIBLE or factor == 0
            return report.of(outcome.status if proved else SolveStatus.ROUNDING)
        decisions, last = audited(judged, matrix, outcome, session.question)
        if last.passed:
            return report.of(outcome.status, decisions, last, matrix.integer_values(outcome.values))
        if given is not None:  # given decisions cannot change, so their violations are the answer
            return report.of(SolveStatus.INFEASIBLE, None, last)
        stepped = with_less_parts(stepped, last, everywhere=factor >= 1.0)
        if factor == 0 and len(matrix.columns) > SMALL_COLUMNS:
            repair = repaired(stepped, matrix, outcome, session)
            if repair is not None:
                return report.of(outcome.status, *repair)
    if last is not None and last.only_parts:
        # no tried plan keeps integer switch counts within parts_per_quarter
        return report.of(SolveStatus.ROUNDING)
    raise failed(last)


def _direct(
    session: SolveSession,
    problem: PlanningProblem,
    matrix: Matrix,
    base: Matrix,
    fixed: dict[int, float] | None,
) -> Outcome:
    """Solve one model, in stages if it has replicas and is not small."""
    gap = WHOLE_SHARE * session.gap if problem.integer_switches else session.gap
    if fixed is not None:
        return session.solve(matrix, gap, fixed=fixed)
    strong = strengthened(matrix, problem)
    if has_replicas(matrix) and len(base.columns) > SMALL_COLUMNS:
        return in_hosting_stages(strong, strengthened(base, problem), session, gap)
    near = session.request.near
    return session.solve(strong, gap, start=known(matrix, near) if near else None)


def _by_halls(problem: PlanningProblem, session: SolveSession, base: Matrix) -> Solved:
    """Search halls first; if that finds no plan, solve the full model with margins."""
    plain = replace(problem, margin_factor=0.0)

    def valued(
        part: PlanningProblem, matrix: Matrix, outcome: Outcome
    ) -> tuple[Decisions, Audit, float]:
        decisions, found = audited(plain, matrix, outcome, session.question, part)
        passed = found.passed
        value = (
            measured(problem.goal.measure, problem, decisions, found.books) if passed else math.inf
        )
        return decisions, found, value

    part = session.part(LARGE_SHARE)
    stage = RackStage(plain, base, valued, part)
    answer = HallSearch(plain, stage, part).solve(session.request.near)
    plan, stopped = answer.plan, session.stopped
    report = SolveReport(
        answer.bound, session.clock.spent(), answer.nodes, base, plain, None, math.inf
    )
    if answer.infeasible:
        return report.of(SolveStatus.INFEASIBLE)
    if plan is None:
        return _full_model(problem, session, report)
    report = replace(report, search_gap=session.gap, searched=plan.searched)
    proved = plan.value - answer.bound <= session.gap * abs(plan.value)
    late = SolveStatus.INTERRUPTED if stopped else SolveStatus.LIMIT
    status = SolveStatus.OPTIMAL if proved else late
    found = report.of(status, plan.decisions, plan.audit, plan.integer_values)
    timed = session.clock.ended_solve
    return replace(found, ended="" if proved or stopped else answer.ended, timed=timed)


def _full_model(problem: PlanningProblem, session: SolveSession, report: SolveReport) -> Solved:
    """Solve a full large model with increasing margins in the remaining time."""
    status = SolveStatus.INTERRUPTED if session.stopped else SolveStatus.ROUNDING
    for factor in () if session.stopped else LARGE_MARGIN_FACTORS:
        tried = replace(problem, margin_factor=factor)
        matrix = compile_model(build_model(tried)[0])
        outcome = session.solve(matrix, session.gap)
        if outcome.values is None:
            none = outcome.status is SolveStatus.INFEASIBLE
            status = SolveStatus.ROUNDING if none else outcome.status
            break
        decisions, last = audited(tried, matrix, outcome, session.question)
        if last.passed:
            report = replace(report, seconds=session.clock.spent())
            return report.of(
                SolveStatus.LIMIT, decisions, last, matrix.integer_values(outcome.values)
            )
    return replace(report, seconds=session.clock.spent()).of(status)


def _fixed(
    problem: PlanningProblem, matrix: Matrix, table: Table | None
) -> dict[int, float] | None:
    if table is None:
        return None
    fixed = fixed_columns(problem, matrix.columns, list(matrix.integer), table)
    if isinstance(fixed, list):
        msg = "decisions that this scenario does not have: " + "; ".join(fixed[:5])
        raise UnknownDecisionError(msg)
    return fixed
