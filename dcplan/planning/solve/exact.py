"""The model with integer switch counts, solved until its plan passes the audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dcplan.planning.audit.run import Audit
from dcplan.planning.decision_table import fixed_columns
from dcplan.planning.decisions import Decisions
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.audited import audited, failed
from dcplan.planning.solve.highs import SMALL_COLUMNS, Outcome, Watch
from dcplan.planning.solve.hosting import has_replicas, in_hosting_stages
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.large.racks import MOST_STEPS
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.request import LEAST_S, SolveSession
from dcplan.planning.solve.rounding import Failed, until_passed
from dcplan.planning.solve.solved import Solved, SolveReport
from dcplan.planning.solve.starts import CHOICES, known
from dcplan.planning.solve.status import Phase, SolveStatus
from dcplan.planning.solve.strong import strengthened
from dcplan.result import Table

LAST_FACTORS = (0.5, 2.0, 16.0)
"""Margins tried if tighter limits give no plan."""
LESS_PARTS = 0.25
"""Factor on the limits of parts with each margin: the first switches of a unit come in one quarter."""
ROUND_SHARE = 0.1
"""Share of the time limit for a solve with tighter limits, even after the time limit: a plan that
fails its audit is not a plan."""
EXACT_SHARE = 0.9
"""Share of the requested gap for the search; the rest covers costs that steps do not include."""
LEAST_GAP = 0.2
"""Smallest share of the requested gap for a second search, where the audit costs more than that."""
MANY_STEPS, SHARES_SHARE, SHARES_GAP = 3.0, 0.25, 0.3
"""Ratio of columns with and without steps of switches from which the model without them comes first, and
its shares of the time and of the gap."""
TINY = 1e-9


class UnknownDecisionError(ValueError):
    """Fixed decisions are malformed or not in the problem."""


def exactly(problem: PlanningProblem, session: SolveSession, base: Matrix) -> Solved:
    """Solve the model with integer switch counts, and again with tighter limits until a plan passes."""
    given, plain = session.request.fixed, replace(problem, margin_factor=0.0)
    stepped = plain if given is not None else with_steps(plain, MOST_STEPS, exact=True)
    matrix = PROGRAMS.compiled(stepped) if stepped.integer_switches else base
    fixed = _fixed(stepped, matrix, given)
    gap = session.gap * (EXACT_SHARE if stepped.integer_switches else 1.0)
    outcome = _direct(session, stepped, matrix, base, fixed, gap)

    def report(x: Outcome) -> SolveReport:
        seconds = session.clock.spent()
        return SolveReport(
            *(outcome.bound, seconds, outcome.nodes, matrix, plain, fixed, x.gap_frac, x.objective)
        )

    if outcome.values is None:
        return report(outcome).of(outcome.status)

    def audit_of(model: Matrix, x: Outcome) -> tuple[Decisions, Audit]:
        session.reporter.enter(Phase.AUDIT)
        return audited(plain, model, x, session.question, stepped)

    if given is not None:  # given decisions cannot change, so their violations are the answer
        decisions, audit = audit_of(matrix, outcome)
        if audit.passed:
            whole = matrix.integer_values(outcome.values)
            return report(outcome).of(outcome.status, decisions, audit, whole)
        return report(outcome).of(SolveStatus.INFEASIBLE, None, audit)

    def again(model: Matrix, start: Mapping[int, float]) -> Outcome:
        return _again(session, model, start, large=len(base.columns) > SMALL_COLUMNS)

    found = until_passed(plain, matrix, outcome, again, audit_of)
    if isinstance(found, Failed):
        return with_margins(problem, session, report(outcome))
    whole = found.integer_values
    solved = report(found.outcome).of(outcome.status, found.decisions, found.audit, whole)
    session.reporter.passed(solved.value)
    if solved.gap_frac <= session.gap or outcome.status is not SolveStatus.OPTIMAL:
        return solved
    return _second(session, stepped, matrix, solved, audit_of)


def _again(
    session: SolveSession, model: Matrix, start: Mapping[int, float], *, large: bool
) -> Outcome:
    """Solve a model with tighter limits; a large one keeps the runs and fabrics of the plan."""
    least_s = ROUND_SHARE * session.clock.limit_s
    kept = {i: start[i] for i in model.of(CHOICES)} if large else None
    found = session.solve(
        model, EXACT_SHARE * session.gap, fixed=kept, start=start, silent=True, least_s=least_s
    )
    if found.values is not None or kept is None:
        return found
    return session.solve(
        model, EXACT_SHARE * session.gap, start=start, silent=True, least_s=least_s
    )


def _second(
    session: SolveSession,
    problem: PlanningProblem,
    matrix: Matrix,
    first: Solved,
    audit_of: Callable[[Matrix, Outcome], tuple[Decisions, Audit]],
) -> Solved:
    """Search again for a higher bound, by what the audit costs more than the model."""
    beyond = (first.value - first.searched) / max(abs(first.value), TINY)
    gap = max(session.gap - max(beyond, 0.0), LEAST_GAP * session.gap)
    if gap >= first.solver_gap_frac or session.clock.left() <= LEAST_S or session.stopped:
        return first
    start = known(matrix, first.integer_values)
    outcome = session.solve(strengthened(matrix, problem), gap, start=start)
    if outcome.values is None:  # the audited plan is a solution, so this proves nothing
        return first
    bound = max(first.bound, outcome.bound)
    nodes = first.nodes + outcome.nodes
    decisions, audit = audit_of(matrix, outcome)
    better = replace(
        first,
        decisions=decisions,
        audit=audit,
        searched=outcome.objective,
        integer_values=matrix.integer_values(outcome.values),
    )
    if audit.passed and better.value < first.value:
        first = better
    return replace(first, bound=bound, nodes=nodes, solver_gap_frac=outcome.gap_frac)


def _direct(
    session: SolveSession,
    problem: PlanningProblem,
    matrix: Matrix,
    base: Matrix,
    fixed: dict[int, float] | None,
    gap: float,
) -> Outcome:
    """Solve one model, in stages if it has replicas and is not small."""
    if fixed is not None:
        return session.solve(matrix, gap, fixed=fixed)
    strong = strengthened(matrix, problem)
    if has_replicas(matrix) and len(base.columns) > SMALL_COLUMNS:
        return in_hosting_stages(strong, strengthened(base, problem), session, gap)
    near = session.request.near
    if len(matrix.columns) > MANY_STEPS * len(base.columns):
        return _from_shares(session, strong, strengthened(base, problem), gap)
    return session.solve(strong, gap, start=known(matrix, near) if near else None)


def of_shares(session: SolveSession, program: Matrix, gap: float) -> Outcome:
    """Solve a program with shares in place of integer switch counts in a part of the remaining time."""
    near = session.request.near
    start = known(program, near) if near else None
    return session.part(SHARES_SHARE).solve(program, SHARES_GAP * gap, start=start)


def _from_shares(session: SolveSession, strong: Matrix, base: Matrix, gap: float) -> Outcome:
    """Solve a model with many steps of switches from that with shares, which has few integers.

    The shares give a bound, runs and fabrics. If the steps of these runs and fabrics are within the gap of
    that bound, they are the answer; otherwise the complete model is solved from them.
    """
    first = of_shares(session, base, gap)
    if first.values is None:
        if first.status is SolveStatus.INFEASIBLE:
            return first
        near = session.request.near
        last = session.solve(strong, gap, start=known(strong, near) if near else None)
        return replace(last, bound=max(first.bound, last.bound), nodes=first.nodes + last.nodes)
    start = known(strong, base.integer_values(first.values))
    kept = {i: start.get(i, 0.0) for i in strong.of(CHOICES)}
    second = session.part(SHARES_SHARE).solve(strong, SHARES_GAP * gap, fixed=kept, start=start)
    bound = first.bound
    if second.values is not None:
        if second.objective - bound <= gap * abs(second.objective):
            nodes = first.nodes + second.nodes
            return replace(second, bound=bound, status=SolveStatus.OPTIMAL, nodes=nodes)
        start = known(strong, strong.integer_values(second.values))
    last = session.solve(strong, gap, start=start)
    if second.values is not None and second.objective < last.objective:
        last = replace(second, bound=last.bound, status=last.status)
    return replace(last, bound=max(bound, last.bound), nodes=first.nodes + last.nodes)


def with_margins(problem: PlanningProblem, session: SolveSession, report: SolveReport) -> Solved:
    """Solve the full model with increasing margins in the remaining time; the bound stays.

    Raises
    ------
    AuditError
        If plans fail their audit for a reason that no margin changes.
    """
    status = SolveStatus.INTERRUPTED if session.stopped else SolveStatus.ROUNDING
    for n, factor in enumerate(() if session.stopped else LAST_FACTORS):
        if session.clock.left() <= LEAST_S:
            status = SolveStatus.LIMIT
            break
        parts = tuple(
            replace(p, most=tuple(x * LESS_PARTS ** (n + 1) for x in p.most)) for p in problem.parts
        )
        tried = replace(problem, margin_factor=factor, parts=parts)
        matrix = compile_model(build_model(tried)[0])
        shown = session.reporter.of_solver(Phase.MARGINS, bounds=False)
        outcome = session.solve(matrix, session.gap, watch=Watch(shown, session.request.stop))
        if outcome.values is None:
            none = outcome.status is SolveStatus.INFEASIBLE
            status = SolveStatus.ROUNDING if none else outcome.status
            break
        judged = replace(tried, parts=problem.parts)
        decisions, last = audited(judged, matrix, outcome, session.question, tried)
        if last.passed:
            report = replace(report, seconds=session.clock.spent(), searched=outcome.objective)
            return report.of(
                SolveStatus.LIMIT, decisions, last, matrix.integer_values(outcome.values)
            )
        if last.unrounded:
            raise failed(last)
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
