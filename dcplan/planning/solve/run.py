"""Menu -> audited plan: compile, solve, audit; wider rounding margins when the exact counts ask for them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.economics.cashflow import npv_usd
from dcplan.errors import AuditError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.measures import measured
from dcplan.planning.audit.run import Audit, audit, settled
from dcplan.planning.goal import COST
from dcplan.planning.menu.staircase import with_steps
from dcplan.planning.menu.types import FinanceTerms, Menu
from dcplan.planning.model.build import build_model
from dcplan.planning.plan import Decisions, fixed_columns, from_solution
from dcplan.planning.solve import highs
from dcplan.planning.solve.highs import SMALL_COLUMNS, Matrix, Outcome, Progress, compile_model
from dcplan.planning.solve.large import Large
from dcplan.planning.solve.plainer import plainer
from dcplan.planning.solve.stages import (
    DIRECT_COLUMNS,
    in_stages,
    known,
    start_from,
)
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.units import USD_PER_MUSD

MARGIN_FACTORS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)
"""Rounding margins tried in turn. 0 is the true relaxation: its bound and its infeasibility hold for whole switches
too, and most of its plans pass the audit as they are."""
LARGE_MARGIN_FACTORS = (1.0, 2.0, 4.0, 16.0)
"""Tried where branching on counts finds no plan of a large model."""
LARGE_SHARE = 0.8
"""Of the time, for branching on counts."""

ROUNDING = "rounding"
"""No plan within the rounding margins, though the relaxation has one: nothing is proved."""


MOST_STEPS = 6_000
"""Steps of whole switches over all quarters that a model may carry."""
REPAIR_MARGIN = 1.5
"""Of what a budget was exceeded by, kept free in the next try."""
LEAST_S = 1.0
LESS_PARTS = 0.5
"""Of a limit of parts that whole ones exceeded, left for the next try."""
REPAIR_SHARE = 0.1
"""Of the time limit, what a repair may take after its end: a plan that fails its audit is no plan."""
WHOLE_SHARE = 0.6
"""Of the asked gap, for the search; the rest is left for what the steps do not see."""


class UnknownDecisionError(ValueError):
    """Fixed decisions that are malformed or not in the menu."""


@dataclass(frozen=True)
class Solved:
    """An audited plan, or the proof that there is none."""

    status: str
    decisions: Decisions | None
    audit: Audit | None
    bound: float
    """No plan has less of the goal's measure."""
    seconds: float
    nodes: int
    matrix: Matrix
    menu: Menu
    fixed: dict[int, float] | None = None
    solver_gap_frac: float = math.inf
    """Gap at which the search ended, before switches were counted whole."""
    searched: float = math.inf
    """The goal's measure as the model counts it."""
    whole: Mapping[str, float] = field(default_factory=dict)
    """Integers of the plan by column: a start for one like it."""
    ended: str = ""
    """Why the search ended though time was left and the gap is open."""
    timed: bool = False
    """Whether time ended a part of the search."""

    @property
    def reproducible(self) -> bool:
        """Whether any machine finds the same: nothing was ended by time."""
        return (self.status in (highs.OPTIMAL, highs.INFEASIBLE) or bool(self.ended)) and not self.timed

    @property
    def value(self) -> float:
        """The goal's measure of the audited plan; infinite without one."""
        if self.audit is None or self.decisions is None:
            return math.inf
        return measured(self.menu.goal.measure, self.menu, self.decisions, self.audit.books)

    @property
    def bound_usd(self) -> float:
        """Proven bound of the cost; not a number where something else is minimised."""
        return self.bound * USD_PER_MUSD if self.menu.goal.measure == COST else math.nan

    @property
    def gap_frac(self) -> float:
        """Proven gap against the audited plan; infinite without one."""
        if self.audit is None:
            return math.inf
        return max(0.0, self.value - self.bound) / max(abs(self.value), 1e-6)


