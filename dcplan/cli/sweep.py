"""``dcplan sweep``."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from dcplan.result import Result
    from dcplan.study.engine.engines import Engine
    from dcplan.study.sweep.run import Shard


class EngineName(StrEnum):
    """What runs the points."""

    SERIAL = "serial"
    PROCESSES = "processes"
    DASK = "dask"


class Sampling(StrEnum):
    """How samples are drawn."""

    LHS = "lhs"
    SOBOL = "sobol"


EngineOption = Annotated[EngineName, typer.Option("--engine", help="serial, processes or dask")]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, help="processes at once; left out: every core")
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster; left out: one of this machine"
    ),
]


def sweep(
    file: FileArgument,
    variant: VariantOption = None,
    sets: SetOption = None,
    paired: Annotated[
        bool, typer.Option("--zip", help="axes side by side instead of every combination")
    ] = False,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="draw N points")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="of --sample")] = 1,
    method: Annotated[
        Sampling, typer.Option("--method", help="of --sample: lhs or sobol")
    ] = Sampling.LHS,
    bounds: Annotated[
        bool,
        typer.Option(
            "--bounds", help="each input at its low and high, re-solved; with --sample all at once"
        ),
    ] = False,
    catalogs: CatalogsOption = None,
    gap: Annotated[
        float, typer.Option("--gap", help="relative gap at which each solve may stop", min=0.0)
    ] = 0.005,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds of each point", min=0.1)
    ] = 120.0,
    engine: EngineOption = EngineName.PROCESSES,
    jobs: JobsOption = None,
    scheduler: SchedulerOption = None,
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="I/N", help="only the I-th of N parts, for job arrays"),
    ] = None,
    points: Annotated[
        Path | None,
        typer.Option(
            "--points", metavar="DIR", help="where points are kept; left out: .dcplan/points"
        ),
    ] = None,
    collect: Annotated[
        bool, typer.Option("--collect", help="solve nothing, put together what is there")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="solve again what failed")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="solve everything again")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="list the points, solve nothing")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    no_progress: NoProgressOption = False,
    debug: DebugOption = False,
) -> None:
    """Solve many what-ifs of a scenario: a grid, pairs or samples; resumed where it was left.

    Axes come from the file's `sweep:`, or from --set: K=a,b or K=choice(a,b),
    range(first,last,step) with the last included, linspace(a,b,n), logspace(a,b,n); with --sample
    also uniform(a,b), normal(m,s), lognormal(m,s), triangular(low,mode,high).
    """
    from dcplan.cli.output import check_writable, emit
    from dcplan.errors import InputError, Place, Problem
    from dcplan.report.progress import Counter
    from dcplan.study.store import Store, home
    from dcplan.study.sweep.request import Ask
    from dcplan.study.sweep.run import laid_out, recall
    from dcplan.study.sweep.run import sweep as answer
    from dcplan.study.sweep.table import asked

    if out is not None:
        check_writable(out)
    part = shard_of(shard)
    if collect and fresh:
        raise InputError(
            [
                Problem(
                    "DC050", "--fresh forgets what --collect would put together", Place("--fresh")
                )
            ]
        )
    if points is not None and points.exists() and not points.is_dir():
        raise InputError([Problem("DC006", "not a folder", Place(str(points)))])
    changes, overlays = tuple(sets or ()), tuple(catalogs or ())
    plan = laid_out(
        Ask(
            file,
            variant,
            changes,
            overlays,
            paired,
            sample,
            seed,
            method.value,
            bounds,
            gap,
            time_limit,
        )
    )
    store = Store(points or home() / "points")
    if dry_run:
        recall(plan, store, retry=False)
        emit(asked(plan), fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
        return
    stopped: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    told = None if quiet or no_progress else Counter(sys.stderr)
    result = answer(
        plan,
        store,
        engine_of(engine, jobs, scheduler, len(plan.values)),
        shard=part,
        solve=not collect,
        fresh=fresh,
        retry_failed=retry_failed,
        told=told,
        stop=lambda: bool(stopped),
    )
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    again(result)
    raise typer.Exit(result.exit_code)


def engine_of(name: EngineName, jobs: int | None, scheduler: str | None, points: int) -> Engine:
    """The engine that was asked for; processes only where there is more than one point for them.

    Raises
    ------
    InputError
        When flags contradict each other, or Dask is not installed.
    """
    import importlib.util
    import os

    from dcplan.errors import InputError, Place, Problem
    from dcplan.study.engine.engines import Processes, Serial

    if scheduler is not None and name is not EngineName.DASK:
        raise InputError(
            [Problem("DC050", "--scheduler belongs to --engine dask", Place("--scheduler"))]
        )
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    count = min(jobs or cores, max(points, 1))
    if name is EngineName.DASK:
        if importlib.util.find_spec("distributed") is None:
            help_text = "pip install 'dcplan[dask]'"
            raise InputError(
                [Problem("DC050", "Dask is not installed", Place("--engine"), help=help_text)]
            )
        from dcplan.study.engine.dask_cluster import Dask

        return Dask(scheduler, count)
    return Serial() if name is EngineName.SERIAL or count == 1 else Processes(count)


def shard_of(text: str | None) -> Shard:
    """``I/N``, from 1.

    Raises
    ------
    InputError
        When it is something else.
    """
    from dcplan.errors import InputError, Place, Problem
    from dcplan.study.sweep.run import Shard

    if text is None:
        return Shard()
    found = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", text)
    if found is None or int(found[1]) > int(found[2]):
        cause = f"{text}: expected I/N with I from 1 to N"
        raise InputError([Problem("DC050", cause, Place("--shard"), help="--shard 1/4")])
    return Shard(int(found[1]), int(found[2]))


def again(result: Result) -> None:
    """Say how to go on where something is left."""
    from dcplan.cli.output import note

    if result.status in ("interrupted", "incomplete") and "points" in result.tables:
        left = {row["status"] for row in result.tables["points"].records()}
        if left <= {"ok", "infeasible", "wrong"}:
            return
        failed = any(
            row["status"] in ("timeout", "error", "crashed")
            for row in result.tables["points"].records()
        )
        words = [w for w in sys.argv[1:] if w != "--fresh"]
        flag = ["--retry-failed"] if failed and "--retry-failed" not in words else []
        note(f"go on with: {shlex.join(['dcplan', *words, *flag])}")
