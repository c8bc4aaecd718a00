"""Rows of Slurm's accounting, from ``sacct -P``: any columns in any order, many rows at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.logs.gres import Count, asks_for_accelerators, tres
from dcplan.inputs.logs.ids import PLAIN_ID, JobId, job_id
from dcplan.inputs.logs.rows import TIMES, Columns, Rows
from dcplan.inputs.logs.traps import Found, Trap
from dcplan.inputs.records.header import check_once
from dcplan.units import SECONDS_PER_MINUTE

ROWS_AT_ONCE = 10_000
"""Few enough that a batch stays in the cache of the processor."""
TEXTS = ("cluster", "partition", "user", "qos", "state", "reason", "nodelist")
DURATIONS = {"elapsedraw": "elapsed", "planned": "planned", "suspended": "suspended"}
NUMBERS = ("priority", "nnodes", "reqnodes", "restarts")
ALIASES = {"reserved": "planned", "elapsed": "elapsedraw", "timelimit": "timelimitraw"}
"""Names of older versions and formats; ``Timelimit`` has a form of its own."""
NO_COUNT = Count()
NEEDED = ("JobID", "Submit", "Start", "End", "State")
KNOWN = frozenset(
    (
        *(*TIMES, *TEXTS, *DURATIONS, *NUMBERS),
        *("jobid", "jobidraw", "timelimitraw", "reqtres", "alloctres", "submitline", "sluid"),
    )
)
"""Columns that are read; others are counted as unused."""
EXPORT = (
    "sacct -a -X -D -P --noconvert -S FROM -E TO -o JobID,JobIDRaw,Cluster,Partition,QOS,User,"
    "State,Submit,Eligible,Start,End,ElapsedRaw,Planned,Suspended,TimelimitRaw,Priority,Reason,"
    "NNodes,ReqNodes,NodeList,ReqTRES,AllocTRES,Restarts,SLUID,SubmitLine"
)
"""The export that has everything; SLUID needs Slurm 25.11, Planned was Reserved before 21.08."""


@dataclass
class SlurmRows(Rows):
    """Rows of all files of Slurm's accounting."""

    fractions: Mapping[str, float] = field(default_factory=dict)
    counts: dict[str, Count] = field(default_factory=dict)
    """Accelerators of each TRES text."""

    def take(self, cells: Mapping[str, Sequence[str]], lines: Sequence[int], path: str) -> None:
        """Add rows, given as columns of text by lower-case name."""
        file = self.open(path)
        ids, keep = self._ids(cells, lines, path)
        if not keep:
            return
        if len(keep) < len(lines):
            cells = {name: [column[i] for i in keep] for name, column in cells.items()}
            lines = [lines[i] for i in keep]
        rows = len(lines)
        got: Columns = {"file": np.full(rows, file), "line": np.array(lines, dtype=np.int64), **ids}
        blank = [""] * rows
        raw = cells.get("jobidraw")
        if raw is not None and all(map(PLAIN_ID.fullmatch, raw)):
            got["raw"] = np.array(list(map(int, raw)), dtype=np.int64)
        else:
            got["raw"] = -1 - self.coded("jobid", cells.get("jobid", blank))
        for name in TEXTS:
            got[name] = self.coded(name, cells.get(name, blank))
        for name in TIMES:
            got |= self.moments(name, cells.get(name, blank), lines, path)
        got["sluid"] = np.array(list(map(hash, cells.get("sluid", blank))), dtype=np.int64)
        if (
            np.isfinite(got["eligible"]).all() and not got["start_local"].any()
        ):  # then nothing needs the planned wait
            cells = {**cells, "planned": blank}
        for name, short in DURATIONS.items():
            got[short] = self.numbers(name, cells.get(name, blank), lines, path, durations=True)
        for name in NUMBERS:
            got[name] = self.numbers(name, cells.get(name, blank), lines, path)
        limit = cells.get("timelimitraw", blank)
        timed = any(":" in x for x in limit)
        got["limit"] = self.numbers("timelimit", limit, lines, path, durations=timed)
        got["limit"] = got["limit"] * (1.0 if timed else SECONDS_PER_MINUTE)
        for name, short in (("reqtres", "req"), ("alloctres", "alloc")):
            got |= self._accelerators(cells.get(name, blank), short, lines, path)
        got["asks"] = np.zeros(rows, dtype=np.bool_)
        commands = cells.get("submitline", blank)
        for i in np.flatnonzero(got["req"] + got["alloc"] == 0.0).tolist():
            got["asks"][i] = asks_for_accelerators(commands[i])
        self.pieces.append(got)

    def _ids(
        self, cells: Mapping[str, Sequence[str]], lines: Sequence[int], path: str
    ) -> tuple[Columns, list[int]]:
        """Return the ids of rows that are no steps, in columns, and the positions of these rows."""
        texts = cells["jobid"] if "jobid" in cells else cells["jobidraw"]
        leader, keep, steps = [], [], []
        special: dict[int, JobId] = {}
        for i, text in enumerate(texts):
            if PLAIN_ID.fullmatch(text):
                leader.append(int(text))
                keep.append(i)
                continue
            try:
                found = job_id(text)
            except ValueError as error:
                self.found.bad(path, lines[i], str(error))
                continue
            if found.step:
                steps.append(lines[i])
            else:
                special[len(keep)] = found
                leader.append(found.leader)
                keep.append(i)
        if steps:
            self.found.add(Trap.STEP, len(steps), Place(path, steps[0]))
        rows = len(keep)
        columns: Columns = {
            "leader": np.array(leader, dtype=np.int64),
            "tasks": np.ones(rows, dtype=np.int64),
            "array": np.zeros(rows, dtype=np.bool_),
            "cut": np.zeros(rows, dtype=np.bool_),
            "component": np.full(rows, -1),
        }
        for i, one in special.items():
            columns["tasks"][i], columns["array"][i] = one.tasks, one.array
            columns["cut"][i] = one.cut
            columns["component"][i] = -1 if one.component is None else one.component
        return columns, keep

    def _accelerators(
        self, cells: Sequence[str], short: str, lines: Sequence[int], path: str
    ) -> Columns:
        """Return accelerators, shares and unknown partitions of TRES texts."""
        wrong: dict[str, str] = {}
        for text in set(cells) - self.counts.keys():
            try:
                self.counts[text] = tres(text, self.fractions)
            except ValueError as error:
                wrong[text] = str(error)
        for i, text in enumerate(cells if wrong else ()):
            if text in wrong:
                self.found.bad(path, lines[i], wrong[text])
        counts = [self.counts.get(text, NO_COUNT) for text in cells]
        return {
            short: np.array([c.total for c in counts]),
            f"{short}_shares": np.array([c.shares for c in counts]),
            f"{short}_unknown": np.array([c.unknown for c in counts]),
            f"{short}_others": np.array([float(len(c.others)) for c in counts]),
        }


