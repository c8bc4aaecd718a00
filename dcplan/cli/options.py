"""Output formats, common to several verbs."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """Output formats."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MD = "md"
