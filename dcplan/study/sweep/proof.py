"""Proof of the points of a screened sweep that a reader looks at first.

These are the first and the last point, the one of lowest cost, and points where decisions change. Each
is solved again to the requested gap, from its screened plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dcplan.study.digest import content_key, key_of
from dcplan.study.lines import Runner
from dcplan.study.point import ANSWERED, SCREENED, Point, options_of, solve_point, well_formed
from dcplan.study.sweep.layout import Layout
from dcplan.study.sweep.table import main_metric

MOST_CHANGES = 4
"""Maximum number of proved points where decisions change."""


def prove_shown(layout: Layout, runner: Runner) -> None:
    """Replace the documents of the points that are shown first by those of complete solves.

    Stored documents are read; with ``report_only``, no point is solved.
    """
    points = {i: _complete(layout, layout.points[i]) for i in shown(layout)}
    found: dict[int, Mapping[str, Any]] = {}
    if not layout.request.no_cache:
        for i, point in points.items():
            document = runner.store.get(point.key)
            if document is not None and well_formed(document) and document["status"] in ANSWERED:
                found[i] = document
    missing = [] if layout.request.report_only else [i for i in points if i not in found]
    known = {i: layout.known[i] for i in missing}
    lines = [[layout.points[i], replace(points[i], index=-1 - i)] for i in missing]
    runner.run(
        lines,
        None,
        solve_point,
        known,
        lambda index, _, seconds: layout.seconds.__setitem__(-1 - index, seconds),
    )
    found |= {i: known[-1 - i] for i in missing if -1 - i in known}
    better = {i: d for i, d in found.items() if d["status"] in ANSWERED}
    layout.known.update(better)
    layout.proved.update(better)
    layout.unproved.update(points.keys() - better.keys())


def shown(layout: Layout) -> list[int]:
    """Return the screened points that a reader looks at first.

    A screened point within the requested gap needs no proof.
    """
    order = [p.index for line in layout.lines for p in line if p.index in layout.known]
    with_plan = [i for i in order if layout.known[i]["metrics"]]
    if not with_plan:
        return []
    least = min(with_plan, key=lambda i: float(layout.known[i]["metrics"][main_metric(layout)]))
    changes = _evenly(
        [
            i
            for i, before in zip(with_plan[1:], with_plan, strict=False)
            if layout.known[i].get("decisions") != layout.known[before].get("decisions")
        ]
    )
    wanted = dict.fromkeys((with_plan[0], with_plan[-1], least, *changes))
    return [i for i in wanted if layout.known[i]["status"] == SCREENED]


def _evenly(points: Sequence[int]) -> list[int]:
    """Return at most ``MOST_CHANGES`` points, evenly spread."""
    if len(points) <= MOST_CHANGES:
        return list(points)
    last = len(points) - 1
    return [points[round(n * last / (MOST_CHANGES - 1))] for n in range(MOST_CHANGES)]


def _complete(layout: Layout, point: Point) -> Point:
    """Return the same point for a complete solve, which starts from its screened plan."""
    question = replace(layout.request, sets=point.ref.sets).question()
    content = content_key(question, options_of(point.gap, point.time_limit_s))
    key = key_of({"content": content, "screened": point.key})
    return replace(point, key=key, content=content, screen=False)
