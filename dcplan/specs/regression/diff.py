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
    """Kind of change of an input or a decision."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True)
class StateRow:
    """A scenario on one side only, or with a different status."""

    scenario: Annotated[str, Column("Scenario file")]
    state: Annotated[str, Column("Added, removed, or status if the plans have different statuses")]
    before: Annotated[str, Column("Status or summary of the plan before")]
    after: Annotated[str, Column("Status or summary of the plan after")]


STATES = TableSpec("states", StateRow, "Scenarios added, removed or with a changed status")


@dataclass(frozen=True)
class MetricChange:
    """One metric that differs."""

    scenario: Annotated[str, Column("Scenario file in which the metric differs")]
    metric: MetricKey
    before: Annotated[float | str | None, Column("Value before")]
    after: Annotated[float | str | None, Column("Value after")]
    delta: Annotated[float | None, Column("After less before")]
    delta_frac: Annotated[float | None, Column("Delta over the absolute value before")]
    unit: Annotated[str, Column("Unit of the metric")]
    direction: Annotated[Better, Column("Whether lower or higher is better, or neither")]
    verdict: Annotated[
        str,
        Column(
            "Whether the second side is better or worse than the first, or within the solver's "
            "tolerance"
        ),
    ]
    within_gap: Annotated[
        bool, Column("Whether a cost differs by no more than the plans' proven gap")
    ]


METRICS_CHANGED = TableSpec("metrics_changed", MetricChange, "Metrics that differ")


@dataclass(frozen=True)
class InputChange:
    """One input that differs."""

    scenario: Annotated[str, Column("Scenario file in which the input differs")]
    change: Annotated[Change, Column("Added, removed or changed")]
    key: Annotated[str, Column("Key of the input")]
    before: Annotated[Cell, Column("Value before, from the scenario or a default")]
    after: Annotated[Cell, Column("Value after, from the scenario or a default")]
    before_at: Annotated[str, Column("File, line and column of the value before")]
    after_at: Annotated[str, Column("File, line and column of the value after")]


INPUTS_CHANGED = TableSpec("inputs_changed", InputChange, "Inputs that differ", by_item=True)


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
        str, Column("System, fabric, asset, plant or term of the decision, or job and system")
    ]
    quarter: Annotated[str, Column("Quarter of the decision as YYYY-Qn; empty if it has none")]
    before: Annotated[
        Cell, Column("Amount before; for a run, also its accelerators, precision and start month")
    ]
    after: Annotated[
        Cell, Column("Amount after; for a run, also its accelerators, precision and start month")
    ]


DECISIONS_CHANGED = TableSpec("decisions_changed", DecisionChange, "Decisions that differ")
