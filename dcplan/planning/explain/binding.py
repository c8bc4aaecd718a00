"""Binding limits of a plan, their shadow prices, and stranded capacity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.onsite import limit_mw
from dcplan.planning.audit.upgrades import capacity
from dcplan.planning.decisions import Decisions
from dcplan.planning.keys import Key
from dcplan.planning.limit_rows import family_of, is_users
from dcplan.planning.limits import LIMITS
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve import highs
from dcplan.planning.solve.highs import Outcome
from dcplan.planning.solve.matrix import Matrix, Vector
from dcplan.units import KW_PER_MW

FULL = 0.995
"""Ratio of use to limit from which a limit is binding."""
FULL_HALL = 0.97
"""The same ratio for halls, where an integer number of racks leaves a part of one rack free."""
TINY = 1e-7


@dataclass(frozen=True)
class Binding:
    """A binding limit of a plan, over all its quarters."""

    family: Key
    rows: tuple[Key, ...]
    """Rows at their limit."""
    price_musd: float
    """Cost of one more unit in all its quarters, integer decisions fixed; negative saves cost."""


def bindings(matrix: Matrix, values: Vector) -> list[Binding]:
    """Return the user's binding limits, those with the largest shadow price first."""
    use, gross = matrix.activity(values), _sizes(matrix, values)
    fixed = {int(i): float(round(values[i])) for i in np.flatnonzero(matrix.integer)}
    duals = highs.row_prices(matrix, fixed) or {}
    full: dict[Key, list[Key]] = defaultdict(list)
    price: dict[Key, float] = defaultdict(float)
    for i, row in enumerate(matrix.rows):
        step = LIMITS[row.name].step if is_users(row) else None
        if step is None:
            continue
        if gross[i] > TINY and _is_full(matrix, i, float(use[i])):
            price[family_of(row)] += duals.get(row, 0.0) * step
            full[family_of(row)].append(row)
    found = [Binding(family, tuple(rows), price[family]) for family, rows in full.items()]
    return sorted(found, key=lambda b: (b.price_musd, str(b.family)))


def _sizes(matrix: Matrix, values: Vector) -> Vector:
    """Return the sum of the absolute terms of every row; 0 means no use."""
    return replace(matrix, value=np.abs(matrix.value)).activity(np.abs(values))


def _is_full(matrix: Matrix, i: int, use: float) -> bool:
    """Return whether a row is at its limit.

    Rows of a capacity times a count have 0 on the right side and are full if both sides are equal.
    """
    for limit, sign in ((matrix.row_upper[i], 1.0), (matrix.row_lower[i], -1.0)):
        if np.isfinite(limit):
            return bool(sign * (limit - use) <= max((1.0 - FULL) * abs(limit), TINY))
    return False


def with_one_more(
    matrix: Matrix,
    binding: Binding,
    values: Vector,
    *,
    gap: float,
    time_limit_s: float,
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """Return the model re-solved with one more unit in all rows of a limit.

    The solve starts from the current plan.
    """
    lower, upper = matrix.row_lower.copy(), matrix.row_upper.copy()
    for i, row in enumerate(matrix.rows):
        if family_of(row) == binding.family:
            step = LIMITS[row.name].step or 0.0
            lower[i], upper[i] = lower[i] + min(step, 0.0), upper[i] + max(step, 0.0)
    wider = replace(matrix, row_lower=lower, row_upper=upper)
    start = {int(i): float(round(values[i])) for i in np.flatnonzero(matrix.integer)}
    return highs.solve(
        wider, gap=gap, time_limit_s=time_limit_s, start=start, watch=highs.Watch(stop=stop)
    )


@dataclass(frozen=True)
class Stranded:
    """Capacity that cannot be used in the last quarter."""

    where: str
    what: str
    idle: float
    there: float
    by: str
    """Limits that prevent its use."""


def stranded(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Stranded]:
    """Return idle power of sites and idle capacity of fitted halls, with the limits that cause it."""
    t = problem.quarters - 1
    found = []
    full_halls: dict[str, list[str]] = {}
    for h in problem.halls:
        a = books.halls[h.id, t]
        units = {c.id: d.fitted.get((h.id, c.id, t), 0) for c in h.coolings}
        if not sum(units.values()):
            continue
        now = capacity(d, h, t)
        rows = [
            ("rack positions", a.slots, now.racks * a.units),
            ("IT MW", a.hall_kw / KW_PER_MW, now.it_mw * a.units),
            (
                "air MW",
                a.air_kw / KW_PER_MW,
                now.air_mw
                if h.upgrades
                else sum(h.cooling(c).air_mw * n for c, n in units.items()),
            ),
            (
                "liquid MW",
                a.liquid_kw / KW_PER_MW,
                now.liquid_mw
                if h.upgrades
                else sum(h.cooling(c).liquid_mw * n for c, n in units.items()),
            ),
        ]
        full = [name for name, used, most in rows if most and used >= FULL_HALL * most]
        full_halls[h.id] = full
        peak = books.site(problem, h.site, t, "load_mw")
        site = problem.site(h.site)
        if peak >= FULL_HALL * limit_mw(d, site, t):
            full = [*full, f"utility MW of {h.site}"]
        by = ", ".join(full) or "no further demand"
        found += [
            Stranded(h.id, name, most - used, most, by)
            for name, used, most in rows
            if most and name not in full
        ]
    for s in problem.sites:
        used, most = books.site(problem, s.id, t, "load_mw"), limit_mw(d, s, t)
        if used < FULL_HALL * most:
            full = [
                f"{name} of {h}"
                for h, names in full_halls.items()
                if problem.hall(h).site == s.id
                for name in names
            ]
            found.append(
                Stranded(
                    s.id, "utility MW", most - used, most, ", ".join(full) or "no further demand"
                )
            )
    return found
