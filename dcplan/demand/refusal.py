"""Why no pool serves a class: numbers of the limit, and the nearest value that works."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from dcplan.demand.classes import JobClass, offered_accelerators


class Reason(Enum):
    """What makes a mix of classes impossible."""

    SIZE = "one job needs more accelerators than the pool may have"
    QUOTA_SIZE = "one job needs more accelerators than the quota of its class"
    LOAD = "the jobs hold more accelerators on average than the pool may have"
    QUOTA_LOAD = "the jobs hold more accelerators on average than the quota of their class"
    WAIT = "the largest pool does not keep the wait"
    QUOTA_WAIT = "the quota does not keep the wait, even in an endless pool"


@dataclass(frozen=True)
class Refusal:
    """One reason with its numbers."""

    reason: Reason
    id: str
    """Class; empty for all classes together."""
    value: float
    """What is needed: accelerators, or the wait at the quantile of the class. [h]"""
    limit: float
    """What is allowed, in the unit of ``value``."""
    nearest: float
    """Accelerators of the smallest limit that would do; NaN where it is not known."""

    def __str__(self) -> str:
        """Return the reason in words."""
        who = f"class {self.id}: " if self.id else ""
        known = not math.isnan(self.nearest)
        what = "quota" if self.reason.name.startswith("QUOTA") else "pool"
        needs = f"; a {what} of {self.nearest:g} accelerators is enough" if known else ""
        return f"{who}{self.reason.value}: {self.value:.4g} over {self.limit:.4g}{needs}"


class RefusedError(ValueError):
    """No pool serves the classes."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def refusals(classes: Sequence[JobClass], most: float = math.inf) -> tuple[Refusal, ...]:
    """Return what makes the classes impossible before any simulation: sizes and mean loads.

    Parameters
    ----------
    classes : sequence of JobClass
    most : float
        Accelerators that the pool may have at most. [accelerators]

    Examples
    --------
    >>> found = refusals([JobClass("train", 512, hours=10.0, jobs_per_h=0.01)], most=256)
    >>> found[0].reason.name, found[0].nearest
    ('SIZE', 512)
    >>> print(found[0])
    class train: one job needs more accelerators than the pool may have: 512 over 256; a pool of 512
    accelerators is enough
    """
    found = []
    for one in classes:
        quota, load = one.most_accelerators, one.offered_accelerators
        if one.gang > most:
            found.append(Refusal(Reason.SIZE, one.id, one.gang, most, one.gang))
        if one.gang > quota:
            found.append(Refusal(Reason.QUOTA_SIZE, one.id, one.gang, quota, one.gang))
        elif load >= quota:
            found.append(Refusal(Reason.QUOTA_LOAD, one.id, load, quota, math.nan))
    load = offered_accelerators(classes)
    if load >= most:
        found.append(Refusal(Reason.LOAD, "", load, most, math.nan))
    return tuple(found)
