"""Jobs in a CSV, under the names of columns that published logs use; and the neutral CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np

from dcplan.catalog.delimiter import check_delimiter
from dcplan.demand.log.jobs import Array, Flags, Index, JobLog, State, log_of
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.logs.cells import NOTHING
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.rows import TIMES, Columns, Rows
from dcplan.inputs.logs.slurm import STATES
from dcplan.inputs.logs.traps import Trap
from dcplan.inputs.logs.zones import settle
from dcplan.inputs.records.header import check_once
from dcplan.units import MILLI

ROWS_AT_ONCE = 10_000
ALIASES = {
    "submit": (
        *("submit_s", "submit", "submitted_time", "submit_time", "timestamp", "creation_time"),
    ),
    "eligible": ("eligible_s", "eligible", "eligible_time"),
    "start": ("start_s", "start", "scheduled_time", "start_time"),
    "end": ("end_s", "end", "end_time", "deletion_time"),
    "wait": ("wait_s", "wait", "queue_s", "queue"),
    "run": ("run_s", "run", "duration_s", "duration"),
    "busy": ("busy_s",),
    "accelerators": ("accelerators", "n", "num_gpus", "gpu_num", "num_gpu", "gpus"),
    "milli": ("gpu_milli",),
    "requested": ("requested",),
    "per_node": ("per_node",),
    "nodes": ("nodes", "node_num", "num_nodes"),
    "limit": ("limit_s", "limit", "req", "time_limit"),
    "priority": ("priority",),
    "preemptible": ("preemptible",),
    "qos": ("qos",),
    "pool": ("pool", "vc", "virtual_cluster", "partition", "cluster"),
    "user": ("user", "user_id"),
    "reason": ("reason",),
    "state": ("state", "status", "pod_phase"),
    "job": ("job", "job_id", "jobid", "name"),
    "hosts": ("node_list", "nodelist", "hosts", "host"),
}
"""Names of each column, the most specific first: neutral, of Philly, Helios, Acme and openb."""
TEXTS = ("pool", "user", "reason", "state", "job", "qos", "preemptible", "hosts")
DURATIONS = ("wait", "run", "busy", "limit")
NUMBERS = ("accelerators", "milli", "requested", "per_node", "nodes", "priority")
NEUTRAL = (
    *("pool", "submit_s", "eligible_s", "start_s", "end_s", "busy_s", "accelerators"),
    *("requested", "per_node", "limit_s", "priority", "preemptible", "user", "reason"),
    *("state", "job"),
)
"""Columns of the neutral CSV."""
WORDS = {
    **STATES,
    **{state.name: state for state in State},
    "PASS": State.COMPLETED,
    "PASSED": State.COMPLETED,
    "SUCCEEDED": State.COMPLETED,
    "SUCCESS": State.COMPLETED,
    "KILLED": State.CANCELLED,
    "CANCELED": State.CANCELLED,
}
BEST_EFFORT = "BE"
"""Class of Alibaba's pods that others may stop."""
YES = frozenset(("1", "true", "yes"))
HELP = (
    "a log is a CSV with submit, n (accelerators), and start and end, or wait and run; the names "
    "of published logs work as well"
)


def read_table(file: Path, rows: Rows) -> int:
    """Read a CSV of jobs; return the number of its rows.

    Raises
    ------
    InputError
        When a column is missing, or the file is no CSV.
    """
    path = str(file)
    number_of = rows.open(path)
    read = 0
    with file.open(encoding="utf-8-sig", newline="", errors="replace") as stream:
        reader = csv.reader(stream)
        try:
            header = [name.strip().lower() for name in next(reader, [])]
            first = next(reader, None)
            where = _columns(header, first or [], path, rows)
            for lines, cells in _batches(reader, first, len(header), path, rows):
                columns = list(zip(*cells, strict=True))
                _take({k: columns[at] for k, at in where.items()}, lines, path, number_of, rows)
                read += len(lines)
        except csv.Error as error:
            cause = f"not CSV: {error}"
            raise InputError([Problem("DC057", cause, Place(path, reader.line_num))]) from error
    return read


