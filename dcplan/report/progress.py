"""How far a computation is, on stderr: what a solve has proved, how many points are done."""

from __future__ import annotations

import sys
import time
from typing import IO, Self

from rich.console import Console, RenderableType
from rich.live import Live

from dcplan.answers.common.request import ScenarioRequest
from dcplan.planning.solve.status import SolveEvent
from dcplan.report.live import SolveView, amount

QUIET_SECONDS = 30.0
PROOFS = "; proofs of some points follow"
"""Words after a time that is without the proofs; short, for a line of a terminal."""


def live_of(stream: IO[str], view: RenderableType, *, color: bool) -> Live | None:
    """Return what draws a view on a terminal and removes it at the end; None elsewhere."""
    console = Console(file=stream, no_color=not color or None, highlight=False, emoji=False)
    shown = stream.isatty() and not console.is_dumb_terminal
    return Live(view, console=console, transient=True) if shown else None


class Shown:
    """A view that is drawn on a terminal between start and end, and removed; nothing elsewhere."""

    live: Live | None

    def __enter__(self) -> Self:
        """Start the view."""
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the view."""
        if self.live:
            self.live.stop()


class SolveProgress(Shown):
    """A view of the solve on a terminal; elsewhere one line every 30 seconds."""

    def __init__(
        self, stream: IO[str], title: str, *, limit_s: float, gap: float, color: bool = True
    ) -> None:
        """Begin on a stream; ``title`` names what is computed, ``gap`` is the requested one."""
        self.stream, self.view = stream, SolveView(title, limit_s=limit_s, gap=gap)
        self.live = live_of(stream, self.view, color=color)
        self.last = self.view.began

    @classmethod
    def of(cls, title: str, request: ScenarioRequest, *, color: bool) -> SolveProgress:
        """Return the progress of a request, on stderr."""
        limit_s, gap = request.time_limit_s, request.gap
        return cls(sys.stderr, title, limit_s=limit_s, gap=gap, color=color)

    def __call__(self, event: SolveEvent) -> None:
        """Show an event."""
        self.view.add(event)
        if self.live is None and time.monotonic() - self.last > QUIET_SECONDS:
            self.last = time.monotonic()
            spent_s = self.view.solving_s(self.last - self.view.began)
            text = progress_text(self.view.event, spent_s, self.view.limit_s)
            self.stream.write(f"{text}; {self.view.phase}\n")
            self.stream.flush()


def progress_text(event: SolveEvent, seconds: float, limit_s: float) -> str:
    """One line: time of limit, best plan, bound and gap.

    Examples
    --------
    >>> from dcplan.planning.solve.status import Phase
    >>> progress_text(SolveEvent(Phase.HALLS, 45.0, 44.1, plans=2), 12.0, 120.0)
    'solving: 12 s of 120 s, best 45.000 M USD, bound 44.100 M USD, gap 2.0%, 2 audited plans'
    """
    text = f"solving: {seconds:.0f} s of {limit_s:.0f} s"
    best, bound = amount(event.best, event.measure), amount(event.bound, event.measure)
    if not best:
        return f"{text}, no plan yet"
    plans = f", {event.plans} audited plan{'s' if event.plans > 1 else ''}" if event.plans else ""
    if not bound:
        return f"{text}, best {best}, no bound yet{plans}"
    return f"{text}, best {best}, bound {bound}, gap {event.gap_frac:.1%}{plans}"


class Counter:
    """Points done, failed and time left.

    A changing line on a terminal, elsewhere a line for each tenth or 30 s.
    """

    def __init__(self, stream: IO[str], *, proofs: bool = False) -> None:
        """Begin on a stream; ``proofs`` says that points are proved after all of them are done."""
        self.proofs = proofs
        self.stream, self.began, self.last, self.tenth = (
            stream,
            time.monotonic(),
            time.monotonic(),
            0,
        )
        self.first: int | None = None

    def __call__(self, done: int, failed: int, total: int) -> None:
        """Show how far it is."""
        now = time.monotonic()
        self.first = done - 1 if self.first is None else self.first
        text = counted(done, failed, total, done - self.first, now - self.began)
        text += PROOFS if self.proofs else ""
        if self.stream.isatty():
            self.stream.write(f"\r\x1b[2K{text}" + ("\n" if done == total else ""))
        elif done * 10 // total > self.tenth or now - self.last > QUIET_SECONDS:
            self.stream.write(text + "\n")
            self.tenth, self.last = done * 10 // total, now
        self.stream.flush()


def counted(done: int, failed: int, total: int, here: int, seconds: float) -> str:
    """One line: how many of how many, failures, and the time that the rest will take.

    Examples
    --------
    >>> counted(30, 2, 90, 20, 40.0)
    '30 of 90 points, 2 failed, about 2 min left'
    """
    return f"{done} of {total} points, {failed} failed{left_text(done, total, here, seconds)}"


def left_text(done: int, total: int, here: int, seconds: float) -> str:
    """Return the time that the rest will take, after ``here`` steps in some seconds.

    Examples
    --------
    >>> left_text(5, 20, 5, 10.0), left_text(1, 20, 1, 10.0), left_text(20, 20, 20, 10.0)
    (', about 30 s left', ', about 3 min left', '')
    """
    if done == total:
        return ""
    left = (total - done) * seconds / max(here, 1)
    return f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"
