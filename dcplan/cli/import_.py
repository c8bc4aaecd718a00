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
class Saved:
    """Where the imported data go."""

    save: Annotated[
        Path | None,
        Flag(
            "save the imported data: an overlay folder for --catalogs (prices), or a file of "
            "overrides (spend, workbook)"
        ),
    ] = None


@command
def import_(request: ImportRequest, saved: Saved, output: Output) -> None:
    """Import a price list, a cost export or an edited workbook.

    Every row is imported, or rejected with a reason.
    """
    from dcplan.answers.imports.answer import imported
    from dcplan.cli.output import check_writable, note
    from dcplan.report.files import write_whole

    prices = request.kind is Kind.PRICES
    target = saved.save / "cloud" / "imported.yaml" if saved.save and prices else saved.save
    if target is not None:
        check_writable(target)
    output.refuse_unwritable()
    result, text = imported(request)
    if target is not None and text and result.exit_code == 0:
        write_whole(target, text)
        use = f"use it with --catalogs {saved.save}" if prices else "copy it into a scenario"
        note(f"saved to {target}; {use}")
    elif target is not None:
        note(f"nothing saved to {target}: there is nothing to set")
    output.write(result)
    raise typer.Exit(result.exit_code)
