"""Rows of a log that contradict each other: pauses, lengths in another unit, rows that occur twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from dcplan.demand.log.jobs import Array, Flags
from dcplan.inputs.logs.rows import Columns, Marks
from dcplan.inputs.logs.traps import Trap
from dcplan.units import HOURS_PER_WEEK, SECONDS_PER_DAY, SECONDS_PER_HOUR

REMARK_GAP_H = 24
"""Pause between two submissions that may be a gap of the export."""
REMARK_UNSEEN_GAP_H = 96
"""Pause that counts at the mean rate where no other week of the log has the same hours."""
REMARK_MISSED = 20.0
"""Submissions that other weeks have in the hours of a gap; fewer may be a quiet time."""
MOST_HOURS = 1_000_000
"""Length of a log above which its dates are wrong: more than a century."""
REMARK_FRAC, REMARK_S = 0.01, 60.0
"""Difference of two lengths of one run that is rounding."""
REMARK_OTHER_UNIT = 40.0
"""Ratio of two lengths of the same runs, in the middle, from which on one is in another unit."""
REMARK_WALL_S = 60.0
"""Runs that are long enough to compare units."""
REMARK_COMPARED = 10
REMARK_LONGEST_RUN_S = 366.0 * SECONDS_PER_DAY
"""Run time that no job has; the longest of Philly and Helios have 50 days."""
REMARK_MIDDLE_RUN_S = SECONDS_PER_DAY
"""Run time in the middle of many that is too long; public logs have 2 to 15 minutes."""
REMARK_MANY_RUNS = 100
REMARK_DATE_S = 365.0 * SECONDS_PER_DAY
"""A log whose times are below this counts seconds from its own start."""
REMARK_REPEATED_FRAC = 0.2
"""Share of equal rows from which on an export may be in the log twice; counts by minute have 7 %."""


def gaps(submit_s: Array, least_h: float = REMARK_GAP_H) -> list[tuple[int, float]]:
    """Return pauses in which other weeks have submissions: the first run after each, and its length.

    The runs that are missing are counted by hour of the week: a quiet weekend is no gap, because
    other weekends are quiet as well.

    Parameters
    ----------
    submit_s : array
        Submissions in any order, all known. [s]
    least_h : float
        Shorter pauses are none. [h]

    Examples
    --------
    Two weeks with a submission each half hour, of which one Tuesday is missing:

    >>> hours = np.arange(0, 336, 0.5)
    >>> found = gaps(hours[(hours < 200) | (hours >= 224)] * 3600.0)
    >>> [(run, length / 3600) for run, length in found]
    [(400, 24.5)]
    """
    order = np.argsort(submit_s, kind="stable")
    hours = submit_s[order] / SECONDS_PER_HOUR
    pauses = np.diff(hours)
    long = np.flatnonzero(pauses >= least_h)
    if not len(long) or hours[-1] - hours[0] > MOST_HOURS:
        return []
    first = int(hours[0])
    counted = np.bincount(hours.astype(np.int64) - first).astype(np.float64)
    seen = np.ones(len(counted), dtype=np.bool_)
    for i in long.tolist():
        seen[int(hours[i]) - first + 1 : int(hours[i + 1]) - first] = False
    week = np.arange(len(counted)) % HOURS_PER_WEEK
    times = np.bincount(week[seen], minlength=HOURS_PER_WEEK)
    usual = np.bincount(week[seen], counted[seen], minlength=HOURS_PER_WEEK) / np.maximum(times, 1)
    found = []
    for i in long.tolist():
        inside = slice(int(hours[i]) - first + 1, int(hours[i + 1]) - first)
        known = times[week[inside]] > 0
        mean = counted[seen].mean() if pauses[i] >= REMARK_UNSEEN_GAP_H else 0.0
        missed = np.where(known, usual[week[inside]], mean).sum()
        if missed >= REMARK_MISSED:
            found.append((int(order[i + 1]), float(pauses[i]) * SECONDS_PER_HOUR))
    return found


def note_gaps(submit_s: Array, marks: Marks) -> None:
    """Count the gaps of a log; the row is the first run after the longest one."""
    found = gaps(submit_s)
    if not found:
        return
    at, detail = longest_gap(found, submit_s)
    marks.found.add(Trap.GAP, len(found), marks.place(at), detail)


def longest_gap(found: Sequence[tuple[int, float]], submit_s: Array) -> tuple[int, str]:
    """Return the first run after the longest gap, and the length and the ends of this gap.

    Examples
    --------
    >>> longest_gap([(1, 86400.0)], np.array([0.0, 86400.0]))
    (1, 'the longest has 1.0 days, day 0.00 to day 1.00 of the log')
    """
    at, length_s = max(found, key=lambda gap: gap[1])
    ends = submit_s[at] - length_s, submit_s[at]
    if submit_s.min() < REMARK_DATE_S:  # seconds from any start
        days = " to ".join(f"day {t / SECONDS_PER_DAY:.2f}" for t in ends) + " of the log"
    else:
        days = " to ".join(f"{datetime.fromtimestamp(t, UTC):%Y-%m-%d %H:%M}" for t in ends)
        days += " UTC"
    return at, f"the longest has {length_s / SECONDS_PER_DAY:.1f} days, {days}"


def note_unit(c: Columns, marks: Marks) -> None:
    """Count runs of more than a day where lengths are as of milliseconds read as seconds.

    Parameters
    ----------
    c : Columns
        Starts and ends of the runs; NaN: unknown. [s]
    marks : Marks
    """
    length_s = c["end"] - c["start"]
    known = length_s[np.isfinite(length_s)]
    if not len(known):
        return
    middle, most = float(np.median(known)), float(known.max())
    many = len(known) >= REMARK_MANY_RUNS and middle > REMARK_MIDDLE_RUN_S
    if many or most > REMARK_LONGEST_RUN_S:
        detail = (
            f"the middle run has {middle / SECONDS_PER_DAY:,.2g} days, "
            f"the longest {most / SECONDS_PER_DAY:,.0f}"
        )
        marks.note(Trap.LENGTH_UNIT, length_s > min(REMARK_MIDDLE_RUN_S, most / 2.0), detail)


def note_lengths(wall_s: Array, length_s: Array, marks: Marks, unit_of: str = "") -> None:
    """Count runs whose recorded length is not that from start to end.

    Parameters
    ----------
    wall_s : array
        Time from start to end, less suspensions; NaN: unknown. [s]
    length_s : array
        Recorded length; NaN: unknown. [s]
    marks : Marks
    unit_of : str
        What a column of lengths is; it is refused in another unit. Empty: lengths are in seconds.
    """
    off = np.abs(length_s - wall_s) > np.maximum(REMARK_FRAC * np.abs(wall_s), REMARK_S)
    compared = np.flatnonzero((wall_s >= REMARK_WALL_S) & (length_s > 0.0))
    if unit_of and len(compared) >= REMARK_COMPARED:
        ratio = float(np.median(length_s[compared] / wall_s[compared]))
        if max(ratio, 1.0 / ratio) > REMARK_OTHER_UNIT:
            place = marks.place(int(compared[0]))
            cause = (
                f"{unit_of} is {ratio:.3g} times the time from start to end, in the middle of "
                f"{len(compared):,} runs: it is in another unit"
            )
            marks.found.bad(
                place.path, place.line, cause, "give it in seconds, or leave the column out"
            )
            return
    marks.note(Trap.LENGTH_DIFFERS, off)


def check_lengths(c: Columns, marks: Marks) -> None:
    """Refuse lengths and numbers of nodes of Slurm's rows that cannot be, and count odd lengths."""
    for name in ("nnodes", "reqnodes"):
        marks.bad((c[name] < 0.0) | (c[name] % 1.0 > 0.0), f"{name} is no whole number")
    for name in ("elapsed", "planned", "suspended", "limit"):
        marks.bad(c[name] < 0.0, f"{name} is negative")
    note_lengths(c["end"] - c["start"] - np.nan_to_num(c["suspended"]), c["elapsed"], marks)


def note_repeated(c: Columns, marks: Marks) -> None:
    """Count rows without an id that equal an earlier one, where they are many."""
    names = ("pool", "user", "submit", "start", "end", "accelerators")
    columns = np.stack([np.nan_to_num(c[name].astype(np.float64), nan=-1.0) for name in names])
    repeated: Flags = np.asarray(c["job"] < 0, dtype=np.bool_).copy()
    repeated[np.unique(columns, axis=1, return_index=True)[1]] = False
    if repeated.sum() >= REMARK_REPEATED_FRAC * len(repeated):
        marks.note(Trap.REPEATED, repeated)
