"""``dcplan doctor``."""

from __future__ import annotations

import typer

from dcplan.cli.options import DebugOption, Format, FormatOption, NoColorOption, OutOption


def doctor(
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Print versions, solver and paths; safe to paste in an issue."""
    from dcplan.answers.reference.doctor import doctor as answer
    from dcplan.cli.output import emit

    result = answer()
    emit(result, fmt=fmt, out=out, quiet=True, no_color=no_color)
    raise typer.Exit(result.exit_code)
