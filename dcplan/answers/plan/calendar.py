"""Dates and quarters of a plan from its counts of days and quarters."""

from __future__ import annotations

import datetime as dt

from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import quarter_index, quarter_name


def calendar_date(start: str, day: float) -> str:
    """Return the date of a day, counted from the first day of a quarter.

    Examples
    --------
    >>> calendar_date("2027-Q1", 0.0), calendar_date("2027-Q2", 91.3125)
    ('2027-01-01', '2027-07-01')
    """
    index = quarter_index(start)
    first = dt.date(index // 4, 3 * (index % 4) + 1, 1)
    return (first + dt.timedelta(days=int(day))).isoformat()


def quarter_at(problem: PlanningProblem, t: int) -> str:
    """Return the calendar quarter of a quarter number, counted from the start of the plan."""
    return quarter_name(quarter_index(problem.start) + t)
