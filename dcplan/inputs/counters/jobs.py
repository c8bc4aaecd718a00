"""Which job held an accelerator at a sample: by the job of the sample, or by node and time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dcplan.demand.log.jobs import Array, Flags, Index, JobLog
from dcplan.inputs.counters.findings import Notes, Oddity
from dcplan.inputs.counters.nodes import expanded, short
from dcplan.inputs.counters.samples import Samples

NO_RUN, SHARED, DOUBT = -1, -2, -3
SEVERAL = "several jobs"
"""Queue and user of a node that several jobs hold together."""


class How(StrEnum):
    """How samples are separated into allocated and free."""

    LABEL = "the samples name their job"
    NODE = "the nodes of the jobs, by node and time"
    NOT = "not separated"


@dataclass(frozen=True)
class Held:
    """Allocation of each sample."""

    how: How
    allocated: Array
    """1: a job held the accelerator; 0: free; NaN: unknown."""
    run: Index
    """Run of the log that held it; -1: none, unknown, or several."""
    job: Index
    """A number that changes with the job."""
    why_not: str = ""
    """Why samples are not separated."""


def held(samples: Samples, log: JobLog | None, notes: Notes) -> Held:
    """Return the allocation of each sample.

    Parameters
    ----------
    samples : Samples
    log : JobLog or None
        Jobs of the same cluster.
    notes : Notes
        Takes what does not fit together.
    """
    nothing = np.full(len(samples), NO_RUN)
    if "job" in samples.labels:
        job = samples.label("job")
        run = nothing if log is None else _by_id(samples, log, notes)
        allocated = np.where(samples.labeled, job >= 0, np.nan)
        return Held(How.LABEL, allocated, run, job)
    if log is None:
        why = "the samples name no job, and there is no log of jobs"
    elif not log.hosts or not np.any((log.host >= 0) & log.started):
        why = "the samples name no job, and the log does not name the nodes of its jobs"
    elif "node" not in samples.labels:
        why = "the samples name neither a job nor a node"
    else:
        return _by_node(samples, log, notes)
    return Held(How.NOT, np.full(len(samples), np.nan), nothing, nothing, why)


def _by_id(samples: Samples, log: JobLog, notes: Notes) -> Index:
    """Return the run of each sample by the id of its job; of several runs, the one of that time."""
    number = {text: k for k, text in enumerate(log.ids) if text}
    started = np.flatnonzero(log.started)
    order = started[np.lexsort((log.start_s[started], log.job[started]))]
    jobs = log.job[order]
    ids = np.array([number.get(text, -1) for text in samples.names["job"]] + [-1])
    wanted = ids[samples.label("job")]
    first = np.searchsorted(jobs, wanted)
    last = np.searchsorted(jobs, wanted, side="right") - 1
    found = (wanted >= 0) & (last >= first)
    run = np.full(len(samples), NO_RUN)
    at = first.copy()
    several = found & (last > first)
    for i in np.flatnonzero(several).tolist():
        starts = log.start_s[order[first[i] : last[i] + 1]]
        later = int(np.searchsorted(starts, samples.at_s[i], side="right")) - 1
        at[i] = first[i] + max(later, 0)
    run[found] = order[at[found]]
    lost = np.flatnonzero((samples.label("job") >= 0) & ~found)
    if len(lost):
        texts = {samples.names["job"][k] for k in samples.label("job")[lost].tolist()}
        detail = ", ".join(sorted(texts)[:5])
        notes.add(Oddity.JOB_UNKNOWN, len(lost), samples.place(int(lost[0])), detail)
    return run


def _by_node(samples: Samples, log: JobLog, notes: Notes) -> Held:
    """Return the allocation by the nodes of the jobs."""
    nodes, node = _nodes(samples)
    runs = _runs_by_node(log, frozenset(nodes))
    if not runs:
        theirs = next((expanded(log.hosts[k])[:1] for k in log.host.tolist() if k >= 0), ())
        why = (
            f"no node of the samples ({samples.names['node'][0]}) is in the log "
            f"({', '.join(theirs)}): the names differ"
        )
        nothing = np.full(len(samples), NO_RUN)
        return Held(How.NOT, np.full(len(samples), np.nan), nothing, nothing, why)
    allocated, run = np.full(len(samples), np.nan), np.full(len(samples), NO_RUN)
    unplaced = _unplaced(samples, log, notes)
    over, unclear = np.zeros((2, len(samples)), dtype=np.bool_)
    for k, name in enumerate(nodes):
        mine = np.flatnonzero(node == k)
        devices = len(np.unique(samples.accelerator[mine]))
        use, jobs, last = _use(log, runs.get(name, ()), samples.at_s[mine])
        full = use >= devices - 1e-9
        over[mine] = use > devices + 1e-9
        unclear[mine] = (jobs > 0) & ~full
        free = np.where(unplaced[mine], np.nan, 0.0)
        allocated[mine] = np.where(full, 1.0, np.where(jobs > 0, np.nan, free))
        run[mine] = np.where(full & (jobs == 1), last, NO_RUN)
    for oddity, rows in ((Oddity.UNCLEAR, unclear), (Oddity.OVERFULL, over)):
        at = np.flatnonzero(rows)
        if len(at):
            notes.add(oddity, len(at), samples.place(int(at[0])))
    several = np.where(allocated == 1.0, SHARED, np.where(allocated == 0.0, NO_RUN, DOUBT))
    return Held(How.NODE, allocated, run, np.where(run >= 0, run, several))


def _nodes(samples: Samples) -> tuple[list[str], Index]:
    """Return nodes by their short names, and the node of each sample; -1: none."""
    known: dict[str, int] = {}
    codes = [known.setdefault(short(x), len(known)) for x in samples.names["node"]]
    return list(known), np.array([*codes, -1], dtype=np.int64)[samples.label("node")]


def _runs_by_node(log: JobLog, nodes: frozenset[str]) -> dict[str, list[tuple[int, float]]]:
    """Return the runs on each node with the accelerators that they hold there."""
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    lists = [tuple(map(short, expanded(text))) for text in log.hosts]
    for i in np.flatnonzero(log.started & (log.host >= 0)).tolist():
        names = lists[int(log.host[i])]
        each = float(log.per_node[i])
        each = each if np.isfinite(each) else float(log.accelerators[i]) / max(len(names), 1)
        for name in names:
            if name in nodes:
                found[name].append((i, each))
    return dict(found)


def _unplaced(samples: Samples, log: JobLog, notes: Notes) -> Flags:
    """Return the samples at whose time a run without nodes held accelerators somewhere."""
    rows = np.flatnonzero(log.started & (log.host < 0))
    if not len(rows):
        return np.zeros(len(samples), dtype=np.bool_)
    notes.add(Oddity.UNPLACED, len(rows), samples.place(0))
    _, jobs, _ = _use(log, [(int(i), 0.0) for i in rows], samples.at_s)
    return np.asarray(jobs > 0)


def _use(
    log: JobLog, runs: list[tuple[int, float]] | tuple[()], at_s: Array
) -> tuple[Array, Array, Index]:
    """Return what runs hold at each moment: accelerators, how many runs, and the run if it is one."""
    if not runs:
        nothing = np.zeros(len(at_s))
        return nothing, nothing, np.full(len(at_s), NO_RUN)
    rows = np.array([i for i, _ in runs])
    each = np.array([n for _, n in runs])
    until = np.where(np.isfinite(log.end_s[rows]), log.end_s[rows], np.inf)
    moments = np.concatenate([log.start_s[rows], until])
    change = np.concatenate([np.ones(len(rows)), -np.ones(len(rows))])
    order = np.argsort(moments, kind="stable")
    after = np.searchsorted(moments[order], at_s, side="right")

    def sums(amount: Array) -> Array:
        steps = change * np.concatenate([amount, amount])
        return np.concatenate([[0.0], np.cumsum(steps[order])])[after]

    return sums(each), sums(np.ones(len(rows))), sums(rows.astype(np.float64)).astype(np.int64)
