"""Samples of counters from CSV files, with a column or a row for each counter."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from dcplan.catalog.delimiter import check_delimiter
from dcplan.demand.log.jobs import Array
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.counters.findings import Notes, Oddity
from dcplan.inputs.counters.names import (
    COLUMNS,
    HELP,
    NAMES,
    PERCENT_OR_RATIO,
    SCRAPED,
    Counter,
    are_samples,
    counter_of,
    plain,
    positions,
)
from dcplan.inputs.counters.samples import LABELS, Samples, checked, merged
from dcplan.inputs.counters.values import accelerators, moments, settle_zone, values
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.rows import Columns, Rows
from dcplan.inputs.logs.traps import Found
from dcplan.inputs.records.header import check_once

ROWS_AT_ONCE = 20_000
HEAD_CHARACTERS = 65_536
KIND = "counters"
CODED = (*LABELS, "uuid", "gpu", "instance")


@dataclass(frozen=True)
class CounterFile:
    """One file that was read."""

    path: str
    kind: str
    sha256: str
    rows: int
    first_s: float
    last_s: float


@dataclass(frozen=True)
class ReadCounters:
    """Samples of all files."""

    samples: Samples
    notes: Notes
    files: tuple[CounterFile, ...]


def is_counters(path: Path) -> bool:
    """Return whether a file has samples of counters, by the names of its columns."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as stream:
            head = stream.read(HEAD_CHARACTERS)
    except OSError:
        return False  # the reader of jobs reports the file
    line = head.splitlines()[0] if head.strip() else ""
    return are_samples(next(csv.reader([line]), []))


def read_counters(paths: Sequence[Path], options: LogOptions) -> ReadCounters:
    """Read samples of counters of accelerators.

    Parameters
    ----------
    paths : sequence of Path
        CSV files with a column for each counter, or the columns counter and value.
    options : LogOptions
        The zone of times without one.

    Raises
    ------
    InputError
        When a file lacks a column, has no sample, or rows cannot be read, with every such row
        (DC057, up to 50 one by one); when local times have no zone.
    """
    rows, notes = Rows(Found()), Notes()
    present, doubtful = set[Counter](), list[int]()
    counts = [_read(path, rows, notes, present, doubtful) for path in paths]
    rows.found.raise_bad()
    c = rows.columns()
    if not c or not len(c["line"]):
        cause = "no sample of an accelerator"
        raise InputError([Problem("DC057", cause, Place(str(paths[0])), help=HELP)])
    accelerator = accelerators(c, rows)
    settle_zone(c, accelerator, rows, options, notes)
    rows.found.raise_bad()
    checked(c, rows.paths, doubtful, notes)
    names = {name: rows.names(name) for name in LABELS}
    kept = [counter for counter in Counter if counter in present]
    samples = merged(c, accelerator, names, kept, rows.paths, notes)
    files = tuple(
        _file(path, n, c["time"][c["file"] == k])
        for k, (path, n) in enumerate(zip(paths, counts, strict=True))
    )
    return ReadCounters(samples, notes, files)


def _read(path: Path, rows: Rows, notes: Notes, present: set[Counter], doubtful: list[int]) -> int:
    """Read a file; return the number of its rows."""
    name, file = str(path), rows.open(str(path))
    read = 0
    try:
        with path.open(encoding="utf-8-sig", newline="", errors="replace") as stream:
            reader = csv.reader(stream)
            header = next(reader, [])
            where, wide = _columns(header, name, notes)
            present |= set(wide)
            if any(plain(x) == PERCENT_OR_RATIO for x in header):
                doubtful.append(file)
            start = 2
            while batch := list(islice(reader, ROWS_AT_ONCE)):
                lines, cells = [], []
                for line, row in enumerate(batch, start):
                    if len(row) == len(header):
                        lines.append(line)
                        cells.append(row)
                    elif any(row):
                        cause = f"{len(row)} cells in a row, {len(header)} in the header"
                        rows.found.bad(name, line, cause, "the file may be cut off here")
                start += len(batch)
                if lines:
                    columns = list(zip(*cells, strict=True))
                    present |= _take(columns, lines, where, wide, name, rows, notes, doubtful)
                read += len(lines)
    except OSError as error:
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        cause = f"cannot read the file: {error.strerror}"
        hint = did_you_mean(path.name, near)
        raise InputError([Problem("DC006", cause, Place(name), hint)]) from error
    except csv.Error as error:
        cause = f"not CSV: {error}"
        raise InputError([Problem("DC057", cause, Place(name, reader.line_num))]) from error
    return read


