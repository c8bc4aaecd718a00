"""Tables of the ``test`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.specs.columns import MetricKey, Variant
from dcplan.specs.table import Column, Shown, TableSpec


class Verdict(StrEnum):
    """Outcome of an expectation, the most urgent first."""

    FAILED = "FAILED"
    WARNING = "warning"
    SKIPPED = "skipped"
    PASSED = "passed"


@dataclass(frozen=True)
class GateRow:
    """One expectation of one plan."""

    result: Annotated[Verdict, Column("Passed, FAILED, warning or skipped")]
    scenario: Annotated[str, Column("Scenario file, as named in the command")]
    variant: Variant
    id: Annotated[str, Column("Name of the expectation in the scenario")]
    metric: MetricKey
    observed: Annotated[float | str | None, Column("Value in the scenario's plan")]
    base: Annotated[float | str | None, Column("Value of the metric in the base")]
    limit: Annotated[
        float | str | None, Column("Expected limit, or expected change against a base")
    ]
    severity: Annotated[str, Column("Whether a failed expectation is an error or a warning")]
    owner: Annotated[str | None, Column("Person or team responsible for the expectation")]
    note: Annotated[str | None, Column("Remark in the scenario")]
    reason: Annotated[str, Column("Reason if it was skipped")]
    at: Annotated[str, Column("File, line and column of the expectation")]


@dataclass(frozen=True)
class PlanRow:
    """One requested plan."""

    scenario: Annotated[str, Column("Scenario file, as named in the command")]
    variant: Variant
    status: Annotated[str, Column("Status of the plan, such as ok, infeasible or incomplete")]
    was: Annotated[str, Column("Whether the plan was already known or solved now")]
    answer: Annotated[str, Column("Summary of the plan")]


GATES = TableSpec("gates", GateRow, "Expectations", shown=Shown.DATA)
PLANS = TableSpec("plans", PlanRow, "Plans")
