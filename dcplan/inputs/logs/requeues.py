"""Which rows of Slurm's accounting are one job: duplicates, heterogeneous jobs, requeues."""

from __future__ import annotations

import numpy as np

from dcplan.demand.log.jobs import Index, State
from dcplan.inputs.logs.rows import Columns
from dcplan.inputs.logs.sacct import SlurmRows
from dcplan.inputs.logs.traps import Trap

STOPPED = (State.PREEMPTED, State.NODE_FAILED, State.CANCELLED)
"""States after which a job can go back to the queue under its id."""
SUMS = (
    *("req", "alloc", "req_shares", "alloc_shares", "req_unknown", "alloc_unknown"),
    *("req_others", "alloc_others", "nnodes"),
)


def without_duplicates(c: Columns, rows: SlurmRows) -> Columns:
    """Keep each run once, as the latest export has it.

    A run is known by its cluster, its id, its submission, and its SLUID where there is one: ids
    alone come back after years. A pending array in an early export gives way to its tasks in a
    later one.
    """
    n = len(c["line"])
    age = np.zeros(len(rows.paths))
    for name in ("submit", "start", "end"):
        np.fmax.at(age, c["file"], np.nan_to_num(c[name], nan=-np.inf))
    rank = np.argsort(np.argsort(age, kind="stable"), kind="stable")[c["file"]]
    order = np.lexsort((c["line"], rank, c["sluid"], c["submit"], c["raw"], c["cluster"]))
    same = np.ones(n - 1, dtype=np.bool_)
    for name in ("cluster", "raw", "submit", "sluid"):
        column = c[name][order]
        same &= column[1:] == column[:-1]
    twice = np.zeros(n, dtype=np.bool_)
    twice[order[:-1]] = same
    if c["array"].any() and len(rows.paths) > 1:
        latest: dict[tuple[float, ...], int] = {}
        parts = (c[name].tolist() for name in ("cluster", "leader", "submit"))
        keys = list(zip(*parts, strict=True))
        for key, at in zip(keys, rank.tolist(), strict=True):
            latest[key] = max(latest.get(key, at), at)
        for i in np.flatnonzero(c["array"]).tolist():
            twice[i] |= latest[keys[i]] > rank[i]
    rows.marks(c).note(Trap.DUPLICATE, twice)
    return {name: column[~twice] for name, column in c.items()}


def joined(c: Columns, rows: SlurmRows) -> Columns:
    """Join the components of each heterogeneous job into one run.

    They start together: the run holds the accelerators of all, from the first start to the last
    end. Everything else is that of the first component.
    """
    parts = np.flatnonzero(c["component"] >= 0)
    if not len(parts):
        return c
    rows.marks(c).note(Trap.HET_JOB, c["component"] >= 0)
    groups: dict[tuple[float, ...], list[int]] = {}
    for i in parts.tolist():
        key = (int(c["cluster"][i]), int(c["leader"][i]), float(c["submit"][i]))
        groups.setdefault(key, []).append(i)
    keep = np.ones(len(c["line"]), dtype=np.bool_)
    found = {name: column.copy() for name, column in c.items()}
    for members in groups.values():
        mine = np.array(sorted(members, key=lambda i: int(c["component"][i])))
        first = mine[0]
        keep[mine[1:]] = False
        for name in SUMS:
            known = c[name][mine][np.isfinite(c[name][mine])]
            found[name][first] = known.sum() if len(known) else np.nan
        found["start"][first] = np.min(c["start"][mine])
        ends = c["end"][mine]
        found["end"][first] = np.max(ends)  # NaN while one of them runs
        found["asks"][first] = bool(c["asks"][mine].any())
        lists = rows.names("nodelist")
        places = [lists[k] for k in c["nodelist"][mine].tolist() if k >= 0]
        found["nodelist"][first] = rows.coded("nodelist", [",".join(places)])[0]
    return {name: column[keep] for name, column in found.items()}


def job_numbers(c: Columns, rows: SlurmRows) -> Index:
    """Return a number for each run that the runs of one job share.

    Slurm resets the submission of a job that goes back to the queue, and adds 1 to its restarts. An
    id that comes back otherwise belongs to another job.
    """
    n = len(c["line"])
    order = np.lexsort((c["submit"], c["raw"], c["cluster"]))
    sorted_ = {k: c[k][order] for k in ("cluster", "raw", "user", "restarts", "state")}
    before = {k: column[:-1] for k, column in sorted_.items()}
    this = {k: column[1:] for k, column in sorted_.items()}
    same = (this["raw"] == before["raw"]) & (this["cluster"] == before["cluster"])
    grown = np.nan_to_num(this["restarts"]) > np.nan_to_num(before["restarts"])
    unknown = ~np.isfinite(this["restarts"]) & np.isin(before["state"], STOPPED)
    again = same & (this["user"] == before["user"]) & (grown | unknown)
    numbers = np.zeros(n, dtype=np.int64)
    numbers[order] = np.concatenate([[0], np.cumsum(~again)])
    marks = rows.marks(c)

    def rows_of(chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Index:
        return order[1:][chosen]

    flags = np.zeros((2, n), dtype=np.bool_)
    flags[0, rows_of(again)] = True
    flags[1, rows_of(same & ~again)] = True
    marks.note(Trap.REQUEUED, flags[0])
    marks.note(Trap.ID_REUSED, flags[1])
    marks.note(Trap.REQUEUES_HIDDEN, (c["restarts"] > 0.0) & ~flags[0])
    return numbers
