"""Result tables of a sweep: one row per point, and the effect of each axis or input."""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from dcplan.answers.common.result_blocks import describe
from dcplan.answers.plan.notes import accepting
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK
from dcplan.planning.goal import AFTER_TAX, OBJECTIVES, Goal
from dcplan.result import Cell, Result, Table
from dcplan.specs import sweep as specs
from dcplan.specs.plan.metrics import AFTER_TAX_NPV, NPV, WAITING_SAVES
from dcplan.study.bounds import AsIs, ends_of
from dcplan.study.point import ANSWERED, OK, PENDING, SCREENED, WIDE
from dcplan.study.sweep.layout import Layout
from dcplan.study.sweep.points import Values
from dcplan.units import money, unit_of

Documents = Sequence[Mapping[str, Any]]
"""Document of each point, in order."""
FEW = (
    NPV.key,
    AFTER_TAX_NPV.key,
    "cost.capex_usd",
    WAITING_SAVES.key,
    "accelerators.total",
    "power.peak_facility_mw",
    "carbon.operational_t",
)
"""Metrics that a terminal shows; the CSV has all metrics."""
NOTHING: Mapping[str, Any] = {
    "status": PENDING,
    "message": "not solved yet",
    "metrics": {},
    "gap_frac": None,
    "reproducible": True,
}


def sweep_result(layout: Layout, seconds: float, *, stopped: bool) -> Result:
    """Return the table of all points, in their order, and how this call's part of them ended."""
    documents = [layout.known.get(i, NOTHING) for i in range(len(layout.values))]
    counts = Counter(str(d["status"]) for d in documents)
    others = layout.of_others
    mine = [str(d["status"]) for i, d in enumerate(documents) if i not in others]
    open_ = sum(status not in ANSWERED or status == WIDE for status in mine)
    status, code = ("ok", EXIT_OK) if not open_ else ("incomplete", EXIT_INCOMPLETE)
    if stopped and (open_ or layout.unproved):
        status, code = "interrupted", EXIT_INTERRUPTED
    words = ", ".join(
        f"{n:,} {name}" for name, n in sorted(counts.items(), key=lambda x: (x[0] != OK, x[0]))
    )
    more = (
        specs.BOUNDS.table(_swings(layout, documents))
        if layout.bounds
        else specs.EFFECTS.table(_effects(layout, documents))
    )
    name = layout.question.scenario.name
    return Result(
        "sweep",
        status,
        code,
        f"{name}: {len(documents):,} points over {_over(layout)}: {words}{_spread(layout, documents)}",
        scenario=describe(layout.question),
        tables={
            specs.POINTS.name: points_table(layout, documents),
            specs.SWEEP.name: _short(layout, documents),
            (specs.BOUNDS if layout.bounds else specs.EFFECTS).name: more,
        },
        warnings=_timed_out(documents)
        + _screened(layout, documents)
        + _wide(layout, documents)
        + _left(layout),
        run={
            "seconds": round(seconds, 3),
            "points": {str(i): round(s, 3) for i, s in sorted(layout.seconds.items())},
        },
    )


def main_metric(layout: Layout) -> str:
    """Return the metric of the cost that the sweep compares: that of the scenario's objective."""
    return (AFTER_TAX_NPV if _goal(layout).measure == AFTER_TAX else NPV).key


def _goal(layout: Layout) -> Goal:
    return Goal(OBJECTIVES[layout.question.scenario.objective])


def _main_usd(layout: Layout, document: Mapping[str, Any]) -> float | None:
    """Return the cost of a point; None without a plan."""
    found = document["metrics"].get(main_metric(layout))
    return float(found) if isinstance(found, int | float) else None


def points_table(layout: Layout, documents: Documents) -> Table:
    """Return a row for each point with its value on each axis and all metrics."""
    rows = (
        (
            specs.PointRow(
                point=i,
                status=d["status"],
                message=d["message"],
                gap_frac=d["gap_frac"],
                reproducible=d["reproducible"] if d["metrics"] else None,
            ),
            _places(layout, values) | d["metrics"],
        )
        for i, (values, d) in enumerate(zip(layout.values, documents, strict=True), start=1)
    )
    return specs.POINTS.wide_table(rows, _metrics(documents), second=[a.key for a in layout.axes])


def _metrics(documents: Documents) -> list[str]:
    return sorted({key for d in documents for key in d["metrics"]})


def _places(layout: Layout, values: Values) -> dict[str, Cell]:
    """Return the values of a point on the axes."""
    return {a.key: _cell(v) for a, v in zip(layout.axes, values, strict=True)}


def _timed_out(documents: Documents) -> list[dict[str, str]]:
    timed_out = sum(not d["reproducible"] for d in documents)
    text = f"{timed_out} points reached the time limit: another run may find other plans"
    return [{"code": "note", "message": text}] if timed_out else []


def _left(layout: Layout) -> list[dict[str, str]]:
    return [{"code": "note", "message": text} for text in layout.notes]


def _wide(layout: Layout, documents: Documents) -> list[dict[str, str]]:
    """Say how far above the requested gap the search of some points ended."""
    wide = [float(d["gap_frac"]) for d in documents if d["status"] == WIDE]
    if not wide:
        return []
    text = (
        f"{len(wide)} points have gaps above {layout.request.gap:.2%}, up to "
        f"{max(wide):.2%}: integer numbers of racks and switches limit them, more time gives the same "
        f"plans: {accepting(max(wide))}"
    )
    return [{"code": "gap", "message": text}]


