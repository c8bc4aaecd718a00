"""Logs of incidents, of one or several files, as one table of checked numbers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from dcplan.demand.log.jobs import Array, Flags, Index
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.incidents.columns import TIMES, read_columns
from dcplan.inputs.incidents.findings import Kind, Notes
from dcplan.inputs.logs.cells import moments
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.rows import Columns, Marks, Rows
from dcplan.inputs.logs.traps import Found
from dcplan.inputs.logs.zones import after, both
from dcplan.inputs.records.findings import Finding
from dcplan.reliability.incidents import Outages, outages

MOST_NODES = 10_000_000


@dataclass(frozen=True)
class IncidentFile:
    """One file that was read."""

    path: str
    sha256: str
    rows: int
    first_s: float
    """Earliest start; NaN without rows. [s]"""
    last_s: float
    """Latest time; NaN without rows. [s]"""


@dataclass(frozen=True)
class Incidents:
    """Incidents of the window, one row each, sorted by start; unknown times are NaN, never zero."""

    node: Index
    """Number of the name in ``nodes``; -1: unknown."""
    cause: Index
    part: Index
    start_s: Array
    detected_s: Array
    repaired_s: Array
    """Infinite: not repaired at the end of the window."""
    outages: Outages
    nodes: tuple[str, ...]
    causes: tuple[str, ...]
    parts: tuple[str, ...]
    window_s: tuple[float, float]
    window_given: bool
    fleet: int
    """Nodes of the cluster."""
    findings: tuple[Finding[Kind], ...]
    files: tuple[IncidentFile, ...]

    def __len__(self) -> int:
        """Return the number of incidents."""
        return len(self.start_s)


def read_incidents(
    paths: Sequence[Path], options: LogOptions, window: str | None, fleet: int | None
) -> Incidents:
    """Read CSVs of incidents: each row a failure of a node.

    Files are read as one log. Each property that would mislead is handled and counted.

    Parameters
    ----------
    paths : sequence of Path
    options : LogOptions
        Only the zone of local times is used.
    window : str or None
        Start and end of the record, such as ``2026-06-01/2026-09-01``; None: from the first start to
        the last time of the log.
    fleet : int or None
        Nodes of the cluster; None: from a column of the log.

    Raises
    ------
    InputError
        When a file or rows cannot be read, with every such row (DC057, up to 50 one by one); when
        local times have no zone; when the window or the number of nodes is missing or cannot be.
    """
    rows, notes = Rows(Found()), Notes()
    counts = [(path, _read(path, rows, notes)) for path in paths]
    c, zone = rows.columns(), options.zone()
    marks = rows.marks(c)
    _settle(c, zone, marks, notes)
    _refuse(c, marks)
    rows.found.raise_bad()
    count = _fleet(c, fleet, marks, notes, str(paths[0]))
    limits = _window(c, window, zone, str(paths[0]))
    files = tuple(_file(path, n, c, rows) for path, n in counts)
    c, found = _chosen(c, limits, rows, notes)
    named = len(np.unique(c["node"][c["node"] >= 0]))
    if named > count:
        cause = f"the log names {named:,} nodes, more than the {count:,} of the cluster"
        raise InputError([Problem("DC015", cause, Place("--nodes" if fleet else str(paths[0])))])
    return Incidents(
        node=c["node"],
        cause=c["cause"],
        part=c["part"],
        start_s=c["start"],
        detected_s=c["detected"],
        repaired_s=c["repaired"],
        outages=found,
        nodes=rows.names("node"),
        causes=rows.names("cause"),
        parts=rows.names("part"),
        window_s=limits,
        window_given=window is not None,
        fleet=count,
        findings=notes.findings(),
        files=files,
    )


def _read(path: Path, rows: Rows, notes: Notes) -> int:
    try:
        return read_columns(path, rows, notes)
    except OSError as error:
        cause = f"cannot read the file: {error.strerror}"
        raise InputError([Problem("DC006", cause, Place(str(path)))]) from error


def _settle(c: Columns, zone: ZoneInfo | None, marks: Marks, notes: Notes) -> None:
    """Turn local times into UTC, in place; no time precedes the one before it by the clock alone.

    Raises
    ------
    InputError
        When a time is local and no zone is given.
    """
    local: Flags = np.any([c[f"{name}_local"] for name in TIMES], axis=0)
    if not local.any():
        return
    if zone is None:
        cause = "the times have no zone"
        step = "give the zone of the clock with --timezone, such as --timezone Europe/Berlin"
        place = marks.place(int(np.flatnonzero(local)[0]))
        raise InputError([Problem("DC057", cause, place, help=step)])
    notes.note(Kind.LOCAL_TIME, local, marks, str(zone))
    earliest = np.full(len(local), -np.inf)
    for name in TIMES:
        mine, value = c[f"{name}_local"], c[name]
        first, second = both(np.where(mine, value, np.nan), zone)
        cause = f"a time that the clock of {zone} skipped"
        marks.bad(first > second, cause, "the zone is another one: see --timezone")
        if name == "start":
            notes.note(Kind.REPEATED_HOUR, second > first, marks)
        c[name] = np.where(mine, after(earliest, first, np.maximum(first, second)), value)
        earliest = np.fmax(earliest, c[name])


def _refuse(c: Columns, marks: Marks) -> None:
    """Note rows whose values cannot be."""
    marks.bad(~np.isfinite(c["start"]), "no time of the start")
    marks.bad(c["detected"] < c["start"], "the incident is detected before it starts")
    marks.bad(c["repaired"] < c["start"], "the incident is repaired before it starts")
    marks.bad(c["repaired"] < c["detected"], "the incident is repaired before it is detected")
    known = np.isfinite(c["nodes"])
    whole = (c["nodes"] >= 1) & (c["nodes"] <= MOST_NODES) & (c["nodes"] == np.floor(c["nodes"]))
    marks.bad(known & ~whole, "the number of nodes of the cluster is no whole number above 0")


def _fleet(c: Columns, given: int | None, marks: Marks, notes: Notes, path: str) -> int:
    """Return the nodes of the cluster, as given or as logged.

    Raises
    ------
    InputError
        When neither says it, or the log has several numbers.
    """
    logged = np.unique(c["nodes"][np.isfinite(c["nodes"])])
    if given is not None:
        notes.note(Kind.NODE_COUNT, np.isfinite(c["nodes"]) & (c["nodes"] != given), marks)
        return given
    if len(logged) == 1:
        return int(logged[0])
    cause = "rates need the number of nodes of the cluster, which the log does not have"
    if len(logged):
        cause = f"the cluster had {logged[0]:,.0f} to {logged[-1]:,.0f} nodes in the log"
    step = "give --nodes: all nodes that could fail, averaged over the window"
    raise InputError([Problem("DC003", cause, Place(path), help=step)])


def _window(c: Columns, text: str | None, zone: ZoneInfo | None, path: str) -> tuple[float, float]:
    """Return the start and the end of the record. [s].

    Raises
    ------
    InputError
        When the text is not two times in their order, or the log has no length.
    """
    if text is not None:
        first, _, last = text.partition("/")
        read = moments([first.strip(), last.strip()])
        value = read.value_s
        if zone is not None and read.local.any():
            value = np.where(read.local, both(np.where(read.local, value, np.nan), zone)[0], value)
        if read.bad or not value[0] < value[1]:
            cause = f"{text!r}: two times in their order are needed"
            step = "--window 2026-06-01/2026-09-01: from the start of the first to that of the last"
            raise InputError([Problem("DC051", cause, Place("--window"), help=step)])
        return float(value[0]), float(value[1])
    times = np.concatenate([c[name] for name in TIMES])
    times = times[np.isfinite(times)]
    if not len(times) or not times.min() < times.max():
        cause = "the log has no two different times, so its length is unknown"
        step = "give --window START/END, such as 2026-06-01/2026-09-01"
        raise InputError([Problem("DC003", cause, Place(path), help=step)])
    return float(times.min()), float(times.max())


def _chosen(
    c: Columns, window: tuple[float, float], rows: Rows, notes: Notes
) -> tuple[Columns, Outages]:
    """Return the incidents of the window by start, with open ones apart from unknown ones."""
    # of two rows of one incident, the one with a repair comes first
    order = np.lexsort((c["line"], c["file"], np.isnan(c["repaired"]), c["start"]))
    c = {name: column[order] for name, column in c.items()}
    twice = _twice(c)
    notes.note(Kind.DUPLICATE, twice, rows.marks(c))
    c = {name: column[~twice] for name, column in c.items()}
    known, zero = c["node"] >= 0, c["repaired"] == c["start"]
    still_out = np.isnan(c["repaired"]) & c["ends"] & known & _last_of(c["node"])
    c["repaired"] = np.where(zero, np.nan, np.where(still_out, np.inf, c["repaired"]))
    inside = (c["start"] >= window[0]) & (c["start"] <= window[1])
    notes.note(Kind.OUTSIDE_WINDOW, ~inside, rows.marks(c))
    zero = zero[inside]
    c = {name: column[inside] for name, column in c.items()}
    found = outages(c["node"], c["start"], c["repaired"], window)
    for kind, chosen in (
        (Kind.OVERLAP, ~found.first),
        (Kind.ZERO_LENGTH, zero),
        (Kind.UNKNOWN_NODE, c["node"] < 0),
        (Kind.OPEN, np.isinf(c["repaired"])),
        (Kind.REPAIR_UNKNOWN, np.isnan(c["repaired"]) & ~zero),
        (Kind.DETECTION_UNKNOWN, np.isnan(c["detected"])),
        (Kind.DETECTED_AT_START, c["detected"] == c["start"]),
        (Kind.REPAIRED_AT_ONCE, c["repaired"] == c["detected"]),
        (Kind.SIMULTANEOUS, _together(c)),
    ):
        notes.note(kind, chosen, rows.marks(c))
    return c, found


def _last_of(node: Index) -> Flags:
    """Return whether no later row has the same node; rows are sorted by start."""
    found = np.zeros(len(node), dtype=np.bool_)
    _, first = np.unique(node[::-1], return_index=True)
    found[len(node) - 1 - first] = True
    return found


def _twice(c: Columns) -> Flags:
    """Return rows of a known node that repeat an earlier row."""
    keys = np.stack([c[name].astype(np.float64) for name in ("node", "start", "part", "cause")])
    found: Flags = c["node"] >= 0
    if keys.size:
        found[np.unique(keys, axis=1, return_index=True)[1]] = False
    return found


def _together(c: Columns) -> Flags:
    """Return rows of known nodes whose start and cause another node has too."""
    keys = np.stack([c["start"], c["cause"].astype(np.float64)])
    if not keys.size:
        return np.zeros(0, dtype=np.bool_)
    _, each = np.unique(keys, axis=1, return_inverse=True)
    pairs = np.unique(np.stack([each.reshape(-1), c["node"]]), axis=1)
    nodes = np.bincount(pairs[0][pairs[1] >= 0], minlength=int(each.max()) + 1)
    return (nodes[each.reshape(-1)] > 1) & (c["node"] >= 0)


def _file(path: Path, count: int, c: Columns, rows: Rows) -> IncidentFile:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    mine = c["file"] == rows.open(str(path))
    times = np.concatenate([c[name][mine] for name in TIMES])
    times = times[np.isfinite(times)]
    first, last = (float(times.min()), float(times.max())) if len(times) else (math.nan, math.nan)
    return IncidentFile(str(path), digest, count, first, last)
