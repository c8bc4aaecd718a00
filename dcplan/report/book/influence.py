"""Effect of inputs on a plan's cost: the workbook's formulas with inputs at their bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcplan.report.book.cash import live_metrics
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
    found = []
    for row in result.inputs:
        key, value, low, high = str(row["key"]), row["value"], row.get("low"), row.get("high")
        if (
            key not in source.live
            or not isinstance(value, int | float)
            or not isinstance(low, int | float)
            or not isinstance(high, int | float)
            or low >= high
        ):
            continue
        at = [npv_with(fixed, key, float(bound)) for bound in (low, high)]
        found.append(Influence(key, float(value), float(low), float(high), at[0], at[1]))
    return sorted(found, key=lambda x: (-x.swing_usd, x.key))


def npv_with(source: Source, key: str, value: float) -> float:
    """Return the net present cost of the same decisions with another value of an input [USD]."""
    changed = replace(source.inputs[key], number=value)
    calc, _ = calculated(replace(source, inputs={**source.inputs, key: changed}))
    return live_metrics(calc)[NPV].value
