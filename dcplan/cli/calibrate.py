"""``dcplan calibrate``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dcplan.answers.calibrate.request import SCRIPT, CalibrateRequest, missing, problem
from dcplan.cli.command import Output, command
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class Target(Output):
    """The answer goes to stdout, and the script or the overlay to ``--out``."""

    out: Annotated[
        Path | None,
        Flag("file of the script; with a RESULT, the overlay folder", names=("--out", "-o")),
    ] = None
    force: Annotated[bool, Flag("overwrite an existing file")] = False

    def check(self, path: Path) -> Path:
        """Check that a file can be written; an existing file needs ``--force``.

        Raises
        ------
        InputError
            When the file already exists.
        """
        from dcplan.cli.output import check_writable
        from dcplan.errors import InputError, Place, Problem

        if path.is_file() and not self.force:
            cause, next_step = "the file already exists", "use --force or a different --out"
            raise InputError([Problem("DC006", cause, Place(str(path)), help=next_step)])
        check_writable(path)
        return path


@command
def calibrate(request: CalibrateRequest, target: Target) -> None:
    """Measure your accelerators and turn the result into a catalog overlay."""
    from dcplan.answers.calibrate.answer import OVERLAY, script
    from dcplan.answers.calibrate.answer import calibrate as answer
    from dcplan.cli.output import note
    from dcplan.report.files import write_whole

    folder = _folder(request, target)
    if request.result_file is None:
        write_whole(target.check(folder), script())
        torch = "the Python that you use for training (with torchrun to measure the links, too)"
        typer.echo(f"saved to {folder}: run it with {torch}, then")
        typer.echo("dcplan calibrate calibration.json --accelerator ID -o overlay/")
        return
    file = target.check(folder / OVERLAY)
    found = answer(request)
    write_whole(file, found.overlay)
    target.write(found.result, to_file=False)
    if not target.quiet:
        note(f"saved to {file}; use it with --catalogs {folder}")


def _folder(request: CalibrateRequest, target: Target) -> Path:
    """Return the output path; refuse a request with missing arguments."""
    from dcplan.errors import InputError

    script = request.result_file is None
    problems = []
    if script and request.accelerator is not None:
        example = "dcplan calibrate calibration.json --accelerator ID -o overlay/"
        problems.append(problem("--accelerator needs the JSON result of the script", example))
    elif not script:
        problems += missing(request)
    if target.out is None:
        example = f"dcplan calibrate {request.result_file} --accelerator h100-sxm -o overlay/"
        what = "the file of the script" if script else "the folder of the overlay"
        usage = f"dcplan calibrate --out {SCRIPT}" if script else example
        problems.append(problem(f"--out is missing: {what}", usage))
    if problems or target.out is None:
        raise InputError(problems)
    return target.out
