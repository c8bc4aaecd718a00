"""Two objectives at a time: the cheapest x for every y between the two ends, each point with its
proven gap.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.plan.no_plan import impossible
from dcplan.errors import (
    EXIT_INCOMPLETE,
    EXIT_INFEASIBLE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    InputError,
    Place,
    Problem,
    did_you_mean,
)
from dcplan.planning.goal import METRICS, measure_of
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Cell, Metric, Result, Table
from dcplan.scenario.load import Question, load
from dcplan.study.digest import content_key, key_of
from dcplan.study.engine.engines import Engine, Serial
from dcplan.study.frontier.point import (
    CONTENT,
    MET,
    SLACK,
    Axis,
    Step,
    complete,
    prepared,
    solve_step,
)
from dcplan.study.lines import run_lines
from dcplan.study.point import CRASHED, FAILED
from dcplan.study.store import Memory, Store

COLUMNS = ("point", "x", "y", "gap_frac", "x_per_y", "accelerators", "systems", "status")
COMPUTE_KEY = "compute.pflop_days"
MOST_POINTS = 200
LINE = 7
"""Points that follow one another; lines run beside each other where the engine has room."""
ENDS_SHARE = 0.5
"""Of the time limit, for the two ends."""
FIRST, AMONG, LAST = -3, -2, -1
"""Places of the ends: least x, the best y among such plans, least y."""
Document = Mapping[str, Any]


def frontier(  # noqa: PLR0913 - the flags of the verb
    scenario: str | Path,
    *,
    x: str,
    y: str,
    points: int = 15,
    variant: str | None = None,
    sets: Sequence[str] = (),
    catalogs: Sequence[str] = (),
    gap: float = 0.01,
    time_limit_s: float = 600.0,
    engine: Engine | None = None,
    store: Store | None = None,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Result:
    r"""Trade one metric against another by epsilon-constraint: :math:`\min x` subject to :math:`y
    \le \epsilon_i`.

    Parameters
    ----------
    scenario : str or Path
        File, or the name of a packaged example; its own objective is not used.
    x, y : str
        Metric keys: cost.npv_usd, cost.capex_usd, carbon.operational_t, carbon.with_cloud_t,
        compute.pflop_days (maximised), power.peak_facility_mw, time.finish_days, train.<job>.days.
    points : int, default 15
        Values of y, both ends included, from 2.
    gap : float, default 0.01
        Relative gap at which each solve may stop. [-]
    time_limit_s : float, default 600
        Of all points together on one core: each has its share; those that end by it are marked. [s]
    engine : Engine, optional
        What solves the points; what they find does not depend on it. In this process where left
        out.
    store : Store, optional
        Where points are kept, so that another call goes on from them.

    Raises
    ------
    InputError
        When a metric cannot be minimised, or the scenario is wrong.
    """
    began = time.monotonic()
    question = load(str(scenario), variant=variant, sets=sets, catalogs=catalogs)
    axes = _axes(question, x, y, points)
    built = prepared(question, *axes)
    problems = presolve(question, built)
    if problems:
        return replace(impossible(question, built, problems), verb="frontier")
    halt = stop or (lambda: False)
    told = (lambda done: progress(done + 1, points)) if progress else None
    overlays = tuple(str(Path(c).absolute()) for c in catalogs)
    asked = Step(
        0,
        "",
        content_key(question, CONTENT),
        str(question.file.absolute()),
        variant,
        tuple(sets),
        overlays,
        x,
        y,
        "",
        gap=gap,
        time_limit_s=time_limit_s,
    )
    way = Way(asked, store if store is not None else Memory(), engine or Serial(), halt, told)
    first, among, last = way.ends()
    way.run([[first]], None)
    found = way.known.get(FIRST)
    if found is None or found.get("x") is None:
        return _none(question, built, found)
    way.run([[among]], found)
    cheap = _best(found, way.known.get(AMONG))
    way.run([[last]], cheap)
    best = way.known.get(LAST, {})
    rows = [cheap]
    if best.get("y") is not None and abs(cheap["y"] - best["y"]) > SLACK * max(
        abs(cheap["y"]), 1.0
    ):
        way.run(way.lines(last.key, cheap["y"], best["y"], points), cheap)
        rows += [
            way.known[i] for i in sorted(way.known) if i >= 0 and way.known[i]["status"] != MET
        ]
    answer = _answer(question, built, rows, axes, time.monotonic() - began, stopped=halt())
    if best.get("y") is None and answer.exit_code == EXIT_OK:
        return replace(answer, status="incomplete", exit_code=EXIT_INCOMPLETE)
    if len(rows) == 1 and best.get("y") is not None:
        note = f"the plan with the least {x} has the best {y}, too: there is nothing to trade"
        return replace(answer, warnings=[*answer.warnings, {"code": "note", "message": note}])
    return answer


@dataclass
class Way:
    """The points of a frontier between its ends: their keys, where they are kept, and what is
    known of them.
    """

    asked: Step
    """What all steps share; its time limit is that of all together."""
    store: Store
    engine: Engine
    stop: Callable[[], bool]
    told: Callable[[int], None] | None = None
    """Told how many points between the ends are known."""
    known: dict[int, Document] = field(default_factory=dict)

    def step(self, index: int, goal: str, before: str, share: float, **more: Any) -> Step:
        """A step; its key holds the inputs, what it asks, and the steps before it."""
        step = replace(
            self.asked,
            index=index,
            goal=goal,
            time_limit_s=max(share * self.asked.time_limit_s, 1.0),
            **more,
        )
        words = {
            k: v
            for k, v in vars(step).items()
            if k not in ("key", "file", "variant", "sets", "catalogs")
        }
        return replace(step, key=key_of({"frontier": words, "before": before}))

    def ends(self) -> tuple[Step, Step, Step]:
        """Least x, the best y among such plans, least y."""
        first = self.step(FIRST, "x", "", ENDS_SHARE / 3)
        among = self.step(AMONG, "among", first.key, ENDS_SHARE / 3)
        return first, among, self.step(LAST, "y", among.key, ENDS_SHARE / 3)

    def lines(self, before: str, far: float, near: float, points: int) -> list[list[Step]]:
        """Points between the ends, each line over its part of the way; a line's first starts from
        the cheap end.
        """
        count, lines = points - 1, []
        for first in range(0, count, LINE):
            size = min(LINE, count - first)
            ends = [far + (near - far) * n / count for n in (first, first + size)]
            line, key = list[Step](), before
            for i in range(size):
                line.append(
                    self.step(
                        first + i,
                        "limited",
                        key,
                        (1.0 - ENDS_SHARE) / count,
                        from_y=ends[0],
                        to_y=ends[1],
                        left=size - i,
                    )
                )
                key = line[-1].key
            lines.append(line)
        return lines

    def run(self, lines: Sequence[Sequence[Step]], start: Document | None) -> None:
        """Take what is kept, and solve what is not."""
        for step in itertools.chain.from_iterable(lines):
            found = self.store.get(step.key)
            if found is not None and complete(found):
                self.known[step.index] = found
        run_lines(
            lines,
            start,
            solve_step,
            self.store,
            self.engine,
            self.known,
            stop=self.stop,
            told=self._ended,
        )

    def _ended(self, index: int, document: Document, seconds: float) -> None:
        if self.told and index >= 0:
            self.told(sum(i >= 0 for i in self.known))


def _best(found: Document, among: Document | None) -> Document:
    """Among plans as good in x the one that is best in y, so that the end is not dominated."""
    if among is None or among.get("x") is None:
        return found
    gap = max(0.0, among["x"] - found["bound"]) / max(abs(among["x"]), 1e-6)
    return {**among, "gap_frac": gap, "status": found["status"], "bound": found["bound"]}


def _axes(question: Question, x: str, y: str, points: int) -> tuple[Axis, Axis]:
    jobs = [f"train.{j.id}.days" for j in question.scenario.workloads.training]
    known = [*METRICS, *jobs]
    problems = []
    found = []
    if not y:
        raise InputError(
            [
                Problem(
                    "DC015",
                    "the second metric is missing",
                    Place("--y"),
                    help="one of " + ", ".join(known),
                )
            ]
        )
    for flag, key in (("--x", x), ("--y", y)):
        measure = measure_of(key)
        if measure is None or (key not in METRICS and key not in jobs):
            hint = did_you_mean(key, known)
            problems.append(
                Problem(
                    "DC015",
                    f"{key}: not a metric that can be minimised",
                    Place(flag),
                    hint,
                    help="one of " + ", ".join(known),
                )
            )
        else:
            found.append(Axis(key, *measure))
    work = question.scenario.workloads
    if COMPUTE_KEY in (x, y) and not work.capacity:
        problems.append(
            Problem("DC015", f"{COMPUTE_KEY} needs workloads.capacity", Place("frontier"))
        )
    if "time.finish_days" in (x, y) and not work.training:
        problems.append(
            Problem("DC015", "time.finish_days needs workloads.training", Place("frontier"))
        )
    if x == y:
        problems.append(Problem("DC015", f"{y}: both axes are the same", Place("--y")))
    if not 2 <= points <= MOST_POINTS:
        problems.append(Problem("DC015", f"{points}: 2 to {MOST_POINTS} points", Place("--points")))
    if problems:
        raise InputError(problems)
    return found[0], found[1]


def _none(question: Question, built: Built, found: Document | None) -> Result:
    if found is not None and found["status"] in (FAILED, CRASHED):
        raise RuntimeError(found["message"])
    proved = found is not None and found["status"] == SolveStatus.INFEASIBLE
    words = "proved infeasible: dcplan explain FILE says why" if proved else "no plan found in time"
    return Result(
        "frontier",
        "infeasible" if proved else "incomplete",
        EXIT_INFEASIBLE if proved else EXIT_INCOMPLETE,
        f"{question.scenario.name}: {words}",
        scenario=describe(question),
        inputs=inputs_of(built),
    )


def _answer(
    question: Question,
    built: Built,
    found: Sequence[Document],
    axes: tuple[Axis, Axis],
    seconds: float,
    *,
    stopped: bool,
) -> Result:
    first, second = axes
    rows: list[tuple[Cell, ...]] = []
    before: tuple[float, float] | None = None
    for i, d in enumerate(found):
        if d.get("x") is None:
            rows.append((i + 1, None, None, None, None, None, None, d["status"]))
            continue
        here = first.metric(d["x"]), second.metric(d["y"])
        gained = math.copysign(1.0, second.factor) * (before[1] - here[1]) if before else 0.0
        price = (here[0] - before[0]) / gained if before and abs(gained) > 1e-9 else None
        words = (
            ", ".join(f"{int(float(n or 0)):,} {k}" for k, n in d["systems"].items())
            or "rented alone"
        )
        rows.append((i + 1, *here, d["gap_frac"], price, d["total"], words, d["status"]))
        before = here
    worst = max((float(r[3]) for r in rows if r[3] is not None), default=math.nan)
    missing = sum(r[1] is None or r[-1] == SolveStatus.LIMIT for r in rows)
    ends = [r for r in rows if r[1] is not None]
    headline = (
        f"{question.scenario.name}: {first.key} from {ends[0][1]:,.6g} to {ends[-1][1]:,.6g} while {second.key} goes "
        f"from {ends[0][2]:,.6g} to {ends[-1][2]:,.6g}; {len(ends)} points, largest gap {worst:.2%}"
    )
    code = EXIT_INTERRUPTED if stopped else EXIT_INCOMPLETE if missing else EXIT_OK
    return Result(
        "frontier",
        "interrupted" if stopped else "incomplete" if missing else "ok",
        code,
        headline,
        scenario=describe(question),
        metrics={
            "frontier.points": Metric(len(ends), "", "Points with a plan"),
            "frontier.worst_gap_frac": Metric(worst, "", "Largest proven gap of a point"),
        },
        tables={
            "frontier": Table(
                tuple(first.key if c == "x" else second.key if c == "y" else c for c in COLUMNS),
                tuple(rows),
            )
        },
        inputs=inputs_of(built),
        warnings=_notes(rows),
        run={"seconds": round(seconds, 3)},
    )


def _notes(rows: Sequence[tuple[Cell, ...]]) -> list[dict[str, str]]:
    """Neighbours whose difference is within their gaps are not proved different."""
    close = [
        f"{a[0]} and {b[0]}"
        for a, b in itertools.pairwise(rows)
        if a[1] is not None
        and b[1] is not None
        and abs(float(b[1]) - float(a[1]))
        <= max(float(a[3] or 0), float(b[3] or 0)) * abs(float(a[1]))
    ]
    text = (
        "points " + ", ".join(close) + " differ by less than their gaps: neither is proved better"
    )
    return [{"code": "gap", "message": text}] if close else []
