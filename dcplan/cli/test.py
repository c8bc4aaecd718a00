"""``dcplan test``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    NoColorOption,
    OutOption,
    QuietOption,
    VariantOption,
    VerboseOption,
)
from dcplan.cli.sweep import EngineName, EngineOption, JobsOption, SchedulerOption

if TYPE_CHECKING:
    from dcplan.result import Result


class CiFormat(StrEnum):
    """Output formats of gates."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MD = "md"
    JUNIT = "junit"
    GITHUB = "github"


CiFormatOption = Annotated[
    CiFormat, typer.Option("--format", "-f", help="table, json, csv, md, junit or github")
]
FilesArgument = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="scenarios, or folders of them")
]


def gate(
    files: FilesArgument,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="REF",
            help="what changes are against: git:REV, a folder, a file, a result",
        ),
    ] = None,
    variant: VariantOption = None,
    catalogs: CatalogsOption = None,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="0 where an expectation failed; never for 2, 3, 4")
    ] = False,
    error_on_warning: Annotated[
        bool, typer.Option("--error-on-warning", help="warnings fail as errors do")
    ] = False,
    gap: Annotated[
        float, typer.Option("--gap", help="relative gap at which each solve may stop", min=0.0)
    ] = 0.005,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds of each solve", min=0.1)
    ] = 120.0,
    engine: EngineOption = EngineName.PROCESSES,
    jobs: JobsOption = None,
    scheduler: SchedulerOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="solve again what is known")] = False,
    fmt: CiFormatOption = CiFormat.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Check what scenarios expect of their plans; only those whose inputs changed are solved."""
    from dcplan.cli.output import check_writable
    from dcplan.cli.sweep import engine_of
    from dcplan.errors import InputError
    from dcplan.study.regression.gates import gates
    from dcplan.study.store import home

    if out is not None:
        check_writable(out)
    try:
        result = gates(
            files,
            home(),
            base=base,
            variant=variant,
            catalogs=catalogs or (),
            gap=gap,
            time_limit_s=time_limit,
            engine=engine_of(engine, jobs, scheduler, MANY),
            error_on_warning=error_on_warning,
            exit_zero=exit_zero,
            fresh=fresh,
        )
    except InputError as error:
        annotate(error, fmt)
        raise
    write(result, fmt, out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)


MANY = 1_000
"""As many processes as there are cores may have work."""


def annotate(error: Exception, fmt: CiFormat) -> None:
    """Mark wrong lines in a pull request, besides what stderr says."""
    from dcplan.cli.output import until_closed
    from dcplan.errors import InputError
    from dcplan.report.ci import problem_notes

    if fmt is CiFormat.GITHUB and isinstance(error, InputError):
        with until_closed(sys.stdout):
            sys.stdout.write(problem_notes(error.problems))


def write(
    result: Result, fmt: CiFormat, out: Path | None, *, quiet: bool, verbose: bool, no_color: bool
) -> None:
    """Write gates in a format of CI, or as any other answer."""
    from dcplan.cli.output import emit, until_closed
    from dcplan.report.ci import github, junit
    from dcplan.report.files import write_whole

    if fmt not in (CiFormat.JUNIT, CiFormat.GITHUB):
        emit(
            result, fmt=Format(fmt.value), out=out, quiet=quiet, verbose=verbose, no_color=no_color
        )
        return
    text = junit(result) if fmt is CiFormat.JUNIT else github(result)
    if out is None:
        with until_closed(sys.stdout):
            sys.stdout.write(text)
    else:
        write_whole(out, text)
        sys.stderr.write(f"{result.headline}\n" if not quiet else "")
