"""Properties of logs of incidents that make a plain reading wrong, each counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from dcplan.demand.log.jobs import Flags
from dcplan.errors import Place
from dcplan.inputs.logs.rows import Marks


class Kind(StrEnum):
    """What the reader found."""

    DUPLICATE = "duplicate"
    OVERLAP = "overlap"
    ZERO_LENGTH = "zero-length"
    UNKNOWN_NODE = "unknown-node"
    OPEN = "open"
    REPAIR_UNKNOWN = "repair-unknown"
    DETECTION_UNKNOWN = "detection-unknown"
    DETECTED_AT_START = "detected-at-start"
    REPAIRED_AT_ONCE = "repaired-at-once"
    SIMULTANEOUS = "simultaneous"
    OUTSIDE_WINDOW = "outside-window"
    NODE_COUNT = "node-count"
    LOCAL_TIME = "local-time"
    REPEATED_HOUR = "repeated-hour"
    COLUMNS_UNUSED = "columns-unused"


MEANINGS: dict[Kind, tuple[str, str]] = {
    Kind.DUPLICATE: ("incidents that occur twice", "counted once"),
    Kind.OVERLAP: (
        "incidents that start while their node is already out",
        "counted in the rates of parts and causes; the outage stops a job once",
    ),
    Kind.ZERO_LENGTH: (
        "incidents whose repair is at their start",
        "counted as failures; the time of the repair stays unknown",
    ),
    Kind.UNKNOWN_NODE: (
        "incidents without a node",
        "counted as failures of one node each; no node is a lemon because of them",
    ),
    Kind.OPEN: (
        "incidents that are not yet repaired at the end of the window",
        "counted as failures; their repair takes longer than it has so far",
    ),
    Kind.REPAIR_UNKNOWN: (
        "incidents without a repair whose node failed again later, or is unknown",
        "counted as failures; the time of the repair stays unknown",
    ),
    Kind.DETECTION_UNKNOWN: ("incidents without a detection", "the delay stays unknown"),
    Kind.DETECTED_AT_START: (
        "incidents whose detection is their start",
        "counted as detected at once; if the start is the time of the alarm, the delay is unknown",
    ),
    Kind.REPAIRED_AT_ONCE: (
        "incidents whose repair is at their detection",
        "counted as repaired at once; if one entry set both times, the time of the repair is unknown",
    ),
    Kind.SIMULTANEOUS: (
        "incidents of several nodes with the same start and cause",
        "counted one by one; a job on several of these nodes stops once, so its rate is lower",
    ),
    Kind.OUTSIDE_WINDOW: ("incidents that start outside the window", "left out"),
    Kind.NODE_COUNT: ("rows with another number of nodes than --nodes", "--nodes counts"),
    Kind.LOCAL_TIME: ("local times without a zone", "read in the zone that was given"),
    Kind.REPEATED_HOUR: (
        "incidents that start in the hour that the clock repeats",
        "taken as its first pass",
    ),
    Kind.COLUMNS_UNUSED: ("columns that are not read", "their values change nothing"),
}
"""What each kind counts, and what the reader did about it."""


@dataclass(frozen=True)
class Finding:
    """A property of the log, counted."""

    kind: Kind
    count: int
    place: Place
    """First row with it."""
    detail: str = ""

    @property
    def what(self) -> str:
        """What the log has."""
        return ": ".join(filter(None, (MEANINGS[self.kind][0], self.detail)))

    @property
    def effect(self) -> str:
        """What the reader did about it."""
        return MEANINGS[self.kind][1]


@dataclass
class Notes:
    """Collects findings while files are read."""

    found: dict[Kind, Finding] = field(default_factory=dict)

    def add(self, kind: Kind, count: int, place: Place, detail: str = "") -> None:
        """Count a property; the place and the detail of its first row are kept."""
        if count:
            before = self.found.get(kind, Finding(kind, 0, place, detail))
            self.found[kind] = Finding(kind, before.count + count, before.place, before.detail)

    def note(self, kind: Kind, chosen: Flags, marks: Marks, detail: str = "") -> None:
        """Count the rows with a property."""
        at = np.flatnonzero(chosen)
        if len(at):
            self.add(kind, len(at), marks.place(int(at[0])), detail)

    def findings(self) -> tuple[Finding, ...]:
        """Return what was found, in the order of :class:`Kind`."""
        return tuple(self.found[kind] for kind in Kind if kind in self.found)
