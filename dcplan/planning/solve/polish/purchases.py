"""Dates and amounts of purchases of the best plan, improved with its halls, systems, fabrics and runs.

A search ends at the requested gap, so its plan may buy power blocks a quarter too early or more racks
than it needs. The program of the plan's own choices is small: fabrics and runs are fixed, each
placement has at most the racks of the plan, and only dates and amounts are free. It is solved from the
plan, and its plan is taken if it passes the audit at a lower cost. The bound of the search stays, because
it holds for every plan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan.planning.audit.measures import measured
from dcplan.planning.audit.run import Audit, audit
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decision_specs import BLOCK_PAIRS, BLOCKS, BUY, FABRIC, FLEET, RUN
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import MONEY
from dcplan.planning.keys import Key
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.audited import audited
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.large.racks import MOST_STEPS
from dcplan.planning.solve.large.small_model import SmallModel
from dcplan.planning.solve.matrix import Matrix, Row
from dcplan.planning.solve.request import SolveSession
from dcplan.planning.solve.rounding import Passed, until_passed
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.starts import SWITCHES
from dcplan.planning.solve.status import Phase

POLISH_S, POLISH_SHARE = 3.0, 0.1
"""Longest time of the step [s], and the share of the time limit that is kept for it, at most."""
GAP = 1e-5
"""Relative gap of the program of purchases."""
MOST_DATES = 400
"""Integers of a program up to which the dates of racks are free; above, only other purchases are."""
LEAST_GAIN = 1e-9
"""Reduction of the cost, relative to it, from which another plan is taken."""
KEPT_RACKS = "kept_racks"
"""Row that limits the racks of a placement to those of the plan."""


@dataclass(frozen=True)
class Candidate:
    """A plan of the same choices: decisions, audit, and integers by column of the full model."""

    decisions: Decisions
    audit: Audit
    integer_values: Mapping[Key, float]
    searched: float
    """Goal's measure in the model."""
    value: float
    """Goal's measure of the audited plan."""


def kept_s(limit_s: float) -> float:
    """Return the time of a search that is kept for its last step [s].

    Examples
    --------
    >>> kept_s(120.0), kept_s(10.0)
    (3.0, 1.0)
    """
    return min(POLISH_S, POLISH_SHARE * limit_s)


def polished(found: Solved, session: SolveSession) -> Solved:
    """Return the plan with later or fewer purchases if that is cheaper; never a more expensive plan.

    Plans of given decisions, of an objective that is not a cost and of a screening stay as they are.
    """
    given = session.request.fixed is not None or session.request.screen
    if given or session.stopped or session.clock.left() <= 0:
        return found
    if found.decisions is None or found.audit is None or found.problem.goal.measure not in MONEY:
        return found
    session.reporter.enter(Phase.POLISH)
    now = Candidate(found.decisions, found.audit, found.integer_values, found.searched, found.value)
    part = _choices(found.problem, now)
    best = _cheaper(now, _dated(found.problem, now, part, session.until(POLISH_S)))
    best = _cheaper(best, _with_least_blocks(found.problem, best, part.matrix, session))
    if best is now:
        return found
    session.reporter.passed(best.value)
    return replace(
        found,
        decisions=best.decisions,
        audit=best.audit,
        searched=min(found.searched, best.searched),
        integer_values=best.integer_values,
    )


def _cheaper(plan: Candidate, other: Candidate | None) -> Candidate:
    """Return the other plan if it is clearly cheaper."""
    if other is None or other.value > plan.value - LEAST_GAIN * abs(plan.value):
        return plan
    return other


def _choices(problem: PlanningProblem, plan: Candidate) -> SmallModel:
    """Return the program of the halls, systems, fabrics and runs of a plan."""
    d = plan.decisions
    placed = {k[:3] for k in d.ordered} | set(d.fleet) | {x.key for x in problem.existing}
    runs = tuple(
        key.ids[0]
        for key, n in plan.integer_values.items()
        if key.name == RUN.variable and round(n)
    )
    small = replace(
        problem,
        fabrics=tuple(o for o in problem.fabrics if d.fabric.get(o.hall) == o.id),
        placements=tuple(p for p in problem.placements if p.key in placed),
        run_options=tuple(problem.run_options[i] for i in runs),
    )
    stepped = with_steps(small, MOST_STEPS, exact=True)
    return SmallModel(stepped, PROGRAMS.compiled(stepped), runs)


