"""Rows of a CSV of measurements or prices, packaged or from the user."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from dcplan.catalog.delimiter import check_delimiter
from dcplan.catalog.yaml12 import read_text
from dcplan.errors import InputError, Place, Problem

MOST_CHARACTERS = 10**7
"""Longest cell."""


def rows_of(file: Path, required: Sequence[str], help_text: str) -> list[dict[str, str]]:
    """Return the rows of a file, without spaces around its cells.

    Raises
    ------
    InputError
        When the file cannot be read or lacks a required column; ``help_text`` is the next step.
    """
    csv.field_size_limit(MOST_CHARACTERS)
    reader = csv.DictReader(io.StringIO(read_text(file).removeprefix("\ufeff")))
    check_delimiter(reader.fieldnames or (), required, str(file))
    missing = [c for c in required if c not in (reader.fieldnames or ())]
    if missing:
        cause = f"columns missing: {', '.join(missing)}"
        raise InputError([Problem("DC053", cause, Place(str(file), 1, 1), help=help_text)])
    return [{k: (v or "").strip() for k, v in row.items() if k} for row in reader]
