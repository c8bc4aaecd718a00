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
from dcplan.planning.solve.highs import Matrix, Outcome, Progress, compile_model, relaxation
from dcplan.planning.solve.stages import DIRECT_COLUMNS, staged
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
    KeyError
        When fixed decisions are not in the menu any more.
    """
    began = time.monotonic()
    model, _ = build_model(replace(menu, margin_factor=0.0))
    base = compile_model(model)
    large = fixed is None and len(base.columns) > DIRECT_COLUMNS
    bound = -math.inf
    if large:
        point = relaxation(base)
        bound = point.objective * USD_PER_MUSD if point else bound
    last: Audit | None = None
    for factor in LARGE_MARGIN_FACTORS if large else MARGIN_FACTORS:
        tried = replace(menu, margin_factor=factor)
        matrix = base if factor == 0 else compile_model(build_model(tried)[0])
        held = _fixed(tried, matrix, fixed)
        left = time_limit_s - (time.monotonic() - began)
        if large:
            outcome = staged(matrix, tried, gap=gap, time_limit_s=left, progress=progress, stop=stop)
        else:
            outcome = highs.solve(matrix, gap=gap, time_limit_s=left, fixed=held, progress=progress, stop=stop)
        if factor == 0:
            bound = outcome.bound * USD_PER_MUSD
        seconds = time.monotonic() - began
        if outcome.values is None:
            proved = outcome.status != highs.INFEASIBLE or factor == 0
            status = outcome.status if proved else ROUNDING
            return Solved(status, None, None, bound, seconds, outcome.nodes, matrix, tried, held)
        decisions = from_solution(tried, matrix.columns, _rounded(matrix, outcome))
        last = audit(tried, decisions, question)
        if last.passed:
            return Solved(outcome.status, decisions, last, bound, seconds, outcome.nodes, matrix, tried, held)
        if fixed is not None:  # given decisions cannot be moved: what they break is the answer
            return Solved(highs.INFEASIBLE, None, last, bound, seconds, outcome.nodes, matrix, tried, held)
    found = "; ".join(last.problems[:5]) if last else "no plan"
    msg = f"the plan fails its audit: {found}"
    raise AuditError(msg)


def _rounded(matrix: Matrix, outcome: Outcome) -> list[float]:
    values = np.zeros(len(matrix.columns)) if outcome.values is None else outcome.values
    return [float(v) for v in np.where(matrix.integer, np.round(values), values)]


def _fixed(menu: Menu, matrix: Matrix, table: Table | None) -> dict[int, float] | None:
    if table is None:
        return None
    held = fixed_columns(menu, matrix.columns, list(matrix.integer), table)
    if isinstance(held, list):
        msg = "decisions that this scenario does not offer: " + "; ".join(held[:5])
        raise KeyError(msg)
    return held
