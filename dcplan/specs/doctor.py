"""Table of the ``doctor`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, TableSpec


@dataclass(frozen=True)
class VersionRow:
    """One program, library or place."""

    what: Annotated[str, Column("Program, library or place")]
    value: Annotated[str | int, Column("Its version, answer or path")]


VERSIONS = TableSpec("versions", VersionRow, "Versions")
