"""Drawings of the domain, by hand as SVG.

Fabric tiers, racks of a hall, the one-line diagram of a site's power.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from dcplan.report.html.charts import COLORS, Chart

WIDTH = 760
BOXES = 12
"""Boxes shown of a tier; the text gives the count."""
MOST_RACKS = 600


def _open(height: float, words: str) -> str:
    return f'<svg role="img" aria-label={quoteattr(words)} viewBox="0 0 {WIDTH} {height:g}" class="drawing">'


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{escape(text)}</text>'


def _box(x: float, y: float, w: float, h: float, color: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="2" fill="{color}"/>'


def fabric(row: Mapping[str, object]) -> Chart:
    """Tiers of a hall's compute fabric: some switches of each, all links counted in words."""
    counts = [(name, int(str(row[f"{name}_switches"] or 0))) for name in ("core", "spine", "leaf")]
    tiers = [(name, n) for name, n in counts if n] + [
        ("NIC ports", int(str(row["nic_ports"] or 0)))
    ]
    words = f"{row['hall']}: {row['fabric']}, " + ", ".join(f"{n:,} {name}" for name, n in tiers)
    parts = [_open(84 * len(tiers), words)]
    places: list[list[float]] = []
    for i, (name, n) in enumerate(tiers):
        shown = min(n, BOXES)
        step = (WIDTH - 190) / max(shown, 1)
        xs = [170 + step * (j + 0.5) for j in range(shown)]
        places.append(xs)
        y = 84 * i + 24
        if i:
            lines = ((a, b) for a in places[i - 1] for b in xs)
            parts += [
                f'<line x1="{a:.1f}" y1="{y - 60}" x2="{b:.1f}" y2="{y}" class="link"/>'
                for a, b in lines
            ]
        parts.append(_text(4, y + 18, f"{n:,} {name}"))
        parts += [
            _box(x - min(step, 40) / 2 + 2, y, min(step, 40) - 4, 24, COLORS[i % len(COLORS)])
            for x in xs
        ]
    ports, live = (int(str(row[x] or 0)) for x in ("nic_ports", "nic_ports_in_service"))
    if live < ports:
        words += f"; {live:,} of the NIC ports are of racks in service in the last quarter"
    links = f"{int(str(row['leaf_spine_links'] or 0)):,} leaf-spine and {int(str(row['spine_core_links'] or 0)):,} "
    parts.append("</svg>")
    words += f"; {links}spine-core links, {int(str(row['transceivers'] or 0)):,} transceivers"
    return Chart(f"Compute fabric of {row['hall']}", "".join(parts), words)


def hall(
    name: str, racks: Sequence[tuple[str, int, int, float]], positions: int, used: int
) -> Chart:
    """Elevation of one rack of each system, and the floor with every rack position of the hall.

    ``racks`` holds system, racks, nodes of a rack and kW of a rack.
    """
    words = f"{name}: {used:,} of {positions:,} rack positions taken; " + "; ".join(
        f"{n:,} racks {system}, {nodes} nodes and {kw:,.0f} kW each"
        for system, n, nodes, kw in racks
    )
    height = 190
    across = min(positions, 48)
    shown = min(positions, MOST_RACKS)
    lines = math.ceil(shown / max(across, 1))
    parts = [_open(height + 40 + lines * 16, words)]
    for i, (system, _, nodes, kw) in enumerate(racks[:5]):
        x, color = 10 + i * 150, COLORS[i % len(COLORS)]
        parts.append(_text(x, 16, system))
        parts.append(_text(x, 32, f"{nodes} nodes, {kw:,.0f} kW", "small"))
        parts.append(f'<rect x="{x}" y="42" width="70" height="130" class="frame"/>')
        each = 122 / max(nodes, 1)
        parts += [_box(x + 4, 168 - each * (j + 1), 62, each - 2, color) for j in range(nodes)]
    parts.append(_text(10, height + 10, f"Floor: {used:,} of {positions:,} positions"))
    colors = [COLORS[i % len(COLORS)] for i, (_, n, _, _) in enumerate(racks) for _ in range(n)]
    others = max(used - len(colors), 0)
    colors += [COLORS[-1]] * others
    for j in range(shown):
        left, top = 10 + (j % max(across, 1)) * 15.4, height + 20.0 + (j // max(across, 1)) * 16
        empty = f'<rect x="{left:g}" y="{top:g}" width="13" height="12" class="frame"/>'
        parts.append(_box(left, top, 13, 12, colors[j]) if j < len(colors) else empty)
    if positions > shown:
        parts.append(
            _text(10, height + 34 + lines * 16, f"{positions - shown:,} positions more", "small")
        )
    parts.append("</svg>")
    return Chart(f"Racks of {name}", "".join(parts), words)


def one_line(
    site: str, utility_mw: float, onsite_mw: float, blocks: int, facility_mw: float, it_mw: float
) -> Chart:
    """From the utility over power blocks to halls, with the site's peak at each step."""
    steps = [
        ("Utility", f"{utility_mw:,.1f} MW firm"),
        ("Blocks", f"{blocks:,} with transformer and UPS" if blocks else "existing"),
        ("Facility", f"{facility_mw:,.2f} MW on the design day"),
        ("IT", f"{it_mw:,.2f} MW rated"),
    ]
    words = (
        f"{site}: "
        + ", ".join(f"{a} {b}" for a, b in steps)
        + (f"; {onsite_mw:,.1f} MW on site" if onsite_mw else "")
    )
    parts = [_open(130, words)]
    for i, (name, text) in enumerate(steps):
        x = 20 + i * 185
        parts.append(_box(x, 30, 120, 40, COLORS[i]))
        parts.append(_text(x + 10, 55, name, "onbox"))
        parts.append(_text(x, 90, text, "small"))
        if i:
            parts.append(f'<line x1="{x - 65}" y1="50" x2="{x}" y2="50" class="wire"/>')
    if onsite_mw:
        parts.append(_text(20, 118, f"on-site generation: {onsite_mw:,.1f} MW", "small"))
    parts.append("</svg>")
    return Chart(f"One-line diagram of {site}", "".join(parts), words)
