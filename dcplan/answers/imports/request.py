"""Request of ``dcplan import``: a file, its kind, and the exchange rates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from dcplan.scenario.ref import Catalogs
from dcplan.specs.request import Flag


class Kind(StrEnum):
    """The content of an imported file."""

    PRICES = "prices"
    SPEND = "spend"
    WORKBOOK = "workbook"


@dataclass(frozen=True)
class ImportRequest:
    """A file of the user."""

    file: Annotated[Path, Flag("CSV, or an exported workbook", metavar="FILE", argument=True)]
    kind: Annotated[
        Kind, Flag("prices (a list of rented instances), spend (a FOCUS export) or workbook")
    ]
    fx: Annotated[
        tuple[str, ...], Flag("exchange rate: USD for one unit, such as EUR=1.08; repeatable")
    ] = ()
    catalogs: Catalogs = ()
