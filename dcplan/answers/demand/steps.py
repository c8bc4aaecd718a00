"""Where the computation of sizes is, for its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What a computation of sizes does now, in the words of its progress."""

    READ = "logs"
    WAITS = "parts of the recorded waits"
    FIT = "replays of the record"
    SEARCH = "search of the smallest size"
    CURVE = "waits by size"
    DRAWS = "sizes of sampled weeks"


@dataclass(frozen=True)
class SizingEvent:
    """A step of the computation."""

    stage: Stage
    cluster: str = ""
    """Cluster that is sized; empty: all of them."""
    done: int = 0
    """Steps of the stage that are done."""
    total: int = 0
    """Steps of the stage; 0: their number is unknown."""


Progress = Callable[[SizingEvent], None]


@dataclass(frozen=True)
class Reporter:
    """Tells the steps of one cluster to a progress, or to nobody."""

    progress: Progress | None
    cluster: str = ""

    def say(self, stage: Stage, done: int = 0, total: int = 0) -> None:
        """Report a step."""
        if self.progress is not None:
            self.progress(SizingEvent(stage, self.cluster, done, total))
