"""Times, values and accelerators of samples of counters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcplan.demand.log.jobs import Array, Index
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.counters.findings import Notes, Oddity
from dcplan.inputs.counters.names import HELP
from dcplan.inputs.logs.cells import MOST_SECONDS, number, numbers
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.rows import Columns, Rows
from dcplan.inputs.logs.zones import both, folded_by_id
from dcplan.units import MILLI

MOST_KNOWN = 1e14
"""DCGM has numbers above this one for a value that is not known."""


def moments(
    cells: Sequence[str], lines: Sequence[int], path: str, rows: Rows, notes: Notes
) -> Columns:
    """Return times; numbers too large for seconds are milliseconds."""
    try:
        value = np.array(list(map(float, cells)), dtype=np.float64)
    except ValueError:
        value = np.zeros(0)
    if len(value) and np.all((value > MOST_SECONDS) & (value * MILLI <= MOST_SECONDS)):
        notes.add(Oddity.MILLISECONDS, len(lines), Place(path, lines[0]))
        return {"time": value * MILLI, "time_local": np.zeros(len(lines), dtype=np.bool_)}
    got = rows.moments("time", cells, lines, path)
    for i in np.flatnonzero(~np.isfinite(got["time"])).tolist():
        if not cells[i].strip():
            rows.found.bad(path, lines[i], "no time of the sample")
    return got


def values(name: str, cells: Sequence[str], lines: Sequence[int], path: str, rows: Rows) -> Array:
    """Return the values of a counter; blanks of DCGM are unknown."""
    found, bad = numbers(cells, _value)
    for i, cause in bad:
        rows.found.bad(path, lines[i], f"{name}: {cause}")
    return found


def _value(cell: str) -> float:
    """Return a value; NaN for a blank of DCGM."""
    try:
        if abs(float(cell)) >= MOST_KNOWN and np.isfinite(float(cell)):
            return float("nan")
    except ValueError:
        pass
    return number(cell)


def accelerators(c: Columns, rows: Rows) -> Index:
    """Return a number for each accelerator: its UUID, or its node and its index."""
    named = c["uuid"] >= 0
    nowhere = ~named & ((c["node"] < 0) | (c["gpu"] < 0))
    for i in np.flatnonzero(nowhere).tolist():
        path = rows.paths[int(c["file"][i])]
        rows.found.bad(path, int(c["line"][i]), "no UUID, and no node with an index", HELP)
    pair = np.where(named, 0, c["node"] + 1), np.where(named, c["uuid"], c["gpu"])
    _, found = np.unique(np.stack(pair), axis=1, return_inverse=True)
    return np.asarray(found, dtype=np.int64).reshape(-1)


def settle_zone(
    c: Columns, accelerator: Index, rows: Rows, options: LogOptions, notes: Notes
) -> None:
    """Turn local times into UTC, in place; in a repeated hour, a step back begins the second pass."""
    local = c["time_local"]
    if not local.any():
        return
    zone = options.zone()
    first_row = int(np.flatnonzero(local)[0])
    place = Place(rows.paths[int(c["file"][first_row])], int(c["line"][first_row]))
    if zone is None:
        cause = "the times have no zone"
        step = "give the zone of the clock with --timezone, such as --timezone Europe/Berlin"
        raise InputError([Problem("DC057", cause, place, help=step)])
    notes.add(Oddity.LOCAL_TIME, int(local.sum()), place, str(zone))
    value = c["time"]
    first, second = both(np.where(local, value, np.nan), zone)
    for i in np.flatnonzero(first > second).tolist():
        cause = f"a time that the clock of {zone} skipped"
        path = rows.paths[int(c["file"][i])]
        rows.found.bad(path, int(c["line"][i]), cause, "the zone is another one: see --timezone")
    settled = first.copy()
    for device in np.unique(accelerator[second > first]).tolist():
        mine = np.flatnonzero(accelerator == device)
        order = np.arange(len(mine), dtype=np.float64)
        settled[mine] = folded_by_id(value[mine], first[mine], second[mine], order)
    c["time"] = np.where(local, settled, value)
