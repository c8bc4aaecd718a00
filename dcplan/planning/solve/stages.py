"""Large models in stages: relaxation, a restricted model that finds a good plan soon, then the full relaxed one.

The last stage is solved without rounding margins, from the plan found: its bound holds for whole switches, and a
better plan of it is taken when the audit passes it. The restricted model keeps what the relaxation likes: few runs a
job, few systems a hall, its fabrics. It can only find plans, never prove anything; every bound comes from the
relaxation or the full model. On scenarios/three-site-build-out.yaml (17,000 columns) it found in 21 s a better plan
than the full model in 120 s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from dcplan.planning.menu.types import Menu
from dcplan.planning.solve.highs import (
    INFEASIBLE,
    INTERRUPTED,
    LIMIT,
    Matrix,
    Outcome,
    Point,
    Progress,
    Vector,
    positions,
    solve,
)

DIRECT_COLUMNS = 5_000
"""Smaller models are solved at once."""
ROUGH_GAP = 0.02
"""Of the model without whole switches, whose plan is only a start."""
RUNS_PER_JOB = 15
SYSTEMS_PER_HALL = 3
TARGET_SHARE = 0.75
"""A plan of the restricted model within this share of the asked gap above the relaxation ends its search."""
BOUND_GAP = 0.002
BOUND_SHARE = 0.5
"""Share of the time left that the bound with whole fabrics may take."""
RESTRICTED_SHARE = 0.7
"""Share of the time limit that the restricted model may take."""


def in_stages(
    matrix: Matrix,
    plain: Matrix,
    *,
    gap: float,
    left_s: Callable[[], float],
    near: Mapping[str, float] | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """Solve a model with whole switches from the same model without: a good plan soon, then the bound.

    ``plain`` is a relaxation, so its bound and its infeasibility hold; its runs and fabrics, fixed, give the start.
    The runs and fabrics of a plan ``near`` by do so sooner, where they are feasible here.
    """
    if near:
        there = known(matrix, near)
        chosen = {i: there[i] for i in positions(matrix, ("run", "fabric")) if i in there}
        like = solve(matrix, gap=gap, time_limit_s=left_s(), fixed=chosen, start=there, stop=stop)
        if like.values is not None and like.status not in (INTERRUPTED, LIMIT):
            start = whole(matrix, dict(enumerate(like.values)))
            return solve(matrix, gap=gap, time_limit_s=left_s(), start=start, prove=True, progress=progress, stop=stop)
    rough = solve(plain, gap=max(2 * gap, ROUGH_GAP), time_limit_s=left_s(), progress=progress, stop=stop)
    if rough.values is None:
        return rough
    start = start_from(matrix, plain, rough.values)
    chosen = {i: round(start[i]) for i in positions(matrix, ("run", "fabric"))}
    first = solve(matrix, gap=gap, time_limit_s=left_s(), fixed=chosen, start=whole(matrix, start), stop=stop)
    if first.status in (INTERRUPTED, LIMIT) or rough.status in (INTERRUPTED, LIMIT):
        best = first if first.values is not None else rough
        status = first.status if first.status in (INTERRUPTED, LIMIT) else rough.status
        return replace(best, status=status, bound=rough.bound, values=first.values)
    begin = whole(matrix, dict(enumerate(first.values)) if first.values is not None else start)
    found = solve(
        matrix,
        gap=gap,
        time_limit_s=left_s(),
        start=begin,
        prove=first.values is not None,
        progress=progress,
        stop=stop,
    )
    return replace(found, bound=max(found.bound, rough.bound))


def known(matrix: Matrix, near: Mapping[str, float]) -> dict[int, float]:
    """Columns that a plan for another menu has, too."""
    return {i: near[name] for i, name in enumerate(matrix.columns) if matrix.integer[i] and name in near}


def whole(matrix: Matrix, values: Mapping[int, float]) -> dict[int, float]:
    """The integers of a start; what is continuous follows from them."""
    return {i: float(round(v)) for i, v in values.items() if matrix.integer[i]}


def first_plan(
    matrix: Matrix,
    menu: Menu,
    point: Point,
    *,
    gap: float,
    time_limit_s: float,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """Search a plan in the restricted model; its bound is the relaxation's, not its own."""
    closed = restricted(matrix, menu, point.values, point.reduced_costs)

    def shown(seconds: float, incumbent: float, _: float, nodes: int) -> None:
        if progress:
            progress(seconds, incumbent, point.objective, nodes)

    good = point.objective + TARGET_SHARE * gap * abs(point.objective)
    found = solve(matrix, gap=gap / 2, time_limit_s=time_limit_s, fixed=closed, target=good, progress=shown, stop=stop)
    status = LIMIT if found.status == INFEASIBLE else found.status  # closed columns prove nothing
    return replace(found, status=status, bound=point.objective)


def fabric_bound(
    matrix: Matrix, point: Point, *, gap: float, time_limit_s: float, stop: Callable[[], bool] | None = None
) -> float:
    """Bound of the model in which only fabrics are whole: which tiers reach is what the relaxation blurs most."""
    loose = matrix.integer.copy()
    loose[positions(matrix, ("fabric",))] = False
    found = solve(matrix, gap=min(gap, BOUND_GAP), time_limit_s=time_limit_s, relaxed=loose, prove=True, stop=stop)
    return max(found.bound, point.objective)


def start_from(matrix: Matrix, source: Matrix, values: Vector) -> dict[int, float]:
    """Values of one model as a start for another with the same column names."""
    known = dict(zip(source.columns, values, strict=True))
    return {i: float(known[name]) for i, name in enumerate(matrix.columns) if name in known}


def restricted(
    matrix: Matrix, menu: Menu, values: np.ndarray[tuple[int], np.dtype[np.float64]],
    reduced_costs: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> dict[int, float]:  # fmt: skip
    """Columns to close at 0: runs, orders and fabrics far from the relaxation's choice."""
    runs: dict[str, list[tuple[bool, float, int]]] = defaultdict(list)
    orders: dict[tuple[str, str], tuple[float, float]] = {}
    closed: dict[int, float] = {}
    for i, column in enumerate(matrix.columns):
        name, _, rest = column.partition("[")
        if name == "run":
            job = menu.configs[int(rest[:-1])].job
            runs[job].append((values[i] < 1e-9, float(reduced_costs[i]), i))
        elif name == "buy":
            hall, _, system, _ = rest[:-1].split(",")
            used, price = orders.get((hall, system), (0.0, np.inf))
            orders[hall, system] = used + values[i], min(price, float(reduced_costs[i]))
        elif name == "fabric" and values[i] < 1e-6:
            closed[i] = 0.0
    kept_runs = {i for found in runs.values() for *_, i in sorted(found)[:RUNS_PER_JOB]}
    liked = _liked(orders)
    for i, column in enumerate(matrix.columns):
        name, _, rest = column.partition("[")
        if name == "buy":
            hall, _, system, _ = rest[:-1].split(",")
            if (hall, system) not in liked:
                closed[i] = 0.0
        elif name == "run":
            config = menu.configs[int(rest[:-1])]
            if i not in kept_runs or not (config.on_cloud or (config.place, config.system) in liked):
                closed[i] = 0.0
    return closed


def _liked(orders: dict[tuple[str, str], tuple[float, float]]) -> set[tuple[str, str]]:
    by_hall: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for (hall, system), (used, price) in orders.items():
        by_hall[hall].append((-used, price, system))
    return {(hall, system) for hall, found in by_hall.items() for *_, system in sorted(found)[:SYSTEMS_PER_HALL]}
