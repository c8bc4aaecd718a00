"""Columns of a CSV of incidents, under the names that logs use, as numbers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from dcplan.catalog.delimiter import check_delimiter
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.incidents.findings import Kind, Notes
from dcplan.inputs.logs.rows import Columns, Rows
from dcplan.inputs.logs.table import ALIASES as OF_JOBS
from dcplan.inputs.records.header import check_once

ALIASES = {
    "start": (
        *("start", "start_s", "start_time", "started", "started_at", "failed_at", "failure_time"),
        *("occurred", "occurred_at", "opened", "opened_at", "created_at", "time", "timestamp"),
        "timestart",
    ),
    "node": ("node", "node_id", "node_name", "nodename", "host", "hostname", "server", "machine"),
    "detected": ("detected", "detected_s", "detected_at", "detection_time", "acknowledged_at"),
    "repaired": (
        *("repaired", "repaired_s", "repaired_at", "repair_time", "resolved", "resolved_at"),
        *("fixed", "fixed_at", "restored", "restored_at", "returned_at", "closed_at"),
        *("end", "end_s", "end_time", "timeend"),
    ),
    "cause": ("cause", "root_cause", "reason", "failure", "failure_type", "category", "error"),
    "part": ("part", "component", "device", "subsystem", "part_type", "fru", "fru_type"),
    "nodes": ("cluster_nodes", "fleet_nodes", "total_nodes", "node_count"),
}
"""Names of each column, the most usual first."""
TIMES = ("start", "detected", "repaired")
TEXTS = ("node", "cause", "part")
HELP = (
    "a log of incidents is a CSV with start and node; detected, repaired, cause and part are used "
    "where the log has them"
)


def is_header(line: str) -> bool:
    """Return whether a table with this first line has incidents of nodes, not jobs.

    Examples
    --------
    >>> is_header("cause,node,start,repaired"), is_header("start,end,n,node")
    (True, False)
    >>> is_header("NodeName|TimeStart|TimeEnd|State|Reason")
    True
    """
    names = [name.strip().strip('"').lower() for name in line.split(delimiter(line))]
    found = positions(names)
    jobs = {*OF_JOBS["accelerators"], *OF_JOBS["milli"], "submit", "submit_s", "submit_time"}
    more = found.keys() & {"detected", "repaired", "cause", "part"}
    return {"start", "node"} <= found.keys() and bool(more) and not jobs & {*names}


def delimiter(line: str) -> str:
    """Return what separates the columns: a comma, or the bar of Slurm's tables.

    Examples
    --------
    >>> delimiter("NodeName|TimeStart|Reason"), delimiter("node,start")
    ('|', ',')
    """
    return "|" if "|" in line and "," not in line else ","


def positions(header: Sequence[str]) -> dict[str, int]:
    """Return the position of each column that is known.

    Examples
    --------
    >>> positions(["hostname", "failed_at"])
    {'start': 1, 'node': 0}
    """
    return {
        key: next(header.index(n) for n in names if n in header)
        for key, names in ALIASES.items()
        if any(n in header for n in names)
    }


def read_columns(file: Path, rows: Rows, notes: Notes) -> int:
    """Add the rows of a CSV of incidents; return their number.

    Rows that cannot be read are noted in ``rows.found``.

    Raises
    ------
    InputError
        When a column is missing, or the file is no CSV.
    """
    path = str(file)
    number = rows.open(path)
    lines: list[int] = []
    cells: list[list[str]] = []
    with file.open(encoding="utf-8-sig", newline="", errors="replace") as stream:
        line = stream.readline()
        stream.seek(0)
        reader = csv.reader(stream, delimiter=delimiter(line))
        try:
            header = [name.strip().lower() for name in next(reader, [])]
            where = _columns(header, path, notes)
            for row in reader:
                if len(row) == len(header):
                    lines.append(reader.line_num)
                    cells.append(row)
                elif any(row):
                    cause = f"{len(row)} cells in a row, {len(header)} in the header"
                    rows.found.bad(path, reader.line_num, cause, "the file may be cut off here")
        except csv.Error as error:
            cause = f"not CSV: {error}"
            raise InputError([Problem("DC057", cause, Place(path, reader.line_num))]) from error
    _take({k: [row[at] for row in cells] for k, at in where.items()}, lines, path, number, rows)
    return len(lines)


def _columns(header: Sequence[str], path: str, notes: Notes) -> dict[str, int]:
    check_delimiter(header, chain.from_iterable(ALIASES.values()), path)
    check_once(header, chain.from_iterable(ALIASES.values()), path)
    where = positions(header)
    missing = [key for key in ("start", "node") if key not in where]
    if missing:
        cause = f"columns missing: {', '.join(missing)}"
        hint = did_you_mean(missing[0], header)
        raise InputError([Problem("DC057", cause, Place(path, 1, 1), hint, HELP)])
    unused = [name for i, name in enumerate(header) if i not in where.values()]
    notes.add(Kind.COLUMNS_UNUSED, len(unused), Place(path, 1), ", ".join(unused))
    return where


def _take(
    cells: dict[str, list[str]], lines: Sequence[int], path: str, file: int, rows: Rows
) -> None:
    """Add rows, given as columns of text."""
    blank = [""] * len(lines)
    got: Columns = {
        "file": np.full(len(lines), file, dtype=np.int64),
        "line": np.array(lines, dtype=np.int64),
        "ends": np.full(len(lines), "repaired" in cells, dtype=np.bool_),
    }
    for name in TIMES:
        got |= rows.moments(name, cells.get(name, blank), lines, path)
    for name in TEXTS:
        got[name] = rows.coded(name, cells.get(name, blank))
    got["nodes"] = rows.numbers("nodes", cells.get("nodes", blank), lines, path)
    rows.pieces.append(got)
