"""Tighter rows for limits that integer switch and rack counts violate, until a plan passes its audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.planning.audit.check import Check
from dcplan.planning.audit.run import Audit
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decision_specs import FABRIC
from dcplan.planning.decisions import Decisions
from dcplan.planning.keys import Key
from dcplan.planning.limit_spec import Span
from dcplan.planning.limits import CHECKED, HALL_IT_MW, HALL_RACKS, LIMITS, POWER_BLOCKS
from dcplan.planning.problem.terms import NO_FABRIC, PlanningProblem
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.planning.solve.starts import integer_values
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER

ROUNDS = 6
"""Maximum tries to fit integer counts into the limits."""
MORE = 1.25
"""Factor on the excess that a row is tightened by: other racks round differently."""
REACH = "fabric_reach"
"""Row that limits the ports of a fabric by its reach: ports less reach, at most 0."""
NEARLY_FULL, REACH_PART = 0.05, 0.02
"""Free share of its reach below which a fabric is nearly full, and share that is then kept free."""
BLOCK_PART = 0.1
"""Share of a missing block, as load: on average, a part of the block is already in use."""


@dataclass(frozen=True)
class Passed:
    """A solution of a tightened model whose plan passed its audit."""

    model: Matrix
    outcome: Outcome
    decisions: Decisions
    audit: Audit

    @property
    def integer_values(self) -> dict[Key, float]:
        """Return the integers of the solution by column of the model."""
        values = self.outcome.values
        return {} if values is None else self.model.integer_values(values)


@dataclass(frozen=True)
class Failed:
    """The last audit of a search without a plan; None if a tightened model had no solution."""

    audit: Audit | None


Solver = Callable[[Matrix, Mapping[int, float]], Outcome]
"""Function that solves a model from a start."""


def until_passed(
    problem: PlanningProblem,
    model: Matrix,
    first: Outcome,
    solve: Solver,
    auditor: Callable[[Matrix, Outcome], tuple[Decisions, Audit]],
) -> Passed | Failed:
    """Audit the plan of a solution; tighten the rows that it violates, solve again, and repeat."""
    outcome = first
    for tries_left in reversed(range(ROUNDS)):
        if outcome.values is None:
            return Failed(None)
        decisions, audited = auditor(model, outcome)
        if audited.passed:
            return Passed(model, outcome, decisions, audited)
        less = (
            shortfalls(problem, audited.checks)
            if audited.networked
            else beyond_reach(model, outcome.values)
        )
        if not less or not tries_left:
            return Failed(audited)
        model = tightened(model, outcome.values, fullest(model, outcome.values, less))
        outcome = solve(model, integer_values(model, dict(enumerate(outcome.values))))
    return Failed(None)


def shortfalls(problem: PlanningProblem, checks: Iterable[Check]) -> dict[Key, float] | None:
    """Return the amounts to tighten rows by; None if a violated check is not one of rounding."""
    broken = [c for c in checks if not c.holds and not c.given]
    unpacked = CheckId.RACKS_WITHOUT_HALL_UNIT
    full = {(c.where, c.quarter) for c in broken if c.id is not unpacked}
    found: dict[Key, float] = defaultdict(float)
    for check in broken:
        over = MORE * (check.used - check.limit)
        if check.id is unpacked:
            if (check.where, check.quarter) not in full:
                _unpacked(problem, check, over, found)
        elif check.id in CHECKED:
            spec = CHECKED[check.id]
            unit = 1.0 / spec.check_per_row
            if spec is POWER_BLOCKS:
                unit = BLOCK_PART * problem.site(check.where).block_mw
            periods = len(problem.periods)
            for row in spec.broken_rows(check.id, check.where, check.quarter, periods):
                found[row] += over * unit
        else:
            return None
    return dict(found)


def _unpacked(
    problem: PlanningProblem, check: Check, racks: float, found: dict[Key, float]
) -> None:
    """Tighten rows by one more of the largest racks if no single hall can hold a complete rack."""
    placed = [p for p in problem.placements if p.hall == check.where]
    at = (check.where, check.quarter)
    found[Key(HALL_RACKS.row, at)] += racks * max(p.slots for p in placed)
    most_kw = max(p.rated_kw for p in placed)
    found[Key(HALL_IT_MW.row, at)] += racks * most_kw / KW_PER_MW / 2


def beyond_reach(matrix: Matrix, values: Vector) -> dict[Key, float]:
    """Return the amounts to tighten the reach of the fabrics that a solution nearly fills.

    A network with several systems has partly empty switches, and the reach of an option allows for
    few of them (``problem/fabrics/trees.py``).
    """
    used = matrix.activity(values)
    fabric = set(matrix.of((FABRIC.variable,)))
    found = {}
    for i in sorted(fabric):
        for k in range(matrix.start[i], matrix.start[i + 1]):
            row, reach = int(matrix.index[k]), -float(matrix.value[k])
            full = matrix.rows[row].name == REACH and used[row] > -NEARLY_FULL * reach
            full = full and NO_FABRIC not in matrix.rows[row].ids  # its reach is exact
            if full and round(values[i]):
                found[matrix.rows[row]] = REACH_PART * reach
    return found


def fullest(matrix: Matrix, values: Vector, less: Mapping[Key, float]) -> dict[Key, float]:
    """Return the amounts without those of months and periods that leave more room than the fullest one.

    A check of a quarter is that of its fullest month and period. The others already have the room.
    """
    used = matrix.activity(values)
    room = {
        row: float(matrix.row_upper[i] - used[i])
        for i, row in enumerate(matrix.rows)
        if row in less
    }
    least: dict[tuple[str, str, int], float] = {}
    for row in (x for x in room if LIMITS[x.name].span is Span.MONTH):
        at = _quarter_of(row)
        least[at] = min(least.get(at, np.inf), room[row])
    return {
        row: amount
        for row, amount in less.items()
        if row not in room
        or LIMITS[row.name].span is not Span.MONTH
        or room[row] <= least[_quarter_of(row)] + amount
    }


def _quarter_of(row: Key) -> tuple[str, str, int]:
    """Return the limit, the place and the quarter of a row by month."""
    return row.name, row.ids[0], row.ids[-1] // MONTHS_PER_QUARTER


def tightened(matrix: Matrix, values: Vector, less: Mapping[Key, float]) -> Matrix:
    """Return the model in which some rows leave more slack than a solution uses.

    Names without a row are ignored.
    """
    lower, upper = matrix.row_lower.copy(), matrix.row_upper.copy()
    used = matrix.activity(values)
    for i, name in enumerate(matrix.rows):
        if name in less:
            lower[i] = used[i] + less[name] if np.isfinite(lower[i]) else lower[i]
            upper[i] = used[i] - less[name] if np.isfinite(upper[i]) else upper[i]
    return replace(matrix, row_lower=lower, row_upper=upper)