def solve_menu(
    menu: Menu,
    question: Question,
    *,
    gap: float,
    time_limit_s: float,
    fixed: Table | None = None,
    near: Mapping[str, float] | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Solved:
    """Solve a menu and audit the plan; a plan that fails its audit is never returned.

    ``near`` are integers of a plan for a menu like this one, to start from.

    Raises
    ------
    AuditError
        When no rounding margin makes the exact plan feasible, or the plan disagrees with the catalog.
    UnknownDecisionError
        When fixed decisions are not in the menu any more.
    """
    clock = _Clock(time_limit_s)
    found = _searched(menu, question, clock, gap=gap, fixed=fixed, near=near, progress=progress, stop=stop)
    if fixed is not None or menu.keep is not None or found.audit is None or found.decisions is None:
        return found
    for other in plainer(menu, found.decisions):
        if found.gap_frac <= gap or clock.left() <= LEAST_S or (stop is not None and stop()):
            break
        try:
            rival = _searched(
                other, question, clock, gap=gap, fixed=None, near=found.whole, progress=progress, stop=stop
            )
        except AuditError:  # no margin makes this one fit: the plan found stands
            continue
        if rival.audit is not None and rival.value < found.value:
            found = replace(rival, bound=found.bound, status=found.status)
    return replace(found, seconds=clock.spent())


def _searched(
    menu: Menu, question: Question, clock: _Clock, *, gap: float, fixed: Table | None,
    near: Mapping[str, float] | None, progress: Progress | None, stop: Callable[[], bool] | None,
) -> Solved:  # fmt: skip
    """Solve with wider and wider rounding margins until the audit passes; large menus by branching on counts."""
    base = compile_model(build_model(replace(menu, margin_factor=0.0))[0])
    if fixed is None and len(base.columns) > DIRECT_COLUMNS:
        return _solve_large(menu, question, base, clock, gap=gap, near=near, progress=progress, stop=stop)
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
            outcome = in_stages(matrix, base, gap=search, left_s=clock.left, near=near, progress=progress, stop=stop)
        else:
            search = WHOLE_SHARE * gap if steps else gap
            start = known(matrix, near) if near and held is None else None
            outcome = highs.solve(
                matrix, gap=search, time_limit_s=clock.left(), fixed=held, start=start, progress=progress, stop=stop
            )
        bound = outcome.bound if factor == 0 else bound
        judged = replace(tried, parts=menu.parts)  # by what the user allows, not by what was tried
        end = _Ending(bound, clock.spent(), outcome.nodes, matrix, judged, held, outcome.gap_frac, outcome.objective)
        if outcome.values is None:
            proved = outcome.status != highs.INFEASIBLE or factor == 0
            return end.of(outcome.status if proved else ROUNDING)
        decisions, last = _audited(judged, matrix, outcome, question)
        if last.passed:
            return end.of(outcome.status, decisions, last, _whole(matrix, outcome))
        if fixed is not None:  # given decisions cannot be moved: what they break is the answer
            return end.of(highs.INFEASIBLE, None, last)
        stepped = _with_less_parts(stepped, last, everywhere=factor >= 1.0)
        if factor == 0 and len(matrix.columns) > SMALL_COLUMNS:
            repaired = _repaired(stepped, matrix, outcome, question, clock, gap, stop)
            if repaired is not None:
                return end.of(outcome.status, *repaired)
    if last is not None and all("bought" in text for text in last.problems):
        return end.of(ROUNDING)  # no way was found to keep whole switches within parts_per_quarter
    raise _failed(last)


def _with_less_parts(menu: Menu, last: Audit, *, everywhere: bool) -> Menu:
    """Limits of parts that whole ones exceeded, lowered: the model counts shares of a port, and steps are coarse.

    First in the quarter alone; then in all, since orders move to the next.
    """
    over = {
        (c.name.removesuffix(" bought").replace(" ", "_"), c.quarter)
        for c in last.checks
        if not c.holds and c.name.endswith(" bought")
    }
    if not over:
        return menu
    parts = tuple(
        replace(p, most=tuple(x * LESS_PARTS**2 for x in p.most))
        if everywhere and p.part in {part for part, _ in over}
        else replace(p, most=tuple(x * LESS_PARTS if (p.part, t) in over else x for t, x in enumerate(p.most)))
        for p in menu.parts
    )
    return replace(menu, parts=parts)


def _repaired(
    menu: Menu,
    matrix: Matrix,
    outcome: Outcome,
    question: Question,
    clock: _Clock,
    gap: float,
    stop: Callable[[], bool] | None,
) -> tuple[Decisions, Audit, dict[str, float]] | None:
    """Keep the runs and fabrics of a plan that whole switches break; with margins the rest makes room for them."""
    if outcome.values is None:
        return None
    least = REPAIR_SHARE * clock.limit_s
    finance, last = menu.finance, _audited(menu, matrix, outcome, question)[1]
    for factor in MARGIN_FACTORS:
        over = REPAIR_MARGIN * max((c.used - c.limit for c in last.checks if c.name.startswith("budget")), default=0.0)
        finance = _less(finance, max(over, 0.0))
        tight = compile_model(build_model(replace(menu, margin_factor=factor, finance=finance))[0])
        start = start_from(tight, matrix, outcome.values)
        chosen = {i: round(start[i]) for i in highs.positions(tight, ("run", "fabric"))}
        found = highs.solve(tight, gap=gap, time_limit_s=max(clock.left(), least), fixed=chosen, stop=stop)
        if found.values is None:
            return None
        decisions, last = _audited(replace(menu, margin_factor=factor), tight, found, question)
        if last.passed:
            return decisions, last, _whole(tight, found)
    return None


def _less(finance: FinanceTerms, usd: float) -> FinanceTerms:
    """Budgets less what whole switches cost above the model's count."""
    total, series = finance.budget_total_usd, finance.budget_usd
    return replace(
        finance,
        budget_total_usd=None if total is None else total - usd,
        budget_usd=None if series is None else (series[0] - usd, *series[1:]),
    )


def _solve_large(
    menu: Menu,
    question: Question,
    base: Matrix,
    clock: _Clock,
    *,
    gap: float,
    near: Mapping[str, float] | None,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> Solved:
    """Branch on counts; where that finds no plan, HiGHS on the whole model with margins, for the time left."""
    plain = replace(menu, margin_factor=0.0)

    def audited(matrix: Matrix, outcome: Outcome) -> tuple[Decisions, Audit, float]:
        decisions, found = _audited(plain, matrix, outcome, question)
        value = measured(menu.goal.measure, menu, decisions, found.books) if found.passed else math.inf
        return decisions, found, value

    end_s = LARGE_SHARE * clock.left()
    search = Large(plain, base, audited, gap=gap, left_s=lambda: end_s - clock.spent(), progress=progress, stop=stop)
    answer = search.solve(near)
    plan, stopped = answer.plan, bool(stop and stop())
    end = _Ending(answer.bound, clock.spent(), answer.nodes, base, plain, None, math.inf)
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
        outcome = highs.solve(matrix, gap=gap, time_limit_s=clock.left(), progress=progress, stop=stop)
        if outcome.values is None:
            status = ROUNDING if outcome.status == highs.INFEASIBLE else outcome.status
            break
        decisions, last = _audited(tried, matrix, outcome, question)
        if last.passed:
            return replace(end, seconds=clock.spent()).of(highs.LIMIT, decisions, last, _whole(matrix, outcome))
    return replace(end, seconds=clock.spent()).of(status)


class _Clock:
    def __init__(self, limit_s: float) -> None:
        self.began, self.limit_s = time.monotonic(), limit_s

    def spent(self) -> float:
        return time.monotonic() - self.began

    def left(self) -> float:
        return self.limit_s - self.spent()


@dataclass(frozen=True)
class _Ending:
    """What every way to end a solve reports."""

    bound: float
    seconds: float
    nodes: int
    matrix: Matrix
    menu: Menu
    fixed: dict[int, float] | None
    search_gap: float
    searched: float = math.inf

    def of(
        self, status: str, decisions: Decisions | None = None, audited: Audit | None = None,
        whole: Mapping[str, float] | None = None,
    ) -> Solved:  # fmt: skip
        return Solved(
            status, decisions, audited, self.bound, self.seconds, self.nodes, self.matrix, self.menu, self.fixed,
            self.search_gap, self.searched, whole or {},
        )  # fmt: skip


def _audited(menu: Menu, matrix: Matrix, outcome: Outcome, question: Question) -> tuple[Decisions, Audit]:
    decisions = settled(menu, from_solution(menu, matrix.columns, _rounded(matrix, outcome)))
    return decisions, audit(menu, decisions, question)


def audited_solution(menu: Menu, matrix: Matrix, outcome: Outcome, question: Question) -> Solved:
    """A solution with its audit, passed or not."""
    end = _Ending(
        outcome.bound, outcome.seconds, outcome.nodes, matrix, menu, None, outcome.gap_frac, outcome.objective
    )
    if outcome.values is None:
        return end.of(outcome.status)
    return end.of(outcome.status, *_audited(menu, matrix, outcome, question), _whole(matrix, outcome))


def audited_cost_usd(menu: Menu, matrix: Matrix, outcome: Outcome) -> float | None:
    """Cost of a solution with whole switches, whether or not it keeps every limit; None without one."""
    if outcome.values is None:
        return None
    try:
        d = settled(menu, from_solution(menu, matrix.columns, _rounded(matrix, outcome)))
        return npv_usd(make_accounts(menu, d).flows, menu.finance.discount_rate)
    except ValueError:
        return None


def _failed(last: Audit | None) -> AuditError:
    found = "; ".join(last.problems[:5]) if last else "no plan"
    return AuditError(f"the plan fails its audit: {found}")


def _whole(matrix: Matrix, outcome: Outcome) -> dict[str, float]:
    values = _rounded(matrix, outcome)
    return {name: values[i] for i, name in enumerate(matrix.columns) if matrix.integer[i]}


def _rounded(matrix: Matrix, outcome: Outcome) -> list[float]:
    values = np.zeros(len(matrix.columns)) if outcome.values is None else outcome.values
    return [float(v) for v in np.where(matrix.integer, np.round(values), values)]


def _fixed(menu: Menu, matrix: Matrix, table: Table | None) -> dict[int, float] | None:
    if table is None:
        return None
    held = fixed_columns(menu, matrix.columns, list(matrix.integer), table)
    if isinstance(held, list):
        msg = "decisions that this scenario does not offer: " + "; ".join(held[:5])
        raise UnknownDecisionError(msg)
    return held
