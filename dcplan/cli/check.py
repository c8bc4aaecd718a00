"""``dcplan check``."""

from __future__ import annotations

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    NoColorOption,
    OutOption,
    QuietOption,
    SetOption,
    VariantOption,
    VerboseOption,
)
from dcplan.cli.test import CiFormat, CiFormatOption, FilesArgument, annotate, write


def check(
    files: FilesArgument,
    variant: VariantOption = None,
    sets: SetOption = None,
    catalogs: CatalogsOption = None,
    fmt: CiFormatOption = CiFormat.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Check scenarios: syntax, units, references, physical sanity; nothing is solved."""
    from dcplan.answers.check.answer import check as answer
    from dcplan.errors import InputError, Place, Problem
    from dcplan.study.checks import check_all, is_many

    if fmt is CiFormat.JUNIT:
        raise InputError(
            [
                Problem(
                    "DC050", "junit is of expectations", Place("--format"), help="dcplan test FILE"
                )
            ]
        )
    try:
        if is_many(files):
            result = check_all(files, variant=variant, sets=sets or (), catalogs=catalogs or ())
        else:
            result = answer(files[0], variant=variant, sets=sets or (), catalogs=catalogs or ())
    except InputError as error:
        annotate(error, fmt)
        raise
    write(result, fmt, out, quiet=quiet, verbose=verbose, no_color=no_color)
    raise typer.Exit(result.exit_code)
