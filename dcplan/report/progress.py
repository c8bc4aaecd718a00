"""What a solve has proved so far, on stderr."""

from __future__ import annotations

import math
import time
from typing import IO

from rich.console import Console
from rich.live import Live
from rich.text import Text

QUIET_SECONDS = 30.0


class SolveProgress:
    """A live line on a terminal; elsewhere one line every 30 seconds."""

    def __init__(self, stream: IO[str], *, limit_s: float) -> None:
        self.stream, self.limit_s = stream, limit_s
        self.live = Live(console=Console(file=stream), transient=True) if stream.isatty() else None
        self.began = time.monotonic()
        self.last = self.began

    def __enter__(self) -> SolveProgress:
        """Start the live line."""
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the live line."""
        if self.live:
            self.live.stop()

    def __call__(self, seconds: float, incumbent: float, bound: float, nodes: int) -> None:
        """Show seconds, incumbent, bound and gap."""
        text = progress_text(time.monotonic() - self.began, incumbent, bound, self.limit_s)
        if self.live:
            self.live.update(Text(text))
        elif time.monotonic() - self.last > QUIET_SECONDS:
            self.last = time.monotonic()
            self.stream.write(text + "\n")
            self.stream.flush()


def progress_text(seconds: float, incumbent: float, bound: float, limit_s: float) -> str:
    """One line: time of limit, best cost, bound and gap. Costs in M USD.

    Examples
    --------
    >>> progress_text(12.0, 45.0, 44.1, 120.0)
    'solving: 12 s of 120 s, best 45.0 M USD, bound 44.1 M USD, gap 2.0%'
    """
    if not math.isfinite(incumbent):
        return f"solving: {seconds:.0f} s of {limit_s:.0f} s, no plan yet"
    if not math.isfinite(bound):
        return (
            f"solving: {seconds:.0f} s of {limit_s:.0f} s, best {incumbent:.1f} M USD, no bound yet"
        )
    gap = (incumbent - bound) / max(abs(incumbent), 1e-9)
    found = f"best {incumbent:.1f} M USD, bound {bound:.1f} M USD, gap {gap:.1%}"
    return f"solving: {seconds:.0f} s of {limit_s:.0f} s, {found}"


class Counter:
    """Points done, failed and time left.

    A changing line on a terminal, elsewhere a line for each tenth or 30 s.
    """

    def __init__(self, stream: IO[str]) -> None:
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
    left = (total - done) * seconds / max(here, 1)
    rest = (
        ""
        if done == total
        else f", about {left / 60:.0f} min left"
        if left >= 90
        else f", about {left:.0f} s left"
    )
    return f"{done} of {total} points, {failed} failed{rest}"
