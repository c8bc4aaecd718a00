"""Tables of the ``test`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.specs.columns import MetricKey, Variant
from dcplan.specs.table import Column, Shown, TableSpec


class Verdict(StrEnum):
    """What became of an expectation, what needs a look first."""

    FAILED = "FAILED"
    WARNING = "warning"
    SKIPPED = "skipped"
    PASSED = "passed"


@dataclass(frozen=True)
class GateRow:
    """One expectation of one plan."""

    result: Annotated[Verdict, Column("Passed, FAILED, warning or skipped")]
    scenario: Annotated[str, Column("Scenario file as it was named")]
    variant: Variant
    id: Annotated[str, Column("Name of the expectation in the scenario")]
    metric: MetricKey
    observed: Annotated[float | str | None, Column("Figure of the scenario's plan")]
    base: Annotated[float | str | None, Column("The same figure of what it is measured against")]
    limit: Annotated[
        float | str | None,
        Column("What is expected of the figure, with the change where it is against a base"),
    ]
    severity: Annotated[str, Column("Whether a failed expectation is an error or a warning")]
    owner: Annotated[str | None, Column("Who is asked when it fails")]
    note: Annotated[str | None, Column("Remark in the scenario")]
    reason: Annotated[str, Column("Why it was skipped")]
    at: Annotated[str, Column("File, line and column of the expectation")]


@dataclass(frozen=True)
class PlanRow:
    """One plan that was asked for."""

    scenario: Annotated[str, Column("Scenario file as it was named")]
    variant: Variant
    status: Annotated[str, Column("How the plan ended, such as ok, infeasible or incomplete")]
    was: Annotated[str, Column("Whether the plan was known already or solved now")]
    answer: Annotated[str, Column("Sentence of the plan")]


GATES = TableSpec("gates", GateRow, "Expectations", shown=Shown.DATA)
PLANS = TableSpec("plans", PlanRow, "Plans")
