"""Two answers next to each other: main figures, purchases, quarters, workloads and runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dcplan.answers.plan.summary import (
    SALES,
    Fact,
    Lot,
    by_quarter,
    dates_of,
    lots_of,
    money_of,
    rows_of,
)
from dcplan.planning.check_ids import CheckId
from dcplan.result import Result
from dcplan.specs import registry
from dcplan.specs.plan.decided import JOBS
from dcplan.specs.plan.limits import CHECKS
from dcplan.specs.plan.metrics import GAP
from dcplan.specs.plan.money import CASH_FLOW, FLOWS
from dcplan.specs.plan.purchases import PURCHASES
from dcplan.specs.plan.work import SCHEDULE
from dcplan.specs.plan.workloads import WORKLOAD_SYSTEMS
from dcplan.specs.regression import compared as specs
from dcplan.specs.regression.diff import MetricChange

LAST_DAYS = (CheckId.JOB_DAYS, CheckId.JOB_END_DAY)
"""Checks of the day by which a run ends."""


@dataclass(frozen=True)
class Compared:
    """Both answers to one scenario, row by row."""

    figures: list[specs.FigureCompared]
    purchases: list[specs.PurchaseCompared]
    quarters: list[specs.QuarterCompared]
    served: list[specs.ServedCompared]
    runs: list[specs.RunCompared]

    def extend(self, other: Compared) -> None:
        """Add the rows of another scenario."""
        self.figures.extend(other.figures)
        self.purchases.extend(other.purchases)
        self.quarters.extend(other.quarters)
        self.served.extend(other.served)
        self.runs.extend(other.runs)


def compared(name: str, a: Result, b: Result, changes: list[MetricChange]) -> Compared:
    """Return both answers next to each other.

    Parameters
    ----------
    changes : list of MetricChange
        Metrics that differ, with the verdict on each.
    """
    plans = a.verb == b.verb == "plan"
    return Compared(
        list(_figures(name, a, b, changes)),
        list(_purchases(name, a, b)) if plans else [],
        list(_quarters(name, a, b)) if plans else [],
        list(_served(name, a, b)) if plans else [],
        list(_runs(name, a, b)) if plans else [],
    )


def _figures(
    name: str, a: Result, b: Result, changes: list[MetricChange]
) -> Iterator[specs.FigureCompared]:
    """Yield money and dates of plans, then the other main metrics."""
    first, second = ({x.name: x for x in _facts(r)} for r in (a, b))
    verdicts = {x.metric: x.verdict for x in changes}
    for key in (*first, *(x for x in second if x not in first)):
        one, other = first.get(key), second.get(key)
        known = next(x for x in (one, other) if x is not None)
        nothing = 0.0 if key == SALES else None
        yield _figure(
            name,
            known,
            nothing if one is None else one.value,
            nothing if other is None else other.value,
            verdicts.get(known.metric, "") if known.metric else "",
        )
    facts = {x.metric for x in (*first.values(), *second.values())}
    order = {spec.key: i for i, spec in enumerate(registry.metrics(a.verb))}
    specs_of = {x: registry.metric_of(a.verb, x) for x in {*a.metrics, *b.metrics}}
    # a saved result has its metrics in the order of their keys
    ranks = {x: order[spec.key] for x, spec in specs_of.items() if spec is not None}
    for key in sorted(ranks, key=lambda x: (ranks[x], x)):
        spec = specs_of[key]
        if spec is None or not spec.main or key in facts:
            continue
        pair = [r.metrics.get(key) for r in (a, b)]
        before, after = (spec.absent if m is None else m.value for m in pair)
        if before or after or key == GAP.key:
            metric = next(m for m in pair if m is not None)
            fact = Fact(spec.label or metric.label, None, metric.unit, metric=key)
            yield _figure(name, fact, before, after, verdicts.get(key, ""))


def _facts(result: Result) -> Iterator[Fact]:
    """Yield money and dates of a plan that was found, the quarter of a figure as its own."""
    if not {PURCHASES.name, CASH_FLOW.name, FLOWS.name} <= set(result.tables):
        return
    for fact in (*money_of(result), *dates_of(result)):
        spec = registry.metric_of(result.verb, fact.metric) if fact.metric else None
        yield replace(fact, name=spec.label) if spec is not None and spec.label else fact
        if fact.at:
            yield Fact(f"{fact.name}, when", fact.at)


def _figure(
    name: str, fact: Fact, before: float | str | None, after: float | str | None, verdict: str
) -> specs.FigureCompared:
    change = _change(before, after)
    share = None
    if change is not None and isinstance(before, int | float) and before:
        share = change / abs(before)
    return specs.FigureCompared(
        name, fact.name, fact.metric, before, after, change, share, fact.unit, verdict
    )


def _change(before: float | str | None, after: float | str | None) -> float | None:
    if isinstance(before, int | float) and isinstance(after, int | float):
        return float(after) - float(before)
    return None


def _purchases(name: str, a: Result, b: Result) -> Iterator[specs.PurchaseCompared]:
    """Yield what either plan buys, the largest amount first."""
    first, second = (
        {(x.vendor, x.item, x.unit): x for x in (lots_of(r) if PURCHASES.name in r.tables else ())}
        for r in (a, b)
    )
    keys = [*first, *(k for k in second if k not in first)]
    nothing = Lot("", "", "", 0.0, "", "", 0.0)
    pairs = [(key, first.get(key, nothing), second.get(key, nothing)) for key in keys]
    pairs.sort(key=lambda x: -max(x[1].amount_usd or 0.0, x[2].amount_usd or 0.0))
    for key, one, other in pairs:
        yield specs.PurchaseCompared(
            name,
            *key,
            one.quantity,
            other.quantity,
            one.order,
            other.order,
            one.delivery,
            other.delivery,
            one.amount_usd,
            other.amount_usd,
            _change(one.amount_usd, other.amount_usd),
        )


def _quarters(name: str, a: Result, b: Result) -> Iterator[specs.QuarterCompared]:
    first, second = by_quarter(a), by_quarter(b)
    for quarter in sorted({*first, *second}):
        one, other = first.get(quarter), second.get(quarter)
        cells = [
            None if x is None else getattr(x, field)
            for field in (
                "accelerators",
                "facility_mw",
                "utility_mw",
                "paid_usd",
                "paid_to_date_usd",
            )
            for x in (one, other)
        ]
        yield specs.QuarterCompared(name, quarter, *cells)


def _served(name: str, a: Result, b: Result) -> Iterator[specs.ServedCompared]:
    """Yield each workload on each system, the workloads in the order of the plans."""
    first, second = (
        {(x.workload, x.system, x.place): x for x in rows_of(r, WORKLOAD_SYSTEMS)} for r in (a, b)
    )
    keys = [*first, *(k for k in second if k not in first)]
    order = list(dict.fromkeys(workload for workload, _, _ in keys))
    for key in sorted(keys, key=lambda x: order.index(x[0])):
        pair = first.get(key), second.get(key)
        cells: tuple[Any, ...] = (
            *("" if x is None else _span(x.first_quarter, x.last_quarter) for x in pair),
            *(None if x is None else x.largest_accelerators for x in pair),
            *(None if x is None else x.present_cost_usd for x in pair),
        )
        yield specs.ServedCompared(name, *key, *cells)


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _runs(name: str, a: Result, b: Result) -> Iterator[specs.RunCompared]:
    jobs = [{x.job: x for x in rows_of(r, JOBS)} for r in (a, b)]
    ends = [{x.job: x.finish for x in rows_of(r, SCHEDULE)} for r in (a, b)]
    margins = [_margins(r) for r in (a, b)]
    for job in dict.fromkeys((*jobs[0], *jobs[1])):
        rows = [own.get(job) for own in jobs]
        cells: tuple[Any, ...] = (
            *("" if x is None else f"{x.system}, {x.place}" for x in rows),
            *(None if x is None else x.accelerators for x in rows),
            *(str(own.get(job) or "") for own in ends),
            *(own.get(job) for own in margins),
        )
        yield specs.RunCompared(name, job, *cells)


def _margins(result: Result) -> dict[str, float]:
    """Return the days from the end of each run to its deadline; the smallest of several limits."""
    found: dict[str, float] = {}
    for row in rows_of(result, CHECKS):
        # a limit without end is empty in a saved result
        if row.check in LAST_DAYS and row.limit is not None and math.isfinite(row.limit):
            margin = row.limit - row.used
            found[row.where] = min(margin, found.get(row.where, margin))
    return found
