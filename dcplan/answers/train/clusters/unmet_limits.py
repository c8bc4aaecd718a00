"""Answer of cluster sizing when no size meets the limits: the closest sizes, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcplan.answers.train.request import TrainRequest
from dcplan.errors import EXIT_NO
from dcplan.llm.tables import Array
from dcplan.result import Result
from dcplan.scenario.schema.jobs import DEADLINE_CONFIDENCE
from dcplan.specs.train import layouts as specs
from dcplan.specs.train.layouts import SizeRow

SHOWN = 5
"""Number of sizes listed if none meets the limits."""


def limits(request: TrainRequest) -> str:
    """Return the requested limits in words."""
    parts = []
    if request.deadline_days is not None:
        days = f"{request.deadline_days:g} days"
        parts.append(f"a deadline of {days} at {DEADLINE_CONFIDENCE:.0%} confidence")
    if request.max_it_mw is not None:
        parts.append(f"an IT power limit of {request.max_it_mw:g} MW")
    if request.budget_usd is not None:
        parts.append(f"a rent budget of {request.budget_usd:,.0f} USD")
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def none_meets(
    request: TrainRequest, rows: Sequence[SizeRow], counts: Array, seconds: float
) -> Result:
    """Answer that no size meets the limits, with the sizes closest to them."""
    cause = f"no cluster of up to {int(counts[-1]):,} accelerators fits {limits(request)}"
    cause += shortfall(request, rows) or f", because {request.model} does not fit in memory"
    return Result(
        verb="train",
        status="infeasible",
        exit_code=EXIT_NO,
        headline=f"{request.model} on {request.system}: {cause}",
        tables={specs.SIZES.name: specs.SIZES.table(closest(request, rows))},
        run={"seconds": round(seconds, 4)},
    )


def closest(request: TrainRequest, rows: Sequence[SizeRow]) -> list[SizeRow]:
    """Return the sizes closest to the limits: the fastest, or with a budget from cheapest to fastest.

    Of the sizes that no other one beats in cost and time, they are spread evenly over the days. With
    a deadline too, the cheapest in time and the fastest within the budget come first.
    """
    fast, cheap = sorted(rows, key=_days), sorted(rows, key=_usd)
    if request.budget_usd is None or not rows:
        return fast[:SHOWN]
    both = request.deadline_days is not None
    near = [_within(request, cheap, "time")[:1], _within(request, fast, "budget")[:1]]
    front = [r for i, r in enumerate(cheap) if all(_days(r) < _days(q) for q in cheap[:i])]
    marks = np.geomspace(_days(front[0]), _days(front[-1]), SHOWN)
    spread = [min(front, key=lambda r: abs(np.log(_days(r) / mark))) for mark in marks]
    ends = [spread[0], spread[-1], *spread[1:-1]]
    chosen = list(dict.fromkeys([r for part in near if both for r in part] + ends))
    return sorted(chosen[:SHOWN], key=lambda row: row.accelerators)


def _within(request: TrainRequest, rows: Sequence[SizeRow], limit: str) -> list[SizeRow]:
    """Return the rows that meet one of the limits, in the same order."""
    if limit == "time":
        return [row for row in rows if _days(row) <= (request.deadline_days or np.inf)]
    return [row for row in rows if _usd(row) <= (request.budget_usd or np.inf)]


def _days(row: SizeRow) -> float:
    return row.days_p80


def _usd(row: SizeRow) -> float:
    return np.inf if row.cost_usd is None else row.cost_usd


def shortfall(request: TrainRequest, rows: Sequence[SizeRow]) -> str:
    """Return by how much the best sizes miss the limits; empty without any size."""
    if not rows:
        return ""
    fast, cheap = min(rows, key=_days), min(rows, key=_usd)
    text = f"; the fastest takes {fast.days_p80:,.1f} days (P80)"
    if cheap.cost_usd is None or request.budget_usd is None:
        return text
    text += (
        f", and the cheapest, {cheap.accelerators:,} accelerators, costs {cheap.cost_usd:,.0f} USD "
        f"in {cheap.days_p80:,.1f} days"
    )
    if request.deadline_days is None:
        return text
    in_time = _within(request, sorted(rows, key=_usd), "time")
    return text + (f"; the cheapest in time costs {_usd(in_time[0]):,.0f} USD" if in_time else "")
