"""What ``dcplan import`` is asked: a file, what it holds, and how to read it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from dcplan.scenario.ref import Catalogs
from dcplan.specs.request import Flag


class Kind(StrEnum):
    """What a file holds."""

    PRICES = "prices"
    SPEND = "spend"
    WORKBOOK = "workbook"


@dataclass(frozen=True)
class ImportRequest:
    """A user's file."""

    file: Annotated[Path, Flag("CSV, or an exported workbook", metavar="FILE", argument=True)]
    kind: Annotated[
        Kind, Flag("prices (a list of rented instances), spend (a FOCUS export) or workbook")
    ]
    fx: Annotated[tuple[str, ...], Flag("repeatable: EUR=1.08, USD for one EUR")] = ()
    catalogs: Catalogs = ()
