"""``dcplan calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from dcplan.cli.options import (
    CatalogsOption,
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    QuietOption,
)


def calibrate(
    result_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="RESULT", help="the JSON that the script wrote; without it, the script"
        ),
    ] = None,
    accelerator: Annotated[
        str | None,
        typer.Option("--accelerator", help="catalog row that was measured, such as h100-sxm"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="file for the script; overlay folder for a RESULT"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite the file")] = False,
    catalogs: CatalogsOption = None,
    fmt: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Write a script that measures your accelerators; read what it measured as a catalog overlay."""
    from dcplan.answers.calibrate.answer import OVERLAY, script
    from dcplan.answers.calibrate.answer import calibrate as answer
    from dcplan.answers.calibrate.read import SCRIPT
    from dcplan.cli.output import check_writable, emit, note
    from dcplan.report.files import write_whole

    if result_file is None:
        if accelerator is not None:
            help_text = "dcplan calibrate calibration.json --accelerator ID -o overlay/"
            _refuse(
                "DC050",
                "--accelerator goes with the JSON that the script wrote",
                "calibrate",
                help_text,
            )
        if out is None:
            _refuse(
                "DC050",
                "--out is missing: a file for the script",
                "calibrate",
                f"dcplan calibrate --out {SCRIPT}",
            )
        _keep(out, force=force)
        check_writable(out)
        write_whole(out, script())
        typer.echo(
            f"{out}: run it with the Python in which you train (with torchrun for the links too), then"
        )
        typer.echo("dcplan calibrate calibration.json --accelerator ID -o overlay/")
        return
    example = f"dcplan calibrate {result_file} --accelerator h100-sxm -o overlay/"
    if accelerator is None:
        _refuse(
            "DC050",
            "--accelerator is missing: the catalog row that was measured",
            "calibrate",
            example,
        )
    if out is None:
        _refuse("DC050", "--out is missing: a folder for the overlay", "calibrate", example)
    target = out / OVERLAY
    _keep(target, force=force)
    check_writable(target)
    found = answer(result_file, accelerator=accelerator, catalogs=catalogs or ())
    write_whole(target, found.overlay)
    emit(found.result, fmt=fmt, out=None, quiet=quiet, no_color=no_color)
    if not quiet:
        note(f"written: {target} (use it with --catalogs {target.parent})")
    raise typer.Exit(found.result.exit_code)


def _refuse(code: str, cause: str, place: str, help_text: str) -> NoReturn:
    from dcplan.errors import InputError, Place, Problem

    raise InputError([Problem(code, cause, Place(place), help=help_text)])


def _keep(path: Path, *, force: bool) -> None:
    """Refuse to overwrite a file without --force."""
    if path.is_file() and not force:
        _refuse("DC006", "the file is there already", str(path), "give --force, or another --out")
