"""Effect of inputs on a plan's cost: the workbook's formulas with inputs at their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dcplan.inputs.stand_ins import RESIDUAL
from dcplan.report.book.cash import live_metrics
from dcplan.report.book.data.amounts import HARDWARE, LEFT, LEFT_AT_HIGH, LEFT_AT_LOW
from dcplan.report.book.data.term import Array
from dcplan.report.book.sheets import calculated
from dcplan.report.book.source import Source, source_of
from dcplan.result import Result

NPV = "cost.npv_usd"


@dataclass(frozen=True)
class Influence:
    """An input with its bounds, and the net present cost of the same decisions at each bound."""

    key: str
    value: float
    low: float
    high: float
    at_low_usd: float
    at_high_usd: float

    @property
    def swing_usd(self) -> float:
        """Absolute difference between both costs."""
        return abs(self.at_high_usd - self.at_low_usd)


def influences(result: Result) -> list[Influence]:
    """Rank live inputs by the change of net present cost between their bounds.

    The decisions are fixed; a re-solved plan would avoid part of the change.

    Raises
    ------
    ValueError
        When the result is not a plan.
    """
    source = source_of(result)
    base, _ = calculated(source)
    fixed = replace(source, rest=base.rest)
    found = [
        Influence(key, value, low, high, npv_with(fixed, key, low), npv_with(fixed, key, high))
        for key, value, low, high in _bounded(result, source)
    ]
    found += _residual(fixed)
    return sorted(found, key=lambda x: (-x.swing_usd, x.key))


def _bounded(result: Result, source: Source) -> Iterator[tuple[str, float, float, float]]:
    """Yield the live inputs with a low and a high bound."""
    for row in result.inputs:
        key, value = str(row["key"]), row["value"]
        low, high = source.spans.get(key, (row.get("low"), row.get("high")))
        if (
            key in source.live
            and isinstance(value, int | float)
            and isinstance(low, int | float)
            and isinstance(high, int | float)
            and low < high
        ):
            yield key, float(value), float(low), float(high)


def _residual(fixed: Source) -> list[Influence]:
    """Return the influence of the residual value of hardware, if the result has its bounds.

    Its values are shares of the price of the first quarter left at the end of the horizon.
    """
    key = (HARDWARE, "", "")
    if not {LEFT_AT_LOW, LEFT_AT_HIGH} <= set(fixed.amounts):
        return []
    now = fixed.amount(LEFT, key)
    ends = [fixed.amount(name, key) for name in (LEFT_AT_LOW, LEFT_AT_HIGH)]
    low_usd, high_usd = (_npv(_with_left(fixed, shares)) for shares in ends)
    low, high = (float(shares[0]) for shares in ends)
    return [Influence(RESIDUAL, float(now[0]), low, high, low_usd, high_usd)]


def _with_left(source: Source, shares: Array) -> Source:
    left = {**source.amounts.get(LEFT, {}), (HARDWARE, "", ""): shares}
    return replace(source, amounts={**source.amounts, LEFT: left})


def npv_with(source: Source, key: str, value: float) -> float:
    """Return the net present cost of the same decisions with another value of an input [USD]."""
    changed = replace(source.inputs[key], number=value)
    return _npv(replace(source, inputs={**source.inputs, key: changed}))


def _npv(source: Source) -> float:
    calc, _ = calculated(source)
    return live_metrics(calc)[NPV].value
