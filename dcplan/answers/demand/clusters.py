"""Clusters of a log: which jobs share which accelerators."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dcplan.answers.demand.pools import numbers
from dcplan.answers.demand.request import DemandRequest
from dcplan.demand.log.jobs import JobLog
from dcplan.demand.log.recorded import Recorded, recent, recorded_work
from dcplan.demand.log.size import Cluster
from dcplan.demand.log.waits import Use, Waits, recorded_use, split_waits
from dcplan.demand.log.work import Rules
from dcplan.errors import InputError, Place, Problem
from dcplan.units import SECONDS_PER_HOUR

TOGETHER = "all"
"""Name of the cluster of all pools."""
MOST_REPLAYED = 60_000
"""Jobs that are replayed to find a size: the search and its interval then take two to three minutes."""


@dataclass(frozen=True)
class Recording:
    """One cluster as the log shows it."""

    name: str
    log: JobLog
    span_s: float
    """Time from the first submission to the last moment of the logs of all clusters. [s]"""
    accelerators: int
    assumed: bool
    """Whether the accelerators are the recorded peak, because none were given."""
    peak: float
    """Largest number of accelerators in use."""
    use: Use
    per_node: int
    """Accelerators of a node; 0: not given."""
    waits: Waits
    starts_known: bool
    """Whether the log has the starts of its jobs; without them there is no wait to compare with."""
    whole: Recorded
    """All jobs of the log that ran."""
    recorded: Recorded
    """Those of them that are replayed: the last ones of a long log."""
    rules: Rules

    @property
    def policy_frac(self) -> float:
        """Share of the recorded wait in which the jobs would have fitted."""
        whole = float(np.nansum(self.waits.total_s))
        return float(np.nansum(self.waits.policy_s)) / whole if whole else 0.0

    @property
    def units(self) -> int:
        """Units of the cluster in a replay."""
        return self.accelerators * self.recorded.units_per_accelerator

    @property
    def search(self) -> Cluster:
        """The cluster for a search of sizes."""
        per_node = self.per_node * self.recorded.units_per_accelerator
        return Cluster(per_node, per_node or self.recorded.units_per_accelerator, self.rules)


def clusters_of(
    request: DemandRequest, log: JobLog, *, starts_known: bool
) -> tuple[Recording, ...]:
    """Return the clusters of a log with their recorded waits in parts.

    Raises
    ------
    InputError
        When a pool or a number is wrong, or a job is larger than its cluster.
    """
    together, each, problems = numbers("--accelerators", request.accelerators, log.pools)
    one_quota, quota, more = numbers("--quota", request.quota, log.pools)
    problems += more
    if request.accelerators_per_node and together and request.accelerators_per_node > together:
        cause = f"a node of {request.accelerators_per_node} has more than the cluster of {together}"
        problems.append(Problem("DC050", cause, Place("--accelerators-per-node")))
    if one_quota is not None:
        cause = "a quota needs its pool, such as --quota POOL=64"
        problems.append(Problem("DC050", cause, Place("--quota")))
    if together is not None and each:
        cause = "give one number for all pools together, or POOL=N for each pool, not both"
        problems.append(Problem("DC050", cause, Place("--accelerators")))
    if quota and together is None:
        cause = "quotas divide a shared cluster: give its accelerators as one number"
        problems.append(Problem("DC050", cause, Place("--quota"), help="--accelerators N"))
    if problems:
        raise InputError(problems)
    rules = Rules(loss_s=request.loss_h * SECONDS_PER_HOUR)
    span_s = _span_s(log)
    if together is not None:
        wide = [quota.get(p, together) for p in log.pools] if quota else []
        parts = [(TOGETHER, log, float(together), tuple(map(float, wide)))]
    else:
        parts = [
            (pool, log.rows(log.pool == k), float(each.get(pool, 0)), ())
            for k, pool in enumerate(log.pools)
            if np.any(log.pool == k) and (not each or pool in each)
        ]
    found = tuple(
        _recording(request, *part, span_s=span_s, rules=rules, starts_known=starts_known)
        for part in parts
    )
    too_large = [p for r in found for p in _too_large(r)]
    if too_large:
        raise InputError(too_large)
    return found


def _span_s(log: JobLog) -> float:
    """Return the time from the first submission to the last moment of a log, at least a second."""
    last = np.fmax.reduce(np.concatenate([log.submit_s, log.start_s, log.end_s]))
    return max(float(last) - float(log.submit_s[0]), 1.0)


def peak_of(log: JobLog) -> float:
    """Return the largest number of accelerators in use."""
    endless = max(math.ceil(float(np.sum(log.accelerators))), 1)
    return float(np.max(recorded_use(log, endless, endless).used, initial=0.0))


def _recording(
    request: DemandRequest,
    name: str,
    log: JobLog,
    given: float,
    quota: tuple[float, ...],
    *,
    span_s: float,
    rules: Rules,
    starts_known: bool,
) -> Recording:
    per_node = request.accelerators_per_node or 0
    peak = peak_of(log)
    accelerators = int(given) or max(math.ceil(peak - 1e-9), 1)
    if per_node:
        accelerators = math.ceil(accelerators / per_node) * per_node if not given else accelerators
    nodes = min(per_node or accelerators, accelerators)
    waits = split_waits(log, accelerators, nodes, cycle_s=request.cycle_s)
    work = recorded_work(log, waits)
    parts = work.units_per_accelerator
    own = Rules(quota=tuple(q * parts for q in quota), loss_s=rules.loss_s)
    use = recorded_use(log, accelerators, nodes)
    return Recording(
        name,
        log,
        span_s,
        accelerators,
        not given,
        peak,
        use,
        per_node,
        waits,
        starts_known,
        work,
        recent(work, MOST_REPLAYED),
        own,
    )


def _too_large(cluster: Recording) -> Iterator[Problem]:
    """Yield a run that is larger than its cluster; one that never started may be."""
    largest = float(np.max(cluster.log.accelerators[cluster.log.started], initial=0.0))
    if largest > cluster.accelerators:
        cause = (
            f"{cluster.name}: a job of {largest:g} accelerators is larger than the cluster of "
            f"{cluster.accelerators}"
        )
        yield Problem("DC015", cause, Place("--accelerators"), help="give the accelerators it had")
