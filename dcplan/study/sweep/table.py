"""What a sweep found, as tables: one row a point whatever became of it, and what each axis does."""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from dcplan.answers.common.result_blocks import describe
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_OK
from dcplan.result import Cell, Result, Table
from dcplan.study.bounds import AsIs
from dcplan.study.point import ANSWERED, OK, PENDING
from dcplan.study.sweep.plan import Plan

HEAD = ("point",)
STATE = ("status", "message", "gap_frac", "reproducible")
FEW = (
    "cost.npv_usd",
    "cost.capex_usd",
    "accelerators.total",
    "power.peak_facility_mw",
    "carbon.operational_t",
)
"""Metrics that a terminal shows; the CSV has all."""
MAIN = "cost.npv_usd"
NOTHING: Mapping[str, Any] = {
    "status": PENDING,
    "message": "not solved yet",
    "metrics": {},
    "gap_frac": None,
    "reproducible": True,
}


def sweep_result(plan: Plan, seconds: float, shards: int, *, stopped: bool) -> Result:
    """The table of all points, in their order, and how the sweep ended."""
    documents = [plan.known.get(i, NOTHING) for i in range(len(plan.values))]
    counts = Counter(str(d["status"]) for d in documents)
    open_ = sum(n for status, n in counts.items() if status not in ANSWERED)
    whole = table_of(plan, documents)
    status, code = ("ok", EXIT_OK) if not open_ else ("incomplete", EXIT_INCOMPLETE)
    if stopped and open_:
        status, code = "interrupted", EXIT_INTERRUPTED
    elif shards > 1 and set(counts) <= {*ANSWERED, PENDING}:
        status, code = "ok", EXIT_OK  # the other points are other shards'
    words = ", ".join(
        f"{n:,} {name}" for name, n in sorted(counts.items(), key=lambda x: (x[0] != OK, x[0]))
    )
    unsure = sum(not d["reproducible"] for d in documents)
    warnings = [
        {
            "code": "note",
            "message": f"{unsure} points ended by time: another run may find other plans",
        }
    ]
    return Result(
        "sweep",
        status,
        code,
        f"{plan.question.scenario.name}: {len(documents):,} points over {_over(plan)}: {words}{_spread(documents)}",
        scenario=describe(plan.question),
        tables={"points": whole, "sweep": _short(plan, whole), **_more(plan, documents)},
        warnings=(warnings if unsure else []) + _wide(plan, documents) + _left(plan),
        run={
            "seconds": round(seconds, 3),
            "points": {str(i): round(s, 3) for i, s in sorted(plan.seconds.items())},
        },
    )


def table_of(plan: Plan, documents: list[Mapping[str, Any]]) -> Table:
    """One row a point: its place on each axis, what became of it, and every metric that any point
    has.
    """
    metrics = sorted({key for d in documents for key in d["metrics"]})
    columns = (*HEAD, *(a.key for a in plan.axes), *STATE, *metrics)
    return Table(columns, tuple(_rows(plan, documents, metrics)))


def _rows(
    plan: Plan, documents: list[Mapping[str, Any]], metrics: list[str]
) -> Iterator[tuple[Cell, ...]]:
    for i, (values, d) in enumerate(zip(plan.values, documents, strict=True)):
        state = (
            d["status"],
            d["message"],
            d["gap_frac"],
            d["reproducible"] if d["metrics"] else None,
        )
        yield (i + 1, *map(_cell, values), *state, *(d["metrics"].get(key) for key in metrics))


def _left(plan: Plan) -> list[dict[str, str]]:
    return [{"code": "note", "message": text} for text in plan.notes]


