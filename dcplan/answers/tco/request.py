"""Request of ``dcplan tco``: the scenario and the limits of its solves, or a list of cash flows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from dcplan.errors import InputError, Place, Problem
from dcplan.result import Table
from dcplan.scenario.ref import Catalogs, ScenarioRef, Sets, Variant
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.scenario.load import Question

TableMaker = Callable[..., dict[str, Table]]
"""Function of a comparison; adds tables to the result."""


LIST = "List of cash flows"


def _pair(when: str, usd: Any) -> str:
    return f"{when}={usd}"


@dataclass(frozen=True)
class TcoRequest:
    """A scenario with a fleet or with work, or a list of cash flows instead."""

    scenario: Annotated[
        str | None,
        Flag(
            "scenario file or name of a packaged example; left out with --cash-flows",
            metavar="FILE",
            complete="scenarios",
            argument=True,
        ),
    ] = None
    variant: Variant = None
    sets: Sets = ()
    catalogs: Catalogs = ()
    gap: Annotated[
        float, Flag("relative gap of each plan, in a scenario without a fleet", low=0)
    ] = 0.01
    time_limit_s: Annotated[
        float, Flag("time limit of all plans together", unit="s", low=1, names=("--time-limit",))
    ] = 300.0
    cash_flows: Annotated[
        tuple[str, ...],
        Flag(
            "list of payments instead of a scenario: a CSV with date (or period), amount, and line "
            "and currency if there are any; or DATE=USD or PERIOD=USD, separated by commas; money in "
            "is positive",
            metavar="FILE",
            comma=True,
            pair=_pair,
            panel=LIST,
        ),
    ] = ()
    discount_rate: Annotated[
        float | None,
        Flag(
            "effective discount rate of a year, or of a period without dates, such as 0.09",
            low=-0.99,
            high=100.0,
            panel=LIST,
        ),
    ] = None
    day_count: Annotated[
        str | None,
        Flag(
            "days over 365, as XNPV and XIRR (default with dates), or one step a date or period, as "
            "NPV and IRR",
            choices=("actual-365", "periodic"),
            panel=LIST,
        ),
    ] = None
    fx: Annotated[
        tuple[str, ...],
        Flag(
            "exchange rate of the list: USD for one unit, such as EUR=1.08; repeatable", panel=LIST
        ),
    ] = ()
    more_tables: Annotated[
        tuple[TableMaker, ...],
        Flag(
            "functions of the comparison that add tables to the result, such as the data of the "
            "workbook",
            python_only=True,
        ),
    ] = ()

    def question(self, *changes: str) -> Question:
        """Load the scenario, with further ``key=value`` changes after its own.

        Raises
        ------
        InputError
            When there is no scenario, or it is wrong; carries every problem.
        """
        if self.scenario is None:
            cause = "tco needs a scenario, or --cash-flows with a list of payments"
            raise InputError([Problem("DC003", cause, Place("FILE"), help="dcplan tco FILE")])
        return ScenarioRef(self.scenario, self.variant, self.sets, self.catalogs).question(*changes)