def _dated(
    problem: PlanningProblem, plan: Candidate, part: SmallModel, session: SolveSession
) -> Candidate | None:
    """Return the plan of the program of purchases; None if no try passes the audit."""
    start = part.of_full(plan.integer_values)
    fixed, model = _kept(part.matrix, start)

    def solve(tighter: Matrix, near: Mapping[int, float]) -> Outcome:
        return session.solve(tighter, GAP, fixed=fixed, start=near, presolve=True, silent=True)

    def audit_of(tighter: Matrix, outcome: Outcome) -> tuple[Decisions, Audit]:
        return audited(problem, tighter, outcome, session.question, part.problem)

    passed = until_passed(problem, model, solve(model, start), solve, audit_of)
    if not isinstance(passed, Passed):
        return None
    # the full model has other steps of switches
    own = {**plan.integer_values, **part.in_full(passed.integer_values)}
    return Candidate(
        passed.decisions,
        passed.audit,
        {key: n for key, n in own.items() if key.name not in SWITCHES},
        passed.outcome.objective,
        measured(problem.goal.measure, problem, passed.decisions, passed.audit.books),
    )


def _kept(matrix: Matrix, start: Mapping[int, float]) -> tuple[dict[int, float], Matrix]:
    """Return the columns that keep their values, and the program with at most the racks of the plan."""
    fixed = dict.fromkeys(matrix.of((RUN.variable, FABRIC.variable)), 1.0)
    fixed |= {i: start[i] for i in matrix.of((FLEET.variable,)) if i in start}
    orders: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i in matrix.of((BUY.variable,)):
        orders[matrix.columns[i].ids[:3]].append(i)
    if int(matrix.integer.sum()) > MOST_DATES:
        return fixed | {i: start.get(i, 0.0) for own in orders.values() for i in own}, matrix
    rows = [
        Row(Key(KEPT_RACKS, at), dict.fromkeys(own, 1.0), upper=sum(start.get(i, 0.0) for i in own))
        for at, own in orders.items()
    ]
    return fixed, matrix.with_rows(rows) if rows else matrix


def _with_least_blocks(
    problem: PlanningProblem, plan: Candidate, matrix: Matrix, session: SolveSession
) -> Candidate | None:
    """Return the plan with no more power blocks than the audit asks for; None if it has none too many.

    The program counts them from the shares of its model, and its limits may be tighter than the audit.
    """
    blocks = least_blocks(problem, plan.audit, _given_blocks(matrix))
    if blocks == plan.decisions.blocks:
        return None
    decisions = replace(plan.decisions, blocks=blocks)
    checked = audit(problem, decisions, session.question)
    if not checked.passed:
        return None
    own = {
        key: blocks.get(key.ids, 0) if key.name == BLOCKS.variable else n
        for key, n in plan.integer_values.items()
        if key.name != BLOCK_PAIRS.variable
    }
    value = measured(problem.goal.measure, problem, decisions, checked.books)
    return Candidate(decisions, checked, own, plan.searched, value)


def _given_blocks(matrix: Matrix) -> dict[tuple[str, int], int]:
    """Return the fewest blocks by site and quarter that earlier decisions leave."""
    return {
        matrix.columns[i].ids: round(float(matrix.lower[i])) for i in matrix.of((BLOCKS.variable,))
    }


def least_blocks(
    problem: PlanningProblem, audit: Audit, given: Mapping[tuple[str, int], int]
) -> dict[tuple[str, int], int]:
    """Return the power blocks by site and quarter that the audit of a plan asks for.

    Parameters
    ----------
    problem : PlanningProblem
        Problem of the plan.
    audit : Audit
        Audit of the plan, with the peak facility power of its new halls.
    given : mapping
        Fewest blocks by site and quarter, from decisions that are made.
    """
    found: dict[tuple[str, int], int] = {}
    needed = {
        (c.where, c.quarter): round(c.used) for c in audit.checks if c.id is CheckId.POWER_BLOCKS
    }
    for site in problem.sites:
        most = 0
        for t in range(problem.quarters):
            most = max(most, needed.get((site.id, t), 0), given.get((site.id, t), 0))
            if most:
                found[site.id, t] = most
    return found
