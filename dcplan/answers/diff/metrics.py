"""Metrics of two answers that differ, the main ones first."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dcplan.result import Result
from dcplan.specs import registry
from dcplan.specs.metric import Better
from dcplan.specs.plan import metrics as figures
from dcplan.specs.regression import diff as specs

SAME = 1e-6
"""Relative difference below which two metrics are equal."""
SEARCH = (figures.GAP.key, figures.BOUND.key)
"""Metrics of the search, which vary between runs."""


def metric_changes(name: str, a: Result, b: Result) -> Iterator[specs.MetricChange]:
    """Return the metrics that differ, except those of the search."""
    room = _gap_usd(a, b)
    for key in (*a.metrics, *(k for k in b.metrics if k not in a.metrics)):
        spec = registry.metric_of(a.verb, key)
        absent = spec.absent if spec else None
        one, other = a.metrics.get(key), b.metrics.get(key)
        before, after = (absent if m is None else m.value for m in (one, other))
        unit = next(m.unit for m in (one, other) if m is not None)
        preferred = spec.better if spec else Better.NEITHER
        if not isinstance(before, int | float) or not isinstance(after, int | float):
            if before != after:
                yield specs.MetricChange(
                    name,
                    key,
                    before,
                    after,
                    None,
                    None,
                    unit,
                    preferred,
                    verdict="",
                    within_gap=False,
                )
            continue
        delta = float(after) - float(before)
        if abs(delta) <= SAME * max(abs(float(before)), abs(float(after))) or key in SEARCH:
            continue
        close = key.startswith("cost.") and abs(delta) <= room
        yield specs.MetricChange(
            scenario=name,
            metric=key,
            before=before,
            after=after,
            delta=delta,
            delta_frac=delta / abs(float(before)) if before else None,
            unit=unit,
            direction=preferred,
            verdict=_verdict(delta, preferred, close=close),
            within_gap=close,
        )


def by_importance(verb: str, changes: list[specs.MetricChange]) -> list[specs.MetricChange]:
    """Return main metrics first; in each group, the largest relative change first."""

    def rank(change: specs.MetricChange) -> tuple[bool, float]:
        spec = registry.metric_of(verb, change.metric)
        share = math.inf if change.delta_frac is None else abs(change.delta_frac)
        return not (spec is not None and spec.main), -share

    return sorted(changes, key=rank)


def _gap_usd(a: Result, b: Result) -> float:
    """Return the largest cost difference that proves neither plan better."""
    rooms = []
    for result in (a, b):
        gap, cost = result.metrics.get(figures.GAP.key), result.metrics.get(figures.NPV.key)
        if (
            gap
            and cost
            and isinstance(gap.value, int | float)
            and isinstance(cost.value, int | float)
        ):
            rooms.append(gap.value * abs(cost.value))
    return max(rooms, default=0.0)


def _verdict(delta: float, preferred: Better, *, close: bool) -> str:
    if close:
        return "≈ within solver tolerance"
    if preferred is Better.NEITHER:
        return ""
    return "better" if (delta < 0) == (preferred is Better.LOWER) else "worse"
