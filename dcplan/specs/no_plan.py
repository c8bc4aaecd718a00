"""Tables that say why a plan, or a candidate of one, does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, TableSpec


@dataclass(frozen=True)
class ConflictRow:
    """One reason, found without solving, why no plan can exist."""

    code: Annotated[str, Column("Error code of what shows that no plan can exist")]
    place: Annotated[str, Column("File, line and column of the limit in the scenario")]
    cause: Annotated[str, Column("Why no plan can exist")]
    remedy: Annotated[str, Column("What would mend it")]


CONFLICT = TableSpec("conflict", ConflictRow, "Why there is no plan")


@dataclass(frozen=True)
class RemedyRow:
    """One limit of the smallest change that would allow a plan."""

    limit: Annotated[str, Column("Limit to widen, in words")]
    amount: Annotated[float, Column("By how much it must move at the smallest change found")]
    change: Annotated[
        str, Column("Unit of the amount and its direction; at least where more may be needed")
    ]


REMEDIES = TableSpec("remedies", RemedyRow, "Smallest changes that would allow a plan")


@dataclass(frozen=True)
class LeftOutRow:
    """One candidate that is not in the menu."""

    kind: Annotated[
        str, Column("Kind of candidate, such as system, fabric, cooling, offer, term or job")
    ]
    id: Annotated[str, Column("Catalog or scenario id of the candidate")]
    where: Annotated[
        str,
        Column("Places for which it is left out, with system or cooling option where they matter"),
    ]
    reason: Annotated[str, Column("Why it is left out")]


LEFT_OUT = TableSpec("excluded", LeftOutRow, "Left out, and why", first=5)
