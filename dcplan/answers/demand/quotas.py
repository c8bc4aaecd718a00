"""Accelerators that were idle while jobs of another queue waited for their own quota."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.demand.clusters import TOGETHER, Recording
from dcplan.answers.demand.pools import numbers
from dcplan.answers.demand.request import DemandRequest
from dcplan.demand.log.jobs import JobLog
from dcplan.demand.stranded import Stranded, stranded_jobs
from dcplan.result import Metric
from dcplan.specs.demand import counters as spec


@dataclass(frozen=True)
class Quotas:
    """Quotas of queues, and what they left idle."""

    queues: tuple[str, ...]
    quota: tuple[float, ...]
    found: Stranded
    price: float | None

    def metrics(self) -> dict[str, Metric]:
        """Return the metrics."""
        hours = float(self.found.accelerator_h.sum())
        usd = None if self.price is None else hours * self.price
        pending = self.found.pending_h
        enough = self.found.enough_h / pending if pending else None
        return spec.STRANDED(hours) | spec.STRANDED_USD(usd) | spec.ENOUGH_FRAC(enough)

    def rows(self) -> list[spec.StrandedRow]:
        """Return the queues, the most hours first."""
        f = self.found
        rows = [
            spec.StrandedRow(
                name,
                quota,
                float(f.short_h[k]),
                float(f.elsewhere_h[k] / f.short_h[k]) if f.short_h[k] else None,
                float(f.accelerator_h[k]),
                None if self.price is None else float(f.accelerator_h[k]) * self.price,
            )
            for k, (name, quota) in enumerate(zip(self.queues, self.quota, strict=True))
        ]
        return sorted(rows, key=lambda r: -r.stranded_accelerator_hours)


def quotas_of(
    request: DemandRequest, log: JobLog, clusters: tuple[Recording, ...], *, starts_known: bool
) -> Quotas | None:
    """Return what quotas left idle; None where fewer than two queues have a given quota."""
    price = request.own_usd_per_accelerator_hour
    if not starts_known:
        return None
    if len(clusters) == 1 and clusters[0].name == TOGETHER and request.quota:
        _, given, _ = numbers("--quota", request.quota, log.pools)
        whole = float(clusters[0].accelerators)
        quota = {p: float(given.get(p, whole)) for p in log.pools}
    else:
        quota = {c.name: float(c.accelerators) for c in clusters if not c.assumed}
        whole = sum(quota.values())
    mine = [k for k, pool in enumerate(log.pools) if pool in quota and np.any(log.pool == k)]
    if len(mine) < 2:
        return None
    number = np.full(len(log.pools), -1)
    number[mine] = np.arange(len(mine))
    queues = tuple(log.pools[k] for k in mine)
    each = tuple(quota[q] for q in queues)
    chosen = log.rows(np.isin(log.pool, mine))
    pooled = replace(chosen, pools=queues, pool=number[chosen.pool])
    return Quotas(queues, each, stranded_jobs(pooled, np.array(each), whole), price)
