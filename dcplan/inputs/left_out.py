"""Candidates that an answer leaves out, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftOut:
    """A candidate that is not in the menu, and why."""

    kind: str
    id: str
    where: str
    reason: str
