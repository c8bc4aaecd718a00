"""``dcplan export``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli.exports import SUFFIX, Target, write_export
from dcplan.cli.options import DebugOption


def export(
    result_file: Annotated[
        Path, typer.Argument(metavar="RESULT", help="a result saved with -f json -o")
    ],
    to: Annotated[
        Target,
        typer.Option(
            "--to",
            help="csv (a folder), xlsx, focus (of a plan), netbox (of a fabric answer), html, md, json",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder for csv and netbox, else a file")
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="prices and whatever they would follow from left out")
    ] = False,
    debug: DebugOption = False,
) -> None:
    """Export a saved result; nothing is solved again."""
    from dcplan.report.redact import redacted
    from dcplan.report.saved import read_result

    result = read_result(result_file)
    if redact:
        result = redacted(result)
    if to is Target.JSON and out is None:
        sys.stdout.write(result.to_json())
        return
    default = result_file.with_suffix(
        "" if to in (Target.CSV, Target.NETBOX) else f".{SUFFIX.get(to, to)}"
    )
    typer.echo(write_export(result, to, out or default))
