"""Flags that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import complete


class Format(StrEnum):
    """Output formats."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MD = "md"


FormatOption = Annotated[Format, typer.Option("--format", "-f", help="table, json, csv or md")]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", help="write to this file instead of stdout")
]
ExportOption = Annotated[
    str | None,
    typer.Option(
        "--export", metavar="LIST", help="xlsx,csv,html,md,json,focus into the folder --out"
    ),
]
RedactOption = Annotated[
    bool, typer.Option("--redact", help="own prices and money by item are left out")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="key=value, applied last; repeatable", metavar="K=V"),
]
VariantOption = Annotated[
    str | None, typer.Option("--scenario", help="a name in the file's `scenarios:`")
]
CatalogsOption = Annotated[
    list[str] | None, typer.Option("--catalogs", help="overlay folder; repeatable, the last wins")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="no warnings on stderr")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="every input and every row")]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="plain text (also NO_COLOR)")]
NoProgressOption = Annotated[bool, typer.Option("--no-progress", help="no progress on stderr")]
DebugOption = Annotated[bool, typer.Option("--debug", help="show the traceback of a bug")]
FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="scenario file, or the name of a packaged example",
        autocompletion=complete.scenarios,
    ),
]
