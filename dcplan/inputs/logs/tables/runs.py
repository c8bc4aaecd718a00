"""Runs of jobs from the columns of a CSV: starts, ends, states, and rows that cannot be."""

from __future__ import annotations

import numpy as np

from dcplan.demand.log.jobs import Flags, Index, JobLog, State, log_of
from dcplan.inputs.logs.checks import note_gaps, note_lengths, note_repeated, note_unit
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.rows import Columns, Rows
from dcplan.inputs.logs.slurm import STATES
from dcplan.inputs.logs.tables.columns import DURATIONS
from dcplan.inputs.logs.traps import Trap
from dcplan.inputs.logs.zones import settle
from dcplan.units import MILLI

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
    if not len(kept["line"]):
        return None
    note_gaps(kept["submit"], rows.marks(kept))
    note_repeated(kept, rows.marks(kept))
    note_unit(kept, rows.marks(kept))
    return _log(kept, rows)


def _fill(c: Columns, rows: Rows) -> None:
    """Derive starts and ends from waits and run times, and shares from thousandths."""
    marks = rows.marks(c)
    start = np.where(np.isfinite(c["start"]), c["start"], c["submit"] + c["wait"])
    start = np.where(c["bare"], c["end"] - c["run"], start)  # neither is a column of the file
    unknown = c["bare"] & ~np.isfinite(start)
    marks.note(Trap.NO_START, unknown & (c["accelerators"] > 0.0))
    c["start"] = np.where(unknown, c["submit"], start)
    note_lengths(c["end"] - c["start"], c["run"], marks, "the run time")
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
    for name in (*DURATIONS, "nodes", "per_node", "requested"):
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
    state, final = _states(c, rows)
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


def _states(c: Columns, rows: Rows) -> tuple[Index, Flags]:
    """Return the state of each run, and which runs are in a final state without an end."""
    started, ends = np.isfinite(c["start"]), np.isfinite(c["end"])
    names = rows.names("state")
    known = np.array([int(WORDS[name.upper()]) for name in names] + [-1], dtype=np.int64)
    state = known[c["state"]]
    guessed = np.where(started, np.where(ends, State.COMPLETED, State.RUNNING), State.PENDING)
    state = np.where(state < 0, guessed, state)
    final = started & ~ends & (state != State.RUNNING)
    return np.where(final, State.RUNNING, state), final


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
