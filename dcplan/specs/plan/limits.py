"""Limits of a plan: those that bind, and every audited check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.specs.table import Column, Shown, TableSpec


class Holds(StrEnum):
    """Whether an audited limit holds; only a decision that the user gave may exceed one."""

    OK = "ok"
    GIVEN = "given"


@dataclass(frozen=True)
class LimitRow:
    """One limit that the plan uses up."""

    limit: Annotated[str, Column("Limit that the plan uses up, in words with its first quarter")]
    place: Annotated[
        str, Column("File, line and column of the limit in the scenario", shown=Shown.VERBOSE)
    ]
    quarters: Annotated[int, Column("Quarters in which the limit binds")]
    step: Annotated[str, Column("One more unit of the limit, or one less of a demand")]
    cost_change_usd: Annotated[
        float,
        Column(
            "Change of net present cost by the step in all its quarters, whole choices fixed;"
            " negative saves"
        ),
    ]


LIMITS = TableSpec(
    "limits",
    LimitRow,
    "Limits that bind, and what one more unit changes the cost by, whole choices fixed",
)


@dataclass(frozen=True)
class CheckRow:
    """One audited limit."""

    check: Annotated[str, Column("Name of the audited limit")]
    where: Annotated[str, Column("Hall, site, system, offer or job that it is of")]
    quarter: Annotated[
        str,
        Column("Quarter checked; where the limit spans several, the first, the last or the worst"),
    ]
    used: Annotated[float, Column("What the plan uses, in the unit of the limit")]
    limit: Annotated[float, Column("Most that it may use")]
    result: Annotated[
        Holds, Column("Ok, or given where a decision given by the user exceeds the limit")
    ]


CHECKS = TableSpec("checks", CheckRow, "Audited limits", shown=Shown.DATA)