def _columns(
    header: Sequence[str], path: str, notes: Notes
) -> tuple[dict[str, int], dict[Counter, int]]:
    """Return the positions of known columns, and of counters."""
    known = (*chain.from_iterable(COLUMNS.values()), *NAMES)
    check_delimiter(header, known, path)
    check_once(header, [*known, *(x for x in header if counter_of(x) is not None)], path)
    where = positions(header)
    wide: dict[Counter, int] = {}
    for i, name in enumerate(header):
        counter = counter_of(name)
        if counter is not None and i not in where.values():
            wide.setdefault(counter, i)
    if wide:  # then names of counters and values are those of columns
        where = {key: at for key, at in where.items() if key not in {"counter", "value"}}
    missing = [] if "time" in where else ["time"]
    if "uuid" not in where and not {"gpu", "node"} <= where.keys():
        missing.append("UUID, or Hostname and gpu")
    if not wide and not {"counter", "value"} <= where.keys():
        missing.append("a counter, or counter and value")
    if missing:
        cause = f"columns missing: {'; '.join(missing)}"
        raise InputError([Problem("DC057", cause, Place(path, 1, 1), help=HELP)])
    names = [name.strip().lower() for name in header]
    if "job" in names and SCRAPED & set(names) and "job" not in where:
        notes.add(Oddity.SCRAPE_JOB, 1, Place(path, 1))
    used = {*where.values(), *wide.values()}
    unused = [name for i, name in enumerate(header) if i not in used]
    notes.add(Oddity.COLUMNS_UNUSED, len(unused), Place(path, 1), ", ".join(unused))
    return where, wide


def _take(
    columns: Sequence[Sequence[str]],
    lines: Sequence[int],
    where: dict[str, int],
    wide: dict[Counter, int],
    path: str,
    rows: Rows,
    notes: Notes,
    doubtful: list[int],
) -> set[Counter]:
    """Add rows, given as columns of text; return the counters in them."""
    blank = [""] * len(lines)
    unknown = np.full(len(lines), np.nan)
    file = rows.paths.index(path)
    cells = {key: columns[at] for key, at in where.items()}
    got: Columns = {
        "file": np.full(len(lines), file),
        "line": np.array(lines, dtype=np.int64),
        "labeled": np.full(len(lines), "job" in where),
        **{name: rows.coded(name, cells.get(name, blank)) for name in CODED},
        **dict.fromkeys(Counter, unknown),
    }
    got |= moments(cells["time"], lines, path, rows, notes)
    found = set(wide)
    for counter, at in wide.items():
        got[counter] = values(counter, columns[at], lines, path, rows)
    keep = np.ones(len(lines), dtype=np.bool_)
    if not wide:
        value = values("value", cells["value"], lines, path, rows)
        named = {text: counter_of(text) for text in set(cells["counter"])}
        if any(plain(text) == PERCENT_OR_RATIO for text in named) and file not in doubtful:
            doubtful.append(file)
        which = np.array([named[x] or "" for x in cells["counter"]])
        keep = which != ""
        other = sorted(text for text, counter in named.items() if counter is None)
        if other:
            first = int(np.flatnonzero(~keep)[0])
            place = Place(path, lines[first])
            notes.add(Oddity.NOT_READ, int((~keep).sum()), place, ", ".join(other[:10]))
        found = {counter for counter in named.values() if counter is not None}
        for counter in found:
            got[counter] = np.where(which == counter, value, np.nan)
    parts = got["instance"] >= 0
    if parts.any():
        place = Place(path, lines[int(np.flatnonzero(parts)[0])])
        notes.add(Oddity.PARTITION, int(parts.sum()), place)
    rows.pieces.append({name: column[keep & ~parts] for name, column in got.items()})
    return found


def _file(path: Path, rows: int, times: Array) -> CounterFile:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    first, last = (float(times.min()), float(times.max())) if len(times) else (np.nan, np.nan)
    return CounterFile(str(path), KIND, digest, rows, first, last)
