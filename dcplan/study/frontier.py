"""Two objectives at a time: the cheapest x for every y between the two ends, each point with its proven gap."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dcplan.answers.describe import describe, inputs_of
from dcplan.answers.plan_metrics import metrics_of
from dcplan.answers.plan_refused import impossible
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
from dcplan.planning.audit.measures import measured
from dcplan.planning.goal import CARBON, DAYS, METRICS, Goal, Limit, measure_of
from dcplan.planning.menu.build import Built, build
from dcplan.planning.menu.types import Menu
from dcplan.planning.presolve import presolve
from dcplan.planning.solve import highs
from dcplan.planning.solve.run import Solved, solve_menu
from dcplan.result import Cell, Metric, Result, Table
from dcplan.scenario.load import Question, load
from dcplan.units import DAYS_PER_QUARTER

COLUMNS = ("point", "x", "y", "gap_frac", "x_per_y", "accelerators", "systems", "status")
SLACK = 1e-6
SHORTEST = 0.05
"""Shortest run lengths offered, over the longest."""
COMPUTE_KEY = "compute.pflop_days"
LENGTHS = 120
"""Lengths offered between the shortest and the longest."""
MOST_POINTS = 200


@dataclass(frozen=True)
class _Axis:
    """A metric that can be minimised."""

    key: str
    measure: str
    factor: float

    def metric(self, value: float) -> float:
        return value * self.factor


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
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Result:
    r"""Trade one metric against another by epsilon-constraint: :math:`\min x` subject to :math:`y \le \epsilon_i`.

    Parameters
    ----------
    scenario : str or Path
        File, or the name of a packaged example; its own objective is not used.
    x, y : str
        Metric keys: cost.npv_usd, cost.capex_usd, carbon.operational_t, carbon.with_cloud_t, compute.pflop_days
        (maximised), power.peak_facility_mw, time.finish_days, train.<job>.days.
    points : int, default 15
        Values of y, both ends included, from 2.
    gap : float, default 0.01
        Relative gap at which each solve may stop. [-]
    time_limit_s : float, default 600
        Of all points together; those left are rows without a plan. [s]

    Raises
    ------
    InputError
        When a metric cannot be minimised, or the scenario is wrong.
    """
    began = time.monotonic()
    question = load(str(scenario), variant=variant, sets=sets, catalogs=catalogs)
    first, second = _axes(question, x, y, points)
    built = build(question, _lengths(question, (first, second)))
    if CARBON in (first.measure, second.measure):
        built = replace(built, menu=replace(built.menu, carbon_known=True))
    problems = presolve(question, built)
    if problems:
        return replace(impossible(question, built, problems), verb="frontier")

    def left_s() -> float:
        return max(time_limit_s - (time.monotonic() - began), 1.0)

    def solve(menu: Menu, near: Solved | None, share: float) -> Solved:
        return solve_menu(
            menu,
            question,
            gap=gap,
            time_limit_s=max(left_s() * share, 1.0),
            near=near.whole if near else None,
            stop=stop,
        )

    cheap = solve(replace(built.menu, goal=Goal(first.measure)), None, 1 / 3)
    if cheap.audit is None:
        return _none(question, built, cheap)
    cheap = _best_among(cheap, built.menu, (first, second), solve)
    best = solve(replace(built.menu, goal=Goal(second.measure)), cheap, 1 / 3)
    far, near = _value(cheap, second), _value(best, second)
    rows: list[tuple[float, Solved]] = [(far, cheap)]
    reached = far
    for i in range(1, points):
        if best.audit is None or abs(reached - near) <= SLACK * max(abs(far), 1.0) or (stop and stop()):
            break
        most = reached + (near - reached) / (points - i)  # what is left, in equal steps: no point is met twice
        limit = Limit(second.measure, most + SLACK * abs(most))
        menu = replace(built.menu, goal=Goal(first.measure, (limit,)))
        rows.append((most, solve(menu, rows[-1][1] if rows[-1][1].whole else cheap, 1 / (points - i))))
        reached = min(most, _value(rows[-1][1], second)) if rows[-1][1].audit else most
        if progress:
            progress(i + 1, points)
    answer = _answer(question, built, rows, (first, second), time.monotonic() - began, stopped=bool(stop and stop()))
    if best.audit is None and answer.exit_code == EXIT_OK:
        return replace(answer, status="incomplete", exit_code=EXIT_INCOMPLETE)
    if len(rows) == 1 and best.audit is not None:
        note = f"the plan with the least {x} has the best {y}, too: there is nothing to trade"
        return replace(answer, warnings=[*answer.warnings, {"code": "note", "message": note}])
    return answer


def _best_among(
    found: Solved, menu: Menu, axes: tuple[_Axis, _Axis], solve: Callable[[Menu, Solved | None, float], Solved]
) -> Solved:
    """Among plans as good in x the one that is best in y, so that the end is not dominated."""
    first, second = axes
    least = min(found.value, found.searched)
    limit = Limit(first.measure, least + SLACK * abs(least), found.value + SLACK * abs(found.value))
    other = solve(replace(menu, goal=Goal(second.measure, (limit,))), found, 1 / 4)
    if other.audit is None:
        return found
    return replace(
        other, menu=found.menu, bound=found.bound, status=found.status, solver_gap_frac=found.solver_gap_frac
    )


def _axes(question: Question, x: str, y: str, points: int) -> tuple[_Axis, _Axis]:
    jobs = [f"train.{j.id}.days" for j in question.scenario.workloads.training]
    known = [*METRICS, *jobs]
    problems = []
    found = []
    for flag, key in (("--x", x), ("--y", y)):
        measure = measure_of(key)
        if measure is None or (key not in METRICS and key not in jobs):
            hint = did_you_mean(key, known)
            problems.append(Problem("DC015", f"{key}: not a metric that can be minimised", Place(flag), hint,
                                    help="one of " + ", ".join(known)))  # fmt: skip
        else:
            found.append(_Axis(key, *measure))
    work = question.scenario.workloads
    if COMPUTE_KEY in (x, y) and not work.capacity:
        problems.append(Problem("DC015", f"{COMPUTE_KEY} needs workloads.capacity", Place("frontier")))
    if "time.finish_days" in (x, y) and not work.training:
        problems.append(Problem("DC015", "time.finish_days needs workloads.training", Place("frontier")))
    if x == y:
        problems.append(Problem("DC015", f"{y}: both axes are the same", Place("--y")))
    if not 2 <= points <= MOST_POINTS:
        problems.append(Problem("DC015", f"{points}: 2 to {MOST_POINTS} points", Place("--points")))
    if problems:
        raise InputError(problems)
    return found[0], found[1]


def _lengths(question: Question, axes: Sequence[_Axis]) -> dict[str, tuple[float, ...]]:
    """Run lengths between the usual months, where days are an axis."""
    found = {}
    horizon = question.scenario.horizon.quarters * DAYS_PER_QUARTER
    for job in question.scenario.workloads.training:
        if any(a.measure == DAYS + job.id for a in axes):
            longest = min(job.deadline_days.value if job.deadline_days else horizon, horizon)
            found[job.id] = tuple(longest * (SHORTEST + (1.0 - SHORTEST) * i / LENGTHS) for i in range(LENGTHS + 1))
    return found


def _value(solved: Solved, axis: _Axis) -> float:
    if solved.audit is None or solved.decisions is None:
        return math.nan
    return measured(axis.measure, solved.menu, solved.decisions, solved.audit.books)


def _none(question: Question, built: Built, solved: Solved) -> Result:
    proved = solved.status == highs.INFEASIBLE
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
    question: Question, built: Built, found: list[tuple[float, Solved]], axes: tuple[_Axis, _Axis], seconds: float,
    *, stopped: bool,
) -> Result:  # fmt: skip
    first, second = axes
    rows: list[tuple[Cell, ...]] = []
    before: tuple[float, float] | None = None
    for i, (_, solved) in enumerate(found):
        if solved.audit is None or solved.decisions is None:
            rows.append((i + 1, None, None, None, None, None, None, solved.status))
            continue
        here = first.metric(_value(solved, first)), second.metric(_value(solved, second))
        price = (here[0] - before[0]) / (before[1] - here[1]) if before and abs(before[1] - here[1]) > 1e-9 else None
        metrics = metrics_of(solved, question.catalog)
        systems = {k.partition(".")[2]: v.value for k, v in metrics.items() if k.startswith("accelerators.")}
        total = systems.pop("total", 0)
        words = ", ".join(f"{int(float(n or 0)):,} {k}" for k, n in systems.items()) or "rented alone"
        rows.append((i + 1, *here, solved.gap_frac, price, total, words, solved.status))
        before = here
    worst = max((float(r[3]) for r in rows if r[3] is not None), default=math.nan)
    missing = sum(r[1] is None or r[-1] == highs.LIMIT for r in rows)
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
                tuple(first.key if c == "x" else second.key if c == "y" else c for c in COLUMNS), tuple(rows)
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
        if a[1] is not None and b[1] is not None
        and abs(float(b[1]) - float(a[1])) <= max(float(a[3] or 0), float(b[3] or 0)) * abs(float(a[1]))
    ]  # fmt: skip
    text = "points " + ", ".join(close) + " differ by less than their gaps: neither is proved better"
    return [{"code": "gap", "message": text}] if close else []
