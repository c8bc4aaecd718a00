"""How far a computation of sizes is, on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import IO

from rich.console import Console, ConsoleOptions
from rich.text import Text

from dcplan.answers.demand.steps import SizingEvent, Stage
from dcplan.report.progress import Shown, left_text, live_of


class SizingView:
    """A line with the step of a computation of sizes, and the time."""

    def __init__(self, title: str) -> None:
        self.title, self.began = title, time.monotonic()
        self.event = SizingEvent(Stage.READ)
        self.stage_began = self.began

    def add(self, event: SizingEvent) -> None:
        """Take a step; a new stage begins a new estimate of the time left."""
        if (event.stage, event.cluster) != (self.event.stage, self.event.cluster):
            self.stage_began = time.monotonic()
        self.event = event

    def line(self, spent_s: float, stage_s: float) -> str:
        """Return the line after some time, of which a part was in this stage. [s].

        Examples
        --------
        >>> view = SizingView("Demand of jobs.txt")
        >>> view.add(SizingEvent(Stage.DRAWS, "batch", 5, 20))
        >>> view.line(34.0, 10.0)
        'Demand of jobs.txt: 34 s; batch, sizes of sampled weeks, 5 of 20, about 30 s left'
        """
        event = self.event
        steps = f", {event.done} of {event.total}" if event.total else ""
        rest = left_text(event.done, event.total, event.done, stage_s) if event.done else ""
        cluster = f"{event.cluster}, " if event.cluster else ""
        return f"{self.title}: {spent_s:.0f} s; {cluster}{event.stage}{steps}{rest}"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        now = time.monotonic()
        text = self.line(now - self.began, now - self.stage_began)
        yield Text(text[: options.max_width], no_wrap=True, overflow="crop")


class SizingProgress(Shown):
    """A line on a terminal while sizes are computed, which vanishes; nothing elsewhere."""

    def __init__(self, stream: IO[str], title: str, *, color: bool = True) -> None:
        self.view = SizingView(title)
        self.live = live_of(stream, self.view, color=color)

    def __call__(self, event: SizingEvent) -> None:
        """Show a step."""
        self.view.add(event)
