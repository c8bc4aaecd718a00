"""``dcplan tco``."""

from __future__ import annotations

from typing import Annotated

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    FileArgument,
    Format,
    FormatOption,
    NoColorOption,
    OutOption,
    QuietOption,
    SetOption,
    VariantOption,
    VerboseOption,
)


def tco(
    file: FileArgument,
    variant: VariantOption = None,
    sets: SetOption = None,
    catalogs: CatalogsOption = None,
    gap: Annotated[
        float, typer.Option("--gap", help="of each plan, where there is no fleet", min=0.0)
    ] = 0.01,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds of all plans together", min=1.0)
    ] = 300.0,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Own or rent: a given fleet against every rent of it, or a scenario's work all owned, all
    rented, or both.
    """
    from dcplan.answers.tco.answer import tco as answer
    from dcplan.cli.output import check_writable, emit

    if out is not None:
        check_writable(out)
    result = answer(
        file,
        variant=variant,
        sets=sets or (),
        catalogs=catalogs or (),
        gap=gap,
        time_limit_s=time_limit,
    )
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
