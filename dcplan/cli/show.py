"""``dcplan show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli.options import (
    DebugOption,
    Format,
    FormatOption,
    NoColorOption,
    OutOption,
    VerboseOption,
)


def show(
    result_file: Annotated[
        Path, typer.Argument(metavar="RESULT", help="a result saved with -f json -o")
    ],
    section: Annotated[
        str | None, typer.Argument(metavar="[SECTION]", help="a table, or metrics, inputs")
    ] = None,
    fmt: FormatOption = Format.TABLE,
    out: OutOption = None,
    verbose: VerboseOption = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> None:
    """Show a saved result, or one part of it."""
    from dcplan.cli.output import emit
    from dcplan.report.saved import read_result

    result = read_result(result_file)
    if section is None:
        emit(result, fmt=fmt, out=out, quiet=False, verbose=verbose, no_color=no_color)
        return
    text = _section(result_file, section, fmt)
    if out is not None:
        from dcplan.report.files import write_whole

        write_whole(out, text)
    else:
        sys.stdout.write(text)


def _section(path: Path, section: str, fmt: Format) -> str:
    import json

    from dcplan.errors import InputError, Place, Problem, did_you_mean
    from dcplan.report.csvs import all_csv
    from dcplan.report.saved import read_result
    from dcplan.report.terminal import table_text

    result = read_result(path)
    files = all_csv(result)
    known = [name.removesuffix(".csv") for name in files]
    if section not in known:
        cause = f"no section {section!r}: one of {', '.join(sorted(known))}"
        raise InputError([Problem("DC010", cause, Place(str(path)), did_you_mean(section, known))])
    if fmt is Format.CSV:
        return files[f"{section}.csv"]
    if fmt is Format.JSON:
        return (
            json.dumps(
                result.as_dict()[section]
                if section in {"metrics", "inputs"}
                else result.as_dict()["tables"][section],
                sort_keys=True,
                indent=1,
            )
            + "\n"
        )
    if fmt is Format.MD and section in result.tables:
        from dcplan.report.markdown import table_text as markdown_table

        return markdown_table(result.tables[section].columns, result.tables[section].rows)
    return table_text(result, section)
