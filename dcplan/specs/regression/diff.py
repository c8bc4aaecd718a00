"""Tables of the ``diff`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.result import Cell
from dcplan.specs.columns import MetricKey
from dcplan.specs.metric import Better
from dcplan.specs.table import Column, TableSpec


class Change(StrEnum):
    """What became of an input or a decision."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True)
class StateRow:
    """A scenario that only one side has, or that ends otherwise."""

    scenario: Annotated[str, Column("Scenario file")]
    state: Annotated[str, Column("Added, removed, or status where the plans end otherwise")]
    before: Annotated[str, Column("Status or sentence of the plan before")]
    after: Annotated[str, Column("Status or sentence of the plan after")]


STATES = TableSpec("states", StateRow, "Scenarios that came, went, or end otherwise")


@dataclass(frozen=True)
class MetricChange:
    """One figure that differs."""

    scenario: Annotated[str, Column("Scenario file in which the figure differs")]
    metric: MetricKey
    before: Annotated[float | str | None, Column("Figure before")]
    after: Annotated[float | str | None, Column("Figure after")]
    delta: Annotated[float | None, Column("After less before")]
    delta_frac: Annotated[float | None, Column("Delta over the size of the figure before")]
    unit: Annotated[str, Column("Unit of the figure")]
    direction: Annotated[Better, Column("Whether lower or higher is better, or neither")]
    verdict: Annotated[str, Column("Better, worse, or within the gap of the plans")]
    within_gap: Annotated[
        bool, Column("Whether a cost differs by no more than the plans' proven gap")
    ]


METRICS_CHANGED = TableSpec("metrics_changed", MetricChange, "Figures that differ")


@dataclass(frozen=True)
class InputChange:
    """One input that differs."""

    scenario: Annotated[str, Column("Scenario file in which the input differs")]
    change: Annotated[Change, Column("Added, removed or changed")]
    key: Annotated[str, Column("Key of the input")]
    before: Annotated[Cell, Column("Value before, given or used as a default")]
    after: Annotated[Cell, Column("Value after, given or used as a default")]
    before_at: Annotated[str, Column("File, line and column of the value before")]
    after_at: Annotated[str, Column("File, line and column of the value after")]


INPUTS_CHANGED = TableSpec("inputs_changed", InputChange, "Inputs that differ")


@dataclass(frozen=True)
class DecisionChange:
    """One decision that differs."""

    scenario: Annotated[str, Column("Scenario file in which the decision differs")]
    change: Annotated[Change, Column("Added, removed or changed")]
    decision: Annotated[
        str, Column("Kind of decision, such as order, fit, fabric, blocks, commit or run")
    ]
    where: Annotated[str, Column("Hall, site or offer, with the cooling option")]
    item: Annotated[
        str, Column("System, fabric, asset, plant, term, or job and system that is decided on")
    ]
    quarter: Annotated[str, Column("Quarter of the decision as YYYY-Qn; empty where it has none")]
    before: Annotated[
        Cell, Column("Amount before; of a run its accelerators, precision and start month too")
    ]
    after: Annotated[
        Cell, Column("Amount after; of a run its accelerators, precision and start month too")
    ]


DECISIONS_CHANGED = TableSpec("decisions_changed", DecisionChange, "Decisions that differ")
