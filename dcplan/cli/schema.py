"""``dcplan schema``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from dcplan.cli.options import DebugOption, OutOption


class What(StrEnum):
    """Documents with a schema."""

    SCENARIO = "scenario"
    CATALOG = "catalog"
    RESULT = "result"


def schema(
    what: Annotated[What, typer.Argument(help="scenario, catalog or result")],
    out: OutOption = None,
    debug: DebugOption = False,
) -> None:
    """Print the JSON Schema of a document."""
    import json

    from dcplan.answers.reference.schema import schema as answer
    from dcplan.report.files import write_whole

    text = json.dumps(answer(what.value), indent=1, sort_keys=True) + "\n"
    if out is None:
        sys.stdout.write(text)
    else:
        write_whole(out, text)
