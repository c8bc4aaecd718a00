"""``dcplan validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import complete
from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    OutOption,
    QuietOption,
    VerboseOption,
)


def validate(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="[SUBJECT]",
            help="training, fabric, pue, goodput, tco, claims or cases",
            autocompletion=complete.subjects,
        ),
    ] = "training",
    runs: Annotated[
        Path | None,
        typer.Option("--runs", help="CSV of measured runs; the packaged table if left out"),
    ] = None,
    by: Annotated[
        str, typer.Option("--by", help="summary by source, accelerator, stack or arch")
    ] = "stack",
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Predict what others measured or published and print the errors; training runs if no subject
    is named.
    """
    from dcplan.cli.output import emit

    if subject == "training":
        from dcplan.answers.validation.measured_runs import validate as answer

        result = answer(runs, by=by, catalogs=catalogs or ())
    elif runs is not None or by != "stack":
        cause = "--runs and --by are of training runs"
        raise typer.BadParameter(cause)
    else:
        from dcplan.answers.validation.published import published

        result = published(subject, catalogs=catalogs or ())
    if fmt is Format.CSV:
        from dataclasses import replace

        # a CSV is one table: the runs, or the figures
        first = next(name for name in ("runs", "figures") if name in result.tables)
        result = replace(result, metrics={}, tables={first: result.tables[first]})
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