def _screened(layout: Layout, documents: Documents) -> list[dict[str, str]]:
    """Say which points are screened only, and with which gaps."""
    gaps = [float(d["gap_frac"]) for d in documents if d["status"] == SCREENED]
    proved = ", ".join(str(i + 1) for i in sorted(layout.proved))
    again = f" Proved to the requested gap: points {proved}." if proved else ""
    missing = ", ".join(str(i + 1) for i in sorted(layout.unproved))
    if missing:
        again += f" Proof is missing for points {missing}: sweep without --report-only solves them."
    text = (
        f"{len(gaps)} points are screened: each has an audited plan and a bound, with gaps up to "
        f"{max(gaps, default=0.0):.2%} where {layout.request.gap:.2%} was requested.{again} "
        "--prove all solves each point to the requested gap"
    )
    return [{"code": "screened", "message": text}] if gaps else []


def _cell(value: Any) -> Cell:
    value = value.value if isinstance(value, AsIs) else value
    return value if isinstance(value, str | int | float) else json.dumps(value)


def _short(layout: Layout, documents: Documents) -> Table:
    """Return axes, status and the main figures."""
    metrics = _metrics(documents)
    days = [c for c in metrics if c.startswith("train.") and c.endswith(".days")]
    rows = (
        (
            specs.ShortRow(i, d["status"], d["message"], d["gap_frac"]),
            _places(layout, values) | d["metrics"],
        )
        for i, (values, d) in enumerate(zip(layout.values, documents, strict=True), start=1)
    )
    said = any(d["message"] for d in documents)
    return specs.SWEEP.wide_table(
        rows,
        [*(key for key in FEW if key in metrics), *days],
        second=[a.key for a in layout.axes],
        only=specs.SWEEP.names if said else [x for x in specs.SWEEP.names if x != "message"],
    )


def _effects(layout: Layout, documents: Documents) -> list[specs.EffectRow]:
    """Return the cost at each value of each axis over all points with that value."""
    rows = []
    for n, axis in enumerate(layout.axes):
        if axis.sampled:
            continue
        found: dict[str, list[float]] = defaultdict(list)
        for values, d in zip(layout.values, documents, strict=True):
            usd = _main_usd(layout, d)
            if usd is not None:
                found[json.dumps(values[n])].append(usd)
        for value in axis.values:
            costs = found.get(json.dumps(value), [])
            rows.append(
                specs.EffectRow(
                    axis=axis.key,
                    value=_cell(value),
                    unit=unit_of(axis.key),
                    plans=len(costs),
                    mean_npv_usd=statistics.fmean(costs) if costs else None,
                    least_npv_usd=min(costs, default=None),
                    most_npv_usd=max(costs, default=None),
                )
            )
    return rows


def _swings(layout: Layout, documents: Documents) -> list[specs.BoundRow]:
    """Return the net present cost with each input at its bounds; the widest swing first."""
    rows = []
    gap = max((float(d["gap_frac"]) for d in documents if d["gap_frac"] is not None), default=0.0)
    for n, axis in enumerate(layout.axes):
        ends = [documents[1 + 2 * n], documents[2 + 2 * n]]
        low, high = (_main_usd(layout, d) for d in ends)
        swing = None if low is None or high is None else abs(high - low)
        near = swing is not None and swing <= gap * max(abs(low or 0.0), abs(high or 0.0))
        states = "; ".join(str(d["status"]) for d in ends if d["status"] != OK)
        least, now, most = ends_of(axis)
        rows.append(
            specs.BoundRow(
                input=axis.key,
                low=least,
                now=now,
                high=most,
                npv_at_low_usd=low,
                npv_at_high_usd=high,
                swing_usd=swing,
                note="within the gap" if near else states,
            )
        )
    return sorted(rows, key=lambda r: 1.0 if r.swing_usd is None else -r.swing_usd)


def _over(layout: Layout) -> str:
    return ", ".join(a.key for a in layout.axes)


def _spread(layout: Layout, documents: Documents) -> str:
    costs = [usd for usd in (_main_usd(layout, d) for d in documents) if usd is not None]
    if not costs:
        return ""
    return f"; net present cost{_goal(layout).basis} USD {money(min(costs))} to {money(max(costs))}"


def listed(layout: Layout) -> Result:
    """Return the points and whether they are stored, without solving."""
    documents = [layout.known.get(i, NOTHING) for i in range(len(layout.values))]
    rows = (
        (specs.ShortRow(i, str(d["status"]), message=None, gap_frac=None), _places(layout, values))
        for i, (values, d) in enumerate(zip(layout.values, documents, strict=True), start=1)
    )
    done = sum(d["status"] in ANSWERED for d in layout.known.values())
    name, count = layout.question.scenario.name, len(documents)
    table = specs.SWEEP.wide_table(
        rows, (), second=[a.key for a in layout.axes], only=("point", "status")
    )
    return Result(
        "sweep",
        "ok",
        EXIT_OK,
        f"{name}: {count:,} points over {_over(layout)}, {done:,} stored; nothing solved",
        scenario=describe(layout.question),
        warnings=_left(layout),
        tables={specs.SWEEP.name: table},
    )
