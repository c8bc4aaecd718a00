"""``dcplan fabric``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcplan.answers.fabric.request import MORE, FabricRequest
from dcplan.cli.command import Output, command
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.result import Result


@dataclass(frozen=True)
class Files:
    """Files of the network: cable list and picture."""

    cables: Annotated[
        Path | None,
        Flag(
            "also write every cable as CSV (-: cables only, to stdout)", metavar="FILE", panel=MORE
        ),
    ] = None
    picture: Annotated[
        Path | None, Flag("also draw the tiers as SVG", metavar="FILE", panel=MORE)
    ] = None


@command
def fabric(request: FabricRequest, files: Files, output: Output) -> Result | None:
    """Design one network: switches, links, optics, cables, power and price."""
    refuse_files(request, files)
    if str(files.cables) == "-":
        _write_cables(request, None)
        return None
    from dcplan.answers.fabric.answer import fabric as answer

    result = answer(request)
    if files.picture is not None:
        from dcplan.report.files import write_whole
        from dcplan.report.svg.tiers import tiers_svg

        write_whole(files.picture, tiers_svg(result))
    if files.cables is not None:
        count = _write_cables(request, files.cables)
        typer.echo(f"{count:,} cables saved to {files.cables}", err=True)
    return result


def refuse_files(request: FabricRequest, files: Files) -> None:
    """Refuse the files of one network for a comparison.

    Raises
    ------
    InputError
        With every such flag.
    """
    from dcplan.errors import InputError, Place, Problem

    given = {"--cables": files.cables, "--picture": files.picture}
    cause, step = "a comparison has no single network", "leave --compare and --for-job out"
    problems = [
        Problem("DC050", cause, Place(flag), help=step)
        for flag, file in given.items()
        if file is not None and request.several
    ]
    if problems:
        raise InputError(problems)


def _write_cables(request: FabricRequest, file: Path | None) -> int:
    """Write the cable schedule and return the number of cables; a file write is atomic."""
    from dcplan.answers.fabric.inventory import cables
    from dcplan.report.cables import write_cables

    return write_cables(cables(request), file)
