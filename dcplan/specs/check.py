"""Metric and table of the ``check`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Variant
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, TableSpec

EXCLUDED_OPTIONS = MetricSpec(
    "check.excluded_options", "", "Excluded candidates, each with a reason"
)


@dataclass(frozen=True)
class CheckedRow:
    """Finding for one scenario and variant."""

    scenario: Annotated[str, Column("Scenario file or packaged example, as named in the command")]
    variant: Variant
    status: Annotated[str, Column("Ok, or infeasible if no plan can exist")]
    finding: Annotated[
        str, Column("Reason why no plan can exist; otherwise the summary of the check")
    ]
    code: Annotated[str | None, Column("Error code of the finding")]
    at: Annotated[str | None, Column("File, line and column of the cause")]
    help: Annotated[str | None, Column("Remedy")]


@dataclass(frozen=True)
class ClassValueRow:
    """A value of a catalog or a default that decides, where the scenario has none."""

    input: Annotated[str, Column("Key of the input; several with the same value are one row")]
    value: Annotated[float | str, Column("Value that the plan uses")]
    unit: Annotated[str, Column("Unit of the value")]
    set_instead: Annotated[str, Column("Field that replaces it with your own figure")]
    source: Annotated[str, Column("Source of the value, without its address")]


CLASS_VALUES = TableSpec(
    "class_values",
    ClassValueRow,
    "Class values that decide: give your own figures where you know them",
    section=Section.LIMITS,
)
CHECKED = TableSpec("checked", CheckedRow, "Checked scenarios")
