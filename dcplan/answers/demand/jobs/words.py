"""What an answer about demand says in words: its headline, and what a reader must know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dcplan.answers.demand.clusters import TOGETHER, Recording, peak_of
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.sized import MOSTLY_POLICY_FRAC, Sized
from dcplan.demand.log.jobs import JobLog
from dcplan.inputs.logs.traps import Trap
from dcplan.inputs.records.findings import Finding
from dcplan.specs.demand import log as spec

MOST_APART = 3
"""Clusters of one kind that have a note each; more of them share one."""
MOST_LISTED = 5
"""Names in a note."""
SHARED_RATIO = 1.2
"""Sum of the peaks of pools over the peak of all, above which a note asks whether they share nodes."""
MISLEADING = frozenset(
    (*(Trap.GAP, Trap.REPEATED, Trap.GRES_UNKNOWN, Trap.PARTITION_UNKNOWN), Trap.LENGTH_UNIT)
)
"""Findings after which the demand is too low or too high; notes say so, next to the table."""


def capacity_frac(row: spec.WaitRow) -> float:
    """Return the share of a recorded wait that more accelerators would shorten."""
    return sum(x or 0.0 for x in (row.short_frac, row.scattered_frac, row.behind_frac))


def headline(request: DemandRequest, waits: Sequence[spec.WaitRow], sizes: Sequence[Sized]) -> str:
    """Return the sizes in one sentence, and how much of the recorded wait was for accelerators."""
    given = [x for x in sizes if x.accelerators is not None]
    target = f"{request.wait_quantile:.0%} of the jobs start within {request.wait_h:g} h"
    total_h = sum((w.wait_mean_h or 0.0) * w.jobs for w in waits)
    capacity = sum((w.wait_mean_h or 0.0) * w.jobs * capacity_frac(w) for w in waits)
    cause = (
        f"{capacity / total_h:.0%} of the recorded wait was for accelerators"
        if total_h
        else "no job waited"
        if any(w.wait_mean_h is not None for w in waits)
        else "the log does not show the waits"
    )
    if len(sizes) > 1 and not given:
        first = sizes[0]
        return f"no size for {len(sizes)} clusters: {first.cluster.name}: {first.why_not}; {cause}"
    if not given:
        return f"no size: {sizes[0].why_not}; {cause}"
    parts = []
    for x in given[:3]:
        spread = f" ({x.interval[0]:,.0f} to {x.interval[1]:,.0f})" if x.interval else ""
        parts.append(f"{x.accelerators:,.0f}{spread} for {x.cluster.name}")
    more = f" and {len(given) - 3} more clusters" if len(given) > 3 else ""
    left = len(sizes) - len(given)
    without = f"; no size for {left} of {len(sizes)} clusters" if left else ""
    return f"{target} on {', '.join(parts)}{more}{without}; {cause}"


def notes(log: JobLog, clusters: Sequence[Recording], sizes: Sequence[Sized]) -> list[str]:
    """Return what is assumed, what more hardware does not shorten, and why sizes are missing."""
    found = [*_pools(log, clusters)]
    assumed = [c.name for c in clusters if c.assumed and c.starts_known]
    unchecked = [c.name for c in clusters if not c.starts_known]
    if unchecked:
        found.append(
            "the log has no starts: the waits are unknown, and nothing checks the sizes, which are "
            "those of a queue without limits and holds"
        )
    found += [
        f"{c.name}: sizes come from the last {len(c.recorded.work):,} of {len(c.whole.work):,} jobs"
        for c in clusters
        if len(c.recorded.work) < len(c.whole.work)
    ]
    if assumed:
        found.append(
            f"the accelerators of {_listed(assumed)} are taken to be the recorded peak: set "
            "--accelerators, because the parts of the waits depend on them"
        )
    found += [*_borrowed(clusters), *_held(clusters)]
    for c in clusters:
        waiting = c.log.accelerators[~c.log.started]
        if len(waiting) and float(waiting.max()) > c.accelerators:
            found.append(
                f"{c.name}: a job that never started asks for {waiting.max():,.0f} accelerators, more "
                f"than the {c.accelerators:,} of the cluster: no size counts it"
            )
    without = [x for x in sizes if x.why_not]
    if len(without) > MOST_APART:
        names = _listed([x.cluster.name for x in without])
        found.append(f"no size for {names}: the column why_not of the sizes says why")
    else:
        found += [f"{x.cluster.name}: {x.why_not}" for x in without]
    short = [x.cluster.name for x in sizes if x.accelerators is not None and x.interval is None]
    if short:
        found.append(
            f"{_listed(short)}: no interval, because the log has fewer than two whole weeks, "
            "--draws is 0, or no size keeps the target in a sample of its weeks"
        )
    return found


def _listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _borrowed(clusters: Sequence[Recording]) -> Iterator[str]:
    """Yield clusters that had more accelerators in use than they have."""
    more = [c for c in clusters if c.peak > c.accelerators + 1e-9]
    parts = _together([f"{c.name} {c.peak:g} of {c.accelerators}" for c in more])
    if parts:
        yield (
            f"the log has more accelerators in use than were given ({parts}): the pools borrowed "
            "accelerators, or the numbers are wrong"
        )
    for c in more if not parts else ():
        yield (
            f"{c.name}: the log has up to {c.peak:g} accelerators in use, more than the "
            f"{c.accelerators} given: the pool borrowed accelerators, or the number is wrong"
        )


def _held(clusters: Sequence[Recording]) -> Iterator[str]:
    """Yield clusters whose jobs waited for rules more than for accelerators."""
    held = [c for c in clusters if c.policy_frac > MOSTLY_POLICY_FRAC and not c.assumed]
    parts = _together([f"{c.name} {c.policy_frac:.0%}" for c in held])
    passed = "passed while the jobs would have fitted"
    which = "limits, holds or priorities, which more hardware does not shorten"
    if parts:
        yield f"much of the wait {passed} ({parts}): {which}"
    for c in held if not parts else ():
        yield f"{c.name}: {c.policy_frac:.0%} of the wait {passed}: {which}"


def _together(parts: Sequence[str]) -> str:
    """Return clusters that are too many for a note each, as a list for one note; else nothing."""
    return _listed(parts) if len(parts) > MOST_APART else ""


def misleading(findings: Sequence[Finding[Trap]]) -> Iterator[str]:
    """Yield the findings after which the log shows less or more demand than there was."""
    for f in findings:
        if f.kind in MISLEADING:
            yield f"{f.count:,} {f.what} (first at {f.place}): {f.effect}"


def _pools(log: JobLog, clusters: Sequence[Recording]) -> Iterator[str]:
    """Yield pools without an answer, and pools that cannot have nodes of their own."""
    if len(clusters) == 1 and clusters[0].name == TOGETHER:
        return
    names = {c.name for c in clusters}
    counts = np.bincount(log.pool, minlength=len(log.pools))
    left = [(p, int(n)) for p, n in zip(log.pools, counts, strict=True) if n and p not in names]
    if left:
        listed = ", ".join(p for p, _ in left[:5]) + (", ..." if len(left) > 5 else "")
        yield (
            f"{sum(n for _, n in left):,} runs of pools without --accelerators have no answer: "
            f"{listed}"
        )
    if len(clusters) < 2 or left:
        return
    together = peak_of(log)
    apart = sum(c.peak for c in clusters)
    if apart > SHARED_RATIO * together:
        yield (
            f"the peaks of the pools add up to {apart:,.0f} accelerators, and at most {together:,.0f} "
            "were in use at the same time: if the pools share nodes, give one number for all, "
            f"--accelerators {together:.0f}"
        )
