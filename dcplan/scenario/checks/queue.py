"""Checks of the classes of a queue: ids, sizes and quotas that can be packed."""

from __future__ import annotations

from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema.queue import Queued

SHARE_TOL = 0.01
"""Difference of 1 / share from a whole number: 0.143 is a seventh."""


def check_queue(check: Checker) -> None:
    """Check the ids of classes and pools, and that a job fits on accelerators and in its quota."""
    work = check.scenario.workloads
    others = {x.id for x in work.jobs}
    others |= {x.id for x in (*work.capacity, *work.inference)}
    check.unique((x.id for x in work.queue), ("workloads", "queue"))
    for i, one in enumerate(work.queue):
        path: Path = ("workloads", "queue", i)
        if one.id in others:
            check.add("DC011", f"the id {one.id!r} occurs twice", (*path, "id"))
        if one.pool in others:
            cause = f"{one.id}: the pool {one.pool!r} has the id of another workload"
            help_text = "give the pool another name"
            check.add("DC011", cause, (*path, "pool" if _names_pool(one) else "id"), help=help_text)
        _check_size(check, one, path)
    _check_prices(check)


def _check_prices(check: Checker) -> None:
    """Refuse a price of missing accelerators that only some classes of a pool give."""
    given = check.scenario.workloads.queue
    for i, one in enumerate(given):
        without = [x.id for x in given if x.pool == one.pool and x.usd_per_unmet_quarter is None]
        if one.usd_per_unmet_quarter is not None and without:
            cause = (
                f"{one.id}: accelerators of pool {one.pool} may be missing only if all its classes "
                f"have a price; {', '.join(without)} has none"
            )
            help_text = "give it for all classes of the pool, or for none"
            path: Path = ("workloads", "queue", i, "usd_per_unmet_quarter")
            check.add("DC015", cause, path, help=help_text)


def _names_pool(one: Queued) -> bool:
    return "pool" in one.model_fields_set


def _check_size(check: Checker, one: Queued, path: Path) -> None:
    size = one.accelerators.value
    whole = size if size >= 1.0 else 1.0 / size
    near = max(round(whole), 1)
    if abs(whole - near) > (SHARE_TOL if size < 1.0 else 0.0):
        shown = f"{near}" if size >= 1.0 else f"{1.0 / near:.4g} (1/{near})"
        what = "is not a whole number" if size >= 1.0 else "does not divide an accelerator"
        cause = f"{one.id}: a job of {size:g} accelerators {what}; the nearest size is {shown}"
        check.add(
            "DC035", cause, (*path, "accelerators"), help=f"give {shown.split(' ', maxsplit=1)[0]}"
        )
    quota = one.most_accelerators
    if quota is not None and quota < size:
        cause = (
            f"{one.id}: a job has {size:g} accelerators, and the quota of its class is {quota}; "
            f"the smallest quota is {size:g}"
        )
        help_text = f"raise most_accelerators to {size:g}"
        check.add("DC035", cause, (*path, "most_accelerators"), help=help_text)
