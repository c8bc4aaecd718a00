"""Request of ``dcplan tco``: the scenario and the limits of its solves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from dcplan.result import Table
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import Flag

TableMaker = Callable[..., dict[str, Table]]
"""Function of a comparison; adds tables to the result."""


@dataclass(frozen=True)
class TcoRequest(ScenarioRef):
    """A scenario with a fleet to compare, or with work to plan as owned, rented and both."""

    gap: Annotated[
        float, Flag("relative gap of each plan, in a scenario without a fleet", low=0)
    ] = 0.01
    time_limit_s: Annotated[
        float, Flag("time limit of all plans together", unit="s", low=1, names=("--time-limit",))
    ] = 300.0
    more_tables: Annotated[
        tuple[TableMaker, ...],
        Flag(
            "functions of the comparison that add tables to the result, such as the data of the "
            "workbook",
            python_only=True,
        ),
    ] = ()
