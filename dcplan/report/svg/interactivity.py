"""Drawing of a service's frontier as SVG: throughput against interactivity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from dcplan.errors import InputError, Place, Problem
from dcplan.result import Result
from dcplan.specs.headers import header
from dcplan.specs.serve.options import FRONTIER_POINTS, FrontierRow

WIDTH, HEIGHT = 960.0, 520.0
LEFT, RIGHT, TOP, BOTTOM = 96.0, 32.0, 84.0, 64.0
TICKS = 6
STEPS = (1.0, 2.0, 5.0, 10.0)
LETTER, LINE = 6.4, 14.0
"""Width of a letter and height of a line of a name. [px]"""
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1a1a1a}.t{font-weight:600}"
    ".s{font-size:12px;fill:#555}.a{stroke:#9aa3ae;stroke-width:1}"
    ".l{fill:none;stroke:#3b6fb0;stroke-width:2}.p{fill:#3b6fb0}.o{fill:#b9772f}"
    "@media(prefers-color-scheme:dark){svg{background:#14171c}text{fill:#e8e8e8}.s{fill:#a9b0bb}"
    ".a{stroke:#45597a}.l{stroke:#7fa6dc}.p{fill:#7fa6dc}.o{fill:#e0a35c}}"
)


def interactivity_svg(result: Result) -> str:
    """Draw the frontier of a ``serve`` answer: one dot a point, the layout where it changes.

    Dots within the latency limits have another color; the description counts them.

    Raises
    ------
    InputError
        When the answer has no frontier.
    """
    table = result.tables.get(FRONTIER_POINTS.name)
    if table is None or not table.rows:
        cause = "this answer has no frontier to draw"
        raise InputError([Problem("DC050", cause, Place("--picture"), help="omit --picture")])
    rows = FRONTIER_POINTS.rows(table)
    xs = [float(r.tokens_per_s_per_user or 0.0) for r in rows]
    ys = [float(r.tokens_per_s_per_accelerator or 0.0) for r in rows]
    across, up = _ticks(max(xs)), _ticks(max(ys))
    within = sum(r.means_within_limits for r in rows)
    words = f"{len(rows)} points, {within} with means within the latency limits; {result.headline}"
    title = result.headline.partition(":")[0]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-labelledby="title desc"><title id="title">Throughput against interactivity</title>'
        f'<desc id="desc">{escape(words)}</desc><style>{STYLE}</style>',
        f'<text class="t" x="16" y="28">{escape(title)}</text>',
        '<text class="s" x="16" y="50">Means of each point; those of the brown points are within the '
        "latency limits</text>",
        *_axes(across, up),
    ]
    places = [(_x(x, across[-1]), _y(y, up[-1])) for x, y in zip(xs, ys, strict=True)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts.append(f'<polyline class="l" points="{line}"/>')
    parts += [
        f'<circle class="{"o" if row.means_within_limits else "p"}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        for row, (x, y) in zip(rows, places, strict=True)
    ]
    parts += _names(rows, places)
    return "".join(parts) + "</svg>\n"


def _ticks(top: float) -> list[float]:
    """Return round values from 0 to at least the largest one.

    Examples
    --------
    >>> _ticks(113.0), _ticks(0.9)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    scale = 10.0 ** math.floor(math.log10(max(top, 1e-9) / TICKS))
    step = next(s * scale for s in STEPS if s * scale * TICKS >= top)
    return [round(i * step, 12) for i in range(math.ceil(top / step) + 1)]


def _x(value: float, top: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value / top


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def _axes(across: Sequence[float], up: Sequence[float]) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    found = [
        f'<line class="a" x1="{LEFT:g}" y1="{bottom:g}" x2="{right:g}" y2="{bottom:g}"/>',
        f'<line class="a" x1="{LEFT:g}" y1="{TOP:g}" x2="{LEFT:g}" y2="{bottom:g}"/>',
        f'<text x="{(LEFT + right) / 2:g}" y="{HEIGHT - 14:g}" text-anchor="middle">'
        f"{header('tokens_per_s_per_user')}</text>",
        f'<text x="{LEFT:g}" y="{TOP - 12:g}">{header("tokens_per_s_per_accelerator")}</text>',
    ]
    found += [
        f'<text class="s" x="{_x(v, across[-1]):.1f}" y="{bottom + 20:g}" text-anchor="middle">'
        f"{v:,g}</text>"
        for v in across
    ]
    found += [
        f'<text class="s" x="{LEFT - 8:g}" y="{_y(v, up[-1]) + 4:.1f}" text-anchor="end">'
        f"{v:,g}</text>"
        for v in up
    ]
    return found


def _names(rows: Sequence[FrontierRow], places: Sequence[tuple[float, float]]) -> list[str]:
    """Return the layout of each point at which it differs from that of the point before.

    A name without room at the right moves left and up, and a name that would cover another one up.
    """
    found: list[str] = []
    boxes: list[tuple[float, float, float]] = []
    last = ""
    for row, (x, y) in zip(rows, places, strict=True):
        if row.layout != last:
            wide = LETTER * len(row.layout)
            left = min(x + 8.0, WIDTH - 8.0 - wide)
            height = y - 8.0 if left > x else y - 8.0 - LINE
            while any(_covers((left, height, wide), box) for box in boxes):
                height -= LINE
            boxes.append((left, height, wide))
            name = escape(row.layout)
            found.append(f'<text class="s" x="{left:.1f}" y="{height:.1f}">{name}</text>')
        last = row.layout
    return found


def _covers(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    """Return whether two names with left edge, height and width are on top of each other.

    Examples
    --------
    >>> _covers((0.0, 50.0, 40.0), (30.0, 55.0, 40.0)), _covers((0.0, 50.0, 40.0), (30.0, 70.0, 40.0))
    (True, False)
    """
    apart = one[0] + one[2] < other[0] or other[0] + other[2] < one[0]
    return not apart and abs(one[1] - other[1]) < LINE
