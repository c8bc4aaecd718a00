"""Cells of a log as numbers: times, durations and plain numbers, many at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from dcplan.demand.log.jobs import Array, Flags
from dcplan.units import SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

MOST_SECONDS = 1e11
"""Time at most, in either direction from 1970."""
MOST_NUMBER = 1e12
NOTHING = frozenset(
    ("", "unknown", "none", "n/a", "na", "nan", "nat", "null", "(null)", "invalid", "\\n")
)
"""Texts of an unknown value, in lower case."""
NEVER = frozenset(("unlimited", "partition_limit", "infinite"))
"""Texts of a limit that is none."""
SECOND_LENGTHS = {3, 19}
"""Lengths of ``NaT`` and of a date with time of day to the second."""
ISO_SECOND = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
DURATION = re.compile(r"(?:(\d+)-)?(\d+):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:\.\d+)?")
RELATIVE = re.compile(
    r"(?:(?:ystday|tomorr|today|mon|tue|wed|thu|fri|sat|sun|\d{1,2} [a-z]{3})\b.*|\d\d:\d\d(:\d\d)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Moments:
    """Times of a column."""

    value_s: Array
    """Seconds since 1970: in UTC, or by the local clock where ``local``; NaN: unknown. [s]"""
    local: Flags
    bad: tuple[tuple[int, str], ...]
    """Positions of cells that are no times, with the cause."""


def moments(cells: Sequence[str]) -> Moments:
    """Return the times of a column: seconds, or dates with time of day, with or without a zone.

    Examples
    --------
    >>> found = moments(["1970-01-02T00:00:00", "Unknown", "1970-01-01T01:00:00+01:00"])
    >>> found.value_s.tolist(), found.local.tolist()
    ([86400.0, nan, 0.0], [True, False, False])
    >>> moments(["", "200"]).value_s.tolist()
    [nan, 200.0]
    >>> moments(["Ystday 10:00"]).bad
    ((0, "'Ystday 10:00' is a relative time; export with SLURM_TIME_FORMAT=%s"),)
    """
    none = np.zeros(len(cells), dtype=np.bool_)
    try:
        value = np.array(list(map(float, cells)), dtype=np.float64)
    except ValueError:
        pass
    else:
        if np.all(np.abs(value) <= MOST_SECONDS):
            return Moments(value, none, ())
    filled = ["NaT" if c.strip().lower() in NOTHING else c for c in cells]
    if set(map(len, filled)) <= SECOND_LENGTHS and all(
        c == "NaT" or ISO_SECOND.fullmatch(c) for c in filled
    ):
        try:
            dates = np.array(filled, dtype="datetime64[s]")
        except ValueError:
            pass
        else:
            known = ~np.isnat(dates)
            seconds = np.where(known, dates.astype(np.int64), 0).astype(np.float64)
            return Moments(np.where(known, seconds, np.nan), known, ())
    return _one_by_one(filled)


def _one_by_one(cells: Sequence[str]) -> Moments:
    """Return the times of cells of several forms."""
    value = np.full(len(cells), np.nan)
    local = np.zeros(len(cells), dtype=np.bool_)
    bad: list[tuple[int, str]] = []
    for i, cell in enumerate(cells):
        if cell == "NaT":
            continue
        try:
            value[i], local[i] = _moment(cell.strip())
        except ValueError as error:
            bad.append((i, str(error)))
    return Moments(value, local, tuple(bad))


def _moment(text: str) -> tuple[float, bool]:
    """Return seconds, and whether they are of a local clock."""
    try:
        seconds, local = float(text), False
    except ValueError:
        if RELATIVE.fullmatch(text):
            cause = f"{text!r} is a relative time; export with SLURM_TIME_FORMAT=%s"
            raise ValueError(cause) from None
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            cause = f"{text!r} is neither seconds nor a date with time of day"
            raise ValueError(cause) from None
        local = date.tzinfo is None
        seconds = (date.replace(tzinfo=UTC) if local else date).timestamp()
    if not abs(seconds) <= MOST_SECONDS:
        msg = f"{text!r} is not a time in seconds; divide milliseconds by 1,000"
        raise ValueError(msg)
    return seconds, local


def duration_s(text: str) -> float:
    """Return a duration: seconds, or ``[D-]HH:MM:SS``; NaN where there is none. [s].

    Raises
    ------
    ValueError
        When the text is neither.

    Examples
    --------
    >>> duration_s("1-02:00:30"), duration_s("90"), duration_s("00:00:00")
    (93630.0, 90.0, 0.0)
    """
    match = DURATION.fullmatch(text.strip())
    if match is None:
        return number(text)
    days, first, second, third = (float(x or 0.0) for x in match.groups())
    if match[4] is None and match[1] is None:  # MM:SS
        return first * SECONDS_PER_MINUTE + second
    return days * SECONDS_PER_DAY + first * SECONDS_PER_HOUR + second * SECONDS_PER_MINUTE + third


def number(text: str) -> float:
    """Return a number; NaN where there is none.

    Raises
    ------
    ValueError
        When the text is not a finite number.
    """
    plain = text.strip()
    if plain.lower() in NOTHING or plain.lower() in NEVER:
        return float("nan")
    try:
        found = float(plain)
    except ValueError:
        found = float("inf")
    if not abs(found) <= MOST_NUMBER:
        msg = f"{text!r} is not a number"
        raise ValueError(msg)
    return found


def numbers(
    cells: Sequence[str],
    read: Callable[[str], float] = number,
    known: dict[str, float] | None = None,
) -> tuple[Array, tuple[tuple[int, str], ...]]:
    """Return the numbers of a column, and the positions of cells that are none, with the cause.

    Parameters
    ----------
    cells : sequence of str
    read : callable
        Reads one cell; raises ValueError with the cause.
    known : dict or None
        Values of cells of earlier batches; new ones are added.

    Examples
    --------
    >>> numbers(["1", "", "x"])
    (array([ 1., nan, nan]), ((2, "'x' is not a number"),))
    """
    try:
        value = np.array(list(map(float, cells)), dtype=np.float64)
    except ValueError:
        pass
    else:
        if np.all(np.abs(value) <= MOST_NUMBER):
            return value, ()
    known = {} if known is None else known
    wrong: dict[str, str] = {}
    for text in set(cells) - known.keys():
        try:
            known[text] = read(text)
        except ValueError as error:
            wrong[text] = str(error)
    bad = tuple((i, wrong[c]) for i, c in enumerate(cells) if c in wrong) if wrong else ()
    nan = float("nan")
    found = [known.get(c, nan) for c in cells] if wrong else [known[c] for c in cells]
    return np.array(found, dtype=np.float64), bad
