"""Dates and quarters of a plan from its counts of days and quarters."""

from __future__ import annotations

import datetime as dt

from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, quarter_index, quarter_name


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


def first_day(problem: PlanningProblem, t: int) -> dt.date:
    """Return the first day of a quarter number, counted from the start of the plan."""
    return dt.date.fromisoformat(f"{month_at(problem, t * MONTHS_PER_QUARTER)}-01")


def month_at(problem: PlanningProblem, m: int) -> str:
    """Return the calendar month of a month number, counted from the start of the plan.

    A negative number is a month before the plan.
    """
    return calendar_month(problem.start, m)


def calendar_month(start: str, m: int) -> str:
    """Return a month as YYYY-MM, counted from the first month of a quarter.

    Examples
    --------
    >>> calendar_month("2027-Q1", 0), calendar_month("2027-Q2", 9), calendar_month("2027-Q1", -2)
    ('2027-01', '2028-01', '2026-11')
    """
    months = MONTHS_PER_QUARTER * quarter_index(start) + m
    return f"{months // MONTHS_PER_YEAR}-{months % MONTHS_PER_YEAR + 1:02d}"
