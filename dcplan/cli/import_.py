"""``dcplan import``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dcplan.answers.imports.request import ImportRequest, Kind
from dcplan.cli.command import Output, command
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class ImportOutput(Output):
    """How the answer is written; ``--out`` takes what was read, the answer goes to stdout."""

    out: Annotated[
        Path | None,
        Flag(
            "prices: overlay folder for --catalogs; else: file of overrides", names=("--out", "-o")
        ),
    ] = None


@command
def import_(request: ImportRequest, output: ImportOutput) -> None:
    """Import a price list, a cost export or an edited workbook.

    Every row is used, or refused with its reason.
    """
    from dcplan.answers.imports.answer import imported
    from dcplan.cli.output import check_writable
    from dcplan.report.files import write_whole

    prices = request.kind is Kind.PRICES
    target = output.out / "cloud" / "imported.yaml" if output.out and prices else output.out
    if target is not None:
        check_writable(target)
    result, text = imported(request)
    if target is not None and result.exit_code == 0:
        write_whole(target, text)
        use = f"--catalogs {output.out}" if prices else "copy into a scenario's overrides"
        typer.echo(f"written: {target} ({use})", err=True)
    output.write(result, to_file=False)
    raise typer.Exit(result.exit_code)
