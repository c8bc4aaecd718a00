"""``dcplan plan``."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcplan.answers.plan.request import PlanRequest
from dcplan.cli.command import Output, Stop, command
from dcplan.engine.request import Searches
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.result import Result


@dataclass(frozen=True)
class PlanFiles:
    """Input and output files of a plan."""

    fix_decisions: Annotated[
        Path | None, Flag("keep the decisions of this result", metavar="RESULT")
    ] = None
    earlier: Annotated[
        Path | None, Flag("replan from this result", metavar="RESULT", names=("--from",))
    ] = None
    export: Annotated[
        tuple[str, ...],
        Flag(
            "export xlsx,csv,parquet,html,md,json,focus,purchases,memo to the folder --out",
            metavar="LIST",
            comma=True,
        ),
    ] = ()
    hours: Annotated[
        Path | None,
        Flag("with --replay-hours: also write the hours of all sites as CSV", metavar="FILE"),
    ] = None
    redact: Annotated[bool, Flag("omit user prices and line-item costs")] = False


@command
def plan(
    request: PlanRequest, files: PlanFiles, searches: Searches, stop: Stop, output: Output
) -> None:
    """Find the cheapest plan of a scenario: what to buy or rent, where and when."""
    from dcplan.api.plan import plan as answer
    from dcplan.cli.output import check_writable
    from dcplan.report.exports import export_all, folder_of, targets_of
    from dcplan.report.progress import SolveProgress
    from dcplan.report.redact import redacted
    from dcplan.report.saved import read_result

    targets = targets_of(files.export)
    folder = folder_of(targets, output.out)
    if output.out is not None:
        check_writable(output.out / "x" if targets else output.out)
    if files.hours is not None:
        check_writable(files.hours)
    team = searches.team()
    with (
        SolveProgress.of(
            f"Planning {Path(request.scenario).name}", request, color=not output.no_color
        )
        if output.shows_progress
        else nullcontext() as bar
    ):
        result = answer(
            replace(
                request,
                replay_rows=files.hours is not None,
                fix_decisions=read_result(files.fix_decisions) if files.fix_decisions else None,
                earlier=read_result(files.earlier) if files.earlier else None,
                progress=bar,
                stop=stop,
                team=team,
            )
        )
    if files.redact:
        result = redacted(result)
    if files.hours is not None:
        result = _hours_written(result, files.hours)
    if folder is not None and result.tables:
        export_all(result, targets, folder)
    output.write(result, to_file=not targets)
    _keep_unfinished(result, request.time_limit_s)
    raise typer.Exit(result.exit_code)


def _hours_written(result: Result, file: Path) -> Result:
    """Write the hours of a replay as CSV, and return the result without them."""
    from dcplan.report.csvs import table_csv
    from dcplan.report.files import write_whole

    hours = result.tables.get("replay_hours")
    if hours is None:  # no plan
        return result
    write_whole(file, table_csv(hours))
    kept = {name: table for name, table in result.tables.items() if name != "replay_hours"}
    return replace(result, tables=kept)


def _keep_unfinished(result: Result, time_limit_s: float) -> None:
    """Save an answer that is not a finished plan, and report how to continue."""
    from dcplan.cli.output import keep, note

    if result.status not in ("incomplete", "interrupted", "infeasible"):
        return
    path = keep(result, str(result.scenario.get("name", "plan")))
    again = result.status != "infeasible" and not (result.solver or {}).get("ended")
    more = f"continue with {_again(time_limit_s)}" if again else f"show it with dcplan show {path}"
    note(f"saved to {path}; {more}")


def _again(time_limit_s: float) -> str:
    """Return the same command with four times the time."""
    words = ["dcplan", *sys.argv[1:]]
    for i, word in enumerate(words):
        if word == "--time-limit":
            del words[i : i + 2]
            break
        if word.startswith("--time-limit="):
            del words[i]
            break
    return shlex.join([*words, "--time-limit", f"{max(time_limit_s * 4, 60):.0f}"])
