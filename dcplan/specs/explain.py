"""Tables of the ``explain`` verb: for a plan, for a missing plan and for a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import InputKey, MetricKey, System
from dcplan.specs.plan.limits import LimitRow
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class SwitchingValueRow:
    """One decision change caused by one input."""

    input: InputKey
    now: Annotated[float | str, Column("Value of the input in the scenario")]
    low: Annotated[
        float | str | None, Column("Low bound of the input; a name for a residual curve")
    ]
    high: Annotated[
        float | str | None, Column("High bound of the input; a name for a residual curve")
    ]
    bounds: Annotated[
        str,
        Column(
            "Origin of the bounds: given, the catalog's relative bounds around the value, or the "
            "default of 50 % below and above it; empty without bounds"
        ),
    ]
    switches_at: Annotated[
        float | str | None,
        Column("Value nearest to the scenario's value at which a decision was found to change"),
    ]
    decision: Annotated[str | None, Column("First decision that changes at this value")]
    before: Annotated[str | None, Column("That decision in the scenario's plan")]
    after: Annotated[str | None, Column("That decision in the plan at this value")]
    regret_usd: Annotated[
        float | None,
        Column(
            "Extra cost of the present decisions over the best plan at the bound beyond this value"
        ),
    ]
    evpi_usd: Annotated[
        float | None,
        Column(
            "Expected value of perfect information: weighted mean of the regrets at both bounds"
        ),
    ]
    note: Annotated[
        str, Column("Number of further decisions that change, or why there is no answer")
    ]


SWITCHING_VALUES = TableSpec(
    "switching_values",
    SwitchingValueRow,
    "Switching values: where a decision changes",
    section=Section.RISK,
    by_item=True,
)


@dataclass(frozen=True)
class WhyNotRow:
    """Cost change of one forced rack of one system, by cost line."""

    system: System
    npv_usd: Annotated[
        float | None, Column("Change of net present cost if one rack of the system must be ordered")
    ]
    capex_npv_usd: Annotated[float | None, Column("Change of the present value of capital cost")]
    energy_npv_usd: Annotated[float | None, Column("Change of the present value of energy")]
    opex_npv_usd: Annotated[float | None, Column("Change of the present value of operating cost")]
    cloud_npv_usd: Annotated[float | None, Column("Change of the present value of rent")]
    unserved_npv_usd: Annotated[
        float | None, Column("Change of the present value of unserved demand")
    ]
    post_horizon_npv_usd: Annotated[
        float | None, Column("Change of the present value of post-horizon cost")
    ]
    residual_npv_usd: Annotated[
        float | None,
        Column("Change of the present value of residual value; negative means more value"),
    ]
    note: Annotated[str, Column("Gaps of both plans, or why the system cannot be ordered")]


WHY_NOT = TableSpec("why_not", WhyNotRow, "Cost change of one forced rack", section=Section.LIMITS)


@dataclass(frozen=True)
class WhatIfRow:
    """One metric that the change moves."""

    metric: MetricKey
    now: Annotated[float | str | None, Column("Value in the scenario's plan")]
    then: Annotated[float | str | None, Column("Value in the plan with the change")]
    change: Annotated[float | None, Column("Value with the change, less the value now")]


WHAT_IF = TableSpec("what_if", WhatIfRow, "Metrics that the change moves", section=Section.LIMITS)


@dataclass(frozen=True)
class BindingRow(LimitRow):
    """One binding limit with its re-solved cost change."""

    place: Annotated[str, Column("File, line and column of the limit in the scenario")]
    re_solved_usd: Annotated[
        str | None,
        Column(
            "Cost change of the re-solved plan with the step, and the largest possible saving; "
            "text in USD"
        ),
    ]


BINDING = TableSpec(
    "binding", BindingRow, "Binding limits: cost change per added unit", section=Section.LIMITS
)


@dataclass(frozen=True)
class UnusedCapacityRow:
    """Unused capacity of one kind in one place."""

    where: Annotated[str, Column("Hall or site")]
    what: Annotated[str, Column("Kind of capacity, with its unit")]
    unused: Annotated[float, Column("Unused amount in the last quarter")]
    capacity: Annotated[float, Column("Amount available in the last quarter")]
    limited_by: Annotated[str, Column("Limits that prevent its use")]


UNUSED_CAPACITY = TableSpec(
    "unused_capacity",
    UnusedCapacityRow,
    "Unused capacity in the last quarter",
    section=Section.LIMITS,
)


@dataclass(frozen=True)
class ConflictRow:
    """One limit of a set that cannot all hold."""

    limit: Annotated[
        str, Column("Limit that conflicts with the others, in words, with its first quarter")
    ]
    place: Annotated[str, Column("File, line and column of the limit in the scenario")]
    quarters: Annotated[
        int, Column("Constraint rows of the limit in the conflict, usually one per quarter")
    ]


CONFLICT = TableSpec("conflict", ConflictRow, "Why there is no plan", section=Section.LIMITS)
LATE_STARTS = TableSpec(
    "late_starts",
    ConflictRow,
    "Why runs cannot all start as soon as their hardware can serve",
    section=Section.LIMITS,
)


@dataclass(frozen=True)
class ValueRow:
    """One input value of a plan."""

    key: Annotated[str, Column("Key of the input")]
    value: Annotated[float | str | None, Column("Value in use")]
    low: Annotated[float | None, Column("Low bound of the value or of the fit")]
    high: Annotated[float | None, Column("High bound of the value or of the fit")]
    unit: Annotated[str, Column("Unit of the value")]
    status: Annotated[str, Column("Origin: user input, catalog, estimate, derived or default")]
    at: Annotated[str | None, Column("File, line and column of the value")]
    source: Annotated[str | None, Column("Source of the value")]
    note: Annotated[str | None, Column("Remark on the value and its derivation")]


VALUES = TableSpec("values", ValueRow, "Values", by_item=True)


@dataclass(frozen=True)
class FieldRow:
    """One field of a scenario or catalog row."""

    field: Annotated[str, Column("Key of the field, without the ids of lists")]
    of: Annotated[str, Column("Where the field belongs: scenario or catalog row")]
    type: Annotated[str, Column("Allowed values")]
    unit: Annotated[str, Column("Unit of the number")]
    default: Annotated[str, Column("Default if the field is omitted")]
    meaning: Annotated[str, Column("Meaning of the field")]


FIELDS = TableSpec("fields", FieldRow, "Meaning of the field")


@dataclass(frozen=True)
class MetricRow:
    """One metric of a verb."""

    metric: MetricKey
    of: Annotated[str, Column("Verb that reports the metric")]
    unit: Annotated[str, Column("Unit of the metric")]
    meaning: Annotated[str, Column("Meaning of the metric")]


METRICS = TableSpec("metrics", MetricRow, "Meaning of the metric")


@dataclass(frozen=True)
class ColumnRow:
    """One column of a table."""

    column: Annotated[str, Column("Name of the column; names in angle brackets vary with the data")]
    table: Annotated[
        str, Column("Table of the column; any if the meaning is the same in all tables")
    ]
    meaning: Annotated[str, Column("Meaning of the column")]


COLUMNS = TableSpec("columns", ColumnRow, "Meaning of the column")


@dataclass(frozen=True)
class AboutRow:
    """One fact about an error code."""

    what: Annotated[str, Column("Kind of fact")]
    text: Annotated[str, Column("Text of the fact")]


ABOUT = TableSpec("about", AboutRow, "About", shown=Shown.DATA)


@dataclass(frozen=True)
class TermRow:
    """One term of the glossary."""

    term: Annotated[str, Column("Name of the term")]
    unit: Annotated[str, Column("Unit of the quantity; empty for a term that is no quantity")]
    definition: Annotated[str, Column("Meaning of the term")]
    standard: Annotated[str, Column("Standard, textbook or tool whose usage it follows")]
    used_in: Annotated[str, Column("Metrics, columns and fields that carry it")]
    source: Annotated[str, Column("Document that defines it")]


TERMS = TableSpec("terms", TermRow, "Term of the glossary")
