"""Repair of plans that integer switch counts make infeasible: lower limits of parts and budget."""

from __future__ import annotations

from dataclasses import replace

from dcplan.planning.audit.run import Audit
from dcplan.planning.check_ids import BOUGHT, BUDGETS
from dcplan.planning.decisions import Decisions
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.terms import FinanceTerms, PlanningProblem
from dcplan.planning.solve.audited import audited
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.request import SolveSession
from dcplan.planning.solve.starts import CHOICES, start_from

MARGIN_FACTORS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)
"""Rounding margins tried in turn. 0 is the true relaxation: its bound and its infeasibility also
hold for integer switch counts, and most of its plans pass the audit without change."""
REPAIR_MARGIN = 1.5
"""Factor on the budget excess that the next try keeps free."""
LESS_PARTS = 0.5
"""Factor on a limit of parts that integer counts exceeded, for the next try."""
REPAIR_SHARE = 0.1
"""Share of the time limit for a repair, even after the time limit: a plan that fails its audit is
not a plan."""


def with_less_parts(problem: PlanningProblem, last: Audit, *, everywhere: bool) -> PlanningProblem:
    """Return the problem with lower limits of the parts that integer counts exceeded.

    The model counts shares per port, and steps are coarse.

    The limit is lowered first in the quarter only, then in all quarters, because orders move to the
    next quarter.
    """
    part_of = {check: str(part) for part, check in BOUGHT.items()}
    over = {(part_of[c.id], c.quarter) for c in last.checks if not c.holds and c.id in part_of}
    if not over:
        return problem
    parts = tuple(
        replace(p, most=tuple(x * LESS_PARTS**2 for x in p.most))
        if everywhere and p.part in {part for part, _ in over}
        else replace(
            p,
            most=tuple(x * LESS_PARTS if (p.part, t) in over else x for t, x in enumerate(p.most)),
        )
        for p in problem.parts
    )
    return replace(problem, parts=parts)


def repaired(
    problem: PlanningProblem, matrix: Matrix, outcome: Outcome, session: SolveSession
) -> tuple[Decisions, Audit, dict[Key, float]] | None:
    """Keep the runs and fabrics of a plan that fails its audit, and re-solve the rest.

    Margins make room for integer switch counts.
    """
    if outcome.values is None:
        return None
    least = REPAIR_SHARE * session.clock.limit_s
    finance, last = problem.finance, audited(problem, matrix, outcome, session.question)[1]
    for factor in MARGIN_FACTORS:
        over = REPAIR_MARGIN * max(
            (c.used - c.limit for c in last.checks if c.id in BUDGETS), default=0.0
        )
        finance = _less(finance, max(over, 0.0))
        tight = compile_model(
            build_model(replace(problem, margin_factor=factor, finance=finance))[0]
        )
        start = start_from(tight, matrix, outcome.values)
        chosen = {i: round(start[i]) for i in tight.of(CHOICES)}
        found = session.solve(tight, session.gap, fixed=chosen, silent=True, least_s=least)
        if found.values is None:
            return None
        decisions, last = audited(
            replace(problem, margin_factor=factor), tight, found, session.question
        )
        if last.passed:
            return decisions, last, tight.integer_values(found.values)
    return None


def _less(finance: FinanceTerms, usd: float) -> FinanceTerms:
    """Return budgets reduced by the cost of integer switch counts above the model's count."""
    total, series = finance.budget_total_usd, finance.budget_usd
    return replace(
        finance,
        budget_total_usd=None if total is None else total - usd,
        budget_usd=None if series is None else (series[0] - usd, *series[1:]),
    )
