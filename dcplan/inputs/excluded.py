"""Candidates that an answer leaves out, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What kind of candidate is left out."""

    SYSTEM = "system"
    COOLING = "cooling"
    FABRIC = "fabric"
    OFFER = "offer"
    TERM = "term"
    JOB = "job"
    CAPACITY = "capacity"
    INFERENCE = "inference"
    ASSET = "asset"
    ORDER = "order"


class Cause(StrEnum):
    """Why a candidate is left out, where the answer depends on it."""

    MEMORY = "memory"
    """No layout of the job fits the memory."""
    NO_PRICE = "no price"
    """A price would let the candidate in."""
    OTHER = "other"


@dataclass(frozen=True)
class ExcludedOption:
    """A candidate that is left out, and why."""

    kind: Kind
    id: str
    where: str
    reason: str
    """For people; nothing depends on its words."""
    cause: Cause = Cause.OTHER
