"""Result of a frontier: metrics, and a table with a row for each point."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_INTERRUPTED, EXIT_OK
from dcplan.planning.problem.build import Built
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Result
from dcplan.scenario.load import Question
from dcplan.specs import frontier as specs
from dcplan.study.frontier.axes import Axis
from dcplan.study.frontier.steps import Document
from dcplan.study.point import CRASHED, FAILED, SCREENED
from dcplan.units import money


@dataclass(frozen=True)
class Found:
    """A point of the frontier and its values on both axes; None if it has no plan."""

    row: specs.FrontierRow
    at: tuple[float, float] | None


def frontier_result(
    question: Question,
    built: Built,
    points: Sequence[Document],
    axes: tuple[Axis, Axis],
    *,
    gap: float,
    stopped: bool,
) -> Result:
    """Return the table of all points, the one with the lowest first metric first.

    Parameters
    ----------
    gap : float
        Requested gap.
    """
    first, second = axes
    found = _points(points, axes)
    there = [p.at for p in found if p.at is not None]
    worst = max((p.row.gap_frac for p in found if p.row.gap_frac is not None), default=math.nan)
    missing = any(p.at is None or p.row.status == SolveStatus.LIMIT for p in found)
    headline = (
        f"{question.scenario.name}: {first.key} from {_shown(first, there[0][0])} "
        f"to {_shown(first, there[-1][0])} "
        f"while {second.key} changes from {_shown(second, there[0][1])} "
        f"to {_shown(second, there[-1][1])}; "
        f"{len(there)} {'point' if len(there) == 1 else 'points'}, largest gap {worst:.2%}"
    )
    code = EXIT_INTERRUPTED if stopped else EXIT_INCOMPLETE if missing else EXIT_OK
    rows = ((p.row, dict(zip((first.key, second.key), p.at or (), strict=False))) for p in found)
    return Result(
        "frontier",
        "interrupted" if stopped else "incomplete" if missing else "ok",
        code,
        headline,
        scenario=describe(question),
        metrics=specs.POINTS(len(there)) | specs.WORST_GAP(worst),
        tables={
            specs.FRONTIER.name: specs.FRONTIER.wide_table(rows, (), second=(first.key, second.key))
        },
        inputs=inputs_of(built),
        warnings=_screened(found, gap) + _notes(found),
    )


def no_frontier(question: Question, built: Built, found: Document | None) -> Result:
    """Return the answer if no plan exists or was found.

    Raises
    ------
    RuntimeError
        When the solve of the first end failed because of a bug.
    """
    if found is not None and found["status"] in (FAILED, CRASHED):
        raise RuntimeError(found["message"])
    proved = found is not None and found["status"] == SolveStatus.INFEASIBLE
    words = (
        "proved infeasible: dcplan explain FILE shows why" if proved else "no plan found in time"
    )
    return Result(
        "frontier",
        "infeasible" if proved else "incomplete",
        EXIT_INFEASIBLE if proved else EXIT_INCOMPLETE,
        f"{question.scenario.name}: {words}",
        scenario=describe(question),
        inputs=inputs_of(built),
    )


def _shown(axis: Axis, value: float) -> str:
    """Write a value of a metric: money in short, other numbers in six digits without exponent."""
    if axis.unit == "USD":
        return f"USD {money(value)}"
    number = f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{number} {axis.unit}".rstrip()


def _price_unit(axes: tuple[Axis, Axis]) -> str:
    """Return the unit of the cost of one unit: USD/day, not USD/days."""
    first, second = axes
    return f"{first.unit}/{second.unit.removesuffix('s')}"


def _points(documents: Sequence[Document], axes: tuple[Axis, Axis]) -> list[Found]:
    """Return every point with the cost of a unit of the second metric since the point before."""
    first, second = axes
    found = []
    before: tuple[float, float] | None = None
    for i, d in enumerate(documents, start=1):
        if d.get("x") is None:
            none = specs.FrontierRow(i, None, None, None, None, None, d["status"])
            found.append(Found(none, None))
            continue
        here = first.metric(d["x"]), second.metric(d["y"])
        gained = math.copysign(1.0, second.factor) * (before[1] - here[1]) if before else 0.0
        price = (here[0] - before[0]) / gained if before and abs(gained) > 1e-9 else None
        row = specs.FrontierRow(
            point=i,
            gap_frac=d["gap_frac"],
            x_per_y=price,
            unit=None if price is None else _price_unit(axes),
            accelerators=d["total"],
            systems=_systems(d),
            status=d["status"],
        )
        found.append(Found(row, here))
        before = here
    return found


def _systems(document: Document) -> str:
    words = [f"{int(float(n or 0)):,} {k}" for k, n in document["systems"].items()]
    return ", ".join(words) or "rented only"


def _screened(found: Sequence[Found], gap: float) -> list[dict[str, str]]:
    """Say how many points are screened, and with which gaps."""
    gaps = [p.row.gap_frac or 0.0 for p in found if p.row.status == SCREENED]
    text = (
        f"{len(gaps)} points are screened: each has an audited plan and a bound, with gaps up to "
        f"{max(gaps, default=0.0):.2%} where {gap:.2%} was requested. --prove all solves each point "
        "to the requested gap"
    )
    return [{"code": "screened", "message": text}] if gaps else []


def _notes(found: Sequence[Found]) -> list[dict[str, str]]:
    """Name neighboring points whose difference is within their gaps, so it is not proved."""
    close = [
        f"{a.row.point} and {b.row.point}"
        for a, b in itertools.pairwise(found)
        if a.at is not None
        and b.at is not None
        and abs(b.at[0] - a.at[0])
        <= max(a.row.gap_frac or 0.0, b.row.gap_frac or 0.0) * abs(a.at[0])
    ]
    text = (
        "points " + ", ".join(close) + " differ by less than their gaps: neither is proved better"
    )
    return [{"code": "gap", "message": text}] if close else []