def read_sacct(file: Path, rows: SlurmRows) -> int:
    """Read the output of ``sacct -P``, or ``-p``; return the number of its rows.

    Raises
    ------
    InputError
        When a column is missing.
    """
    path = str(file)
    read = 0
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        header = [name.strip().lower() for name in stream.readline().rstrip("\r\n").split("|")]
        check_once(header, (*KNOWN, *ALIASES), path)
        names = [ALIASES.get(name, name) for name in header]
        names = [n if n not in names[:i] else "" for i, n in enumerate(names)]
        _check(names, path, rows.found)
        last = "submitline" if names and names[-1] == "submitline" else None
        for lines, cells in _batches(stream, len(names), last is not None, path, rows.found):
            columns = {n: c for n, c in zip(names, zip(*cells, strict=True), strict=True) if n}
            rows.take(columns, lines, path)
            read += len(lines)
    return read


def _batches(
    stream: Iterator[str], width: int, joins: bool, path: str, found: Found
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield line numbers and cells; only the last column may hold bars of its own."""
    start = 2
    while batch := list(islice(stream, ROWS_AT_ONCE)):
        lines, cells = [], []
        for number_of, line in enumerate(batch, start):
            text = line.rstrip("\r\n")
            if not text:
                continue
            row = text.split("|", width - 1) if joins else text.split("|")
            if len(row) == width:
                lines.append(number_of)
                cells.append(row)
                continue
            cause = f"{len(row)} cells in a row, {width} in the header"
            step = "the file is cut off here, or a cell has a line end"
            if len(row) > width:
                step = "a cell has a bar: put SubmitLine last, and leave out names of jobs"
            found.bad(path, number_of, cause, step)
        if lines:
            yield lines, cells
        start += len(batch)


def _check(names: Sequence[str], path: str, found: Found) -> None:
    """Refuse a header without what every run needs, and count columns that are not read."""
    missing = [n for n in NEEDED if n.lower() not in names]
    if "jobidraw" in names:
        missing = [n for n in missing if n != "JobID"]
    if not {"reqtres", "alloctres"} & set(names):
        missing.append("ReqTRES")
    if missing:
        cause = f"columns missing: {', '.join(missing)}"
        hint = did_you_mean(missing[0].lower(), [n for n in names if n])
        raise InputError([Problem("DC057", cause, Place(path, 1), hint, EXPORT)])
    unused = [n for n in names if n and n not in KNOWN]
    found.add(Trap.COLUMNS_UNUSED, len(unused), Place(path, 1), ", ".join(unused))
