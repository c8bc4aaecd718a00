"""``dcplan calibrate``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dcplan.answers.calibrate.request import (
    EXAMPLES,
    SCRIPT,
    CalibrateRequest,
    form_of,
    missing,
    problem,
)
from dcplan.cli.command import Output, command
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class Target(Output):
    """The answer goes to stdout, and the script, the overlay or the rows to ``--out``."""

    out: Annotated[
        Path | None,
        Flag(
            "file of the script or of the rows of --from-log; otherwise the overlay folder",
            names=("--out", "-o"),
        ),
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
    """Turn your own runs or measured kernels into a catalog overlay; read training logs."""
    from dcplan.answers.calibrate.answer import OVERLAY, script
    from dcplan.answers.calibrate.answer import calibrate as answer
    from dcplan.cli.output import note
    from dcplan.report.files import write_whole

    form = form_of(request)
    out = _out(request, target, form)
    if form is None and out is not None:
        write_whole(target.check(out), script())
        torch = "the Python that you use for training (with torchrun to measure the links, too)"
        typer.echo(f"saved to {out}: run it with {torch}, then")
        typer.echo("dcplan calibrate calibration.json --accelerator ID -o overlay/")
        return
    overlay = form != "--from-log"
    file = target.check(out / OVERLAY if overlay else out) if out is not None else None
    found = answer(request)
    if file is not None:
        write_whole(file, found.overlay or found.rows)
    target.write(found.result, to_file=False)
    if target.quiet:
        return
    if file is None:
        note(f"nothing is saved without --out, such as: {EXAMPLES[form or 'RESULT']}")
    elif overlay:
        note(f"saved to {file}; use it with --catalogs {out}")
    else:
        note(f"saved to {file}; then dcplan calibrate --runs {file} -o overlay/")


def _out(request: CalibrateRequest, target: Target, form: str | None) -> Path | None:
    """Return the output path; refuse a request with missing arguments."""
    from dcplan.errors import InputError

    problems = missing(request) if form == "RESULT" else []
    if target.out is None and form in ("RESULT", None):
        what = "the file of the script" if form is None else "the folder of the overlay"
        example = f"dcplan calibrate {request.result_file} --accelerator h100-sxm -o overlay/"
        usage = f"dcplan calibrate --out {SCRIPT}" if form is None else example
        problems.append(problem(f"--out is missing: {what}", usage))
    if problems:
        raise InputError(problems)
    return target.out
