"""Table of the ``doctor`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, TableSpec


@dataclass(frozen=True)
class VersionRow:
    """One program, library or path."""

    what: Annotated[str, Column("Program, library or path")]
    value: Annotated[str | int, Column("Version, state or path")]


VERSIONS = TableSpec("versions", VersionRow, "Versions")
