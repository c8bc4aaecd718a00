"""Tables that explain why no plan exists or why a candidate is excluded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, Section, TableSpec


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
    """One limit of the smallest change that would allow a plan."""

    limit: Annotated[str, Column("Limit to relax, in words")]
    amount: Annotated[float, Column("Required change in the smallest set of changes found")]
    change: Annotated[
        str, Column("Unit and direction of the amount; marked 'at least' if more may be necessary")
    ]


REMEDIES = TableSpec(
    "remedies", RemedyRow, "Smallest changes that would allow a plan", section=Section.LIMITS
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
