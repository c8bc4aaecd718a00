"""``dcplan export``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli.command import command
from dcplan.specs.export import FOLDERS, SUFFIX, Target
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class ExportRequest:
    """A saved result in another format."""

    result_file: Annotated[
        Path, Flag("result saved with -f json -o", metavar="RESULT", argument=True)
    ]
    to: Annotated[
        Target,
        Flag(
            "csv or parquet (a folder), xlsx, focus, purchases or memo (of a plan), "
            "netbox (of a fabric answer), "
            "html, md, json"
        ),
    ]
    out: Annotated[
        Path | None,
        Flag("folder for csv, parquet and netbox, otherwise a file", names=("--out", "-o")),
    ] = None
    answers: Annotated[
        tuple[Path, ...],
        Flag(
            "saved result of explain or tco on the same scenario, for memo and page; repeatable",
            metavar="RESULT",
            names=("--with",),
        ),
    ] = ()
    redact: Annotated[bool, Flag("omit user prices and line-item costs")] = False


@command
def export(request: ExportRequest) -> None:
    """Export a saved result to a workbook, CSV, Parquet, memo, NetBox or FOCUS."""
    from dcplan.report.exports import write_export
    from dcplan.report.redact import redacted
    from dcplan.report.saved import read_result

    result, to = read_result(request.result_file), request.to
    others = [read_result(path) for path in request.answers]
    if request.redact:
        result, others = redacted(result), [redacted(x) for x in others]
    if to is Target.JSON and request.out is None:
        sys.stdout.write(result.to_json())
        return
    if to is Target.PARQUET:
        from dcplan.report.parquet import refuse_without_pyarrow

        refuse_without_pyarrow("--to")
    suffix = "" if to in FOLDERS - {Target.PARQUET} else f".{SUFFIX.get(to, to)}"
    default = request.result_file.with_suffix(suffix)
    typer.echo(write_export(result, to, request.out or default, others))
