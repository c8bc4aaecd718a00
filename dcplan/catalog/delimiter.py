"""Delimiter of a user's CSV: dcplan reads commas, and names another delimiter as the cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dcplan.errors import InputError, Place, Problem

OTHERS = {";": "';'", "\t": "tabs", "|": "'|'"}
"""Delimiters of other programs, with their names in messages."""


def other_delimiter(header: Sequence[str], known: Iterable[str]) -> str | None:
    """Return the delimiter that gives more of the known columns than a comma; None for a comma.

    Parameters
    ----------
    header
        Cells of the first line, read with a comma as delimiter.
    known
        Names of columns that dcplan reads; the case of the letters is ignored.

    Examples
    --------
    >>> other_delimiter(["id;model;tokens"], ("id", "model"))
    ';'
    >>> other_delimiter(["id", "a;b"], ("id", "model")) is None
    True
    """
    names = {name.casefold() for name in known}

    def count(cells: Iterable[str]) -> int:
        return len(names & {cell.strip().strip('"').casefold() for cell in cells})

    line = ",".join(header)
    best = max(OTHERS, key=lambda mark: count(line.split(mark)))
    return best if count(line.split(best)) > count(header) else None


def check_delimiter(header: Sequence[str], known: Iterable[str], path: str) -> None:
    """Refuse a table whose columns another delimiter separates.

    Raises
    ------
    InputError
        With the delimiter of the file (DC006).
    """
    found = other_delimiter(header, known)
    if found is not None:
        cause = f"the file uses {OTHERS[found]} as delimiter, dcplan reads commas"
        next_step = "save it as CSV with commas between columns and points as decimal marks"
        raise InputError([Problem("DC006", cause, Place(path, 1, 1), help=next_step)])
