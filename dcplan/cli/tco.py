"""``dcplan tco``."""

from __future__ import annotations

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
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Own or rent: a given fleet owned, against the same accelerators rented on every offer and term."""
    from dcplan.answers.tco import tco as answer
    from dcplan.cli.output import check_writable, emit

    if out is not None:
        check_writable(out)
    result = answer(file, variant=variant, sets=sets or (), catalogs=catalogs or ())
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