def _wide(plan: Plan, documents: list[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Points whose proven gap is above the asked one though the search is done."""
    asked = plan.base.gap
    wide = [
        float(d["gap_frac"])
        for d in documents
        if d["status"] == OK and (d["gap_frac"] or 0.0) > asked
    ]
    text = (
        f"{len(wide)} points have gaps above {asked:.2%}, up to {max(wide, default=0.0):.2%}: whole switches and "
        "units, which the bound counts in fractions"
    )
    return [{"code": "gap", "message": text}] if wide else []


def _cell(value: Any) -> Cell:
    value = value.value if isinstance(value, AsIs) else value
    return value if isinstance(value, str | int | float) else json.dumps(value)


def _short(plan: Plan, whole: Table) -> Table:
    """Axes, status and the figures that most people look at first."""
    days = [c for c in whole.columns if c.startswith("train.") and c.endswith(".days")]
    said = ("message",) * any(row[whole.columns.index("message")] for row in whole.rows)
    kept = (
        *HEAD,
        *(a.key for a in plan.axes),
        "status",
        *said,
        "gap_frac",
        *(k for k in FEW if k in whole.columns),
        *days,
    )
    places = [whole.columns.index(name) for name in kept]
    return Table(kept, tuple(tuple(row[i] for i in places) for row in whole.rows))


def _effects(plan: Plan, documents: list[Mapping[str, Any]]) -> Table:
    """Cost at each value of each axis over all points that have it."""
    rows: list[tuple[Cell, ...]] = []
    for n, axis in enumerate(plan.axes):
        if axis.drawn:
            continue
        found: dict[str, list[float]] = defaultdict(list)
        for values, d in zip(plan.values, documents, strict=True):
            if isinstance(d["metrics"].get(MAIN), int | float):
                found[json.dumps(values[n])].append(float(d["metrics"][MAIN]))
        for value in axis.values:
            costs = found.get(json.dumps(value), [])
            mean = statistics.fmean(costs) if costs else None
            rows.append(
                (
                    axis.key,
                    _cell(value),
                    len(costs),
                    mean,
                    min(costs, default=None),
                    max(costs, default=None),
                )
            )
    return Table(
        ("axis", "value", "plans", "mean_npv_usd", "least_npv_usd", "most_npv_usd"), tuple(rows)
    )


def _more(plan: Plan, documents: list[Mapping[str, Any]]) -> dict[str, Table]:
    return (
        {"bounds": _swings(plan, documents)}
        if plan.bounds
        else {"effects": _effects(plan, documents)}
    )


def _swings(plan: Plan, documents: list[Mapping[str, Any]]) -> Table:
    """Net present cost with each input at its bounds, the plan made anew; the widest first."""
    rows: list[tuple[Cell, ...]] = []
    gap = max((float(d["gap_frac"]) for d in documents if d["gap_frac"] is not None), default=0.0)
    for n, axis in enumerate(plan.axes):
        ends = [documents[1 + 2 * n], documents[2 + 2 * n]]
        low, high = (d["metrics"].get(MAIN) for d in ends)
        swing = abs(high - low) if isinstance(low, float) and isinstance(high, float) else None
        near = swing is not None and swing <= gap * max(abs(low or 0.0), abs(high or 0.0))
        note = (
            "within the gap"
            if near
            else "; ".join(str(d["status"]) for d in ends if d["status"] != OK)
        )
        rows.append((axis.key, *axis.numbers, low, high, swing, note))
    rows.sort(key=lambda r: -float(r[6]) if isinstance(r[6], float) else 1.0)
    columns = (
        "input",
        "low",
        "now",
        "high",
        "npv_at_low_usd",
        "npv_at_high_usd",
        "swing_usd",
        "note",
    )
    return Table(columns, tuple(rows))


def _over(plan: Plan) -> str:
    return ", ".join(a.key for a in plan.axes)


def _spread(documents: list[Mapping[str, Any]]) -> str:
    from dcplan.units import money

    costs = [
        float(d["metrics"][MAIN])
        for d in documents
        if isinstance(d["metrics"].get(MAIN), int | float)
    ]
    return f"; net present cost USD {money(min(costs))} to {money(max(costs))}" if costs else ""


def asked(plan: Plan) -> Result:
    """The points without solving them: which there are, and which are known already."""
    rows = tuple(
        (i + 1, *map(_cell, values), str(plan.known.get(i, NOTHING)["status"]))
        for i, values in enumerate(plan.values)
    )
    done = sum(d["status"] in ANSWERED for d in plan.known.values())
    return Result(
        "sweep",
        "ok",
        EXIT_OK,
        f"{plan.question.scenario.name}: {len(rows):,} points over {_over(plan)}, {done:,} known; nothing solved",
        scenario=describe(plan.question),
        warnings=_left(plan),
        tables={"sweep": Table(("point", *(a.key for a in plan.axes), "status"), rows)},
    )
