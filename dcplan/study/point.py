"""One point of a study: a solved scenario with some changes, as a document of its figures."""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.plan.metrics import metrics_of
from dcplan.answers.plan.waiting import waiting_of
from dcplan.engine.engines import Stopped, asked_to_stop
from dcplan.errors import InputError, Place
from dcplan.planning.explain.differences import summary
from dcplan.planning.keys import Key, from_text, to_text
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.planning.solve.objective import solve_objective
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.scenario.load import Question
from dcplan.scenario.ref import ScenarioRef
from dcplan.study.digest import content_key, key_of

OK, INFEASIBLE, TIMEOUT, FAILED, CRASHED, PENDING = (
    "ok",
    "infeasible",
    "timeout",
    "error",
    "crashed",
    "pending",
)
WRONG, NONE = "wrong", "none"
"""Invalid input; search ended without a plan and without proof. Another try does not help."""
SCREENED, WIDE = "screened", "gap"
"""A plan with a gap above the requested one: from screening; or because more time does not help."""
KNOWN = (OK, INFEASIBLE, TIMEOUT, FAILED, CRASHED, WRONG, NONE, SCREENED, WIDE)
LATE = 0.9
"""Share of the time limit from which a search counts as ended by the limit."""
ANSWERED = (OK, INFEASIBLE, SCREENED, WIDE)
"""Statuses of results; the others are failures, which can be tried again."""
PLANNED = (OK, SCREENED, WIDE)
"""Statuses with a plan and its metrics."""


@dataclass(frozen=True)
class Point:
    """A task: a scenario with its changes and the limits of the solve."""

    index: int
    key: str
    content: str
    """Digest of the inputs at the time when the points were laid out."""
    ref: ScenarioRef
    gap: float
    time_limit_s: float
    screen: bool = False
    """Whether a plan and a bound are enough (``SolveRequest.screen``)."""

    @property
    def options(self) -> dict[str, Any]:
        """Return the flags that its plan depends on."""
        return options_of(self.gap, self.time_limit_s, screen=self.screen)


