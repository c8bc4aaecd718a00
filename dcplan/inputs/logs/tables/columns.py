"""Jobs in a CSV, under the names of columns that published logs use."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np

from dcplan.catalog.delimiter import check_delimiter
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.logs.rows import TIMES, Columns, Rows
from dcplan.inputs.logs.traps import Trap
from dcplan.inputs.records.header import check_once

ROWS_AT_ONCE = 10_000
LEAST_LETTERS = 3
"""Letters of a name that others can be near to."""
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
        in_ms = [name for name in header if name.endswith("_ms")]
        step = f"{HELP}; divide milliseconds by 1,000: {', '.join(in_ms)}" if in_ms else HELP
        hint = _near(missing[0], header) if len(missing) == 1 else ""  # else it is no log of jobs
        raise InputError([Problem("DC057", cause, Place(path, 1, 1), hint, step)])
    unused = [name for i, name in enumerate(header) if i not in where.values()]
    rows.found.add(Trap.COLUMNS_UNUSED, len(unused), Place(path, 1), ", ".join(unused))
    return where


def _near(missing: str, header: Sequence[str]) -> str:
    """Return the column that is nearest to any name of one that is missing."""
    names = next((x for x in ALIASES.values() if missing in x), (missing,))
    near = (did_you_mean(name, header) for name in names if len(name) >= LEAST_LETTERS)
    return next(filter(None, near), "")


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
