"""Names of the columns of a file: each that is read occurs once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dcplan.errors import InputError, Place, Problem


def check_once(header: Sequence[str], known: Iterable[str], path: str, code: str = "DC057") -> None:
    """Refuse a column that is read and occurs twice: nobody knows which of them counts.

    Parameters
    ----------
    header : sequence of str
        Names of the columns of the file; the case of the letters is ignored.
    known : iterable of str
        Names that are read; another column may occur twice.
    path : str
    code : str

    Raises
    ------
    InputError
        With each such column.

    Examples
    --------
    >>> check_once(["job", "start", "note", "note"], ["job", "start"], "jobs.csv")
    >>> check_once(["job", "Start", "start"], ["job", "start"], "jobs.csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dcplan.errors.InputError: jobs.csv:1: error[DC057]: column 'start' occurs 2 times...
    """
    names = [name.strip().casefold() for name in header]
    read = {name.casefold() for name in known}
    problems = []
    for name, count in Counter(names).items():
        if count > 1 and name in read:
            second = names.index(name, names.index(name) + 1) + 1
            cause = f"column {name!r} occurs {count} times, the second time as column {second}"
            step = "remove or rename all but the one that counts"
            problems.append(Problem(code, cause, Place(path, 1), help=step))
    if problems:
        raise InputError(problems)
