"""Drawings of the domain, by hand as SVG.

Fabric tiers, racks of a hall, the one-line diagram of a site's power.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from xml.sax.saxutils import escape, quoteattr

from dcplan.answers.plan.headline import counted
from dcplan.report.html.canvas import COLORS, Chart

WIDTH = 760
BOXES = 12
"""Boxes shown of a tier; the text gives the count."""
MOST_RACKS = 600
ACROSS = 5
"""Racks drawn in one row."""
OTHERS = "racks of network and storage (gray)"


@dataclass(frozen=True)
class Quarter:
    """What a drawing shows in one quarter: its words, its texts, racks by color."""

    words: str
    texts: tuple[str, ...]
    racks: tuple[tuple[str, int], ...] = ()


def _open(height: float, words: str, quarters: Mapping[str, Quarter] | None = None) -> str:
    data = json.dumps({name: asdict(it) for name, it in (quarters or {}).items()})
    by = f" data-quarters={quoteattr(data)}" if quarters else ""
    return (
        f'<svg role="img" aria-label={quoteattr(words)} viewBox="0 0 {WIDTH} {height:g}" '
        f'class="drawing"{by}>'
    )


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
    words = f"{row['hall']} in the last quarter: {row['fabric']}, " + ", ".join(
        f"{n:,} {name}" for name, n in tiers
    )
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
        words += f"; {live:,} of the NIC ports are of racks in service"
    parts.append("</svg>")
    others = [
        (name, int(str(row[column] or 0)))
        for name, column in (
            ("leaf-spine links", "leaf_spine_links"),
            ("spine-core links", "spine_core_links"),
            ("transceivers", "transceivers"),
        )
    ]
    words += "; " + ", ".join(f"{n:,} {name}" for name, n in others if n)
    return Chart(f"Compute fabric of {row['hall']} in the last quarter", "".join(parts), words)


def hall(
    name: str,
    racks: Sequence[tuple[str, int, int, float]],
    positions: int,
    used: int,
    fleet: Mapping[str, Mapping[str, int]] | None = None,
) -> Chart:
    """Elevation of one rack of each system, and the floor with every rack position of the hall.

    ``racks`` holds system, racks, nodes of a rack and kW of a rack; ``fleet`` holds the racks in
    service by quarter and system.
    """
    others = max(used - sum(n for _, n, _, _ in racks), 0)
    words = f"{name}: {used:,} of {positions:,} rack positions taken; " + "; ".join(
        f"{counted(n, 'rack')} {system}, {counted(nodes, 'node')} and {kw:,.0f} kW each"
        for system, n, nodes, kw in racks
    )
    rest = f"; {others:,} {OTHERS}" if others else ""
    words += rest
    height = 190 * -(-len(racks) // ACROSS)
    across = min(positions, 48)
    shown = min(positions, MOST_RACKS)
    lines = math.ceil(shown / max(across, 1))
    quarters = _floors(name, racks, positions, others, fleet or {})
    parts = [_open(height + 40 + lines * 16, words, quarters)]
    for i, (system, _, nodes, kw) in enumerate(racks):
        x, y, color = 10 + i % ACROSS * 150, i // ACROSS * 190, COLORS[i % len(COLORS)]
        parts.append(_text(x, y + 16, system))
        parts.append(_text(x, y + 32, f"{counted(nodes, 'node')}, {kw:,.0f} kW", "small"))
        parts.append(f'<rect x="{x}" y="{y + 42}" width="70" height="130" class="frame"/>')
        each = 122 / max(nodes, 1)
        parts += [_box(x + 4, y + 168 - each * (j + 1), 62, each - 2, color) for j in range(nodes)]
    parts.append(_text(10, height + 10, f"Floor: {used:,} of {positions:,} positions{rest}", "by"))
    colors = [COLORS[i % len(COLORS)] for i, (_, n, _, _) in enumerate(racks) for _ in range(n)]
    colors += [COLORS[-1]] * others
    for j in range(shown):
        left, top = 10 + (j % max(across, 1)) * 15.4, height + 20.0 + (j // max(across, 1)) * 16
        look = f'fill="{colors[j]}" class="slot"' if j < len(colors) else 'class="slot frame"'
        parts.append(f'<rect x="{left:g}" y="{top:g}" width="13" height="12" rx="2" {look}/>')
    if positions > shown:
        parts.append(
            _text(10, height + 34 + lines * 16, f"{positions - shown:,} positions more", "small")
        )
    parts.append("</svg>")
    return Chart(f"Racks of {name}", "".join(parts), words)


def _floors(
    name: str,
    racks: Sequence[tuple[str, int, int, float]],
    positions: int,
    others: int,
    fleet: Mapping[str, Mapping[str, int]],
) -> dict[str, Quarter]:
    """Return the floor of a hall by quarter; racks of network and storage are those of the end."""
    systems = list(
        dict.fromkeys([s for s, *_ in racks] + [s for row in fleet.values() for s in row])
    )
    found = {}
    for quarter, row in fleet.items():
        taken = [(s, row[s]) for s in systems if row.get(s)]
        colors = [(COLORS[systems.index(s) % len(COLORS)], n) for s, n in taken]
        used = sum(n for _, n in taken) + others
        words = f"{name} in {quarter}: {used:,} of {positions:,} rack positions taken"
        rest = [f"{others:,} {OTHERS}, as in the last quarter"] if others else []
        words = "; ".join([words, *(f"{counted(n, 'rack')} {s}" for s, n in taken), *rest])
        text = "; ".join([f"Floor in {quarter}: {used:,} of {positions:,} positions", *rest])
        found[quarter] = Quarter(words, (text,), (*colors, (COLORS[-1], others)))
    return found


@dataclass(frozen=True)
class Power:
    """Power of a site in a quarter, and its power blocks."""

    utility_mw: float
    onsite_mw: float
    blocks: int
    facility_mw: float
    it_mw: float

    @property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each step from the utility to IT."""
        blocks = f"{self.blocks:,} with transformer and UPS" if self.blocks else "existing"
        return (
            ("Utility", f"{self.utility_mw:,.1f} MW firm"),
            ("Blocks", blocks),
            ("Facility", f"{self.facility_mw:,.2f} MW on the design day"),
            ("IT", f"{self.it_mw:,.2f} MW rated"),
        )

    def words(self, site: str) -> str:
        """Return all steps in one sentence."""
        steps = ", ".join(f"{a} {b}" for a, b in self.steps)
        onsite = f"; {self.onsite_mw:,.1f} MW on site" if self.onsite_mw else ""
        return f"{site}: {steps}{onsite}"


def one_line(site: str, peak: str, by_quarter: Mapping[str, Power]) -> Chart:
    """From the utility over power blocks to halls at each step, in the quarter of the peak."""
    power = by_quarter[peak]
    words = power.words(f"{site} at its peak in {peak}")
    onsite = any(it.onsite_mw for it in by_quarter.values())
    quarters = {
        q: Quarter(
            it.words(f"{site} in {q}"),
            (*(text for _, text in it.steps), f"on-site generation: {it.onsite_mw:,.1f} MW"),
        )
        for q, it in by_quarter.items()
    }
    parts = [_open(130, words, quarters)]
    for i, (name, text) in enumerate(power.steps):
        x = 20 + i * 185
        parts.append(_box(x, 30, 120, 40, COLORS[i]))
        parts.append(_text(x + 10, 55, name, "onbox"))
        parts.append(_text(x, 90, text, "small by"))
        if i:
            parts.append(f'<line x1="{x - 65}" y1="50" x2="{x}" y2="50" class="wire"/>')
    if onsite:
        text = f"on-site generation: {power.onsite_mw:,.1f} MW"
        parts.append(_text(20, 118, text, "small by"))
    parts.append("</svg>")
    return Chart(f"One-line diagram of {site}", "".join(parts), words)
