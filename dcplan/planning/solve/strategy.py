"""The decision tree of a solve: the methods from a planning problem to an audited plan.

::

    solve_problem
    1. decisions are given, or the model is not large (at most SMALL_COLUMNS columns; with replicas
       of services at most HOSTING_COLUMNS without those of services): exactly
       - model with replicas of services and more than SMALL_COLUMNS columns:
         in_hosting_stages (hosting.py)
       - any other model: HiGHS once
       The model has integer switch counts, so that its cost is that of the audit. Limits that the
       plan violates in its audit are tightened, and the model is solved again (rounding.py).
    2. a larger model: by_halls
       Halls, fabrics and sites first, then racks and runs (large/), for LARGE_SHARE of the time, and
       for all of it once there is a plan.
    3. neither found a plan: with_margins
       HiGHS on the full model, with increasing margins for rounding.
    4. no plan starts every run as soon as its hardware can serve: _with_least_wait
       - All later starts are allowed, and 1 to 3 minimize the months that runs wait in all (goal WAIT),
         in WAIT_SHARE of the remaining time.
       - Then 1 to 3 minimize the goal of the problem, where each run waits at most as in that plan;
         every later start is allowed if that time ended without a plan.

    The purchases of a least-cost plan are improved last (``polish/``), in time that the search leaves.

    A plan is OPTIMAL if its audited cost is within the requested gap of the bound. If it is not,
    its status is LIMIT, and ``ended`` says what limits the gap unless time does.

    When time runs out:
    - exactly: HiGHS returns its best plan so far with the proven bound. If that plan fails its
      audit, each further solve still gets ROUND_SHARE of the time limit.
    - by_halls: the search returns its best audited plan. Without a plan, it takes EXTRA of its time
      for one, and then the full model uses the remaining time.
    A request to stop has the same effects, with status INTERRUPTED.

``team.py`` runs this tree several times at once, with other seeds. ``objective.py`` uses it for
objectives other than cost. The plan of a hedge has its own solve
with margins, ``answers/plan/hedge/plans.py: together``, because all variants are one program.
"""

from __future__ import annotations

import math
from dataclasses import replace

from dcplan.errors import AuditError
from dcplan.planning.audit.run import Audit
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import WAIT, Goal
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.jobs.soonest import allowing, wait_months, with_later_starts
from dcplan.planning.solve.audited import audited
from dcplan.planning.solve.exact import exactly, of_shares, with_margins
from dcplan.planning.solve.highs import SMALL_COLUMNS, Outcome, contradicted, relaxation
from dcplan.planning.solve.hosting import columns_without_services, has_replicas
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.large.aggregate import with_work
from dcplan.planning.solve.large.merged import merged, of_merged
from dcplan.planning.solve.large.racks import RackStage
from dcplan.planning.solve.large.screening import SCREEN_GAP, screened
from dcplan.planning.solve.large.search import HallSearch
from dcplan.planning.solve.large.thinned import thinned
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.polish.purchases import kept_s, polished
from dcplan.planning.solve.request import LEAST_S, SolveRequest, SolveSession
from dcplan.planning.solve.solved import Solved, SolveReport
from dcplan.planning.solve.status import Phase, SolveStatus
from dcplan.planning.solve.strong import strengthened
from dcplan.scenario.load import Question

HOSTING_COLUMNS = 5_000
"""Models with replicas up to this size, without the columns of services, have stages of their own."""
SPAN_COLUMNS = 8_000
"""Largest program with runs over halls that is first solved with shares of switches."""
LARGE_SHARE = 0.8
"""Share of the time for a first plan of the search of halls, which then takes the rest."""
ROUNDED = (
    "the model is solved; the audited plan costs more than its model because of integer counts of "
    "switches and scalable units"
)
CONTRADICTED = (
    "the solver's bound was above this plan, so it is wrong and left out, and the bound is that of the "
    "linear relaxation; solve again with another --gap"
)
WAIT_SHARE = 0.5
"""Share of the remaining time to find the shortest wait of runs that cannot start at once."""
TINY = 1e-9


def solve_problem(problem: PlanningProblem, question: Question, request: SolveRequest) -> Solved:
    """Solve a problem and audit the plan; a plan that fails its audit is never returned.

    It is one search in this process; ``team.py`` runs several. If no plan starts every run as soon as
    its hardware can serve, the runs wait as few months in all as they must.

    Raises
    ------
    AuditError
        If no rounding margin makes the exact plan feasible, or the plan contradicts the
        catalog.
    UnknownDecisionError
        If fixed decisions are no longer available.
    """
    if request.fixed is not None:
        return _solved(with_later_starts(problem), question, request)
    found = _solved(problem, question, request)
    none = found.audit is None and found.status in (SolveStatus.INFEASIBLE, SolveStatus.ROUNDING)
    if not none or not problem.later:
        return found
    return _with_least_wait(problem, question, request.within(_left_s(request, found)))


def _with_least_wait(problem: PlanningProblem, question: Question, request: SolveRequest) -> Solved:
    """Solve a problem whose runs cannot all start at once: they wait as few months as they must."""
    everything = with_later_starts(problem)
    aimed = replace(everything, goal=Goal(WAIT, problem.goal.limits))
    first = _solved(aimed, question, request.within(WAIT_SHARE * request.time_limit_s))
    if first.decisions is None:
        open_ = first.status is not SolveStatus.INFEASIBLE
        last = request.within(_left_s(request, first))
        return _solved(everything, question, last) if open_ else replace(first, problem=everything)
    waits = {run.job: wait_months(everything, run) for run in first.decisions.runs}
    near = replace(request.within(_left_s(request, first)), near=None)
    return _solved(allowing(problem, waits), question, near)


