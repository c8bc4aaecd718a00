"""One point of a study: a scenario with some changes, solved; its figures as a document."""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.plan_metrics import metrics_of
from dcplan.errors import InputError, Place
from dcplan.planning.menu.build import build
from dcplan.planning.presolve import presolve
from dcplan.planning.solve import highs
from dcplan.planning.solve.objective import solve_objective
from dcplan.planning.solve.run import Solved
from dcplan.scenario.load import Question, load

OK, INFEASIBLE, TIMEOUT, FAILED, CRASHED, PENDING = "ok", "infeasible", "timeout", "error", "crashed", "pending"
ANSWERED = (OK, INFEASIBLE)
"""Statuses that are results; the others are failures that may be tried again."""


@dataclass(frozen=True)
class Point:
    """A task: which scenario, which changes, how far to solve."""

    index: int
    key: str
    file: str
    variant: str | None
    sets: tuple[str, ...]
    catalogs: tuple[str, ...]
    gap: float
    time_limit_s: float


def solve_point(point: Point, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Solve a point, starting from the plan of the one before it.

    Returns
    -------
    dict
        status, message, metrics, gap_frac, reproducible, start (integers of the plan, packed), seconds.
    """
    began = time.monotonic()
    question = load(point.file, variant=point.variant, sets=point.sets, catalogs=point.catalogs)
    given = str(before.get("start") or "") if before else ""
    found = solved_point(question, unpacked(given) if given else None, gap=point.gap, time_limit_s=point.time_limit_s)
    # a point without a plan hands on what it was given
    return {**found, "start": found["start"] or given, "seconds": time.monotonic() - began}


def solved_point(
    question: Question, near: Mapping[str, float] | None, *, gap: float, time_limit_s: float
) -> dict[str, Any]:
    """The document of one solved question."""
    built = build(question)
    problems = presolve(question, built)
    if problems:
        return _document(INFEASIBLE, f"{problems[0].cause} ({_near(problems[0].place)})")
    solved = solve_objective(built.menu, question, gap=gap, time_limit_s=time_limit_s, near=near)
    if solved.status == highs.INFEASIBLE:
        return _document(INFEASIBLE, "proved infeasible: dcplan explain says why")
    if solved.audit is None:
        return _document(TIMEOUT, f"no plan found in {time_limit_s:g} s", solved)
    late = solved.status == highs.LIMIT and solved.gap_frac > gap
    message = f"gap {solved.gap_frac:.2%} after {time_limit_s:g} s" if late else ""
    metrics = {key: metric.value for key, metric in metrics_of(solved, question.catalog).items()}
    return _document(TIMEOUT if late else OK, message, solved, metrics)


def failed_point(error: InputError) -> dict[str, Any]:
    """The document of a point whose input is wrong."""
    first = error.problems[0]
    return _document(FAILED, f"{_near(first.place)}: error[{first.code}]: {first.cause}")


def _near(place: Place | None) -> str:
    """A place without its folder, which differs from machine to machine."""
    return str(replace(place, path=place.path.rpartition("/")[2])) if place else ""


def _document(
    status: str, message: str, solved: Solved | None = None, metrics: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    found = solved is not None and solved.audit is not None
    return {
        "status": status,
        "message": message,
        "metrics": dict(metrics or {}),
        "gap_frac": solved.gap_frac if solved is not None and found else None,
        "reproducible": solved is None or solved.reproducible,
        "start": packed(solved.whole) if solved is not None and found else "",
    }


def packed(whole: Mapping[str, float]) -> str:
    """Integers of a plan as text.

    Examples
    --------
    >>> unpacked(packed({"x[1]": 2.0, "y": 0.0}))
    {'x[1]': 2.0, 'y': 0.0}
    """
    text = json.dumps(dict(whole), sort_keys=True)
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str) -> dict[str, float]:
    """Read what :func:`packed` wrote."""
    return {str(k): float(v) for k, v in json.loads(zlib.decompress(base64.b85decode(text))).items()}
