"""Request of ``dcplan plan``: every flag with its range, and flags that exclude each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from dcplan.answers.common.request import ScenarioRequest
from dcplan.engine.request import Team
from dcplan.errors import InputError, Place, Problem
from dcplan.planning.solve.status import Progress
from dcplan.result import Result, Table
from dcplan.specs.request import Flag

TableMaker = Callable[..., dict[str, Table]]
"""Function of a solved plan, its question and its input log; adds tables to the result."""


@dataclass(frozen=True)
class PlanRequest(ScenarioRequest):
    """The optimal plan of one scenario, or one plan for several of its variants."""

    fix_decisions: Annotated[
        Result | None,
        Flag("result of an earlier plan whose decisions are all kept", python_only=True),
    ] = None
    earlier: Annotated[
        Result | None, Flag("result of an earlier plan to replan from", python_only=True)
    ] = None
    freeze_through: Annotated[
        str | None, Flag("with --from: keep its decisions up to this quarter")
    ] = None
    max_changes: Annotated[
        int | None,
        Flag("with --from: maximum number of orders, runs and fabrics that may change", low=0),
    ] = None
    hedge: Annotated[bool, Flag("one plan for all variants that uncertainty.hedge names")] = False
    progress: Annotated[
        Progress | None,
        Flag("callback of each phase, plan and bound of the search", python_only=True),
    ] = None
    team: Annotated[
        Team | None,
        Flag("engine and number of searches at the same time; none: one here", python_only=True),
    ] = None
    remedies_limit_s: Annotated[
        float,
        Flag(
            "most time for the remedies of an infeasible scenario; 0: none are searched",
            unit="s",
            python_only=True,
        ),
    ] = 30.0
    more_tables: Annotated[
        tuple[TableMaker, ...],
        Flag(
            "functions of the solved plan that add tables to the result, such as the data of the "
            "workbook",
            python_only=True,
        ),
    ] = ()


def refuse_conflicts(request: PlanRequest) -> None:
    """Refuse flags that contradict each other or have no effect.

    Raises
    ------
    InputError
        With every such flag (DC015).
    """
    problems = []
    if request.hedge and (request.variant or request.fix_decisions or request.earlier):
        cause = (
            "--hedge takes its variants from uncertainty.hedge: "
            "leave --variant, --fix-decisions and --from out"
        )
        problems.append(Problem("DC015", cause, Place("--hedge")))
    if request.earlier is not None and request.fix_decisions is not None:
        cause = "--fix-decisions keeps every decision, so --from has no effect"
        problems.append(Problem("DC015", cause, Place("--from"), help="leave one of them out"))
    if request.team is not None and (request.hedge or request.fix_decisions is not None):
        other = "--hedge" if request.hedge else "--fix-decisions"
        cause = f"--searches and --engine have no effect with {other}"
        problems.append(Problem("DC015", cause, Place("--searches"), help="leave one of them out"))
    if request.earlier is None:
        idle: dict[str, Any] = {
            "--freeze-through": request.freeze_through,
            "--max-changes": request.max_changes,
        }
        problems += [
            Problem("DC015", f"{flag} needs --from", Place(flag))
            for flag, value in idle.items()
            if value is not None
        ]
    if problems:
        raise InputError(problems)
