"""``dcplan frontier``: the lowest x for each y between the two ends, each with its gap."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dcplan.answers.plan.no_plan import impossible
from dcplan.errors import EXIT_INCOMPLETE, EXIT_OK
from dcplan.planning.presolve import presolve
from dcplan.result import Result
from dcplan.scenario.load import Question
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import checked
from dcplan.study.digest import content_key
from dcplan.study.frontier.axes import Axis, axes_asked
from dcplan.study.frontier.point import CONTENT, MET, SLACK, Step, prepared
from dcplan.study.frontier.proof import undominated, with_common_bounds
from dcplan.study.frontier.request import ENDS, FrontierRequest
from dcplan.study.frontier.steps import AMONG, FIRST, LAST, Document, Steps
from dcplan.study.frontier.table import frontier_result, no_frontier
from dcplan.study.lines import Runner


def frontier(
    request: FrontierRequest,
    runner: Runner | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    r"""Trade one metric against another by the epsilon-constraint method.

    Each point is :math:`\min x` subject to :math:`y \le \epsilon_i`.

    Parameters
    ----------
    runner : Runner, optional
        Engine and store of the points; by default this process and no store on disk.
    progress : callable, optional
        Called with the number of points done and in total.

    Raises
    ------
    InputError
        When a metric cannot be minimized, or the scenario is invalid.
    """
    began = time.monotonic()
    runner = runner or Runner()
    question = checked(request).question()
    axes = axes_asked(request, question)
    built = prepared(question, *axes)
    problems = presolve(question, built)
    if problems:
        return replace(impossible(question, built, problems), verb="frontier")
    count = request.points
    on_known = (lambda done: progress(done + 1, count)) if progress else None
    steps = Steps(_asked(request, question, axes), runner, request.prove == ENDS, on_known)
    points = _solved(steps, count)
    if not points:
        return no_frontier(question, built, steps.known.get(FIRST))
    shown = undominated(with_common_bounds(points, request.gap))
    answer = frontier_result(question, built, shown, axes, gap=request.gap, stopped=runner.stop())
    met = sum(d["status"] == MET for d in steps.known.values())
    if met:
        why = f"the plan of the point before meets the limit on {request.y} of the next point, too"
        answer = _noted(answer, _left_out(met, count, why))
    if len(shown) < len(points):
        why = "another point is at least as good in both metrics"
        answer = _noted(answer, _left_out(len(points) - len(shown), count, why))
    answer = replace(answer, run={"seconds": round(time.monotonic() - began, 3)})
    ended = steps.known.get(LAST, {}).get("y") is not None
    if not ended and answer.exit_code == EXIT_OK:
        return replace(answer, status="incomplete", exit_code=EXIT_INCOMPLETE)
    if ended and len(points) == 1 and shown[0]["gap_frac"] <= request.gap:
        return _noted(
            answer,
            f"the plan with the lowest {request.x} also has the best {request.y}: "
            "there is no trade-off",
        )
    return answer


def _asked(request: FrontierRequest, question: Question, axes: tuple[Axis, Axis]) -> Step:
    """Return the common fields of all steps."""
    overlays = tuple(str(Path(c).absolute()) for c in request.catalogs)
    return Step(
        index=0,
        key="",
        content=content_key(question, CONTENT),
        ref=ScenarioRef(str(question.file.absolute()), request.variant, request.sets, overlays),
        x=axes[0].key,
        y=axes[1].key,
        goal="",
        gap=request.gap,
        time_limit_s=request.time_limit_s,
    )


def _solved(steps: Steps, count: int) -> list[Document]:
    """Solve the two ends, then the points between them if the ends differ in y.

    Return the plan with the lowest x and the points with a plan of their own; none without a plan.
    """
    first, among, last = steps.ends()
    steps.run([[first]], None)
    found = steps.known.get(FIRST)
    if found is None or found.get("x") is None:
        return []
    steps.run([[among]], found)
    cheap = _best(found, steps.known.get(AMONG))
    steps.run([[last]], cheap)
    points, near = [cheap], steps.known.get(LAST, {}).get("y")
    if near is not None and abs(cheap["y"] - near) > SLACK * max(abs(cheap["y"]), 1.0):
        steps.run(steps.lines(last.key, cheap["y"], near, count), cheap)
        between = [steps.known[i] for i in sorted(steps.known) if i >= 0]
        points += [d for d in between if d["status"] != MET]
    return points


def _noted(answer: Result, text: str) -> Result:
    """Return the answer with a further note."""
    return replace(answer, warnings=[*answer.warnings, {"code": "note", "message": text}])


def _left_out(number: int, asked: int, why: str) -> str:
    return f"{number} of {asked} points {'is' if number == 1 else 'are'} left out: {why}"


def _best(found: Document, among: Document | None) -> Document:
    """Return the plan with the best y among those with the best x, so that no plan dominates it."""
    if among is None or among.get("x") is None:
        return found
    gap = max(0.0, among["x"] - found["bound"]) / max(abs(among["x"]), 1e-6)
    return {**among, "gap_frac": gap, "status": found["status"], "bound": found["bound"]}
