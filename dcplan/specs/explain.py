"""Tables of the ``explain`` verb: of a plan, of no plan, and of a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import InputKey, MetricKey, System
from dcplan.specs.plan.limits import LimitRow
from dcplan.specs.table import Column, Shown, TableSpec


@dataclass(frozen=True)
class SwitchingValueRow:
    """One change of a decision by one input."""

    input: InputKey
    now: Annotated[float | str, Column("Value of the input as the scenario has it")]
    low: Annotated[float | None, Column("Low bound of the input")]
    high: Annotated[float | None, Column("High bound of the input")]
    switches_at: Annotated[
        float | None,
        Column(
            "Value nearest to the present one, towards a bound, at which a decision was found"
            " to change"
        ),
    ]
    decision: Annotated[str | None, Column("First decision that changes there")]
    before: Annotated[str | None, Column("That decision in the plan of now")]
    after: Annotated[str | None, Column("That decision in the plan there")]
    regret_usd: Annotated[
        float | None,
        Column("What the decisions of now cost more than the best plan at the far bound"),
    ]
    evpi_usd: Annotated[float | None, Column("Weighted mean of the regrets at both bounds")]
    note: Annotated[str, Column("How many decisions more change, or why there is no answer")]


FLIPS = TableSpec("switching_values", SwitchingValueRow, "What would change a decision")


@dataclass(frozen=True)
class WhyNotRow:
    """What one rack of one system would change, by cost line."""

    system: System
    npv_usd: Annotated[
        float | None,
        Column("Change of net present cost when one rack of the system must be bought"),
    ]
    capex_npv_usd: Annotated[
        float | None, Column("Change of the present value of capital spending")
    ]
    energy_npv_usd: Annotated[float | None, Column("Change of the present value of energy")]
    opex_npv_usd: Annotated[float | None, Column("Change of the present value of running cost")]
    cloud_npv_usd: Annotated[float | None, Column("Change of the present value of rent")]
    unserved_npv_usd: Annotated[
        float | None, Column("Change of the present value of demand not served")
    ]
    post_horizon_npv_usd: Annotated[
        float | None, Column("Change of the present value of payments after the horizon")
    ]
    residual_npv_usd: Annotated[
        float | None, Column("Change of the present value kept at the end; negative is more value")
    ]
    note: Annotated[str, Column("Gaps of both plans, or why the system cannot be bought")]


WHY_NOT = TableSpec("why_not", WhyNotRow, "What one rack of it would cost more")


@dataclass(frozen=True)
class WhatIfRow:
    """One figure that the change moves."""

    metric: MetricKey
    now: Annotated[float | str | None, Column("Figure of the plan as the scenario has it")]
    then: Annotated[float | str | None, Column("Figure of the plan with the change")]
    change: Annotated[float | None, Column("Then less now")]


WHAT_IF = TableSpec("what_if", WhatIfRow, "The plan with the change, where it differs")


@dataclass(frozen=True)
class BindingRow(LimitRow):
    """One limit that the plan uses up, with its re-solved price."""

    place: Annotated[str, Column("File, line and column of the limit in the scenario")]
    re_solved_usd: Annotated[
        str | None,
        Column(
            "Change found by planning anew with the step, and the most it can save; text in USD"
        ),
    ]


BINDING = TableSpec(
    "binding", BindingRow, "Limits that bind, and what one more unit changes the cost by"
)


@dataclass(frozen=True)
class StrandedRow:
    """What is idle in one place."""

    where: Annotated[str, Column("Hall or site")]
    what: Annotated[str, Column("What stands idle, with its unit")]
    unused: Annotated[float, Column("How much of it is idle in the last quarter")]
    capacity: Annotated[float, Column("How much there is")]
    limited_by: Annotated[str, Column("Limits that keep it from use")]


STRANDED = TableSpec("unused_capacity", StrandedRow, "Idle in the last quarter")


@dataclass(frozen=True)
class ConflictRow:
    """One limit among those that cannot hold together."""

    limit: Annotated[
        str,
        Column("Limit that cannot hold together with the others, in words with its first quarter"),
    ]
    place: Annotated[str, Column("File, line and column of the limit in the scenario")]
    quarters: Annotated[int, Column("Rows of the limit in the conflict, as a rule one a quarter")]


CONFLICT = TableSpec("conflict", ConflictRow, "Why there is no plan")


@dataclass(frozen=True)
class AlternativeRow:
    """One change of a way out."""

    remedy: Annotated[int, Column("Number of the way out; lines of one number are made together")]
    change: Annotated[str, Column("Limit or deadline that is moved")]
    amount: Annotated[
        float, Column("By how much it moves; of one limit the most that any quarter needs")
    ]
    unit: Annotated[str, Column("Unit of the amount and its direction")]
    place: Annotated[str, Column("File, line and column of the limit in the scenario")]
    resulting_plan: Annotated[
        str,
        Column(
            "Net present cost of a plan with the change, itself free of charge, or that none "
            "was found in time"
        ),
    ]


ALTERNATIVES = TableSpec("tested_remedies", AlternativeRow, "Ways out, each tried")


@dataclass(frozen=True)
class ValueRow:
    """One value that a plan uses."""

    key: Annotated[str, Column("Key of the input")]
    value: Annotated[float | str | None, Column("Value that is used")]
    low: Annotated[float | None, Column("Low bound of the value, or of the fit")]
    high: Annotated[float | None, Column("High bound of the value, or of the fit")]
    unit: Annotated[str, Column("Unit of the value")]
    status: Annotated[
        str,
        Column("Whether it is the user's input, the catalog's, an estimate, derived or a default"),
    ]
    at: Annotated[str | None, Column("File, line and column of the value")]
    source: Annotated[str | None, Column("Where the value is from")]
    note: Annotated[str | None, Column("Remark on the value, and what it is derived from")]


VALUES = TableSpec("values", ValueRow, "Values")


@dataclass(frozen=True)
class FieldRow:
    """One field of a scenario or catalog row."""

    field: Annotated[str, Column("Key of the field, without the ids of lists")]
    of: Annotated[str, Column("Whether it is a field of a scenario or of a catalog row")]
    type: Annotated[str, Column("Values that it takes")]
    unit: Annotated[str, Column("Unit of its number")]
    default: Annotated[str, Column("What holds where it is left out")]
    meaning: Annotated[str, Column("What the field is")]


FIELDS = TableSpec("fields", FieldRow, "What the field is")


@dataclass(frozen=True)
class MetricRow:
    """One metric of a verb."""

    metric: MetricKey
    of: Annotated[str, Column("Verb whose answer has the metric")]
    unit: Annotated[str, Column("Unit of the metric")]
    meaning: Annotated[str, Column("What the metric is")]


METRICS = TableSpec("metrics", MetricRow, "What the metric is")


@dataclass(frozen=True)
class ColumnRow:
    """One column of a table."""

    column: Annotated[
        str, Column("Name of the column; angle brackets stand for names that are data")
    ]
    table: Annotated[str, Column("Table in which it stands; any where it means the same in all")]
    meaning: Annotated[str, Column("What the column holds")]


COLUMNS = TableSpec("columns", ColumnRow, "What the column is")


@dataclass(frozen=True)
class AboutRow:
    """One line on an error code."""

    what: Annotated[str, Column("What the line tells about the code")]
    text: Annotated[str, Column("What is told")]


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
