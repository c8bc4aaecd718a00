"""Logs of jobs, of any kind and in several files, as one neutral table."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.demand.log.jobs import Index, JobLog, log_of
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.logs.kueue import Runs, kueue_log, read_kueue
from dcplan.inputs.logs.options import Kind, LogFile, LogOptions
from dcplan.inputs.logs.rows import Rows
from dcplan.inputs.logs.sacct import SlurmRows, read_sacct
from dcplan.inputs.logs.sacct_json import read_sacct_json
from dcplan.inputs.logs.slurm import slurm_log
from dcplan.inputs.logs.tables.columns import read_table
from dcplan.inputs.logs.tables.runs import table_log
from dcplan.inputs.logs.traps import Found, Trap
from dcplan.inputs.records.findings import Finding

MOST_JSON_BYTES = 2_000_000_000
HEAD_CHARACTERS = 65_536
NAN = float("nan")
LEFT_OUT = frozenset(
    (*(Trap.CPU_ONLY, Trap.PARTITION_UNKNOWN, Trap.GRES_UNKNOWN, Trap.DEVICE_CLAIM), Trap.STEP)
)
"""Runs that are in no log: where none is left, they say why."""


@dataclass(frozen=True)
class ReadJobs:
    """Runs of all files, and what was found in them."""

    log: JobLog
    findings: tuple[Finding[Trap], ...]
    files: tuple[LogFile, ...]


def read_jobs(paths: Sequence[Path], options: LogOptions) -> ReadJobs:
    """Read logs of jobs: ``sacct -P``, ``sacct --json``, Kueue's workloads, CSV.

    Files of one kind are read as one log: a run that occurs in two exports counts once. Runs that
    ask for no accelerator are left out. Each trap in the data is handled and counted.

    Parameters
    ----------
    paths : sequence of Path
    options : LogOptions

    Raises
    ------
    InputError
        When a file or rows cannot be read, with every such row (DC057, up to 50 one by one); when
        local times have no zone; when no run has accelerators.
    """
    found = Found()
    slurm = SlurmRows(found, fractions=options.mig_fractions)
    table, workloads = Rows(found), Runs()
    counts: list[tuple[Path, Kind, int]] = []
    problems: list[Problem] = []
    if not paths:
        raise InputError([Problem("DC050", "no log is given", Place("FILE"))])
    for path in paths:
        try:
            kind = _kind(path, options)
            if kind == Kind.SACCT:
                n = read_sacct(path, slurm)
            elif kind == Kind.CSV:
                n = read_table(path, table)
            elif kind == Kind.SACCT_JSON:
                n = read_sacct_json(str(path), _json(path), slurm)
            else:
                n = read_kueue(str(path), _json(path), options, found, workloads)
            counts.append((path, kind, n))
        except InputError as error:
            problems += error.problems
    logs: list[JobLog | None] = []
    readers: tuple[Callable[[], JobLog | None], ...] = (
        lambda: slurm_log(slurm, options),
        lambda: table_log(table, options),
        lambda: kueue_log(workloads, found),
    )
    for log_from in readers:
        try:
            logs.append(log_from())
        except InputError as error:
            bad_rows = found.problems()
            problems += [p for p in error.problems if p not in bad_rows]
    problems += found.problems()
    if problems:
        raise InputError(problems)
    log = _in_period(
        _merged([x for x in logs if x is not None], paths, found), options, found, paths
    )
    spans = {**slurm.spans, **table.spans}
    files = tuple(_file(path, kind, n, spans, workloads) for path, kind, n in counts)
    return ReadJobs(log, found.findings(), files)


def _kind(path: Path, options: LogOptions) -> Kind:
    """Return the kind of a file: as given, or by its beginning."""
    if options.kind is not None and options.kind not in list(Kind):
        cause = f"unknown kind of log {options.kind!r}"
        hint = did_you_mean(options.kind, list(Kind))
        step = f"kinds: {', '.join(Kind)}"
        raise InputError([Problem("DC050", cause, Place("--kind"), hint, step)])
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as stream:
            head = stream.read(HEAD_CHARACTERS)
    except OSError as error:
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        cause = f"cannot read the file: {error.strerror}"
        hint = did_you_mean(path.name, near)
        raise InputError([Problem("DC006", cause, Place(str(path)), hint)]) from error
    if "\0" in head:
        step = "a log is text; unpack it first"
        raise InputError([Problem("DC057", "not a text file", Place(str(path)), help=step)])
    if not head.strip():
        raise InputError([Problem("DC057", "the file is empty", Place(str(path)))])
    if options.kind is not None:
        return Kind(options.kind)
    if head.lstrip()[0] in "{[":
        slurm = '"jobs"' in head and '"items"' not in head
        return Kind.SACCT_JSON if slurm or '"data_parser"' in head else Kind.KUEUE
    header = [name.strip().lower() for name in head.splitlines()[0].split("|")]
    return Kind.SACCT if {"jobid", "jobidraw"} & set(header) and len(header) > 1 else Kind.CSV


def _json(path: Path) -> Any:
    """Return the content of a JSON file."""
    if path.stat().st_size > MOST_JSON_BYTES:
        cause = f"larger than {MOST_JSON_BYTES:,} bytes"
        step = "export several shorter windows, or use sacct -P"
        raise InputError([Problem("DC007", cause, Place(str(path)), help=step)])
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        cause = f"not JSON: {error.msg}"
        step = "the file may be cut off here"
        place = Place(str(path), error.lineno, error.colno)
        raise InputError([Problem("DC057", cause, place, help=step)]) from error


def _merged(logs: Sequence[JobLog], paths: Sequence[Path], found: Found) -> JobLog:
    """Return one log; jobs of different logs stay different."""
    if not logs:
        out = [f"{f.count:,} {f.what}" for f in found.findings() if f.kind in LEFT_OUT]
        cause = "no run has accelerators" + (f": {'; '.join(out)}" if out else "")
        raise InputError([Problem("DC057", cause, Place(str(paths[0])))])
    if len(logs) == 1:
        return logs[0]
    named = ("pool", "user", "reason", "host")
    names: dict[str, dict[str, int]] = {column: {} for column in named}
    columns: dict[str, list[Index]] = {column: [] for column in (*named, "job")}
    jobs, ids = 0, tuple[str, ...]()
    for log in logs:
        listed = (log.pools, log.users, log.reasons, log.hosts)
        for column, texts in zip(named, listed, strict=True):
            known = names[column]
            codes = [known.setdefault(text, len(known)) for text in texts]
            columns[column].append(np.array([*codes, -1], dtype=np.int64)[getattr(log, column)])
        columns["job"].append(log.job + jobs)
        ids = (*ids, *[""] * (jobs - len(ids)), *log.ids)
        jobs += max(int(log.job.max()) + 1, len(log.ids))
    others = (
        *("eligible_s", "busy_s", "requested", "per_node", "limit_s", "priority"),
        *("preemptible", "state"),
    )
    each = {name: np.concatenate([getattr(log, name) for log in logs]) for name in others}
    return log_of(
        np.concatenate([log.submit_s for log in logs]),
        np.concatenate([log.start_s for log in logs]),
        np.concatenate([log.end_s for log in logs]),
        np.concatenate([log.accelerators for log in logs]),
        pools=tuple(names["pool"]),
        users=tuple(names["user"]),
        reasons=tuple(names["reason"]),
        ids=ids,
        hosts=tuple(names["host"]),
        **{name: np.concatenate(parts) for name, parts in columns.items()},
        **each,
    )


def _in_period(log: JobLog, options: LogOptions, found: Found, paths: Sequence[Path]) -> JobLog:
    """Leave out runs outside the period, and flag those submitted before it."""
    if options.period is None:
        return log
    first, last = options.period
    if not first < last:
        cause = "the period ends before it starts"
        raise InputError([Problem("DC050", cause, Place("--period"))])
    # a run that never started is in the period while it was in the queue
    until = np.where(np.isfinite(log.end_s), log.end_s, np.inf)
    inside = (log.submit_s < last) & (until >= first)
    place = Place(str(paths[0]))
    found.add(Trap.OUTSIDE_PERIOD, int(np.sum(~inside)), place)
    log = log.rows(inside)
    if not len(log):
        cause = "no run is in the period"
        raise InputError([Problem("DC057", cause, place, help="check --period and --timezone")])
    found.add(Trap.WINDOW_EDGE, int(np.sum(log.submit_s < first)), place)
    return log


def _file(
    path: Path, kind: Kind, rows: int, spans: dict[str, tuple[float, float]], workloads: Runs
) -> LogFile:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    first, last = spans.get(str(path), (NAN, NAN))
    if kind == Kind.KUEUE and workloads:
        times = [
            run[name]
            for run in workloads.values()
            for name in ("submit_s", "start_s", "end_s")
            if run["path"] == str(path) and not math.isnan(run[name])
        ]
        first, last = (min(times), max(times)) if times else (NAN, NAN)
    return LogFile(str(path), kind, digest, rows, first, last)
