"""Metric and table of the ``check`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Variant
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, TableSpec

LEFT_OUT_COUNT = MetricSpec(
    "check.excluded_options", "", "Candidates left out, each with its reason"
)


@dataclass(frozen=True)
class CheckedRow:
    """What was found of one scenario and variant."""

    scenario: Annotated[str, Column("Scenario file or packaged example as it was named")]
    variant: Variant
    status: Annotated[str, Column("Ok, or infeasible where no plan can exist")]
    finding: Annotated[str, Column("Why no plan can exist; else the sentence of the check")]
    code: Annotated[str | None, Column("Error code of the finding")]
    at: Annotated[str | None, Column("File, line and column of the cause")]
    help: Annotated[str | None, Column("What would mend it")]


CHECKED = TableSpec("checked", CheckedRow, "Checked")
