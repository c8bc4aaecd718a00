"""``dcplan frontier``."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    FileArgument,
    Format,
    FormatOption,
    NoColorOption,
    NoProgressOption,
    OutOption,
    QuietOption,
    SetOption,
    VariantOption,
    VerboseOption,
)
from dcplan.cli.sweep import EngineName, EngineOption, JobsOption, SchedulerOption


def frontier(
    file: FileArgument,
    x: Annotated[
        str, typer.Option("--x", metavar="METRIC", help="what every point minimises")
    ] = "cost.npv_usd",
    y: Annotated[
        str, typer.Option("--y", metavar="METRIC", help="what is limited from point to point")
    ] = "",
    points: Annotated[int, typer.Option("--points", help="points, both ends among them")] = 15,
    variant: VariantOption = None,
    sets: SetOption = None,
    catalogs: CatalogsOption = None,
    gap: Annotated[
        float, typer.Option("--gap", help="relative gap at which each solve may stop", min=0.0)
    ] = 0.01,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds of all points together", min=1.0)
    ] = 600.0,
    engine: EngineOption = EngineName.PROCESSES,
    jobs: JobsOption = None,
    scheduler: SchedulerOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="solve again what is known")] = False,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    no_progress: NoProgressOption = False,
    debug: DebugOption = False,
) -> None:
    """Two objectives against each other: the best x for each y, every point with its proven gap."""
    from dcplan.cli.output import check_writable, emit
    from dcplan.cli.sweep import engine_of
    from dcplan.study.frontier.run import LINE
    from dcplan.study.frontier.run import frontier as answer
    from dcplan.study.store import Store, home

    if out is not None:
        check_writable(out)
    stopped: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))

    def told(done: int, total: int) -> None:
        if not (quiet or no_progress) and sys.stderr.isatty():
            sys.stderr.write(f"\r{done} of {total} points")

    result = answer(
        file,
        x=x,
        y=y,
        points=points,
        variant=variant,
        sets=sets or (),
        catalogs=catalogs or (),
        gap=gap,
        time_limit_s=time_limit,
        engine=engine_of(engine, jobs, scheduler, 1 + (points - 2) // LINE),
        store=None if fresh else Store(home() / "points"),
        progress=told,
        stop=lambda: bool(stopped),
    )
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
