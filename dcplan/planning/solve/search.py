"""Menu -> audited plan: compile, solve, audit; wider rounding margins when the exact counts ask
for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from dcplan.errors import AuditError
from dcplan.planning.audit.measures import measured
from dcplan.planning.audit.run import Audit
from dcplan.planning.decisions import Decisions, fixed_columns
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.switch_steps import with_steps
from dcplan.planning.problem.terms import Menu
from dcplan.planning.solve import highs
from dcplan.planning.solve.audited import audited, failed
from dcplan.planning.solve.highs import SMALL_COLUMNS, Outcome, Progress
from dcplan.planning.solve.large.search import Large
from dcplan.planning.solve.matrix import Matrix, compile_model
from dcplan.planning.solve.repair import MARGIN_FACTORS, repaired, with_less_parts
from dcplan.planning.solve.single_system import plainer
from dcplan.planning.solve.solved import Clock, Ending, Solved
from dcplan.planning.solve.staged import DIRECT_COLUMNS, in_stages, known
from dcplan.result import Table
from dcplan.scenario.load import Question

LARGE_MARGIN_FACTORS = (1.0, 2.0, 4.0, 16.0)
"""Tried where branching on counts finds no plan of a large model."""
LARGE_SHARE = 0.8
"""Of the time, for branching on counts."""
ROUNDING = "rounding"
"""No plan within the rounding margins, though the relaxation has one: nothing is proved."""
MOST_STEPS = 6_000
"""Steps of whole switches over all quarters that a model may carry."""
LEAST_S = 1.0
WHOLE_SHARE = 0.6
"""Of the asked gap, for the search; the rest is left for what the steps do not see."""


class UnknownDecisionError(ValueError):
    """Fixed decisions that are malformed or not in the menu."""


def solve_menu(
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
    """Solve a menu and audit the plan; a plan that fails its audit is never returned.

    ``near`` are integers of a plan for a menu like this one, to start from.

    Raises
    ------
    AuditError
        When no rounding margin makes the exact plan feasible, or the plan disagrees with the
        catalog.
    UnknownDecisionError
        When fixed decisions are not in the menu any more.
    """
    clock = Clock(time_limit_s)
    found = _searched(
        menu, question, clock, gap=gap, fixed=fixed, near=near, progress=progress, stop=stop
    )
    if fixed is not None or menu.keep is not None or found.audit is None or found.decisions is None:
        return found
    for other in plainer(menu, found.decisions):
        if found.gap_frac <= gap or clock.left() <= LEAST_S or (stop is not None and stop()):
            break
        try:
            rival = _searched(
                other,
                question,
                clock,
                gap=gap,
                fixed=None,
                near=found.whole,
                progress=progress,
                stop=stop,
            )
        except AuditError:  # no margin makes this one fit: the plan found stands
            continue
        if rival.audit is not None and rival.value < found.value:
            found = replace(rival, bound=found.bound, status=found.status)
    return replace(found, seconds=clock.spent())


def _searched(
    menu: Menu,
    question: Question,
    clock: Clock,
    *,
    gap: float,
    fixed: Table | None,
    near: Mapping[Key, float] | None,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> Solved:
    """Solve with wider and wider rounding margins until the audit passes; large menus by branching
    on counts.
    """
    base = compile_model(build_model(replace(menu, margin_factor=0.0))[0])
    if fixed is None and len(base.columns) > DIRECT_COLUMNS:
        return _solve_large(
            menu, question, base, clock, gap=gap, near=near, progress=progress, stop=stop
        )
    bound = -math.inf
    last: Audit | None = None
    stepped = with_steps(menu, MOST_STEPS) if fixed is None else menu
    steps = stepped.whole_switches
    for factor in MARGIN_FACTORS:
        tried = replace(stepped, margin_factor=factor)
        matrix = base if factor == 0 and not steps else compile_model(build_model(tried)[0])
        held = _fixed(tried, matrix, fixed)
        if steps and factor == 0 and len(base.columns) > SMALL_COLUMNS:
            search = WHOLE_SHARE * gap
            outcome = in_stages(
                matrix, base, gap=search, left_s=clock.left, near=near, progress=progress, stop=stop
            )
        else:
            search = WHOLE_SHARE * gap if steps else gap
            start = known(matrix, near) if near and held is None else None
            outcome = highs.solve(
                matrix,
                gap=search,
                time_limit_s=clock.left(),
                fixed=held,
                start=start,
                progress=progress,
                stop=stop,
            )
        bound = outcome.bound if factor == 0 else bound
        judged = replace(tried, parts=menu.parts)  # by what the user allows, not by what was tried
        end = Ending(
            bound,
            clock.spent(),
            outcome.nodes,
            matrix,
            judged,
            held,
            outcome.gap_frac,
            outcome.objective,
        )
        if outcome.values is None:
            proved = outcome.status != highs.INFEASIBLE or factor == 0
            return end.of(outcome.status if proved else ROUNDING)
        decisions, last = audited(judged, matrix, outcome, question)
        if last.passed:
            return end.of(outcome.status, decisions, last, matrix.whole(outcome.values))
        if fixed is not None:  # given decisions cannot be moved: what they break is the answer
            return end.of(highs.INFEASIBLE, None, last)
        stepped = with_less_parts(stepped, last, everywhere=factor >= 1.0)
        if factor == 0 and len(matrix.columns) > SMALL_COLUMNS:
            mended = repaired(stepped, matrix, outcome, question, clock, gap, stop)
            if mended is not None:
                return end.of(outcome.status, *mended)
    if last is not None and last.only_parts:
        return end.of(ROUNDING)  # no way was found to keep whole switches within parts_per_quarter
    raise failed(last)


def _solve_large(
    menu: Menu,
    question: Question,
    base: Matrix,
    clock: Clock,
    *,
    gap: float,
    near: Mapping[Key, float] | None,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> Solved:
    """Branch on counts; where that finds no plan, HiGHS on the whole model with margins, for the
    time left.
    """
    plain = replace(menu, margin_factor=0.0)

    def valued(matrix: Matrix, outcome: Outcome) -> tuple[Decisions, Audit, float]:
        decisions, found = audited(plain, matrix, outcome, question)
        value = (
            measured(menu.goal.measure, menu, decisions, found.books) if found.passed else math.inf
        )
        return decisions, found, value

    end_s = LARGE_SHARE * clock.left()
    search = Large(
        plain,
        base,
        valued,
        gap=gap,
        left_s=lambda: end_s - clock.spent(),
        progress=progress,
        stop=stop,
    )
    answer = search.solve(near)
    plan, stopped = answer.plan, bool(stop and stop())
    end = Ending(answer.bound, clock.spent(), answer.nodes, base, plain, None, math.inf)
    if answer.infeasible:
        return replace(end.of(highs.INFEASIBLE), timed=answer.timed)
    if plan is not None:
        end = replace(end, search_gap=gap, searched=plan.outcome.objective)
        proved = plan.value - answer.bound <= gap * abs(plan.value)
        status = highs.OPTIMAL if proved else highs.INTERRUPTED if stopped else highs.LIMIT
        found = end.of(status, plan.decisions, plan.audit, plan.whole)
        return replace(found, ended="" if proved or stopped else answer.ended, timed=answer.timed)
    status = highs.INTERRUPTED if stopped else ROUNDING
    for factor in () if stopped else LARGE_MARGIN_FACTORS:
        tried = replace(menu, margin_factor=factor)
        matrix = compile_model(build_model(tried)[0])
        outcome = highs.solve(
            matrix, gap=gap, time_limit_s=clock.left(), progress=progress, stop=stop
        )
        if outcome.values is None:
            status = ROUNDING if outcome.status == highs.INFEASIBLE else outcome.status
            break
        decisions, last = audited(tried, matrix, outcome, question)
        if last.passed:
            return replace(end, seconds=clock.spent()).of(
                highs.LIMIT, decisions, last, matrix.whole(outcome.values)
            )
    return replace(end, seconds=clock.spent()).of(status)


def _fixed(menu: Menu, matrix: Matrix, table: Table | None) -> dict[int, float] | None:
    if table is None:
        return None
    held = fixed_columns(menu, matrix.columns, list(matrix.integer), table)
    if isinstance(held, list):
        msg = "decisions that this scenario does not offer: " + "; ".join(held[:5])
        raise UnknownDecisionError(msg)
    return held
