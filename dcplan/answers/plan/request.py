"""What ``dcplan plan`` is asked: every flag with its range, and flags that exclude each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from dcplan.answers.common.request import ScenarioRequest
from dcplan.errors import InputError, Place, Problem
from dcplan.result import Result, Table
from dcplan.specs.request import Flag

TableMaker = Callable[..., dict[str, Table]]
"""A function of a solved plan, its question and its input log that adds tables to the result."""


@dataclass(frozen=True)
class PlanRequest(ScenarioRequest):
    """The optimal plan of one scenario, or one plan for several of its variants."""

    fix_decisions: Annotated[
        Result | None, Flag("result of an earlier plan whose decisions all stay", python_only=True)
    ] = None
    earlier: Annotated[
        Result | None, Flag("result of an earlier plan to replan from", python_only=True)
    ] = None
    freeze_through: Annotated[
        str | None, Flag("with --from: what it decided up to this quarter stays")
    ] = None
    max_changes: Annotated[
        int | None, Flag("with --from: orders, runs and fabrics that may differ", low=0)
    ] = None
    hedge: Annotated[bool, Flag("one plan for the variants that uncertainty.hedge names")] = False
    progress: Annotated[
        Callable[[float, float, float, int], None] | None,
        Flag("called with seconds, incumbent, bound and nodes", python_only=True),
    ] = None
    more_tables: Annotated[
        tuple[TableMaker, ...],
        Flag(
            "functions of the solved plan whose tables join the result, such as the data of the "
            "workbook",
            python_only=True,
        ),
    ] = ()


def refuse_conflicts(request: PlanRequest) -> None:
    """Refuse flags that contradict each other or change nothing.

    Raises
    ------
    InputError
        With every such flag (DC015).
    """
    problems = []
    if request.hedge and (request.variant or request.fix_decisions or request.earlier):
        cause = (
            "--hedge takes its variants from uncertainty.hedge: "
            "no --variant, --fix-decisions or --from beside it"
        )
        problems.append(Problem("DC015", cause, Place("--hedge")))
    if request.earlier is not None and request.fix_decisions is not None:
        cause = "--fix-decisions keeps every decision: --from changes nothing then"
        problems.append(Problem("DC015", cause, Place("--from"), help="leave one of them out"))
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
