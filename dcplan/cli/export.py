"""``dcplan export``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcplan.cli.options import DebugOption

if TYPE_CHECKING:
    from dcplan.result import Result


class Target(StrEnum):
    """Export formats."""

    CSV = "csv"
    JSON = "json"
    NETBOX = "netbox"
    FOCUS = "focus"


def export(
    result_file: Annotated[Path, typer.Argument(metavar="RESULT", help="a result saved with -f json -o")],
    to: Annotated[
        Target,
        typer.Option("--to", help="csv (a folder), json, netbox (of a fabric answer), focus (of a plan)"),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder for csv and netbox, file for json and focus")
    ] = None,
    debug: DebugOption = False,
) -> None:
    """Export a saved result."""
    from dcplan.cli.output import read_result
    from dcplan.report.csvs import all_csv
    from dcplan.report.files import write_whole

    result = read_result(result_file)
    if to is Target.JSON:
        if out is None:
            sys.stdout.write(result.to_json())
        else:
            write_whole(out, result.to_json())
        return
    if to is Target.FOCUS:
        _focus(result, out or result_file.with_suffix(".focus.csv"))
        return
    folder = out or result_file.with_suffix("")
    if to is Target.NETBOX:
        from dcplan.answers.fabric_devices import inventory
        from dcplan.report.netbox import write_netbox

        cables, models = inventory(result)
        count = write_netbox(result, cables, models, folder, "dcplan")
        typer.echo(f"{count:,} devices in {folder}: import the files in the order of their numbers")
        return
    files = all_csv(result)
    for name, text in files.items():
        write_whole(folder / name, text)
    typer.echo(f"{len(files)} files in {folder}")


def _focus(result: Result, out: Path) -> None:
    from dcplan.errors import InputError, Place, Problem
    from dcplan.report.files import write_whole
    from dcplan.report.focus import VERSION, focus_csv

    try:
        text = focus_csv(result)
    except ValueError as error:
        help_text = "dcplan plan FILE -f json -o RESULT"
        raise InputError([Problem("DC050", str(error), Place("RESULT"), help=help_text)]) from error
    write_whole(out, text)
    typer.echo(f"{text.count(chr(10)) - 1:,} rows of FOCUS {VERSION} in {out}: planned cost, not invoiced")
