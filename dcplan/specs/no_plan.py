"""Tables that explain why no plan exists or why a candidate is excluded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Quarter
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class ConflictRow:
    """One reason, found without solving, why no plan can exist."""

    code: Annotated[str, Column("Error code of the reason")]
    place: Annotated[str, Column("File, line and column of the limit in the scenario")]
    cause: Annotated[str, Column("Why no plan can exist")]
    remedy: Annotated[str, Column("Remedy")]


CONFLICT = TableSpec("conflict", ConflictRow, "Why there is no plan", section=Section.LIMITS)


@dataclass(frozen=True)
class RemedyRow:
    """One change of the scenario that makes a plan possible."""

    change: Annotated[str, Column("Change of the scenario, in words")]
    npv_usd: Annotated[
        float,
        Column(
            "Net present cost of the audited plan found with the change, within 5 % of the best, "
            "after taxes and debt if the objective is; the change itself costs only what the scenario prices"
        ),
    ]
    over_cheapest_usd: Annotated[
        float, Column("Net present cost over that of the cheapest remedy shown")
    ]
    options: Annotated[
        str, Column("Options that make the change, to add after those of this command")
    ]
    place: Annotated[
        str, Column("File, line and column of the changed values", shown=Shown.VERBOSE)
    ]


REMEDIES = TableSpec(
    "remedies",
    RemedyRow,
    "Remedies: each was planned again and its plan passed the audit",
    section=Section.LIMITS,
)


NOTHING = 1e-6
"""Share of what is asked for below which the short form on the terminal leaves a row out."""


@dataclass(frozen=True)
class BalanceRow:
    """What one workload asks for in one quarter, and what the limits allow."""

    quarter: Quarter
    workload: Annotated[str, Column("Id of the workload")]
    asked: Annotated[
        float,
        Column(
            "Amount that the workload asks for; of a job, the accelerators of its run that leaves "
            "the least out"
        ),
    ]
    available: Annotated[
        float,
        Column(
            "Most of it that the limits allow if all workloads get as much of what they ask for as "
            "possible, with fractions of racks and halls"
        ),
    ]
    missing: Annotated[float, Column("Amount asked for less the amount available")]
    unit: Annotated[str, Column("Unit of the amounts")]
    asked_mw: Annotated[
        float | None,
        Column("Facility power of the owned racks for the amount asked for, on the design day"),
    ]
    available_mw: Annotated[
        float | None,
        Column("Facility power of the owned racks for the amount available, on the design day"),
    ]


BALANCE = TableSpec(
    "balance",
    BalanceRow,
    "Balance of what is asked for and what the limits allow",
    brief=lambda x: x.missing > NOTHING * x.asked,
    section=Section.LIMITS,
)


@dataclass(frozen=True)
class ExcludedRow:
    """One candidate that is not in the planning problem."""

    kind: Annotated[
        str, Column("Kind of candidate, such as system, fabric, cooling, offer, term or job")
    ]
    id: Annotated[str, Column("Catalog or scenario id of the candidate")]
    where: Annotated[
        str, Column("Places where it is excluded, with the system or cooling option if they matter")
    ]
    reason: Annotated[str, Column("Reason for the exclusion")]


EXCLUDED = TableSpec(
    "excluded", ExcludedRow, "Excluded options and reasons", first=5, section=Section.EXCLUDED
)
