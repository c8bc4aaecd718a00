"""Which inputs decide a plan's cost: the workbook's own formulas with each live input at its
bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan.report.book.cash import live_metrics
from dcplan.report.book.data.formula_text import evaluate
from dcplan.report.book.sheets import calculated
from dcplan.report.book.source import Fact, Source, source_of
from dcplan.result import Result

NPV = "cost.npv_usd"


@dataclass(frozen=True)
class Influence:
    """An input with its bounds, and the net present cost of the same decisions at each."""

    key: str
    value: float
    low: float
    high: float
    at_low_usd: float
    at_high_usd: float

    @property
    def swing_usd(self) -> float:
        """Width between both."""
        return abs(self.at_high_usd - self.at_low_usd)


def influences(result: Result) -> list[Influence]:
    """Live inputs with bounds by how much the net present cost moves between them, the widest
    first.

    The decisions stay: a plan made anew would evade a part of it.

    Raises
    ------
    ValueError
        When the result is not of a plan.
    """
    source = source_of(result)
    base, _ = calculated(source)
    fixed = replace(source, rest=base.rest)
    values = {
        str(r["key"]): float(r["value"])
        for r in result.inputs
        if isinstance(r["value"], int | float)
    }
    found = []
    for row in result.inputs:
        key, low, high = str(row["key"]), row.get("low"), row.get("high")
        if (
            key not in source.live
            or not isinstance(low, int | float)
            or not isinstance(high, int | float)
            or low >= high
        ):
            continue
        at = [npv_with(fixed, {**values, key: float(bound)}) for bound in (low, high)]
        found.append(Influence(key, values[key], float(low), float(high), at[0], at[1]))
    return sorted(found, key=lambda x: (-x.swing_usd, x.key))


def npv_with(source: Source, inputs: Mapping[str, float]) -> float:
    """Net present cost of the same decisions with other inputs. [USD]"""
    facts = {key: _facts(known, inputs) for key, known in source.facts.items()}
    series = {
        key: {
            name: tuple(_series(f, inputs, facts[key]) for f in row) for name, row in known.items()
        }
        for key, known in source.by_quarter.items()
    }
    calc, _ = calculated(replace(source, facts=facts, by_quarter=series))
    return live_metrics(calc)[NPV].value


def _facts(known: Mapping[str, Fact], inputs: Mapping[str, float]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    for name, fact in known.items():
        own = {x: f.value for x, f in found.items()}
        value = evaluate(fact.formula, inputs, own) if fact.formula else fact.value
        found[name] = replace(fact, value=value)
    return found


def _series(fact: Fact, inputs: Mapping[str, float], own: Mapping[str, Fact]) -> Fact:
    if not fact.formula:
        return fact
    return replace(fact, value=evaluate(fact.formula, inputs, {x: f.value for x, f in own.items()}))
