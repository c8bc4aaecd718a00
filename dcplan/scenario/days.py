"""Days of limits: a date, or a quarter from its first to its last day."""

from __future__ import annotations

import datetime as dt
import re

DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def days_of(limit: str) -> tuple[float, float]:
    """Return the first and the last day of a date or of a quarter, counted from year 1.

    Parameters
    ----------
    limit : str
        Such as ``2027-09-01`` or ``2027-Q3``.

    Raises
    ------
    ValueError
        When the calendar has no such day.

    Examples
    --------
    >>> first, last = days_of("2027-Q4")
    >>> last - first + 1  # October, November and December
    92.0
    """
    year, part = limit[:4], limit[5:]
    if not part.startswith("Q"):
        day = float(dt.date.fromisoformat(limit).toordinal())
        return day, day
    first = dt.date(int(year), 3 * int(part[1]) - 2, 1)
    after = dt.date(first.year + first.month // 10, (first.month + 2) % 12 + 1, 1)
    return float(first.toordinal()), float(after.toordinal() - 1)


def is_day(limit: str) -> bool:
    """Whether a text is a day or a quarter of the calendar.

    Examples
    --------
    >>> is_day("2027-Q3"), is_day("2028-02-29"), is_day("2027-02-29")
    (True, True, False)
    """
    try:
        days_of(limit)
    except ValueError:
        return False
    return True


def is_date(value: float | str | None) -> bool:
    """Whether a value is a date."""
    return isinstance(value, str) and DATE.fullmatch(value) is not None
