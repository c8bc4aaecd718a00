"""``dcplan sweep``: many points of one scenario, each solved once and stored; can resume."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path as File
from typing import Any

from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.scenario.axes import split_sets
from dcplan.scenario.expect import check_metrics
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import checked
from dcplan.study.digest import content_key, key_of
from dcplan.study.lines import Runner
from dcplan.study.point import ANSWERED, Point, failed_point, options_of, solve_point, well_formed
from dcplan.study.store import Store
from dcplan.study.sweep.layout import Layout
from dcplan.study.sweep.points import set_texts
from dcplan.study.sweep.proof import prove_shown
from dcplan.study.sweep.request import SweepRequest, refuse_conflicts
from dcplan.study.sweep.resolve import axes_asked, orders_asked, values_asked
from dcplan.study.sweep.table import listed, sweep_result

BASE = -1
"""Index of the unchanged scenario: not a point, but the start of every chain."""
ProgressText = Callable[[int, int, int], None]
"""Called with the number of points done, failed and in total."""


def laid_out(request: SweepRequest) -> Layout:
    """Return every point with its key.

    The key covers the inputs of the point and of the points before it.

    Raises
    ------
    InputError
        When flags contradict each other, the scenario or an axis is invalid, or no point is valid.
    """
    refuse_conflicts(checked(request))
    given, plain = split_sets(request.sets)
    question = replace(request, sets=tuple(plain)).question()
    problems = check_metrics(question.scenario, question.catalog, question.tree)
    if problems:
        raise InputError(problems)
    axes, notes = axes_asked(request, question, given, plain)
    values = values_asked(request, axes)
    screen = request.screens(len(values))
    content = content_key(question, options_of(request.gap, request.time_limit_s))
    place = str(question.file.absolute())
    overlays = tuple(str(File(c).absolute()) for c in request.catalogs)
    ref = ScenarioRef(place, request.variant, tuple(plain), overlays)
    base = Point(
        BASE, key_of({"content": content}), content, ref, request.gap, request.time_limit_s
    )
    layout = Layout(request, question, axes, values, base, screen=screen, notes=notes)
    _fill(layout)
    return layout


def _fill(layout: Layout) -> None:
    """Add the chains of points; a point with invalid input is done already.

    Raises
    ------
    InputError
        For the first point, when no point is valid.
    """
    request, base = layout.request, layout.base
    options = options_of(request.gap, request.time_limit_s, screen=layout.screen)
    first: InputError | None = None
    for order in orders_asked(request, layout.axes, layout.values):
        before, line = base.key, []
        for i in order:
            sets = (*base.ref.sets, *set_texts(layout.axes, layout.values[i]))
            try:
                own = content_key(replace(request, sets=sets).question(), options)
            except InputError as error:
                first = first or error
                layout.known[i] = failed_point(error)
                own = key_of({"wrong": sets})
            before = key_of({"content": own, "before": before})
            ref = replace(base.ref, sets=sets)
            line.append(
                replace(base, index=i, key=before, content=own, ref=ref, screen=layout.screen)
            )
        layout.lines.append(line)
    if first is not None and len(layout.known) == len(layout.values):
        raise first


def recall(layout: Layout, store: Store, *, retry: bool) -> None:
    """Read the stored points; with ``retry`` only answers, so that failures are tried again."""
    for i, point in layout.points.items():
        found = store.get(point.key)
        if found is not None and well_formed(found) and (found["status"] in ANSWERED or not retry):
            layout.known.setdefault(i, found)


def sweep(layout: Layout, runner: Runner, progress: ProgressText | None = None) -> Result:
    """Solve the missing points of a sweep and return all points in one table.

    Parameters
    ----------
    layout : Layout
        From :func:`laid_out`.
    """
    began = time.monotonic()
    if layout.request.dry_run:
        recall(layout, runner.store, retry=False)
        return listed(layout)
    if not layout.request.no_cache:
        recall(layout, runner.store, retry=layout.request.retry_failed)
    if not layout.request.report_only:
        _solve(layout, runner, progress)
    if layout.proves:
        prove_shown(layout, runner)
    return sweep_result(layout, time.monotonic() - began, stopped=runner.stop())


def _solve(layout: Layout, runner: Runner, progress: ProgressText | None) -> None:
    mine = layout.own_lines
    missing = [line for line in mine if any(p.index not in layout.known for p in line)]
    total = sum(len(line) for line in mine)
    if not missing:
        return

    def ended(index: int, document: Mapping[str, Any], seconds: float) -> None:
        layout.seconds[index] = seconds
        if progress:
            points = [p.index for line in mine for p in line if p.index in layout.known]
            known = [layout.known[i] for i in points]
            progress(len(known), sum(k["status"] not in ANSWERED for k in known), total)

    runner.run(missing, _start(layout, runner), solve_point, layout.known, ended)


def _start(layout: Layout, runner: Runner) -> Mapping[str, Any] | None:
    """Return the plan of the unchanged scenario, from the store or solved now."""
    found = None if layout.request.no_cache else runner.store.get(layout.base.key)
    if found is not None and well_formed(found) and found["status"] in ANSWERED:
        return found
    first: dict[int, Mapping[str, Any]] = {}
    runner.run([[layout.base]], None, solve_point, first)
    return first.get(BASE)
