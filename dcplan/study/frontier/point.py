"""One point of a frontier: the best value of one metric under a limit on the other."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.plan.metrics import metrics_of
from dcplan.engine.engines import Stopped, asked_to_stop
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
from dcplan.study.frontier.axes import Axis, axis_of
from dcplan.study.point import SCREENED, is_screened, packed, readable, unpacked
from dcplan.units import DAYS_PER_QUARTER

SLACK = 1e-6
SHORTEST = 0.05
"""Shortest available run length over the longest."""
LENGTHS = 120
"""Number of run lengths between the shortest and the longest."""
CONTENT = {"verb": "frontier"}
"""Options in the digest of the inputs of a frontier."""
MET = "met"
"""Status if the previous point already reached the end."""


@dataclass(frozen=True)
class Step:
    """A task: minimize x under a limit on y, or find one of the two ends."""

    index: int
    key: str
    content: str
    ref: ScenarioRef
    x: str
    y: str
    goal: str
    """``x`` or ``y``, ``among`` for the best y among the plans with the best x, or ``limited``."""
    from_y: float = math.nan
    """Begin and end of a sequence of limited points."""
    to_y: float = math.nan
    left: int = 1
    """Points left in the sequence, including this one."""
    gap: float = 0.01
    time_limit_s: float = 60.0
    screen: bool = False
    """Whether a plan and a bound are enough (``SolveRequest.screen``)."""


def prepared(question: Question, x: Axis, y: Axis) -> Built:
    """Return the problem with the data of both axes: many run lengths, carbon of every part."""
    built = build(question, _lengths(question, (x, y)))
    if CARBON in (x.measure, y.measure):
        return replace(built, problem=replace(built.problem, carbon_known=True))
    return built


def _lengths(question: Question, axes: tuple[Axis, Axis]) -> dict[str, tuple[float, ...]]:
    """Return additional run lengths between whole months if days are an axis."""
    found = {}
    horizon = question.scenario.horizon.quarters * DAYS_PER_QUARTER
    for job in question.scenario.workloads.jobs:
        if any(a.measure == DAYS + job.id for a in axes):
            longest = min(job.deadline_days.value if job.deadline_days else horizon, horizon)
            found[job.id] = tuple(
                longest * (SHORTEST + (1.0 - SHORTEST) * i / LENGTHS) for i in range(LENGTHS + 1)
            )
    return found


@functools.lru_cache(maxsize=2)
def _asked(content: str, ref: ScenarioRef, x: str, y: str) -> tuple[Question, Built]:
    """Return the question and its planning problem, built once per worker."""
    question = ref.question()
    if content_key(question, CONTENT) != content:
        msg = f"{question.file.name} or a file that it names changed during the run"
        raise RuntimeError(msg)
    return question, prepared(question, axis_of(x), axis_of(y))


def solve_step(step: Step, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Solve a point of a frontier, starting from the plan of the point before it."""
    began = time.monotonic()
    question, built = _asked(step.content, step.ref, step.x, step.y)
    x, y = axis_of(step.x), axis_of(step.y)
    reached = (
        float(before["reached"]) if before and before.get("line") == step.to_y else step.from_y
    )
    problem, most = built.problem, math.nan
    if step.goal == "limited":
        met = reached <= step.to_y + SLACK * max(abs(step.from_y), 1.0)  # measures are minimized
        if met:
            return _document(MET, before, {"reached": reached, "line": step.to_y})
        # the rest in equal steps: no point occurs twice
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
    request = SolveRequest(
        gap=step.gap,
        time_limit_s=step.time_limit_s,
        near=near,
        screen=step.screen,
        stop=asked_to_stop,
    )
    solved = solve_problem(problem, question, request)
    if solved.status == SolveStatus.INTERRUPTED:
        raise Stopped
    here = _found(solved, question, built.problem, (x, y))
    if step.goal == "limited":
        here["line"] = step.to_y
        # a plan with an open gap may not be the best one for the limits that it also satisfies
        here["reached"] = min(most, here["y"]) if solved.status is SolveStatus.OPTIMAL else most
    status = SCREENED if is_screened(solved, request) else str(solved.status)
    return {**_document(status, before, here), "seconds": time.monotonic() - began}


def complete(document: Mapping[str, Any]) -> bool:
    """Whether a stored document is a finished point in the form of :func:`solve_step`."""
    if not document.get("reproducible"):
        return False  # the time limit ended it: another call may find a better plan
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
    """Return the values on both axes, the systems bought, and the integers of the plan."""
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
