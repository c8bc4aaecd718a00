"""Limits that bind a plan: what one more unit of each is worth, whole choices fixed, and by a true
re-solve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dcplan.planning.explain.binding import Binding, bindings, with_one_more
from dcplan.planning.limits import LIMITS, in_its_unit, is_monthly, place_of, words_of
from dcplan.planning.solve import highs
from dcplan.planning.solve.audited import audited_cost_usd
from dcplan.planning.solve.matrix import Vector
from dcplan.planning.solve.solved import Solved
from dcplan.result import Cell, Table
from dcplan.scenario.load import Question
from dcplan.units import MONTHS_PER_QUARTER, USD_PER_MUSD

MOST_EXACT = 4
"""Limits whose next unit is re-solved, the dearest first."""
PRICED = ("limit", "place", "quarters", "step", "price_usd")
EXPLAINED = ("limit", "place", "quarters", "step", "price_usd", "re_solved_usd")
LIMIT_S = 10.0
"""Of the one solve with whole choices fixed that prices a plan's limits."""


def limits_of(solved: Solved, question: Question) -> Table:
    """Limits that a plan of least cost uses up: the change of cost by one more unit, whole choices
    fixed.

    Raises nothing: a plan of another objective, or one whose prices are not found in seconds, has
    no rows.
    """
    if question.scenario.objective != "min_cost" or solved.decisions is None:
        return Table(PRICED, ())
    values = _point(solved, 0.0, LIMIT_S, None)
    found = [] if values is None else bindings(solved.matrix, values)
    return Table(
        PRICED, tuple((*_named(b, solved, question), b.price_musd * USD_PER_MUSD) for b in found)
    )


def binding_table(
    question: Question,
    solved: Solved,
    exact: int,
    gap: float,
    left_s: Callable[[], float],
    stop: Callable[[], bool] | None,
) -> Table:
    """Limits used up: the price of one more unit with whole choices fixed, and of the dearest a
    true re-solve.
    """
    values = _point(solved, gap, left_s(), stop)
    if values is None:
        return Table(EXPLAINED, ())
    return Table(EXPLAINED, tuple(_rows(question, solved, values, exact, gap, left_s, stop)))


def _point(
    solved: Solved, gap: float, time_limit_s: float, stop: Callable[[], bool] | None
) -> Vector | None:
    """All columns of the plan as solved: whole ones as they are, the others at their best."""
    columns = enumerate(solved.matrix.columns)
    held = {i: float(round(solved.whole[n])) for i, n in columns if n in solved.whole}
    point = highs.solve(solved.matrix, gap=gap, time_limit_s=time_limit_s, fixed=held, stop=stop)
    return None if point.values is None else np.array(point.values)


def _named(binding: Binding, solved: Solved, question: Question) -> tuple[Cell, Cell, Cell, Cell]:
    """A limit in words, its place, the quarters in which it binds, and one more unit of it."""
    row = binding.rows[0]
    what = words_of(row, solved.menu.start)[0]
    step, unit = in_its_unit(row, solved.menu, abs(LIMITS[row.name].step or 0.0))
    each = "months" if is_monthly(row) else "quarters"
    count = len(binding.rows)
    more = f" and {count - 1} {each} more" if count > 1 else ""
    quarters = (
        len({r.ids[-1] // MONTHS_PER_QUARTER for r in binding.rows}) if is_monthly(row) else count
    )
    return what + more, place_of(row, question), quarters, f"{step:,.6g} {unit}"


def _rows(
    question: Question,
    solved: Solved,
    values: Vector,
    exact: int,
    gap: float,
    left_s: Callable[[], float],
    stop: Callable[[], bool] | None,
) -> Iterator[tuple[Cell, ...]]:
    for n, binding in enumerate(bindings(solved.matrix, values)):
        worth = _exact(solved, binding, values, gap, left_s, stop) if n < exact else None
        yield (*_named(binding, solved, question), binding.price_musd * USD_PER_MUSD, worth)


def _exact(
    solved: Solved,
    binding: Binding,
    values: Vector,
    gap: float,
    left_s: Callable[[], float],
    stop: Callable[[], bool] | None,
) -> str | None:
    """Change of the audited cost by a re-solve, and how far below the plan's cost the bound is at
    most.
    """
    share = max(left_s() / MOST_EXACT, 1.0)
    found = with_one_more(solved.matrix, binding, values, gap=gap, time_limit_s=share, stop=stop)
    cost = audited_cost_usd(solved.menu, solved.matrix, found)
    if cost is None or solved.audit is None:
        return None
    change, least = cost - solved.audit.npv_usd, found.bound * USD_PER_MUSD - solved.audit.npv_usd
    # a plan that needed rounding margins was found in a tighter model, whose bound proves nothing
    # of the true one
    most = f", at most {least:,.0f}" if solved.menu.margin_factor == 0 else ", maybe more"
    return f"{min(change, 0.0):,.0f} found{most}"
