"""``dcplan check``."""

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


def check(
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
    """Check a scenario: syntax, units, references, physical sanity; nothing is solved."""
    from dcplan.answers.check import check as answer
    from dcplan.cli.output import emit

    result = answer(file, variant=variant, sets=sets or (), catalogs=catalogs or ())
    emit(result, fmt=fmt, out=out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
