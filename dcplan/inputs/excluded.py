"""Excluded options of an answer, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Kind of an excluded option."""

    SYSTEM = "system"
    COOLING = "cooling"
    FABRIC = "fabric"
    OFFER = "offer"
    TERM = "term"
    JOB = "job"
    CAPACITY = "capacity"
    INFERENCE = "inference"
    QUEUE = "queue"
    ASSET = "asset"
    ORDER = "order"


class Cause(StrEnum):
    """Cause of an exclusion, if the answer depends on it."""

    MEMORY = "memory"
    """No layout of the job fits in memory."""
    UNSUPPORTED = "unsupported"
    """The accelerator does not run the job's software or precision."""
    LATE = "late"
    """No run of the job on the option ends in time, because its hardware may be late."""
    NO_PRICE = "no price"
    """The option has no price."""
    OTHER = "other"


@dataclass(frozen=True)
class ExcludedOption:
    """An excluded option with its reason."""

    kind: Kind
    id: str
    where: str
    reason: str
    """Text for people; no code depends on its words."""
    cause: Cause = Cause.OTHER
