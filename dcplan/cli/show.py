"""``dcplan show``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dcplan.cli.command import Output, command
from dcplan.cli.options import Format
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.result import Result


@dataclass(frozen=True)
class ShowRequest:
    """A saved result, or one part of it."""

    result_file: Annotated[
        Path, Flag("result saved with -f json -o", metavar="RESULT", argument=True)
    ]
    section: Annotated[
        str | None, Flag("name of a table, metrics or inputs", metavar="[SECTION]", argument=True)
    ] = None


@command
def show(request: ShowRequest, output: Output) -> None:
    """Show a saved result, or one table of it."""
    from dcplan.report.saved import read_result

    result = read_result(request.result_file)
    if request.section is None:
        output.write(result)
        return
    text = _section(result, request.section, request.result_file, output.fmt)
    if output.out is not None:
        from dcplan.report.files import write_whole

        write_whole(output.out, text)
    else:
        sys.stdout.write(text)


def _section(result: Result, section: str, path: Path, fmt: Format) -> str:
    """Return one table, the metrics or the inputs as text.

    Raises
    ------
    InputError
        When the result has no such section.
    """
    import json

    from dcplan.errors import InputError, Place, Problem, did_you_mean
    from dcplan.report.csvs import all_csv
    from dcplan.report.text.terminal import table_text

    files = all_csv(result)
    known = [name.removesuffix(".csv") for name in files]
    if section not in known:
        cause = f"no section {section!r}: one of {', '.join(sorted(known))}"
        raise InputError([Problem("DC010", cause, Place(str(path)), did_you_mean(section, known))])
    if fmt is Format.CSV:
        return files[f"{section}.csv"]
    if fmt is Format.JSON:
        document = result.as_dict()
        part = document if section in {"metrics", "inputs"} else document["tables"]
        return json.dumps(part[section], sort_keys=True, indent=1) + "\n"
    if fmt is Format.MD and section in result.tables:
        from dcplan.report.text.markdown import table_text as markdown_table
        from dcplan.report.text.view import view

        return markdown_table(view(result.tables[section].columns, result.tables[section].rows))
    return table_text(result, section)
