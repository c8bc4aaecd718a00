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
    replay_hours: Annotated[
        bool, Flag("replay each year of the plan in 8,760 hours, and explain the difference")
    ] = False
    price_hours: Annotated[
        tuple[str, ...],
        Flag(
            "with --replay-hours: CSV with the price of grid energy at a site by hour, "
            "hour,usd_per_mwh from 1 January; repeatable",
            metavar="SITE=FILE",
            pair=lambda site, file: f"{site}={file}",
        ),
    ] = ()
    prices_as_given: Annotated[
        bool,
        Flag(
            "with --price-hours: take the prices as they are (default: scaled, so that each quarter "
            "has the plan's mean price)"
        ),
    ] = False
    weather_hours: Annotated[
        tuple[str, ...],
        Flag(
            "with --replay-hours: EPW weather file of a site (default: the weather of its location); "
            "repeatable",
            metavar="SITE=FILE",
            pair=lambda site, file: f"{site}={file}",
        ),
    ] = ()
    replay_rows: Annotated[
        bool, Flag("with replay_hours: add the table replay_hours", python_only=True)
    ] = False
    compare_sites: Annotated[
        bool,
        Flag(
            "also plan with and without each candidate site, and with it alone, in as much time again; "
            "table sites"
        ),
    ] = False
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
    problems += _replay_conflicts(request)
    if request.compare_sites and (request.hedge or request.fix_decisions is not None):
        other = "--hedge" if request.hedge else "--fix-decisions"
        cause = f"--compare-sites has no effect with {other}"
        problems.append(Problem("DC015", cause, Place("--compare-sites"), help="leave one out"))
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


def _replay_conflicts(request: PlanRequest) -> list[Problem]:
    """Return the flags of the replay that have no effect."""
    if request.replay_hours and request.hedge:
        cause = "--replay-hours replays one plan, and --hedge makes one for several variants"
        step = "plan each variant with --variant"
        return [Problem("DC015", cause, Place("--replay-hours"), help=step)]
    idle = {
        "--price-hours": (bool(request.price_hours), request.replay_hours, "--replay-hours"),
        "--weather-hours": (bool(request.weather_hours), request.replay_hours, "--replay-hours"),
        "--prices-as-given": (request.prices_as_given, bool(request.price_hours), "--price-hours"),
        "--hours": (request.replay_rows, request.replay_hours, "--replay-hours"),
    }
    return [
        Problem("DC015", f"{flag} needs {other}", Place(flag), help=f"add {other}")
        for flag, (given, met, other) in idle.items()
        if given and not met
    ]
