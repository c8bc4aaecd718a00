"""``dcplan demand``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from dcplan.answers.demand.request import DemandRequest
from dcplan.cli.command import Output, command
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class Target(Output):
    """The answer goes to stdout, the demand of a scenario to ``--out``."""

    out: Annotated[
        Path | None,
        Flag("file of the workloads or reliability for a scenario (YAML)", names=("--out", "-o")),
    ] = None
    anonymize: Annotated[
        Path | None,
        Flag(
            "also write the jobs as CSV without users and names, moved by whole weeks",
            metavar="FILE",
        ),
    ] = None


def _refuse_log(path: Path, request: DemandRequest) -> None:
    """Refuse to write over a log.

    Raises
    ------
    InputError
        When a file to write is one to read (DC050).
    """
    from dcplan.errors import InputError, Place, Problem

    if any(path.absolute() == f.absolute() for f in (*request.files, *request.counters)):
        cause = "is a log that is read; the answer would replace it"
        raise InputError([Problem("DC050", cause, Place(str(path)), help="give another file")])


@command
def demand(request: DemandRequest, target: Target) -> None:
    """Read logs of jobs: what they waited for, and the accelerators that keep their waits."""
    from dcplan.answers.demand.answer import demanded
    from dcplan.cli.output import check_writable, note
    from dcplan.report.files import write_whole
    from dcplan.report.sizing_progress import SizingProgress

    for path in (target.out, target.anonymize):
        if path is not None:
            check_writable(path)
            _refuse_log(path, request)
    title = f"Demand of {request.files[0].name}" + (" and others" if request.files[1:] else "")
    with (
        SizingProgress(sys.stderr, title, color=not target.no_color)
        if target.shows_progress
        else nullcontext() as bar
    ):
        found = demanded(replace(request, progress=bar))
    if target.anonymize is not None and found.log is None:
        from dcplan.errors import InputError, Place, Problem

        raise InputError([Problem("DC050", "only for logs of jobs", Place("--anonymize"))])
    if target.out is not None and found.block:
        write_whole(target.out, found.block)
        note(f"saved to {target.out}; a scenario takes it with extends: {target.out.name}")
    elif target.out is not None and found.no_block:
        from dcplan.errors import InputError, Place, Problem

        raise InputError([Problem("DC003", found.no_block, Place("--out"))])
    elif target.out is not None:
        note(f"nothing saved to {target.out}: there is no size, or no --model for requests")
    if target.anonymize is not None and found.log is not None:
        from dcplan.inputs.logs.anonymous import anonymous
        from dcplan.inputs.logs.tables.write import write_jobs

        write_jobs(anonymous(found.log), target.anonymize)
        note(
            f"saved the jobs without names to {target.anonymize}; the answer and --out keep the names"
        )
    target.write(found.result, to_file=False)
    raise typer.Exit(found.result.exit_code)
