"""Flags that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


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
CatalogsOption = Annotated[
    list[str] | None, typer.Option("--catalogs", help="overlay folder; repeatable, the last wins")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="no warnings on stderr")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="every input and every row")]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="plain text (also NO_COLOR)")]
DebugOption = Annotated[bool, typer.Option("--debug", help="show the traceback of a bug")]
