"""Limits of a plan: binding limits and every audited check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.specs.table import Column, Section, Shown, TableSpec


class Holds(StrEnum):
    """Whether an audited limit holds; only a decision fixed by the user may exceed one."""

    OK = "ok"
    GIVEN = "given"


NO_CHANGE_USD = 0.5
"""Cost change below which the short form on the terminal leaves a limit out."""


@dataclass(frozen=True)
class LimitRow:
    """One binding limit."""

    limit: Annotated[str, Column("Binding limit, in words, with its first quarter")]
    place: Annotated[
        str, Column("File, line and column of the limit in the scenario", shown=Shown.VERBOSE)
    ]
    quarters: Annotated[int, Column("Quarters in which the limit binds")]
    step: Annotated[str, Column("One added unit of the limit, or one unit less of a demand")]
    cost_change_usd: Annotated[
        float,
        Column(
            "Change of net present cost (after taxes and debt if the objective is) by the step in "
            "all these quarters, integer decisions fixed; negative is a saving"
        ),
    ]


LIMITS = TableSpec(
    "limits",
    LimitRow,
    "Binding limits: cost change by one step, with the integer decisions unchanged",
    first=5,
    brief=lambda x: abs(x.cost_change_usd) >= NO_CHANGE_USD,
    section=Section.LIMITS,
)


@dataclass(frozen=True)
class CheckRow:
    """One audited limit."""

    check: Annotated[str, Column("Name of the audited limit")]
    where: Annotated[str, Column("Hall, site, system, offer or job of the limit")]
    quarter: Annotated[
        str,
        Column(
            "Quarter of the check; if the limit spans several, the first, the last or the worst"
        ),
    ]
    used: Annotated[float, Column("Amount that the plan uses, in the unit of the limit")]
    limit: Annotated[float, Column("Largest amount allowed")]
    result: Annotated[
        Holds, Column("Ok, or given if a decision fixed by the user exceeds the limit")
    ]


CHECKS = TableSpec("checks", CheckRow, "Audited limits", shown=Shown.DATA)