def _columns(header: Sequence[str], first: Sequence[str], path: str, rows: Rows) -> dict[str, int]:
    """Return the position of each column that is known."""
    check_delimiter(header, chain.from_iterable(ALIASES.values()), path)
    check_once(header, chain.from_iterable(ALIASES.values()), path)
    where = {
        key: next(header.index(n) for n in names if n in header)
        for key, names in ALIASES.items()
        if any(n in header for n in names)
    }
    if "wait" in where and header[where["wait"]] == "queue":
        cell = first[where["wait"]] if where["wait"] < len(first) else ""
        if cell and not cell.replace(".", "", 1).isdigit():  # a name, not seconds
            at = where.pop("wait")
            where.setdefault("pool", at)
    missing = [ALIASES[k][1] for k in ("submit", "accelerators") if k not in where]
    if not {"end", "run"} & where.keys():
        missing.append("end or run")
    if missing:
        cause = f"columns missing: {', '.join(missing)}"
        hint = did_you_mean(missing[0], header)
        raise InputError([Problem("DC057", cause, Place(path, 1, 1), hint, HELP)])
    unused = [name for i, name in enumerate(header) if i not in where.values()]
    rows.found.add(Trap.COLUMNS_UNUSED, len(unused), Place(path, 1), ", ".join(unused))
    return where


