"""Objectives: the best of what is asked, and among such plans the cheapest."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from dcplan.planning.goal import COST, OBJECTIVES, Goal, Limit
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import Menu
from dcplan.planning.solve import highs
from dcplan.planning.solve.highs import Progress
from dcplan.planning.solve.search import solve_menu
from dcplan.planning.solve.solved import Solved
from dcplan.result import Table
from dcplan.scenario.load import Question

SLACK = 1e-6
AUDITED_SLACK = 1e-3
FIRST_SHARE = 0.6
"""Of the time limit, for the objective itself; the rest for the cheapest plan that keeps it."""


def solve_objective(
    menu: Menu,
    question: Question,
    *,
    gap: float,
    time_limit_s: float,
    fixed: Table | None = None,
    near: Mapping[Key, float] | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Solved:
    """Solve for the scenario's objective; where it is not cost, the cheapest plan at its best
    value.

    The bound and the gap are those of the objective. With fixed decisions the objective is only
    evaluated. ``near`` are integers of a plan for a menu like this one, to start from.
    """
    name = OBJECTIVES[question.scenario.objective]
    if name == COST or fixed is not None:
        return solve_menu(
            menu,
            question,
            gap=gap,
            time_limit_s=time_limit_s,
            fixed=fixed,
            near=near,
            progress=progress,
            stop=stop,
        )
    began = time.monotonic()
    aimed = replace(menu, goal=Goal(name))
    first = solve_menu(
        aimed,
        question,
        gap=gap,
        time_limit_s=FIRST_SHARE * time_limit_s,
        near=near,
        progress=progress,
        stop=stop,
    )
    if first.audit is None or first.status == highs.INTERRUPTED:
        return first
    least = min(first.value, first.searched)
    limit = Limit(name, least + SLACK * abs(least), first.value + AUDITED_SLACK * abs(first.value))
    left = time_limit_s - (time.monotonic() - began)
    kept = replace(menu, goal=Goal(COST, (limit,)))
    cheap = solve_menu(
        kept, question, gap=gap, time_limit_s=max(left, 1.0), progress=progress, stop=stop
    )
    if cheap.audit is None:
        return first
    seconds = time.monotonic() - began
    return replace(
        cheap,
        menu=replace(cheap.menu, goal=Goal(name)),
        bound=first.bound,
        status=first.status,
        seconds=seconds,
        nodes=first.nodes + cheap.nodes,
        solver_gap_frac=first.solver_gap_frac,
    )
