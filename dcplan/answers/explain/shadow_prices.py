"""Binding limits of a plan with the cost change per added unit; the first few are re-solved."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.answers.explain.resolve import Base
from dcplan.answers.plan.tables.limits import limit_row, point
from dcplan.planning.explain.binding import Binding, bindings, stranded, with_one_more
from dcplan.planning.solve.audited import audited_cost_usd
from dcplan.planning.solve.matrix import Vector
from dcplan.planning.solve.request import LEAST_S
from dcplan.result import Table
from dcplan.specs import explain as specs
from dcplan.units import USD_PER_MUSD

MOST_EXACT = 4
"""Largest number of limits whose added unit is re-solved, the highest shadow price first."""
LEAST_USD = 0.5
"""Smallest saving that is reported; a smaller one prints as zero."""


def binding_table(base: Base) -> Table:
    """Return the binding limits with the cost change per added unit, integer decisions fixed.

    The limits with the highest shadow prices are also re-solved.
    """
    request = base.asked.request
    values = point(base.solved, request.gap, base.asked.left_s(), request.stop)
    return specs.BINDING.table(() if values is None else _rows(base, values))


def unused_capacity_table(base: Base) -> Table:
    """Return unused capacity in the last quarter, and the limits that prevent its use."""
    return specs.UNUSED_CAPACITY.table(
        specs.UnusedCapacityRow(s.where, s.what, s.idle, s.there, s.by)
        for s in stranded(base.solved.problem, base.decisions, base.audit.books)
    )


def _rows(base: Base, values: Vector) -> Iterator[specs.BindingRow]:
    request = base.asked.request
    usual = 0 if request.asks_more else MOST_EXACT
    exact = usual if request.resolve_limits is None else request.resolve_limits
    for n, binding in enumerate(bindings(base.solved.matrix, values)):
        re_solved = _exact(base, binding, values) if n < exact else None
        row = limit_row(binding, base.solved, base.asked.question)
        yield specs.BindingRow(
            row.limit,
            row.place,
            row.quarters,
            row.step,
            row.cost_change_usd,
            re_solved_usd=re_solved,
        )


def ruled_out(least_usd: float) -> str:
    """Say which saving a bound on the change of cost rules out.

    Examples
    --------
    >>> ruled_out(0.0), ruled_out(-1234.5)
    ('a saving above USD 0 is impossible', 'a saving above USD 1,234 is impossible')
    """
    return f"a saving above USD {max(0.0, -least_usd):,.0f} is impossible"


def _exact(base: Base, binding: Binding, values: Vector) -> str | None:
    """Return the change of the audited cost by a re-solve, and its largest possible size."""
    problem, matrix, request = base.solved.problem, base.solved.matrix, base.asked.request
    share = max(base.asked.left_s() / MOST_EXACT, LEAST_S)
    found = with_one_more(
        matrix, binding, values, gap=request.gap, time_limit_s=share, stop=request.stop
    )
    cost = audited_cost_usd(problem, matrix, found)
    if cost is None:
        return None
    change, least = cost - base.cost_usd, found.bound * USD_PER_MUSD - base.cost_usd
    # a plan with rounding margins comes from a tighter model, whose bound proves nothing about the
    # true one
    exact = problem.margin_factor == 0
    most = ruled_out(least) if exact else "a larger saving is not ruled out"
    found_usd = f"saves USD {-change:,.0f}" if change < -LEAST_USD else "no saving found"
    return f"{found_usd}; {most}"