def _left_s(request: SolveRequest, found: Solved) -> float:
    return max(request.time_limit_s - found.seconds, LEAST_S)


def _solved(problem: PlanningProblem, question: Question, request: SolveRequest) -> Solved:
    """Solve a problem with its run options."""
    session = SolveSession.of(question, request, problem.goal.measure)
    free = request.fixed is None
    search = session.until(session.clock.left() - kept_s(request.time_limit_s)) if free else session
    return judged(polished(_searched(problem, search), session), session)


def _searched(problem: PlanningProblem, session: SolveSession) -> Solved:
    """Search the plan of a problem by the method that its size asks for."""
    plain = replace(problem, margin_factor=0.0)
    free = session.request.fixed is None
    lean = thinned(plain) if free and not problem.spans else plain
    base = PROGRAMS.compiled(plain) if lean is plain else None
    if base is not None and not (free and _is_large(base)):
        return exactly(problem, session, base)
    return _by_halls(problem, session, base, merged(lean))


def judged(found: Solved, session: SolveSession) -> Solved:
    """Return the solution with the status that its audited gap deserves."""
    timed = found.timed or session.clock.ended_solve
    found = replace(found, seconds=session.clock.spent(), timed=timed)
    if 0.0 < found.bound - found.value <= TINY * abs(found.value):  # of the solver's tolerance
        found = replace(found, bound=found.value)
    if found.audit is None or session.request.fixed is not None:
        return found
    if contradicted(found.bound, found.value):
        relaxed = min(_relaxed_bound(found.problem), found.value)
        found = replace(found, bound=relaxed, status=SolveStatus.LIMIT, ended=CONTRADICTED)
    if found.gap_frac <= session.gap + TINY:
        return replace(found, status=SolveStatus.OPTIMAL, ended="")
    untimed = found.status is SolveStatus.LIMIT and not timed and not found.ended
    if found.status is SolveStatus.OPTIMAL or untimed:
        return replace(found, status=SolveStatus.LIMIT, ended=ROUNDED)
    return found


def _relaxed_bound(problem: PlanningProblem) -> float:
    """Return the bound of the linear relaxation, which needs no integers.

    Raises
    ------
    AuditError
        If the relaxation has no solution, which an audited plan refutes.
    """
    point = relaxation(PROGRAMS.compiled(replace(problem, margin_factor=0.0)))
    if point is None:
        msg = "the solver finds no solution of a program that has an audited plan"
        raise AuditError(msg)
    return point.objective


def _is_large(base: Matrix) -> bool:
    """Return whether halls are searched first; replicas have a method of their own up to a size."""
    if has_replicas(base):
        return columns_without_services(base) > HOSTING_COLUMNS
    return len(base.columns) > SMALL_COLUMNS


def _shares_first(problem: PlanningProblem, base: Matrix, session: SolveSession) -> Outcome | None:
    """Solve a program of runs over halls with shares of switches, for its bound and a start.

    It has a few thousand columns, and HiGHS often proves it in seconds; the steps of switches would
    double them. None for a larger program, or one without such runs, whose halls are searched faster,
    or where the plan asks for a screening only.
    """
    if not problem.spans or len(base.columns) > SPAN_COLUMNS or session.request.screen:
        return None
    return of_shares(session, strengthened(base, problem), session.gap)


def _by_halls(
    problem: PlanningProblem, session: SolveSession, base: Matrix | None, lean: PlanningProblem
) -> Solved:
    """Search halls first; if that finds no plan, solve the full model with margins.

    ``lean`` has the same relaxation. A problem with many runs has no program of all of them, ``base``.
    """
    plain = replace(problem, margin_factor=0.0)

    def audit_of(
        part: PlanningProblem, matrix: Matrix, outcome: Outcome
    ) -> tuple[Decisions, Audit]:
        session.reporter.enter(Phase.AUDIT)
        return audited(plain, matrix, outcome, session.question, part)

    part = session.part(LARGE_SHARE)
    judged_by = part.at_gap(SCREEN_GAP) if session.request.screen else part
    if base is None:
        program = with_work(PROGRAMS.compiled(lean), lean)
        stage = RackStage(plain, program, audit_of, judged_by, relaxed=True)
    else:
        program = of_merged(base, plain, lean)
        stage = RackStage(plain, base, audit_of, judged_by)
    search = HallSearch(lean, program, stage, part)
    near = session.request.near
    first = None if base is None else _shares_first(plain, base, session)
    if first is not None and first.status is SolveStatus.INFEASIBLE:
        return SolveReport(
            math.inf, session.clock.spent(), first.nodes, base, plain, None, math.inf
        ).of(first.status)
    if first is not None and base is not None:
        search.plans.prove(first.bound)
        search.nodes += first.nodes
        near = near if first.values is None else base.integer_values(first.values)
    answer = screened(search, near) if session.request.screen else search.solve(near)
    plan, stopped = answer.plan, session.stopped
    report = SolveReport(
        answer.bound, session.clock.spent(), answer.nodes, base, plain, None, math.inf
    )
    if answer.infeasible:
        return report.of(SolveStatus.INFEASIBLE)
    if plan is None:
        return with_margins(problem, session, report)
    report = replace(report, search_gap=session.gap, searched=plan.searched)
    proved = plan.value - answer.bound <= session.gap * abs(plan.value)
    late = SolveStatus.INTERRUPTED if stopped else SolveStatus.LIMIT
    status = SolveStatus.OPTIMAL if proved else late
    found = report.of(status, plan.decisions, plan.audit, plan.integer_values)
    return replace(found, ended="" if proved or stopped else answer.ended)
