"""Audited plans of solutions, with integer switch counts."""

from __future__ import annotations

import numpy as np

from dcplan.errors import AuditError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.measures import cost_usd
from dcplan.planning.audit.run import Audit, audit, settled
from dcplan.planning.decisions import Decisions, from_solution
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.matrix import Matrix
from dcplan.planning.solve.solved import Solved, SolveReport
from dcplan.scenario.load import Question


def audited(
    problem: PlanningProblem,
    matrix: Matrix,
    outcome: Outcome,
    question: Question,
    part: PlanningProblem | None = None,
) -> tuple[Decisions, Audit]:
    """Return the decisions of a solution with integer switch counts, and their audit.

    The solution may be one of a part of the problem with fewer choices, ``part``.
    """
    decisions = settled(problem, _decided(part or problem, matrix, outcome))
    return decisions, audit(problem, decisions, question)


def audited_solution(
    problem: PlanningProblem, matrix: Matrix, outcome: Outcome, question: Question
) -> Solved:
    """Return a solution with its audit, whether passed or failed."""
    report = SolveReport(
        outcome.bound,
        outcome.seconds,
        outcome.nodes,
        matrix,
        problem,
        None,
        outcome.gap_frac,
        outcome.objective,
    )
    if outcome.values is None:
        return report.of(outcome.status)
    return report.of(
        outcome.status,
        *audited(problem, matrix, outcome, question),
        matrix.integer_values(outcome.values),
    )


def audited_cost_usd(problem: PlanningProblem, matrix: Matrix, outcome: Outcome) -> float | None:
    """Return the cost of a solution with integer switch counts, even if it violates limits [USD].

    It is that of the goal, before or after taxes, and None without a solution.
    """
    if outcome.values is None:
        return None
    try:
        d = settled(problem, _decided(problem, matrix, outcome))
        return cost_usd(problem, make_accounts(problem, d).flows)
    except ValueError:
        return None


def failed(last: Audit | None) -> AuditError:
    """Return the error of a plan that no margin made feasible, or of no plan."""
    found = "; ".join(last.problems[:5]) if last else "no plan"
    return AuditError(f"the plan fails its audit: {found}")


def _decided(problem: PlanningProblem, matrix: Matrix, outcome: Outcome) -> Decisions:
    """Read the decisions of a solution; without a solution all decisions are 0."""
    values = np.zeros(len(matrix.columns)) if outcome.values is None else outcome.values
    return from_solution(problem, matrix.columns, [float(v) for v in matrix.rounded(values)])
