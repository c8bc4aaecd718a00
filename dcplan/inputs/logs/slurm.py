"""Runs of Slurm's accounting rows: what each row means, and which rows are one job."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from dcplan.demand.log.jobs import Flags, Index, JobLog, State, log_of
from dcplan.inputs.logs.checks import check_lengths, note_gaps
from dcplan.inputs.logs.options import LogOptions
from dcplan.inputs.logs.requeues import job_numbers, joined, without_duplicates
from dcplan.inputs.logs.rows import Columns
from dcplan.inputs.logs.sacct import SlurmRows
from dcplan.inputs.logs.traps import Trap
from dcplan.inputs.logs.zones import settle
from dcplan.units import SECONDS_PER_HOUR

STATES = {
    "COMPLETED": State.COMPLETED,
    "FAILED": State.FAILED,
    "OUT_OF_MEMORY": State.FAILED,
    "CANCELLED": State.CANCELLED,
    "TIMEOUT": State.TIMEOUT,
    "DEADLINE": State.TIMEOUT,
    "PREEMPTED": State.PREEMPTED,
    "REQUEUED": State.PREEMPTED,
    "NODE_FAIL": State.NODE_FAILED,
    "BOOT_FAIL": State.NODE_FAILED,
    "LAUNCH_FAILED": State.FAILED,
    "RECONFIG_FAIL": State.NODE_FAILED,
    "RUNNING": State.RUNNING,
    "SUSPENDED": State.RUNNING,
    "COMPLETING": State.RUNNING,
    "CONFIGURING": State.RUNNING,
    "RESIZING": State.RUNNING,
    "SIGNALING": State.RUNNING,
    "STAGE_OUT": State.RUNNING,
    "STOPPED": State.RUNNING,
    "PENDING": State.PENDING,
    "REQUEUE_HOLD": State.PENDING,
    "REQUEUE_FED": State.PENDING,
    "SPECIAL_EXIT": State.PENDING,
    "RESV_DEL_HOLD": State.PENDING,
    "REVOKED": State.UNKNOWN,
}
"""States of Slurm; a requeued run was stopped and its job went back to the queue."""
FREE = frozenset(("Priority", "Resources"))
"""Reasons that are the queue itself; any other is a rule."""
GRACE_S = SECONDS_PER_HOUR
"""Time beyond its limit after which a run without an end cannot be running any more."""
EDGE_ROWS = 3
"""Runs that start in the same second at the edge of the window before it counts as rewritten."""


def slurm_log(rows: SlurmRows, options: LogOptions) -> JobLog | None:
    """Return the runs of all rows; None when no row is one.

    Raises
    ------
    InputError
        When rows cannot be read (DC057).
    """
    found = rows.found
    columns = rows.columns()
    if not columns or not len(columns["line"]):
        return None
    _settle_times(columns, rows, options)
    rows.span(columns)
    columns["state"] = _states(columns, rows)
    check_lengths(columns, rows.marks(columns))
    found.raise_bad()
    columns = joined(without_duplicates(columns, rows), rows)
    _starts(columns, rows)
    last_s = _last_s(columns)
    _window(columns, rows, options, last_s)
    _check_accelerators(columns, rows)
    found.raise_bad()
    marks = rows.marks(columns)
    marks.note(Trap.ARRAY_PENDING, columns["array"])
    marks.note(Trap.ARRAY_CUT, columns["cut"])
    columns["job"] = job_numbers(columns, rows)
    columns = _chosen(columns, rows)
    if not len(columns["line"]):
        return None
    note_gaps(columns["submit"], rows.marks(columns))
    return _log(columns, rows, last_s)


def _settle_times(columns: Columns, rows: SlurmRows, options: LogOptions) -> None:
    """Turn local times into UTC; the ids of requeued jobs and of array tasks are those of before."""
    fresh = ~(columns["restarts"] > 0.0)
    settle(
        columns,
        order=np.where(fresh, columns["leader"].astype(np.float64), np.nan),
        group=columns["cluster"],
        wait_s=columns["planned"],
        wall_s=columns["elapsed"] + np.nan_to_num(columns["suspended"]),
        zone=options.zone(),
        marks=rows.marks(columns),
    )


def _states(columns: Columns, rows: SlurmRows) -> Index:
    """Return the state of each row; ``CANCELLED by 75200`` is CANCELLED."""
    names = rows.names("state")
    words = [name.split()[0].rstrip("+").upper() for name in names]
    known = np.array([int(STATES.get(word, -1)) for word in words] + [-1], dtype=np.int64)
    found = known[columns["state"]]
    marks = rows.marks(columns)
    for code in np.unique(columns["state"][found < 0]).tolist():
        cause = f"unknown state {names[code]!r}" if code >= 0 else "no state"
        marks.bad(columns["state"] == code, cause)
    return found


def _starts(c: Columns, rows: SlurmRows) -> None:
    """Settle starts and ends: runs that never started, clocks that disagree, ends before starts."""
    idle = (c["end"] == c["start"]) & (c["alloc"] + c["alloc_unknown"] == 0.0)
    gone = (c["state"] == State.CANCELLED) & idle
    waiting = c["state"] == State.PENDING
    c["start"] = np.where(gone | waiting, np.nan, c["start"])
    c["end"] = np.where(waiting, np.nan, c["end"])
    early = c["start"] < c["submit"]
    marks = rows.marks(c)
    marks.note(Trap.START_BEFORE_SUBMIT, early)
    c["submit"] = np.where(early, c["start"], c["submit"])
    marks.bad(~np.isfinite(c["submit"]), "no time of submission")
    marks.bad(c["end"] < c["start"], "the run ends before it starts")


def _last_s(c: Columns) -> float:
    """Return the moment of the export: no time of the log is later."""
    running = c["start"] + np.where(np.isfinite(c["elapsed"]), c["elapsed"], 0.0)
    times = np.concatenate([c["submit"], c["end"], running])
    return float(np.nanmax(times)) if np.any(np.isfinite(times)) else np.nan


def _window(c: Columns, rows: SlurmRows, options: LogOptions, last_s: float) -> None:
    """Flag what the window of the export cut, and refuse times that it rewrote."""
    ends = c["end"][np.isfinite(c["end"])]
    if not len(ends):
        return
    marks = rows.marks(c)
    starts = c["start"][np.isfinite(c["start"])]
    edge = float(starts.min()) if len(starts) else np.nan
    at_edge = np.flatnonzero((c["start"] == edge) & (c["submit"] < edge))
    on_hour = edge % SECONDS_PER_HOUR == 0.0
    if len(at_edge) >= EDGE_ROWS and (edge == options.period[0] if options.period else on_hour):
        place = marks.place(int(at_edge[0]))
        cause = f"{len(at_edge)} runs start in the first second of the log, on the hour"
        step = "sacct -T cuts starts at the window: export without -T; or give the period"
        rows.found.bad(place.path, place.line, cause, step)
    if options.period is not None:
        return
    before = c["submit"] < ends.min()
    if before.sum() > 1:
        marks.note(Trap.WINDOW_EDGE, before)
    zone = options.zone()
    first, last = (datetime.fromtimestamp(x, zone or UTC) for x in (float(ends.min()), last_s))
    if first.date() == last.date():
        rows.found.add(Trap.SHORT_WINDOW, 1, marks.place(0))


def _check_accelerators(c: Columns, rows: SlurmRows) -> None:
    """Refuse runs whose command asks for accelerators that the accounting does not have."""
    none = c["req"] + c["alloc"] + c["req_unknown"] + c["alloc_unknown"] == 0.0
    cause = "SubmitLine asks for accelerators, ReqTRES and AllocTRES have none"
    step = "add gres/gpu to AccountingStorageTRES; older rows have no accelerators to read"
    rows.marks(c).bad(none & c["asks"], cause, step)


def _chosen(c: Columns, rows: SlurmRows) -> Columns:
    """Leave out runs without accelerators, and expand arrays."""
    total = np.maximum(c["req"], c["alloc"])
    unknown = np.maximum(c["req_unknown"], c["alloc_unknown"])
    names = sorted({n for count in rows.counts.values() for n in count.names})
    others = sorted({n for count in rows.counts.values() for n in count.others})
    marks = rows.marks(c)
    none = (total == 0.0) & (unknown == 0.0)
    other = none & (np.maximum(c["req_others"], c["alloc_others"]) > 0.0)
    marks.note(Trap.CPU_ONLY, none & ~other)
    marks.note(Trap.GRES_UNKNOWN, other, ", ".join(others))
    marks.note(Trap.PARTITION_UNKNOWN, unknown > 0.0, ", ".join(names))
    marks.note(Trap.PARTITION, np.maximum(c["req_shares"], c["alloc_shares"]) > 0.0)
    index = np.repeat(np.arange(len(total)), np.where(total > 0.0, c["tasks"], 0))
    chosen = {name: column[index] for name, column in c.items()}
    if len(index):
        again = np.concatenate([[False], np.diff(index) == 0])
        top = int(c["job"].max())
        chosen["job"] = np.where(again, top + np.cumsum(again), chosen["job"])
    return chosen


def _log(c: Columns, rows: SlurmRows, last_s: float) -> JobLog:
    """Return the table of runs."""
    started = np.isfinite(c["start"])
    open_ended = started & ~np.isfinite(c["end"])
    late = open_ended & (last_s - c["start"] > c["limit"] + GRACE_S)
    final = open_ended & ~late & (c["state"] != State.RUNNING)
    end = np.where(late, c["start"] + c["limit"], c["end"])
    state = np.where(final, State.RUNNING, np.where(late, State.UNKNOWN, c["state"]))
    suspended = np.nan_to_num(c["suspended"])
    held = started & (c["alloc"] > 0.0)
    accelerators = np.where(held | (c["req"] == 0.0), c["alloc"], c["req"])
    asked = bool(np.any(c["req"] > 0.0))  # whether the log says what runs asked for
    nodes = np.where(c["nnodes"] > 0.0, c["nnodes"], c["reqnodes"])
    eligible = np.where(np.isfinite(c["eligible"]), c["eligible"], c["start"] - c["planned"])
    reasons = rows.names("reason")
    rule = np.array([r not in FREE for r in reasons] + [False])
    preemptible = _preemptible(c, state)
    single = len(started) > 1 and len(np.unique(c["user"])) == 1 and int(c["user"][0]) >= 0
    marks = rows.marks(c)
    for trap, chosen in (
        (Trap.NEVER_STARTED, ~started),
        (Trap.RUNNING, open_ended & ~late & ~final),
        (Trap.RUNAWAY, late),
        (Trap.NO_END, final),
        (Trap.SUSPENDED, suspended > 0.0),
        (Trap.NO_ELIGIBLE, started & ~np.isfinite(eligible)),
        (Trap.EXCLUSIVE, held & (c["alloc"] > c["req"]) & asked),
        (Trap.NO_ALLOCATION, started & (c["alloc"] == 0.0)),
        (Trap.POLICY_REASON, rule[c["reason"]]),
        (Trap.PREEMPTIBLE, preemptible),
        (Trap.ONE_USER, np.full(len(started), single)),
    ):
        marks.note(trap, chosen)
    pools, pool = _pools(c, rows)
    until = np.where(np.isfinite(end), end, last_s)
    return log_of(
        c["submit"],
        c["start"],
        end,
        accelerators,
        pools=pools,
        users=rows.names("user"),
        reasons=reasons,
        pool=pool,
        eligible_s=eligible,
        busy_s=np.maximum(until - c["start"] - suspended, 0.0),
        requested=np.where(asked, c["req"], np.nan),
        per_node=accelerators / np.where(nodes > 0.0, nodes, np.nan),
        limit_s=c["limit"],
        priority=c["priority"],
        preemptible=preemptible,
        user=c["user"],
        reason=c["reason"],
        state=state,
        job=c["job"],
        ids=_ids(c, rows),
        hosts=rows.names("nodelist"),
        host=c["nodelist"],
    )


def _preemptible(c: Columns, state: Index) -> Flags:
    """Return runs whose QOS and whose partition both have runs that were preempted.

    Slurm preempts by QOS or by partition, and a log does not say which: where it is by partition, a
    QOS that runs everywhere is no mark. A requeue by hand counts as well, because a log does not tell
    it from a preemption. Without either column, nobody is marked.
    """
    stopped = state == State.PREEMPTED
    kinds = [kind for kind in (c["qos"], c["partition"]) if np.any(kind >= 0)]
    found = np.full(len(state), bool(kinds))
    for kind in kinds:
        found &= np.isin(kind, np.unique(kind[stopped])) & (kind >= 0)
    return found


def _ids(c: Columns, rows: SlurmRows) -> tuple[str, ...]:
    """Return the id of each job by its number."""
    texts = rows.names("jobid")
    found = [""] * (int(c["job"].max()) + 1)
    jobs, first = np.unique(c["job"], return_index=True)
    for job, raw in zip(jobs.tolist(), c["raw"][first].tolist(), strict=True):
        found[job] = str(raw) if raw >= 0 else texts[-1 - raw]
    return tuple(found)


def _pools(c: Columns, rows: SlurmRows) -> tuple[tuple[str, ...], Index]:
    """Return names and numbers of pools: partitions, with the cluster where there are several.

    A pending job that several partitions may take counts in the first of them.
    """
    firsts = [name.partition(",")[0] for name in rows.names("partition")]
    names, clusters = (*dict.fromkeys(firsts), "all"), rows.names("cluster")
    place = np.array([*(names.index(name) for name in firsts), len(names) - 1], dtype=np.int64)
    part = place[np.where(c["partition"] < 0, len(firsts), c["partition"])]
    pairs, pool = np.unique(
        np.stack([np.maximum(c["cluster"], -1), part]), axis=1, return_inverse=True
    )
    several = len(clusters) > 1
    found = tuple(
        f"{clusters[k]}/{names[p]}" if several and k >= 0 else names[p] for k, p in pairs.T.tolist()
    )
    return found, np.asarray(pool).reshape(-1)
