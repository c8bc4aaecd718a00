"""``dcplan import``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from dcplan.answers.imports.request import ImportRequest, Kind
from dcplan.cli.command import Output, command
from dcplan.cli.options import Format
from dcplan.specs.request import Flag

MANY = 15
"""Rejected rows above which the screen shows their number by reason instead of each row."""


@dataclass(frozen=True)
class ImportOutput(Output):
    """Output flags; the imported data go to ``--out``, the answer to stdout."""

    out: Annotated[
        Path | None,
        Flag(
            "overlay folder for --catalogs (prices), or file of overrides (spend, workbook)",
            names=("--out", "-o"),
        ),
    ] = None


@command
def import_(request: ImportRequest, output: ImportOutput) -> None:
    """Import a price list, a cost export or an edited workbook.

    Every row is imported, or rejected with a reason.
    """
    from dcplan.answers.imports.answer import imported, rejected
    from dcplan.cli.output import check_writable, note
    from dcplan.report.files import write_whole
    from dcplan.specs.imports import REJECTED

    prices = request.kind is Kind.PRICES
    target = output.out / "cloud" / "imported.yaml" if output.out and prices else output.out
    if target is not None:
        check_writable(target)
    result, text = imported(request)
    if target is not None and result.exit_code == 0:
        write_whole(target, text)
        use = f"use it with --catalogs {output.out}" if prices else "copy it into a scenario"
        note(f"saved to {target}; {use}")
    full = output.fmt is not Format.TABLE or output.verbose
    if not full and len(result.tables[REJECTED.name].rows) > MANY:
        note(f"{rejected(result)}; --verbose or -f json lists every row")
        left = {name: table for name, table in result.tables.items() if name != REJECTED.name}
        result = replace(result, tables=left)
    output.write(result, to_file=False)
    raise typer.Exit(result.exit_code)