def _batches(
    reader: Iterator[list[str]], first: list[str] | None, width: int, path: str, rows: Rows
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield line numbers and cells of rows that are as wide as the header."""
    if first is None:
        return
    source = chain([first], reader)
    start = 2
    while batch := list(islice(source, ROWS_AT_ONCE)):
        lines, cells = [], []
        for line, row in enumerate(batch, start):
            if len(row) == width:
                lines.append(line)
                cells.append(row)
            elif any(row):
                cause = f"{len(row)} cells in a row, {width} in the header"
                rows.found.bad(path, line, cause, "the file may be cut off here")
        if lines:
            yield lines, cells
        start += len(batch)


def _take(
    cells: dict[str, Sequence[str]], lines: Sequence[int], path: str, file: int, rows: Rows
) -> None:
    """Add rows, given as columns of text."""
    blank = [""] * len(lines)
    got: Columns = {
        "file": np.full(len(lines), file),
        "line": np.array(lines, dtype=np.int64),
        "bare": np.full(len(lines), not {"start", "wait"} & cells.keys()),
    }
    for name in TIMES:
        got |= rows.moments(name, cells.get(name, blank), lines, path)
    for name in DURATIONS:
        got[name] = rows.numbers(name, cells.get(name, blank), lines, path, durations=True)
    for name in NUMBERS:
        got[name] = rows.numbers(name, cells.get(name, blank), lines, path)
    for name in TEXTS:
        got[name] = rows.coded(name, cells.get(name, blank))
    rows.pieces.append(got)


def table_log(rows: Rows, options: LogOptions) -> JobLog | None:
    """Return the runs of all rows; None when no row is one.

    Raises
    ------
    InputError
        When rows cannot be read (DC057).
    """
    c = rows.columns()
    if not c or not len(c["line"]):
        return None
    ids = rows.names("job")
    numeric = np.array([float(x) if x.isdigit() else np.nan for x in ids] + [np.nan])
    lines = c["line"].astype(np.float64)
    order = np.where(np.isfinite(numeric[c["job"]]), numeric[c["job"]], lines)
    marks = rows.marks(c)
    settle(
        c,
        order=order,
        group=c["file"],
        wait_s=c["wait"],
        wall_s=c["run"],
        zone=options.zone(),
        marks=marks,
    )
    _fill(c, rows)
    rows.span(c)
    _refuse(c, rows)
    rows.found.raise_bad()
    cpu = c["accelerators"] == 0.0
    marks.note(Trap.CPU_ONLY, cpu)
    marks.note(Trap.PARTITION, (c["milli"] < 1.0 / MILLI) & ~cpu)
    twice = _twice(c)
    marks.note(Trap.DUPLICATE, twice & ~cpu)
    kept = {name: column[~cpu & ~twice] for name, column in c.items()}
    return _log(kept, rows) if len(kept["line"]) else None


def _fill(c: Columns, rows: Rows) -> None:
    """Derive starts and ends from waits and run times, and shares from thousandths."""
    marks = rows.marks(c)
    start = np.where(np.isfinite(c["start"]), c["start"], c["submit"] + c["wait"])
    start = np.where(c["bare"], c["end"] - c["run"], start)  # neither is a column of the file
    unknown = c["bare"] & ~np.isfinite(start)
    marks.note(Trap.NO_START, unknown & (c["accelerators"] > 0.0))
    c["start"] = np.where(unknown, c["submit"], start)
    c["end"] = np.where(np.isfinite(c["end"]), c["end"], c["start"] + c["run"])
    early = c["start"] < c["submit"]
    marks.note(Trap.START_BEFORE_SUBMIT, early & (c["accelerators"] > 0.0))
    c["submit"] = np.where(early, c["start"], c["submit"])
    share = np.where(np.isfinite(c["milli"]), c["milli"] * MILLI, 1.0)
    c["accelerators"] = c["accelerators"] * share


def _refuse(c: Columns, rows: Rows) -> None:
    """Note rows whose values cannot be."""
    marks = rows.marks(c)
    marks.bad(~np.isfinite(c["submit"]), "no time of submission")
    marks.bad(~np.isfinite(c["accelerators"]), "no number of accelerators")
    marks.bad(c["accelerators"] < 0.0, "a negative number of accelerators")
    marks.bad(c["end"] < c["start"], "the run ends before it starts")
    for name in DURATIONS:
        marks.bad(c[name] < 0.0, f"{name} is negative")
    names = rows.names("state")
    known = np.array([int(WORDS.get(name.upper(), -1)) for name in names] + [-2], dtype=np.int64)
    for code in np.unique(c["state"][known[c["state"]] == -1]).tolist():
        marks.bad(c["state"] == code, f"unknown state {names[code]!r}")


def _twice(c: Columns) -> Flags:
    """Return rows of a job that repeat an earlier row: the same id, submission, and start."""
    n = len(c["line"])
    order = np.lexsort((np.arange(n), c["start"], c["submit"], c["pool"], c["job"]))
    same = c["job"][order][1:] >= 0
    for name in ("job", "pool", "submit", "start"):
        column = c[name][order]
        nothing = ~np.isfinite(column[1:]) & ~np.isfinite(column[:-1])
        same &= (column[1:] == column[:-1]) | nothing
    found = np.zeros(n, dtype=np.bool_)
    found[order[1:]] = same
    return found


def _log(c: Columns, rows: Rows) -> JobLog:
    """Return the table of runs."""
    marks = rows.marks(c)
    started, ends = np.isfinite(c["start"]), np.isfinite(c["end"])
    names = rows.names("state")
    known = np.array([int(WORDS[name.upper()]) for name in names] + [-1], dtype=np.int64)
    state = known[c["state"]]
    guessed = np.where(started, np.where(ends, State.COMPLETED, State.RUNNING), State.PENDING)
    state = np.where(state < 0, guessed, state)
    final = started & ~ends & (state != State.RUNNING)
    state = np.where(final, State.RUNNING, state)
    lasting = np.fmax.reduce([c["submit"], c["start"], c["end"]])
    wall = np.where(ends, c["end"], float(lasting.max())) - c["start"]
    busy = np.where(np.isfinite(c["busy"]), c["busy"], np.fmin(wall, c["run"]))
    # NaN in the run time alone leaves the wall time
    busy = np.where(started, np.where(np.isfinite(busy), busy, wall), np.nan)
    preemptible = _is(rows, c, "preemptible", YES) | _is(rows, c, "qos", {BEST_EFFORT.lower()})
    per_node = np.where(c["nodes"] > 0.0, c["accelerators"] / np.maximum(c["nodes"], 1.0), np.nan)
    jobs, job = rows.names("job"), c["job"]
    unnamed = np.cumsum(job < 0) - 1 + len(jobs)
    single = len(started) > 1 and len(np.unique(c["user"])) == 1 and int(c["user"][0]) >= 0
    for trap, chosen in (
        (Trap.NEVER_STARTED, ~started),
        (Trap.RUNNING, started & ~ends & ~final),
        (Trap.NO_END, final),
        (Trap.REQUEUED, _again(c)),
        (Trap.PREEMPTIBLE, preemptible),
        (Trap.ONE_USER, np.full(len(started), single)),
    ):
        marks.note(trap, chosen)
    pools = rows.names("pool")
    unpooled = bool(np.any(c["pool"] < 0))
    return log_of(
        c["submit"],
        c["start"],
        c["end"],
        c["accelerators"],
        pools=(*pools, "all") if unpooled else pools,
        users=rows.names("user"),
        reasons=rows.names("reason"),
        pool=np.where(c["pool"] < 0, len(pools), c["pool"]),
        eligible_s=c["eligible"],
        busy_s=busy,
        requested=c["requested"],
        per_node=np.where(np.isfinite(c["per_node"]), c["per_node"], per_node),
        limit_s=c["limit"],
        priority=c["priority"],
        preemptible=preemptible,
        user=c["user"],
        reason=c["reason"],
        state=state,
        job=np.where(job < 0, unnamed, job),
        ids=jobs,
        hosts=rows.names("hosts"),
        host=c["hosts"],
    )


def _is(rows: Rows, c: Columns, column: str, words: frozenset[str] | set[str]) -> Flags:
    """Return rows with one of some texts in a column."""
    known = np.array([name.lower() in words for name in rows.names(column)] + [False])
    return np.asarray(known[c[column]], dtype=np.bool_)


def _again(c: Columns) -> Flags:
    """Return later runs of a job that occurs several times."""
    _, first, job = np.unique(c["job"], return_index=True, return_inverse=True)
    found = np.ones(len(c["job"]), dtype=np.bool_)
    found[first] = False
    return found & (c["job"] >= 0) & (np.asarray(job).reshape(-1) >= 0)


def _texts(value: Array) -> list[str]:
    """Return numbers that read back equal; empty for an unknown one."""
    return ["" if math.isnan(x) else repr(x) for x in value.tolist()]


def _named(names: Sequence[str], numbers: Index) -> list[str]:
    return [names[i] if i >= 0 else "" for i in numbers.tolist()]


def write_jobs(log: JobLog, file: Path) -> None:
    """Write the neutral CSV, which :func:`dcplan.inputs.logs.read.read_jobs` reads back equal.

    Raises
    ------
    InputError
        When the file cannot be written, or a name is one of the texts that mean unknown.
    """
    for name in (*log.pools, *log.users, *log.reasons):
        if name.strip().lower() in NOTHING or name != name.strip():
            cause = f"{name!r} cannot be a name: it would be read as unknown, or without its spaces"
            raise InputError([Problem("DC057", cause, Place(str(file)))])
    texts = {
        "pool": _named(log.pools, log.pool),
        "user": _named(log.users, log.user),
        "reason": _named(log.reasons, log.reason),
        "state": [State(x).name for x in log.state.tolist()],
        "preemptible": [str(int(x)) for x in log.preemptible.tolist()],
        "job": list(map(str, log.job.tolist())),
    }
    columns = [texts[n] if n in texts else _texts(getattr(log, n)) for n in NEUTRAL]
    try:
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(NEUTRAL)
            writer.writerows(zip(*columns, strict=True))
    except OSError as error:
        cause = f"cannot write the file: {error.strerror}"
        raise InputError([Problem("DC006", cause, Place(str(file)))]) from error
