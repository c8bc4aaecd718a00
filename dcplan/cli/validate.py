"""``dcplan validate``."""

from __future__ import annotations

from pathlib import Path
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
    VerboseOption,
)


def validate(
    runs: Annotated[
        Path | None, typer.Option("--runs", help="CSV of measured runs; the packaged table if left out")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="summary by source, accelerator, stack or arch")] = "stack",
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Predict measured training runs and print the errors."""
    from dcplan.answers.validate import validate as answer
    from dcplan.cli.output import emit

    result = answer(runs, by=by, catalogs=catalogs or ())
    if fmt is Format.CSV:
        from dataclasses import replace

        # a CSV is one table: the runs
        result = replace(result, metrics={}, tables={"runs": result.tables["runs"]})
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
