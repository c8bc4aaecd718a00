"""The view of a solve on a terminal: best plan, bound, gap over time, phase and time left."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions
from rich.text import Text

from dcplan.planning.goal import COST, DAYS, MONEY, WAIT, measure_of
from dcplan.planning.goal import METRICS as MEASURES
from dcplan.planning.solve.status import OUTSIDE, Phase, SolveEvent
from dcplan.specs.registry import metric_of

WIDTH = 80
"""Most characters of a line."""
ROWS = 3
"""Lines of the curve of the gap."""
LABEL = 12
"""Characters of the labels of the numbers, and left of the curve."""
MANY = 100.0
"""Costs from here on have one decimal, smaller ones three. [M USD]"""
HEIGHTS = " ▁▂▃▄▅▆▇█"
LEAST_GAP = 1e-4
"""Lowest gap of the curve, where none is asked for; a logarithm has no zero."""


class SolveView:
    """What a terminal shows while a plan is computed; :class:`rich.live.Live` draws it."""

    def __init__(self, title: str, *, limit_s: float, gap: float) -> None:
        """Begin with a title of the computation, its time limit [s] and the requested gap."""
        self.title, self.limit_s, self.gap = title, limit_s, gap
        self.began = time.monotonic()
        self.solve_began_s: float | None = None
        """Time before the solve, whose limit holds from then on; None while it has not begun. [s]"""
        self.event = SolveEvent(Phase.OPTIONS)
        self.phase = self.event.phase
        self.gaps: list[tuple[float, float]] = []
        """Time of each change of the gap since the solve began [s], and the gap."""

    def add(self, event: SolveEvent) -> None:
        """Take an event; a new solve begins a new curve."""
        self.phase = event.phase
        if event.phase in OUTSIDE:
            return
        spent_s = time.monotonic() - self.began
        if self.solve_began_s is None:
            self.solve_began_s = spent_s
        if event.measure != self.event.measure or event.plans < self.event.plans:
            self.gaps.clear()
        self.event = event
        if math.isfinite(event.gap_frac) and (not self.gaps or self.gaps[-1][1] != event.gap_frac):
            self.gaps.append((spent_s - self.solve_began_s, event.gap_frac))

    def solving_s(self, spent_s: float) -> float:
        """Return the part of a time that is the solve's; 0 before it [s]."""
        return 0.0 if self.solve_began_s is None else spent_s - self.solve_began_s

    def lines(self, spent_s: float, width: int = WIDTH, *, blocks: bool = True) -> list[str]:
        """Return the lines of the view after some time [s]; the curve needs block characters."""
        event = self.event
        found = f"{event.plans} audited" if event.plans else "none audited yet"
        best = amount(event.best, event.measure) or "none yet"
        bound = amount(event.bound, event.measure) or "none yet"
        gap = f"{event.gap_frac:.2%}" if math.isfinite(event.gap_frac) else "not known yet"
        solving_s = self.solving_s(spent_s)
        left_s = max(self.limit_s - solving_s, 0.0)
        used = f"{solving_s:.0f} s of {self.limit_s:.0f} s"
        if self.solve_began_s is None:
            used = f"{spent_s:.0f} s, before the solve"
        texts = [
            f"{self.title}: {self.phase}",
            f"{'Best plan':{LABEL}}{best:26}Plans   {found}",
            f"{'Bound':{LABEL}}{bound:26}Gap     {gap} (requested {self.gap:.2%})",
            f"{'Time':{LABEL}}{used:26}Left    {left_s:.0f} s",
        ]
        if blocks and self.gaps:
            texts += curve(self.gaps, self.gap, solving_s, min(width, WIDTH))
        return [text[:width] for text in texts]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        blocks = console.encoding.lower().startswith("utf")
        lines = self.lines(time.monotonic() - self.began, options.max_width, blocks=blocks)
        for i, line in enumerate(lines):
            yield Text(line, style="bold" if i == 0 else "", no_wrap=True, overflow="crop")


def amount(value: float, measure: str = COST) -> str:
    """Return a measure of a goal with its unit; empty without a value.

    Examples
    --------
    >>> amount(1152.44), amount(-3.5, "compute"), amount(float("inf"))
    ('1,152.4 M USD', '3.5 PFLOP-days', '')
    """
    if not math.isfinite(value):
        return ""
    if measure in MONEY:
        return f"{value:,.{1 if abs(value) >= MANY else 3}f} M USD"
    if measure.startswith(DAYS):
        return f"{value:,.1f} days"
    if measure == WAIT:
        return f"{value:,.0f} months of waiting"
    key = next(key for key, (name, _) in MEASURES.items() if name == measure)
    spec, known = metric_of("plan", key), measure_of(key)
    factor = known[1] if known else 1.0
    return f"{value * factor:,.1f} {spec.unit if spec else measure}"


def curve(
    gaps: Sequence[tuple[float, float]], requested: float, spent_s: float, width: int
) -> list[str]:
    """Draw a gap over time on a logarithmic scale that ends at the requested gap.

    Parameters
    ----------
    gaps : sequence of (float, float)
        Time of each change [s], and the gap from then on.
    requested : float
        Gap at which the search ends: the line below the curve.
    spent_s : float
        Time at the right end. [s]
    width : int
        Characters of a line.

    Examples
    --------
    >>> for line in curve([(0.0, 0.5), (5.0, 0.05), (8.0, 0.005)], 0.005, 10.0, 24):
    ...     print(line)
    gap  50.00% █████
                █████▄▄▄▄
                █████████
    req. 0.50%  ────────────
                0 s     10 s
    """
    columns = width - LABEL
    floor = max(requested, LEAST_GAP)
    top = max(*(gap for _, gap in gaps), 2.0 * floor)
    heights = [
        _height(gaps, (i + 1) / columns * spent_s, floor, top) * (len(HEIGHTS) - 1)
        for i in range(columns)
    ]
    step = len(HEIGHTS) - 1
    lines = []
    for row in reversed(range(ROWS)):
        cells = (HEIGHTS[round(min(max(ROWS * h - row * step, 0.0), step))] for h in heights)
        label = f"gap  {top:.2%}" if row == ROWS - 1 else ""
        lines.append(f"{label:{LABEL}}{''.join(cells)}".rstrip())
    end = f"{spent_s:.0f} s"
    return [
        *lines,
        f"{f'req. {requested:.2%}':{LABEL}}{'─' * columns}",
        f"{'':{LABEL}}0 s{end:>{columns - 3}}",
    ]


def _height(gaps: Sequence[tuple[float, float]], at_s: float, floor: float, top: float) -> float:
    """Return the height of the gap at a time, between 0 at the floor and 1 at the top."""
    gap = next((gap for when, gap in reversed(gaps) if when <= at_s), floor)
    return math.log(max(gap, floor) / floor) / math.log(top / floor)
