"""``dcplan diff``."""

from __future__ import annotations

from typing import Annotated

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    OutOption,
    QuietOption,
    SetOption,
    VariantOption,
    VerboseOption,
)
from dcplan.cli.sweep import EngineName, EngineOption, JobsOption, SchedulerOption

REF = "a scenario, a folder of them, a result, git:REV or git:REV:path"


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help=REF)],
    after: Annotated[
        str, typer.Argument(metavar="B", help="the same; --set changes this one alone")
    ],
    variant: VariantOption = None,
    sets: SetOption = None,
    catalogs: CatalogsOption = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="exit 1 where something differs")
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
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Compare two answers, B against A: inputs, decisions and figures that differ, and what is
    within the gap.
    """
    from dcplan.cli.output import check_writable, emit
    from dcplan.cli.sweep import engine_of
    from dcplan.study.regression.diff import diff as answer
    from dcplan.study.store import home

    if out is not None:
        check_writable(out)
    result = answer(
        before,
        after,
        home(),
        variant=variant,
        sets=sets or (),
        catalogs=catalogs or (),
        gap=gap,
        time_limit_s=time_limit,
        engine=engine_of(engine, jobs, scheduler, 2),
        exit_code=exit_code,
        fresh=fresh,
    )
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
