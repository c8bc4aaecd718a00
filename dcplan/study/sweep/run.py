"""``dcplan sweep``: many points of one scenario, each solved once, kept by what it depends on, and
resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.scenario.axes import split_sets
from dcplan.scenario.expect import check_metrics
from dcplan.scenario.load import load
from dcplan.study.digest import content_key, key_of
from dcplan.study.engine.engines import Engine
from dcplan.study.lines import run_lines
from dcplan.study.point import ANSWERED, Point, failed_point, options_of, solve_point, well_formed
from dcplan.study.store import Store
from dcplan.study.sweep.plan import Plan
from dcplan.study.sweep.points import set_texts
from dcplan.study.sweep.request import Ask, axes_asked, orders_asked, values_asked
from dcplan.study.sweep.table import sweep_result

BASE = -1
"""Index of the scenario as it stands: not a point, the start of the first of every chain."""
Told = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Shard:
    """Which part of the chains this call solves: the first of so many, counted from 1."""

    number: int = 1
    of: int = 1

    def has(self, chain: int) -> bool:
        """Whether a chain is of this part."""
        return chain % self.of == self.number - 1


def laid_out(ask: Ask) -> Plan:
    """Every point with the key of what its answer depends on: its inputs, and those of the ones
    before it.

    Raises
    ------
    InputError
        When the scenario or an axis is wrong, or no point is right.
    """
    given, plain = split_sets(ask.sets)
    question = load(ask.scenario, variant=ask.variant, sets=plain, catalogs=ask.catalogs)
    problems = check_metrics(question.scenario, question.catalog, question.tree)
    if problems:
        raise InputError(problems)
    axes, notes = axes_asked(ask, question, given, plain)
    values = values_asked(ask, axes)
    options = options_of(ask.gap, ask.time_limit_s)
    where = str(question.file.absolute()), ask.variant
    overlays = tuple(str(File(c).absolute()) for c in ask.catalogs)

    def point(index: int, sets: Sequence[str], key: str, content: str) -> Point:
        return Point(index, key, content, *where, tuple(sets), overlays, ask.gap, ask.time_limit_s)

    content = content_key(question, options)
    plan = Plan(
        question,
        axes,
        values,
        point(BASE, plain, key_of({"content": content}), content),
        ask.bounds and ask.sample is None,
        [],
        notes,
    )
    first: InputError | None = None
    for order in orders_asked(ask, axes, values):
        before, line = plan.base.key, []
        for i in order:
            sets = (*plain, *set_texts(axes, values[i]))
            try:
                own = content_key(
                    load(ask.scenario, variant=ask.variant, sets=sets, catalogs=ask.catalogs),
                    options,
                )
            except InputError as error:
                first = first or error
                plan.known[i] = failed_point(error)
                own = key_of({"wrong": sets})
            before = key_of({"content": own, "before": before})
            line.append(point(i, sets, before, own))
        plan.lines.append(line)
    if first is not None and len(plan.known) == len(values):
        raise first
    return plan


def recall(plan: Plan, store: Store, *, retry: bool) -> None:
    """Take what is in the store; with ``retry`` only answers, so that failures are tried again."""
    for i, point in plan.points.items():
        found = store.get(point.key)
        if found is not None and well_formed(found) and (found["status"] in ANSWERED or not retry):
            plan.known.setdefault(i, found)


def sweep(
    plan: Plan,
    store: Store,
    engine: Engine,
    *,
    shard: Shard = Shard(),
    solve: bool = True,
    fresh: bool = False,
    retry_failed: bool = False,
    told: Told | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Result:
    """Solve what is missing of a sweep and put all of it in one table.

    Parameters
    ----------
    plan : Plan
        From :func:`laid_out`.
    store : Store
        Where points are kept: another call, shard or machine goes on from them.
    engine : Engine
        Serial, processes, or Dask; what a point answers does not depend on it.
    shard : Shard
        Which chains this call solves.
    solve : bool
        False: only collect what is there.
    fresh, retry_failed : bool
        Solve everything again; solve again what failed.
    told : callable, optional
        Told how many points are done, how many failed, and how many there are.
    """
    began = time.monotonic()
    if not fresh:
        recall(plan, store, retry=retry_failed)
    if solve:
        _solve(plan, store, engine, shard, told, stop, fresh=fresh)
    return sweep_result(plan, time.monotonic() - began, shard.of, stopped=stop())


def _solve(
    plan: Plan,
    store: Store,
    engine: Engine,
    shard: Shard,
    told: Told | None,
    stop: Callable[[], bool],
    *,
    fresh: bool,
) -> None:
    mine = [line for n, line in enumerate(plan.lines) if shard.has(n)]
    missing = [line for line in mine if any(p.index not in plan.known for p in line)]
    total = sum(len(line) for line in mine)
    if not missing:
        return
    start: Mapping[str, Any] | None = None if fresh else store.get(plan.base.key)
    if start is None or not well_formed(start) or start["status"] not in ANSWERED:
        first: dict[int, Mapping[str, Any]] = {}
        run_lines([[plan.base]], None, solve_point, store, engine, first, stop=stop)
        start = first.get(BASE)

    def ended(index: int, document: Mapping[str, Any], seconds: float) -> None:
        plan.seconds[index] = seconds
        if told:
            known = [plan.known[p.index] for line in mine for p in line if p.index in plan.known]
            told(len(known), sum(k["status"] not in ANSWERED for k in known), total)

    run_lines(missing, start, solve_point, store, engine, plan.known, stop=stop, told=ended)
