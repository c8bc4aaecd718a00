"""``dcplan schema``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from dcplan.cli.command import command
from dcplan.specs.request import Flag


class What(StrEnum):
    """Documents with a schema."""

    SCENARIO = "scenario"
    CATALOG = "catalog"
    RESULT = "result"


@dataclass(frozen=True)
class SchemaRequest:
    """The schema of one kind of document."""

    what: Annotated[What, Flag("scenario, catalog or result", argument=True)]
    out: Annotated[
        Path | None, Flag("write to this file instead of stdout", names=("--out", "-o"))
    ] = None


@command
def schema(request: SchemaRequest) -> None:
    """Print the JSON Schema of scenarios, catalogs or results."""
    import json

    from dcplan.answers.reference.schema import schema as answer
    from dcplan.report.files import write_whole

    text = json.dumps(answer(request.what.value), indent=1, sort_keys=True) + "\n"
    if request.out is None:
        sys.stdout.write(text)
    else:
        write_whole(request.out, text)
