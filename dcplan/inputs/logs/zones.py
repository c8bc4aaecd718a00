"""Local times as UTC: the hour that the clock repeats, and the hour that it skips."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np

from dcplan.demand.log.jobs import Array, Flags, Index
from dcplan.errors import InputError, Problem
from dcplan.inputs.logs.rows import TIMES, Columns, Marks
from dcplan.inputs.logs.traps import Trap
from dcplan.units import SECONDS_PER_DAY

SEARCH_STEP_S = 900.0
"""Offsets of zones change on whole quarters of an hour."""


def settle(
    columns: Columns,
    *,
    order: Array,
    group: Index,
    wait_s: Array,
    wall_s: Array,
    zone: ZoneInfo | None,
    marks: Marks,
) -> None:
    """Turn the local times of rows into UTC, in place.

    Parameters
    ----------
    columns : mapping
        Times ``submit``, ``eligible``, ``start`` and ``end``, each with a column ``NAME_local`` that
        says whether it is of a local clock. [s]
    order : array
        Number of each row that grows with submissions within its group; NaN: it says nothing.
    group : array
        Cluster of each row.
    wait_s : array
        Recorded wait before the start, since it was eligible or submitted; NaN: unknown. [s]
    wall_s : array
        Recorded time from start to end; NaN: unknown. [s]
    zone : ZoneInfo or None
    marks : Marks

    Raises
    ------
    InputError
        When a time is local and no zone is given.
    """
    local = np.any([columns[f"{name}_local"] for name in TIMES], axis=0)
    if not local.any():
        return
    if zone is None:
        cause = "the times have no zone"
        step = "give the zone of the clock with --timezone, such as --timezone Europe/Berlin"
        places = [marks.place(int(i)) for i in np.flatnonzero(local)]
        firsts = {p.path: p for p in reversed(places)}
        raise InputError([Problem("DC057", cause, p, help=step) for p in firsts.values()])
    marks.note(Trap.LOCAL_TIME, local, str(zone))
    read = _readings(columns, zone, marks)
    first, second = read["submit"]
    marks.note(Trap.REPEATED_HOUR, second > first)
    submit = first.copy()
    for one in np.unique(group[second > first]):
        mine = group == one
        submit[mine] = folded_by_id(columns["submit"][mine], first[mine], second[mine], order[mine])
    columns["submit"] = submit
    columns["eligible"] = after(submit, *read["eligible"])
    first, second = after(submit, *read["start"]), read["start"][1]
    since = np.where(np.isfinite(columns["eligible"]), columns["eligible"], submit) + wait_s
    sure = np.isfinite(since)
    nearest = np.where(np.abs(second - since) < np.abs(first - since), second, first)
    begin = np.where(sure, nearest, first), np.where(sure, nearest, second)
    columns["start"], columns["end"] = ended(begin, read["end"], wall_s)


def _readings(columns: Columns, zone: ZoneInfo, marks: Marks) -> dict[str, tuple[Array, Array]]:
    """Return the two readings of each column of times; a time that the clock skipped is a bad row."""
    read = {}
    for name in TIMES:
        mine, value = columns[f"{name}_local"], columns[name]
        first, second = both(np.where(mine, value, np.nan), zone)
        read[name] = np.where(mine, first, value), np.where(mine, second, value)
    skipped = np.any([first > second for first, second in read.values()], axis=0)
    cause = f"a time that the clock of {zone} skipped"
    marks.bad(skipped, cause, "the zone is another one: see --timezone")
    return {name: (first, np.maximum(first, second)) for name, (first, second) in read.items()}


def both(local_s: Array, zone: ZoneInfo) -> tuple[Array, Array]:
    """Return local times as UTC, by the first and by the second pass of a repeated hour.

    They are equal except where the clock repeats an hour (the first is earlier) or skips one (the
    first is later, and is the time moved forward by the skip).

    Parameters
    ----------
    local_s : array
        Seconds since 1970 by the local clock; NaN stays. [s]
    zone : ZoneInfo

    Examples
    --------
    On 29 October 2023 Berlin had 02:30 twice, at 00:30 and 01:30 UTC (1698539400 and 1698543000).

    >>> first, second = both(np.array([1698546600.0]), ZoneInfo("Europe/Berlin"))
    >>> first.tolist(), second.tolist()
    ([1698539400.0], [1698543000.0])
    """
    known = np.isfinite(local_s)
    steps, where = np.unique(np.floor(local_s[known] / SEARCH_STEP_S), return_inverse=True)
    offsets = np.zeros((2, len(steps)))
    for i, step in enumerate(steps.tolist()):
        clock = datetime.fromtimestamp(step * SEARCH_STEP_S, UTC).replace(tzinfo=zone)
        for fold in (0, 1):
            offset = clock.replace(fold=fold).utcoffset()
            offsets[fold, i] = offset.total_seconds() if offset is not None else 0.0
    found = []
    for fold in (0, 1):
        utc = local_s.copy()
        utc[known] -= offsets[fold][where]
        found.append(utc)
    return found[0], found[1]


def folded_by_id(local_s: Array, first: Array, second: Array, order: Array) -> Array:
    """Return submissions in UTC: in a repeated hour, ids that follow a step back are the second pass.

    Ids grow with submissions. In the order of ids the local clock steps back once, where the hour
    begins again; the largest step back is the border. Without one, all count as the first pass.

    Parameters
    ----------
    local_s : array
        Seconds since 1970 by the local clock. [s]
    first, second : array
        The two readings of :func:`both`. [s]
    order : array
        Number of each job that grows with submissions; NaN: it says nothing of the order.
    """
    found = first.copy()
    doubtful = np.flatnonzero((second > first) & np.isfinite(order))
    days = np.floor(local_s[doubtful] / SECONDS_PER_DAY)
    for day in np.unique(days):
        rows = doubtful[days == day]
        rows = rows[np.argsort(order[rows], kind="stable")]
        steps = np.diff(local_s[rows])
        if len(steps) and steps.min() < 0.0:
            later = rows[int(np.argmin(steps)) + 1 :]
            found[later] = second[later]
    return found


def after(earliest_s: Array, first: Array, second: Array) -> Array:
    """Return times in UTC that do not precede another time, by the first pass where both fit."""
    late: Flags = (second > first) & (first < earliest_s)
    return np.where(late, second, first)


def ended(
    start: tuple[Array, Array], end: tuple[Array, Array], wall_s: Array
) -> tuple[Array, Array]:
    """Return starts and ends in UTC whose difference is nearest to the recorded run time.

    Parameters
    ----------
    start, end : tuple of array
        The two readings of each; equal where there is no doubt. [s]
    wall_s : array
        Recorded time from start to end; NaN: unknown. [s]
    """
    best_start, best_end = start[0].copy(), end[0].copy()
    best = np.abs(best_end - best_start - wall_s)
    for s in start:
        for e in end:
            gap = np.abs(e - s - wall_s)
            better = (gap < best - 1.0) & (e >= s)
            best_start, best_end = np.where(better, s, best_start), np.where(better, e, best_end)
            best = np.where(better, gap, best)
    backward = best_end < best_start  # no run time is known: the end follows the start
    return best_start, np.where(backward, np.maximum(best_end, end[1]), best_end)
