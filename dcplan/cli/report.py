"""``dcplan report``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli.command import command
from dcplan.specs.export import Target
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class ReportRequest:
    """One result, or two results of the same verb, as a page."""

    result_file: Annotated[
        Path,
        Flag("result saved with -f json -o", metavar="RESULT", argument=True, complete="results"),
    ]
    other_file: Annotated[
        Path | None,
        Flag(
            "second result of the same verb, for one page that compares both",
            metavar="[RESULT]",
            argument=True,
            complete="results",
        ),
    ] = None
    out: Annotated[
        Path | None,
        Flag(
            "file of the page (default: RESULT.html, or RESULT-RESULT.html)", names=("--out", "-o")
        ),
    ] = None
    answers: Annotated[
        tuple[Path, ...],
        Flag(
            "saved result of explain or tco on the scenario of a plan; repeatable",
            metavar="RESULT",
            names=("--with",),
        ),
    ] = ()
    labels: Annotated[
        tuple[str, ...],
        Flag(
            "name of the first result, then of the second, on the page; give it twice",
            names=("--label",),
            metavar="NAME",
        ),
    ] = ()
    redact: Annotated[bool, Flag("omit user prices and line-item costs")] = False


@command
def report(request: ReportRequest) -> None:
    """Write one result, or two side by side, as a page for a browser."""
    from dcplan.api.results import export_both
    from dcplan.errors import InputError, Place, Problem
    from dcplan.report.exports import write_export
    from dcplan.report.redact import redacted
    from dcplan.report.saved import read_result

    file, other = request.result_file, request.other_file
    result = read_result(file)
    answers = [read_result(path) for path in request.answers]
    if other is not None:
        path = request.out or file.with_name(f"{file.stem}-{other.stem}.html")
        stems = (file.stem, other.stem) if file.stem != other.stem else ()
        labels = request.labels or stems
        export_both(result, read_result(other), path, labels, answers, redact=request.redact)
        typer.echo(path)
        return
    if request.labels:
        cause = "--label names two results, and one is given"
        raise InputError([Problem("DC050", cause, Place("--label"))])
    if request.redact:
        result, answers = redacted(result), [redacted(x) for x in answers]
    path = request.out or file.with_suffix(".html")
    typer.echo(write_export(result, Target.HTML, path, answers))
