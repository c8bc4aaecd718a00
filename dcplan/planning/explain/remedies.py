"""Remedies for a scenario without a plan: limits to relax, from the elastic relaxation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.planning.keys import Key
from dcplan.planning.limits import PENALTIES, in_its_unit, words_of
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.audited import audited_cost_usd
from dcplan.planning.solve.elastic import SLACK, elastic
from dcplan.planning.solve.matrix import Matrix
from dcplan.units import USD_PER_MUSD

TINY = 1e-6


@dataclass(frozen=True)
class Remedy:
    """One limit and its required change."""

    what: str
    amount: float
    unit: str
    at_least: bool = False
    rows: tuple[Key, ...] = ()
    """Rows of the model that change."""
    slack: float = 0.0
    """Change of these rows, in their own unit."""

    def sentence(self) -> str:
        """Return a sentence such as ``utility_mw of ashburn in 2027-Q2: 3.2 MW more``."""
        return f"{self.what}: {'at least ' if self.at_least else ''}{self.amount:,.4g} {self.unit}"


def remedies(
    problem: PlanningProblem,
    matrix: Matrix,
    *,
    fixed: Mapping[int, float] | None = None,
    time_limit_s: float = 20.0,
) -> list[Remedy]:
    """Return the smallest priced change of the user's limits that makes a plan possible.

    It is empty if none was found in time.

    The search uses integer decisions, so that the change is sufficient except for integer switch
    counts. If that takes too long, the relaxation gives only a necessary change.
    """
    soft = elastic(matrix, PENALTIES)
    whole = highs.solve(soft, gap=0.02, time_limit_s=time_limit_s, fixed=fixed)
    if whole.values is not None:
        return _slacks(problem, soft, whole.values)
    free = np.ones(len(soft.columns), dtype=bool)
    relaxed = highs.solve(soft, gap=0.01, time_limit_s=time_limit_s, relaxed=free, fixed=fixed)
    if relaxed.values is None:
        return []
    return [replace(r, at_least=True) for r in _slacks(problem, soft, relaxed.values)]


def _slacks(
    problem: PlanningProblem, soft: Matrix, values: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> list[Remedy]:
    found = []
    for key, value in zip(soft.columns, values, strict=True):
        if key.name == SLACK and value > TINY:
            found.append((value, _remedy(problem, key.ids[1], float(value))))
    return [remedy for _, remedy in sorted(found, key=lambda pair: -pair[0])]


def _remedy(problem: PlanningProblem, row: Key, amount: float) -> Remedy:
    scenario_unit, unit = in_its_unit(row, problem, amount)
    return Remedy(words_of(row, problem.start)[0], scenario_unit, unit, rows=(row,), slack=amount)


@dataclass(frozen=True)
class Alternative:
    """Changes that together make a plan possible, and the cost of that plan."""

    remedies: tuple[Remedy, ...]
    cost_musd: float | None
    """Cost of a plan found with them; None if none was found in time."""


def alternatives(
    problem: PlanningProblem,
    matrix: Matrix,
    *,
    count: int = 3,
    time_limit_s: float = 20.0,
    stop: Callable[[], bool] | None = None,
) -> list[Alternative]:
    """Return the smallest change, then others that avoid its largest part; each is tested.

    A remedy is verified by a solve of the model with its rows changed by these amounts.
    """
    found: list[Alternative] = []
    prices = dict(PENALTIES)
    for _ in range(count):
        soft = elastic(matrix, prices)
        whole = highs.solve(soft, gap=0.02, time_limit_s=time_limit_s, watch=highs.Watch(stop=stop))
        if whole.values is None:
            break
        slacks = _slacks(problem, soft, whole.values)
        if not slacks:
            break
        moved = _moved(matrix, soft, whole.values)
        plan = highs.solve(moved, gap=0.05, time_limit_s=time_limit_s, watch=highs.Watch(stop=stop))
        cost = audited_cost_usd(problem, moved, plan)
        found.append(Alternative(tuple(slacks), None if cost is None else cost / USD_PER_MUSD))
        worst = max(slacks, key=lambda r: PENALTIES[r.rows[0].name] * r.slack)
        prices.pop(worst.rows[0].name, None)
    return found


def _moved(
    matrix: Matrix, soft: Matrix, values: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> Matrix:
    """Return the model with every row changed by its slack and the solver's tolerance."""
    lower, upper = matrix.row_lower.copy(), matrix.row_upper.copy()
    for key, value in zip(soft.columns, values, strict=True):
        if key.name == SLACK and value > TINY:
            i = key.ids[0]
            room = float(value) * (1.0 + TINY) + TINY
            lower[i], upper[i] = lower[i] - room, upper[i] + room
    return replace(matrix, row_lower=lower, row_upper=upper)
