"""Properties of logs of incidents that make a plain reading wrong, each counted."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from dcplan.demand.log.jobs import Flags
from dcplan.inputs.logs.rows import Marks
from dcplan.inputs.records.findings import Findings


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


class Notes(Findings[Kind]):
    """Collects findings while files are read."""

    def __init__(self) -> None:
        super().__init__(MEANINGS)

    def note(self, kind: Kind, chosen: Flags, marks: Marks, detail: str = "") -> None:
        """Count the rows with a property."""
        at = np.flatnonzero(chosen)
        if len(at):
            self.add(kind, len(at), marks.place(int(at[0])), detail)
