"""Reader of a user's CSV: rows with their line numbers, and names of accelerators."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcplan.catalog.delimiter import check_delimiter
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.provenance import check_date

MOST = 1e15
"""A larger number counts as a typing mistake."""
MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class Line:
    """One row of a file with its line number."""

    number: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Return a cell without surrounding blanks; empty if there is no such cell."""
        return (self.cells.get(column) or "").strip()


def read_lines(path: Path, needed: Sequence[str], usual: Sequence[str]) -> list[Line]:
    """Return all rows of a CSV file.

    Raises
    ------
    InputError
        When the file cannot be read, is not UTF-8, or lacks a required column.
    """
    place = Place(str(path))
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                [Problem("DC006", f"the file is larger than {MOST_BYTES // 1_000_000} MB", place)]
            )
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError([Problem("DC006", f"cannot be read: {error.strerror}", place)]) from error
    except UnicodeDecodeError as error:
        raise InputError(
            [Problem("DC006", "not UTF-8 text", place, help="save the file as CSV UTF-8")]
        ) from error
    reader = csv.DictReader(io.StringIO(text))
    try:
        found = [name.strip() for name in reader.fieldnames or ()]
    except csv.Error as error:
        raise InputError([Problem("DC006", f"not CSV: {error}", Place(str(path), 1, 1))]) from error
    check_delimiter(found, usual, str(path))
    twice = sorted({name for name in found if name and found.count(name) > 1})
    if twice:
        raise InputError(
            [
                Problem("DC015", f"column {name} occurs twice", Place(str(path), 1, 1))
                for name in twice
            ]
        )
    reader.fieldnames = found
    missing = [name for name in needed if name not in found]
    if missing:
        raise InputError(
            [
                Problem(
                    "DC003",
                    f"no column {name}",
                    Place(str(path), 1, 1),
                    did_you_mean(name, found),
                    "columns: " + ", ".join(usual),
                )
                for name in missing
            ]
        )
    try:
        return [
            Line(reader.line_num, {k: v for k, v in row.items() if k and isinstance(v, str)})
            for row in reader
        ]
    except csv.Error as error:
        raise InputError(
            [Problem("DC006", f"not CSV: {error}", Place(str(path), reader.line_num, 1))]
        ) from error


def number(text: str) -> float | None:
    """Return a finite number, or None where there is no text.

    Raises
    ------
    ValueError
        When the text is not a finite number.

    Examples
    --------
    >>> number("1234.5"), number("")
    (1234.5, None)
    """
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not abs(value) < MOST:
        what = "use digits with a decimal point, without separators, below 1e15"
        msg = f"not a number: {text[:40]!r}; {what}"
        raise ValueError(msg)
    return value


def date_of(text: str) -> str | None:
    """Return the date at the start of a cell, without remarks; None if there is no date.

    Examples
    --------
    >>> date_of("2026-09-14"), date_of("2026 (rate card)")
    ('2026-09-14', '2026')
    >>> date_of("14/09/2026"), date_of("2026-13")
    (None, None)
    """
    match = re.match(r"\d{4}(-Q[1-4]|-\d{2}(-\d{2})?)?(?![\d-])", text)
    if match is None:
        return None
    try:
        return check_date(match[0])
    except ValueError:
        return None
