"""Solutions read as plans: whole switches and racks, settled and audited."""

from __future__ import annotations

import numpy as np

from dcplan.economics.cash_flow import npv_usd
from dcplan.errors import AuditError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.run import Audit, audit, settled
from dcplan.planning.decisions import Decisions, from_solution
from dcplan.planning.problem.terms import Menu
from dcplan.planning.solve.highs import Matrix, Outcome
from dcplan.planning.solve.solved import Ending, Solved
from dcplan.scenario.load import Question


def audited(
    menu: Menu, matrix: Matrix, outcome: Outcome, question: Question
) -> tuple[Decisions, Audit]:
    """Decisions of a solution, switches counted whole, and their audit."""
    decisions = settled(menu, from_solution(menu, matrix.columns, _rounded(matrix, outcome)))
    return decisions, audit(menu, decisions, question)


def audited_solution(menu: Menu, matrix: Matrix, outcome: Outcome, question: Question) -> Solved:
    """A solution with its audit, passed or not."""
    end = Ending(
        outcome.bound,
        outcome.seconds,
        outcome.nodes,
        matrix,
        menu,
        None,
        outcome.gap_frac,
        outcome.objective,
    )
    if outcome.values is None:
        return end.of(outcome.status)
    return end.of(outcome.status, *audited(menu, matrix, outcome, question), whole(matrix, outcome))


def audited_cost_usd(menu: Menu, matrix: Matrix, outcome: Outcome) -> float | None:
    """Cost of a solution with whole switches, whether or not it keeps every limit; None without
    one.
    """
    if outcome.values is None:
        return None
    try:
        d = settled(menu, from_solution(menu, matrix.columns, _rounded(matrix, outcome)))
        return npv_usd(make_accounts(menu, d).flows, menu.finance.discount_rate)
    except ValueError:
        return None


def failed(last: Audit | None) -> AuditError:
    """The error of a plan that no margin made feasible, or of none."""
    found = "; ".join(last.problems[:5]) if last else "no plan"
    return AuditError(f"the plan fails its audit: {found}")


def whole(matrix: Matrix, outcome: Outcome) -> dict[str, float]:
    """Integers of a solution by column."""
    values = _rounded(matrix, outcome)
    return {name: values[i] for i, name in enumerate(matrix.columns) if matrix.integer[i]}


def _rounded(matrix: Matrix, outcome: Outcome) -> list[float]:
    values = np.zeros(len(matrix.columns)) if outcome.values is None else outcome.values
    return [float(v) for v in np.where(matrix.integer, np.round(values), values)]
