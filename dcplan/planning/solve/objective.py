"""Objectives: the best value of the objective, then the cheapest plan with this value."""

from __future__ import annotations

from dataclasses import replace

from dcplan.planning.goal import COST, MONEY, OBJECTIVES, Goal, Limit
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.request import Clock, SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_problem
from dcplan.planning.solve.team import solve_together
from dcplan.scenario.load import Question

SLACK = 1e-6
AUDITED_SLACK = 1e-3
"""Part of the objective that the cheapest plan may lose, at most half of the requested gap."""
FIRST_SHARE = 0.6
"""Share of the time limit for the objective itself; the rest is for the cheapest plan."""


def solve_objective(problem: PlanningProblem, question: Question, request: SolveRequest) -> Solved:
    """Solve for the scenario's objective.

    If it is not a cost, the result is the cheapest plan with its best value.

    The bound and the gap are those of the objective. With fixed decisions the objective is only
    evaluated.
    """
    name = OBJECTIVES[question.scenario.objective]
    if name in MONEY:
        return solve_together(replace(problem, goal=Goal(name)), question, request)
    if request.fixed is not None:
        return solve_problem(problem, question, request)
    clock = Clock(request.time_limit_s)
    aimed = replace(problem, goal=Goal(name))
    slack = min(AUDITED_SLACK, request.gap / 2)
    part = replace(request.within(FIRST_SHARE * request.time_limit_s), gap=request.gap - slack)
    first = solve_together(aimed, question, part)
    if first.audit is None or first.status is SolveStatus.INTERRUPTED:
        return first
    least = min(first.value, first.searched)
    limit = Limit(name, least + SLACK * abs(least), first.value + slack * abs(first.value))
    kept = replace(problem, goal=Goal(COST, (limit,)))
    rest = replace(request.within(max(clock.left(), 1.0)), near=None)
    cheap = solve_together(kept, question, rest)
    if cheap.audit is None:
        return first
    return replace(
        cheap,
        problem=replace(cheap.problem, goal=Goal(name)),
        bound=first.bound,
        status=first.status,
        seconds=clock.spent(),
        nodes=first.nodes + cheap.nodes,
        timed=first.timed or cheap.timed,
        solver_gap_frac=first.solver_gap_frac,
    )
