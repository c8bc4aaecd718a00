"""Menu -> audited plan: compile, solve, audit; wider rounding margins when the exact counts ask for them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dcplan.errors import AuditError
from dcplan.planning.audit.run import Audit, audit
from dcplan.planning.menu.types import Menu
from dcplan.planning.model.build import build_model
from dcplan.planning.plan import Decisions, fixed_columns, from_solution
from dcplan.planning.solve import highs
from dcplan.planning.solve.highs import SMALL_COLUMNS, Matrix, Outcome, Progress, compile_model, relaxation
from dcplan.planning.solve.stages import DIRECT_COLUMNS, RESTRICTED_SHARE, first_plan, in_stages, start_from
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.units import USD_PER_MUSD

MARGIN_FACTORS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)
"""Rounding margins tried in turn. 0 is the true relaxation: its bound and its infeasibility hold for whole switches
too, and most of its plans pass the audit as they are."""
LARGE_MARGIN_FACTORS = (1.0, 2.0, 4.0, 16.0)
"""Large models have time for one solve: with a margin; the bound is then the relaxation's without one."""


ROUNDING = "rounding"
"""No plan within the rounding margins, though the relaxation has one: nothing is proved."""


MOST_STEPS = 6_000
"""Steps of whole switches over all quarters that a model may carry."""
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
    bound_usd: float
    seconds: float
    nodes: int
    matrix: Matrix
    menu: Menu
    fixed: dict[int, float] | None = None
    solver_gap_frac: float = math.inf
    """Gap at which the search ended, before switches were counted whole."""

    @property
    def gap_frac(self) -> float:
        """Proven gap against the audited cost; infinite without a plan."""
        if self.audit is None:
            return math.inf
        cost = self.audit.npv_usd
        return max(0.0, cost - self.bound_usd) / max(abs(cost), 1.0)


def solve_menu(
    menu: Menu,
    question: Question,
    *,
    gap: float,
    time_limit_s: float,
    fixed: Table | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Solved:
    """Solve a menu and audit the plan; a plan that fails its audit is never returned.

    Raises
    ------
    AuditError
        When no rounding margin makes the exact plan feasible, or the plan disagrees with the catalog.
    UnknownDecisionError
        When fixed decisions are not in the menu any more.
    """
    clock = _Clock(time_limit_s)
    base = compile_model(build_model(replace(menu, margin_factor=0.0))[0])
    if fixed is None and len(base.columns) > DIRECT_COLUMNS:
        return _solve_large(menu, question, base, clock, gap=gap, progress=progress, stop=stop)
    bound = -math.inf
    last: Audit | None = None
    steps = fixed is None and _steps(menu) <= MOST_STEPS
    for factor in MARGIN_FACTORS:
        tried = replace(menu, margin_factor=factor, whole_switches=steps)
        matrix = base if factor == 0 and not steps else compile_model(build_model(tried)[0])
        held = _fixed(tried, matrix, fixed)
        if steps and factor == 0 and len(base.columns) > SMALL_COLUMNS:
            search = WHOLE_SHARE * gap
            outcome = in_stages(matrix, base, gap=search, left_s=clock.left, progress=progress, stop=stop)
        else:
            search = WHOLE_SHARE * gap if steps else gap
            outcome = highs.solve(
                matrix, gap=search, time_limit_s=clock.left(), fixed=held, progress=progress, stop=stop
            )
        bound = outcome.bound * USD_PER_MUSD if factor == 0 else bound
        end = _Ending(bound, clock.spent(), outcome.nodes, matrix, tried, held, outcome.gap_frac)
        if outcome.values is None:
            proved = outcome.status != highs.INFEASIBLE or factor == 0
            return end.of(outcome.status if proved else ROUNDING)
        decisions, last = _audited(tried, matrix, outcome, question)
        if last.passed:
            return end.of(outcome.status, decisions, last)
        if fixed is not None:  # given decisions cannot be moved: what they break is the answer
            return end.of(highs.INFEASIBLE, None, last)
    raise _failed(last)


def _solve_large(
    menu: Menu,
    question: Question,
    base: Matrix,
    clock: _Clock,
    *,
    gap: float,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> Solved:
    """Find a plan with margins in a restricted model, then bound and better it in the full model without."""
    point = relaxation(base)
    if point is None:
        return _Ending(-math.inf, clock.spent(), 0, base, menu, None, math.inf).of(highs.INFEASIBLE)
    found: tuple[Outcome, Decisions, Audit, Matrix, Menu] | None = None
    last: Audit | None = None
    for factor in LARGE_MARGIN_FACTORS:
        tried = replace(menu, margin_factor=factor)
        matrix = compile_model(build_model(tried)[0])
        share = RESTRICTED_SHARE * clock.left()
        outcome = first_plan(matrix, tried, point, gap=gap, time_limit_s=share, progress=progress, stop=stop)
        if outcome.values is None:
            break
        decisions, last = _audited(tried, matrix, outcome, question)
        if last.passed:
            found = (outcome, decisions, last, matrix, tried)
            break
    else:
        raise _failed(last)
    start = start_from(base, found[3], found[0].values) if found and found[0].values is not None else None
    relaxed = replace(menu, margin_factor=0.0)
    stopped = found is not None and found[0].status == highs.INTERRUPTED
    full = (
        found[0]
        if stopped and found
        else highs.solve(base, gap=gap, time_limit_s=clock.left(), start=start, progress=progress, stop=stop)
    )
    bound = max(full.bound, point.objective)
    end = _Ending(bound * USD_PER_MUSD, clock.spent(), full.nodes, base, relaxed, None, full.gap_frac)
    if full.values is not None and (found is None or full.objective < found[0].objective):
        decisions, better = _audited(relaxed, base, full, question)
        if better.passed and (found is None or better.npv_usd <= found[2].npv_usd):
            return end.of(full.status, decisions, better)
    if found is None:
        return end.of(full.status if full.values is None else highs.LIMIT)
    return end.of(full.status if full.status != highs.INFEASIBLE else highs.LIMIT, found[1], found[2])


def _steps(menu: Menu) -> int:
    return menu.quarters * sum(len(stairs.widths) for o in menu.fabrics for stairs in o.stairs.values())


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

    bound_usd: float
    seconds: float
    nodes: int
    matrix: Matrix
    menu: Menu
    fixed: dict[int, float] | None
    search_gap: float

    def of(self, status: str, decisions: Decisions | None = None, audited: Audit | None = None) -> Solved:
        return Solved(
            status, decisions, audited, self.bound_usd, self.seconds, self.nodes, self.matrix, self.menu, self.fixed,
            self.search_gap,
        )  # fmt: skip


def _audited(menu: Menu, matrix: Matrix, outcome: Outcome, question: Question) -> tuple[Decisions, Audit]:
    decisions = from_solution(menu, matrix.columns, _rounded(matrix, outcome))
    return decisions, audit(menu, decisions, question)


def _failed(last: Audit | None) -> AuditError:
    found = "; ".join(last.problems[:5]) if last else "no plan"
    return AuditError(f"the plan fails its audit: {found}")


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
