"""Limits of a plan: binding limits with the cost change per added unit, and every audited check."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcplan.answers.plan.calendar import quarter_at
from dcplan.planning.audit.run import Audit
from dcplan.planning.explain.binding import Binding, bindings
from dcplan.planning.goal import MONEY
from dcplan.planning.limit_rows import in_its_unit, is_monthly, place_of, words_of
from dcplan.planning.limits import LIMITS
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import Vector
from dcplan.planning.solve.solved import Solved
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan import limits as specs
from dcplan.units import MONTHS_PER_QUARTER, USD_PER_MUSD

LIMIT_S = 10.0
"""Time of the solve with integer decisions fixed that gives the shadow prices [s]."""


def checks(problem: PlanningProblem, audit: Audit) -> Table:
    """Return every audited limit with the amount that the plan uses."""
    return specs.CHECKS.table(
        specs.CheckRow(
            check=c.name,
            where=c.where,
            quarter=quarter_at(problem, c.quarter),
            used=c.used,
            limit=c.limit,
            result=specs.Holds.OK if c.holds else specs.Holds.GIVEN,
        )
        for c in audit.checks
    )


def binding(solved: Solved, question: Question) -> Table:
    """Return the binding limits of a least-cost plan, each with its cost change per added unit.

    Integer decisions are fixed. The cost is that of the objective, before or after taxes. The table
    is empty for an objective other than cost, or if the solve does not finish in time.
    """
    if solved.problem.goal.measure not in MONEY or solved.decisions is None:
        return specs.LIMITS.table(())
    values = point(solved, 0.0, LIMIT_S, None)
    found = [] if values is None else bindings(solved.matrix, values)
    return specs.LIMITS.table(limit_row(b, solved, question) for b in found)


def point(
    solved: Solved, gap: float, time_limit_s: float, stop: Callable[[], bool] | None
) -> Vector | None:
    """Return all columns of the plan: integer ones fixed, the others optimized."""
    columns = enumerate(solved.matrix.columns)
    fixed = {
        i: float(round(solved.integer_values[n])) for i, n in columns if n in solved.integer_values
    }
    found = highs.solve(
        solved.matrix, gap=gap, time_limit_s=time_limit_s, fixed=fixed, watch=highs.Watch(stop=stop)
    )
    return None if found.values is None else np.array(found.values)


def limit_row(found: Binding, solved: Solved, question: Question) -> specs.LimitRow:
    """Return a binding limit in words, with its place, quarters and added unit."""
    row = found.rows[0]
    what = words_of(row, solved.problem.start)[0]
    step, unit = in_its_unit(row, solved.problem, abs(LIMITS[row.name].step or 0.0))
    monthly, count = is_monthly(row), len(found.rows)
    each = ("month" if monthly else "quarter") + ("s" if count > 2 else "")
    quarters = len({r.ids[-1] // MONTHS_PER_QUARTER for r in found.rows}) if monthly else count
    return specs.LimitRow(
        limit=what + (f" and {count - 1} more {each}" if count > 1 else ""),
        place=place_of(row, question),
        quarters=quarters,
        step=f"{step:,.6g} {unit}",
        cost_change_usd=found.price_musd * USD_PER_MUSD,
    )
