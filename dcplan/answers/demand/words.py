"""What an answer about demand says in words: its headline, and what a reader must know."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.answers.demand.clusters import Recording
from dcplan.answers.demand.request import DemandRequest
from dcplan.answers.demand.sized import MOSTLY_POLICY_FRAC, Sized
from dcplan.specs.demand import log as spec


def headline(request: DemandRequest, waits: Sequence[spec.WaitRow], sizes: Sequence[Sized]) -> str:
    """Return the sizes in one sentence, and how much of the recorded wait was for accelerators."""
    given = [x for x in sizes if x.accelerators is not None]
    target = f"{request.wait_quantile:.0%} of the jobs start within {request.wait_h:g} h"
    total_h = sum((w.wait_mean_h or 0.0) * w.jobs for w in waits)
    capacity = sum(
        (w.wait_mean_h or 0.0) * w.jobs * ((w.short_frac or 0.0) + (w.scattered_frac or 0.0))
        for w in waits
    )
    cause = (
        f"{capacity / total_h:.0%} of the recorded wait was for accelerators"
        if total_h
        else "no job waited"
    )
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


def notes(clusters: Sequence[Recording], sizes: Sequence[Sized]) -> list[str]:
    """Return what is assumed, what more hardware does not shorten, and why sizes are missing."""
    found = []
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
            f"the accelerators of {', '.join(assumed[:5])} are taken to be the recorded peak: set "
            "--accelerators, because the parts of the waits depend on them"
        )
    for c in clusters:
        if c.peak > c.accelerators + 1e-9:
            found.append(
                f"{c.name}: the log has up to {c.peak:g} accelerators in use, more than the "
                f"{c.accelerators} given: the pool borrowed accelerators, or the number is wrong"
            )
        if c.policy_frac > MOSTLY_POLICY_FRAC and not c.assumed:
            found.append(
                f"{c.name}: {c.policy_frac:.0%} of the wait passed while the jobs would have "
                "fitted: limits, holds or priorities, which more hardware does not shorten"
            )
    found += [f"{x.cluster.name}: {x.why_not}" for x in sizes if x.why_not]
    short = [x.cluster.name for x in sizes if x.accelerators is not None and x.interval is None]
    if short:
        found.append(
            f"{', '.join(short[:5])}: no interval, because the log has fewer than two whole weeks "
            "or --draws is 0"
        )
    return found
