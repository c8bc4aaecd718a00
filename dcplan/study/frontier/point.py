"""One point of a frontier: the best of one metric where another is limited, as a document."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.plan.metrics import metrics_of
from dcplan.planning.audit.measures import measured
from dcplan.planning.goal import CARBON, DAYS, Goal, Limit
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_problem
from dcplan.scenario.load import Question
from dcplan.scenario.ref import ScenarioRef
from dcplan.study.digest import content_key
from dcplan.study.engine.engines import Stopped, asked_to_stop
from dcplan.study.frontier.axes import Axis, axis_of
from dcplan.study.point import packed, readable, unpacked
from dcplan.units import DAYS_PER_QUARTER

SLACK = 1e-6
SHORTEST = 0.05
"""Shortest run lengths offered, over the longest."""
LENGTHS = 120
"""Lengths offered between the shortest and the longest."""
CONTENT = {"verb": "frontier"}
"""What the digest of a frontier's inputs is marked with."""
MET = "met"
"""Nothing is left to tighten: the point before reached the end."""


@dataclass(frozen=True)
class Step:
    """A task: minimise x where y is limited, or one of the ends."""

    index: int
    key: str
    content: str
    ref: ScenarioRef
    x: str
    y: str
    goal: str
    """``x`` or ``y``, ``among`` for the best y among plans as good in x, or ``limited``."""
    from_y: float = math.nan
    """Where a line of limited points begins and ends."""
    to_y: float = math.nan
    left: int = 1
    """Points left on the line, this one among them."""
    gap: float = 0.01
    time_limit_s: float = 60.0


def prepared(question: Question, x: Axis, y: Axis) -> Built:
    """Return the menu with what two axes need: runs of many lengths, carbon of everything."""
    built = build(question, _lengths(question, (x, y)))
    if CARBON in (x.measure, y.measure):
        return replace(built, problem=replace(built.problem, carbon_known=True))
    return built


def _lengths(question: Question, axes: tuple[Axis, Axis]) -> dict[str, tuple[float, ...]]:
    """Return run lengths between the usual months, where days are an axis."""
    found = {}
    horizon = question.scenario.horizon.quarters * DAYS_PER_QUARTER
    for job in question.scenario.workloads.training:
        if any(a.measure == DAYS + job.id for a in axes):
            longest = min(job.deadline_days.value if job.deadline_days else horizon, horizon)
            found[job.id] = tuple(
                longest * (SHORTEST + (1.0 - SHORTEST) * i / LENGTHS) for i in range(LENGTHS + 1)
            )
    return found


@functools.lru_cache(maxsize=2)
def _asked(content: str, ref: ScenarioRef, x: str, y: str) -> tuple[Question, Built]:
    """Return question and menu, made once in a worker."""
    question = ref.question()
    if content_key(question, CONTENT) != content:
        msg = f"{question.file.name} or a file that it names changed during the run"
        raise RuntimeError(msg)
    return question, prepared(question, axis_of(x), axis_of(y))


def solve_step(step: Step, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Solve a point of a frontier, starting from the plan of the one before it."""
    began = time.monotonic()
    question, built = _asked(step.content, step.ref, step.x, step.y)
    x, y = axis_of(step.x), axis_of(step.y)
    reached = (
        float(before["reached"]) if before and before.get("line") == step.to_y else step.from_y
    )
    problem, most = built.problem, math.nan
    if step.goal == "limited":
        if abs(reached - step.to_y) <= SLACK * max(abs(step.from_y), 1.0):
            return _document(MET, before, {"reached": reached, "line": step.to_y})
        # what is left, in equal steps: no point is met twice
        most = reached + (step.to_y - reached) / step.left
        problem = replace(
            problem, goal=Goal(x.measure, (Limit(y.measure, most + SLACK * abs(most)),))
        )
    elif step.goal == "among" and before is not None:
        value, least = (
            float(before["value"]),
            min(float(before["value"]), float(before["searched"])),
        )
        limit = Limit(x.measure, least + SLACK * abs(least), value + SLACK * abs(value))
        problem = replace(problem, goal=Goal(y.measure, (limit,)))
    else:
        problem = replace(problem, goal=Goal((x if step.goal == "x" else y).measure))
    given = str(before.get("start") or "") if before else ""
    near = unpacked(given) if given else None
    solved = solve_problem(
        problem,
        question,
        SolveRequest(gap=step.gap, time_limit_s=step.time_limit_s, near=near, stop=asked_to_stop),
    )
    if solved.status == SolveStatus.INTERRUPTED:
        raise Stopped
    here = _found(solved, question, built.problem, (x, y))
    if step.goal == "limited":
        here["line"] = step.to_y
        here["reached"] = min(most, here["y"]) if here["y"] is not None else most
    return {**_document(solved.status, before, here), "seconds": time.monotonic() - began}


def complete(document: Mapping[str, Any]) -> bool:
    """Whether :func:`solve_step` may have written a kept document of a point that was reached."""
    if not document.get("reproducible"):
        return False  # time ended it: another call may find more
    if document.get("status") == MET:
        return isinstance(document.get("reached"), float)
    there = isinstance(document.get("x"), float) and isinstance(document.get("y"), float)
    numbers = all(
        isinstance(document.get(k), int | float) for k in ("value", "bound", "gap_frac", "searched")
    )
    return (
        there
        and numbers
        and isinstance(document.get("systems"), dict)
        and readable(str(document.get("start")))
    )


def _found(
    solved: Solved, question: Question, problem: PlanningProblem, axes: tuple[Axis, Axis]
) -> dict[str, Any]:
    """Return values on both axes, what is bought, and the integers to start from."""
    if solved.audit is None or solved.decisions is None:
        return {"x": None, "y": None}
    at = [measured(a.measure, problem, solved.decisions, solved.audit.books) for a in axes]
    metrics = metrics_of(solved, question.catalog)
    systems = {
        k.partition(".")[2]: m.value for k, m in metrics.items() if k.startswith("accelerators.")
    }
    return {
        "x": at[0],
        "y": at[1],
        "value": solved.value,
        "bound": solved.bound,
        "gap_frac": solved.gap_frac,
        "searched": solved.searched if math.isfinite(solved.searched) else solved.value,
        "total": systems.pop("total", 0),
        "systems": systems,
        "reproducible": solved.reproducible,
        "start": packed(solved.integer_values),
    }


def _document(
    status: str, before: Mapping[str, Any] | None, found: Mapping[str, Any]
) -> dict[str, Any]:
    plain = {
        "status": status,
        "x": None,
        "y": None,
        "gap_frac": None,
        "reproducible": True,
        "start": str(before.get("start") or "") if before else "",
    }
    return plain | {k: v for k, v in found.items() if k != "start" or v}
