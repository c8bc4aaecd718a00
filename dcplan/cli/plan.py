"""``dcplan plan``."""

from __future__ import annotations

import shlex
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    ExportOption,
    FileArgument,
    Format,
    FormatOption,
    NoColorOption,
    NoProgressOption,
    OutOption,
    QuietOption,
    RedactOption,
    SetOption,
    VariantOption,
    VerboseOption,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dcplan.result import Result

    Progress = Callable[[float, float, float, int], None]


def plan(
    file: FileArgument,
    variant: VariantOption = None,
    sets: SetOption = None,
    catalogs: CatalogsOption = None,
    gap: Annotated[
        float, typer.Option("--gap", help="relative gap at which the solver may stop", min=0.0)
    ] = 0.005,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds of solving", min=0.1)
    ] = 120.0,
    fix_decisions: Annotated[
        Path | None,
        typer.Option("--fix-decisions", help="keep the decisions of this result", metavar="RESULT"),
    ] = None,
    earlier: Annotated[
        Path | None, typer.Option("--from", help="replan from this result", metavar="RESULT")
    ] = None,
    freeze_through: Annotated[
        str | None,
        typer.Option(
            "--freeze-through", help="with --from: what it decided up to this quarter stays"
        ),
    ] = None,
    max_changes: Annotated[
        int | None,
        typer.Option("--max-changes", help="with --from: orders, runs and fabrics that may differ"),
    ] = None,
    hedge: Annotated[
        bool, typer.Option("--hedge", help="one plan for the variants that uncertainty.hedge names")
    ] = False,
    export: ExportOption = None,
    redact: RedactOption = False,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    no_progress: NoProgressOption = False,
    debug: DebugOption = False,
) -> None:
    """Find the optimal plan of a scenario: what to buy, where, when; audited, with its proven gap."""
    from dcplan.cli.exports import export_all, folder_of, targets_of
    from dcplan.cli.output import check_writable, emit, keep, note
    from dcplan.report.planned import plan as answer
    from dcplan.report.progress import SolveProgress
    from dcplan.report.redact import redacted
    from dcplan.report.saved import read_result

    targets = targets_of(export)
    folder = folder_of(targets, out)
    if out is not None:
        check_writable(out / "x" if targets else out)
    stopped: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    fixed = read_result(fix_decisions) if fix_decisions else None
    before = read_result(earlier) if earlier else None
    bar = nullcontext() if quiet or no_progress else SolveProgress(sys.stderr, limit_s=time_limit)
    if hedge:
        _refuse_beside_hedge(variant, fix_decisions, earlier)
        with bar as progress:
            result = _hedged(file, sets or (), catalogs or (), gap, time_limit, progress, stopped)
        emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
        raise typer.Exit(result.exit_code)
    with bar as progress:
        result = answer(
            file,
            variant=variant,
            sets=sets or (),
            catalogs=catalogs or (),
            gap=gap,
            time_limit_s=time_limit,
            fix_decisions=fixed,
            earlier=before,
            freeze_through=freeze_through,
            max_changes=max_changes,
            progress=progress or (lambda *_: None),
            stop=lambda: bool(stopped),
        )
    if redact:
        result = redacted(result)
    if folder is not None and result.tables:
        export_all(result, targets, folder)
    emit(
        result,
        fmt=fmt,
        out=None if targets else out,
        quiet=quiet,
        verbose=verbose,
        no_color=no_color,
    )
    if result.status in ("incomplete", "interrupted", "infeasible"):
        path = keep(result, str(result.scenario.get("name", "plan")))
        note(f"kept: {path} (dcplan show {path})")
        if result.status != "infeasible" and not (result.solver or {}).get("ended"):
            note(f"go on with: {_again(time_limit)}")
    raise typer.Exit(result.exit_code)


def _refuse_beside_hedge(variant: str | None, *others: Path | None) -> None:
    from dcplan.errors import InputError, Place, Problem

    if variant is not None or any(others):
        cause = "--hedge takes its variants from uncertainty.hedge: no --scenario, --fix-decisions or --from beside it"
        raise InputError([Problem("DC015", cause, Place("--hedge"))])


def _hedged(
    file: str,
    sets: Sequence[str],
    catalogs: Sequence[str],
    gap: float,
    time_limit: float,
    progress: Progress | None,
    stopped: list[int],
) -> Result:
    from dcplan.answers.plan.hedge import hedge

    return hedge(
        file,
        sets=sets,
        catalogs=catalogs,
        gap=gap,
        time_limit_s=time_limit,
        progress=progress or (lambda *_: None),
        stop=lambda: bool(stopped),
    )


def _again(time_limit: float) -> str:
    """Return the same command with four times the time."""
    words = ["dcplan", *sys.argv[1:]]
    for i, word in enumerate(words):
        if word == "--time-limit":
            del words[i : i + 2]
            break
        if word.startswith("--time-limit="):
            del words[i]
            break
    return shlex.join([*words, "--time-limit", f"{max(time_limit * 4, 60):.0f}"])