def solve_point(point: Point, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Solve a point, starting from the plan of the point before it.

    Returns
    -------
    dict
        status, message, metrics, gap_frac, reproducible, start (integers of the plan, packed),
        decisions (digest of its decisions in words), seconds.
    """
    began = time.monotonic()
    question = point.ref.question()
    unchanged(question, point.content, point.options)
    given = str(before.get("start") or "") if before else ""
    request = SolveRequest(
        gap=point.gap,
        time_limit_s=point.time_limit_s,
        near=unpacked(given) if given else None,
        screen=point.screen,
        stop=asked_to_stop,
    )
    found = solved_point(question, request)
    # a point without a plan passes on the start that it received
    return {**found, "start": found["start"] or given, "seconds": time.monotonic() - began}


def options_of(gap: float, time_limit_s: float, *, screen: bool = False) -> dict[str, Any]:
    """Return the flags that a plan depends on."""
    more = {"screen": True} if screen else {}
    return {"verb": "plan", "gap": gap, "time_limit_s": time_limit_s} | more


def unchanged(question: Question, content: str, options: Mapping[str, Any]) -> None:
    """Refuse a scenario that changed after its points were laid out.

    Raises
    ------
    RuntimeError
        When a file changed: the result would be stored under the key of the old inputs.
    """
    if content_key(question, options) != content:
        msg = f"{question.file.name} or a file that it names changed during the run"
        raise RuntimeError(msg)


def solved_point(question: Question, request: SolveRequest) -> dict[str, Any]:
    """Return the document of one solved question."""
    built = build(question)
    problems = presolve(question, built)
    if problems:
        return _document(INFEASIBLE, f"{problems[0].cause} ({_near(problems[0].place)})")
    solved = solve_objective(built.problem, question, request)
    if solved.status == SolveStatus.INTERRUPTED:
        raise Stopped
    if solved.status == SolveStatus.INFEASIBLE:
        return _document(INFEASIBLE, "proved infeasible: dcplan explain shows why")
    if solved.audit is None:
        late = solved.status == SolveStatus.LIMIT and solved.seconds >= LATE * request.time_limit_s
        text = f"no plan found in {solved.seconds:.0f} s; infeasibility is not proved"
        return _document(TIMEOUT if late else NONE, text, solved)
    status = _planned(solved, request)
    late = status == TIMEOUT
    message = f"gap {solved.gap_frac:.2%} after {request.time_limit_s:g} s" if late else ""
    # a screened sweep has many points: what later starts save would be one more solve of each
    waiting = None if request.screen else waiting_of(solved, question, request)
    found = metrics_of(solved, question.catalog) | (waiting.metrics if waiting else {})
    metrics = {key: metric.value for key, metric in found.items()}
    document = _document(status, message, solved, metrics)
    if waiting and waiting.timed:
        document["reproducible"] = False
    return document


def _planned(solved: Solved, request: SolveRequest) -> str:
    """Return the status of a point with a plan, by its gap and by what ended the search."""
    if solved.status != SolveStatus.LIMIT or solved.gap_frac <= request.gap:
        return OK
    if is_screened(solved, request):
        return SCREENED
    return WIDE if solved.ended and not solved.timed else TIMEOUT


def is_screened(solved: Solved, request: SolveRequest) -> bool:
    """Whether a plan has an open gap because only a plan and a bound were requested."""
    late = solved.status is SolveStatus.LIMIT and solved.gap_frac > request.gap
    return request.screen and late and not solved.timed and solved.audit is not None


def failed_point(error: InputError) -> dict[str, Any]:
    """Return the document of a point with invalid input."""
    first = error.problems[0]
    return _document(WRONG, f"{_near(first.place)}: error[{first.code}]: {first.cause}")


def _near(place: Place | None) -> str:
    """Return a place without its folder, which differs among machines."""
    return str(replace(place, path=place.path.rpartition("/")[2])) if place else ""


def _document(
    status: str,
    message: str,
    solved: Solved | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    found = solved is not None and solved.audit is not None
    return {
        "status": status,
        "message": message,
        "metrics": dict(metrics or {}),
        "gap_frac": solved.gap_frac if solved is not None and found else None,
        "reproducible": solved is None or solved.reproducible,
        "start": packed(solved.integer_values) if solved is not None and found else "",
        "decisions": _decided(solved) if solved is not None and found else "",
    }


def _decided(solved: Solved) -> str:
    """Return the digest of the decisions in words, without their exact numbers."""
    return key_of(summary(solved.problem, solved.decisions)) if solved.decisions else ""


def well_formed(document: Mapping[str, Any]) -> bool:
    """Whether a stored document has the form that :func:`solve_point` writes."""
    metrics, start = document.get("metrics"), document.get("start")
    if (
        document.get("status") not in KNOWN
        or not isinstance(metrics, dict)
        or not isinstance(start, str)
    ):
        return False
    if not all(value is None or isinstance(value, str | int | float) for value in metrics.values()):
        return False
    if document["status"] in PLANNED and not {"cost.npv_usd", "solver.gap_frac"} <= metrics.keys():
        return False
    return not start or readable(start)


def readable(start: str) -> bool:
    """Whether packed integers can be read."""
    try:
        return bool(unpacked(start))
    except (ValueError, zlib.error, AttributeError, TypeError, RecursionError):
        return False


def packed(integer_values: Mapping[Key, float]) -> str:
    """Write the integers of a plan as text.

    Examples
    --------
    >>> unpacked(packed({Key("x", ("1", 1)): 2.0})) == {Key("x", ("1", 1)): 2.0}
    True
    """
    text = json.dumps(
        {to_text(key): value for key, value in integer_values.items()}, sort_keys=True
    )
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(text: str) -> dict[Key, float]:
    """Read what :func:`packed` wrote.

    Raises
    ------
    ValueError
        When the text is not one that :func:`packed` wrote.
    """
    integer_values = json.loads(zlib.decompress(base64.b85decode(text)))
    return {from_text(k): float(v) for k, v in integer_values.items()}
