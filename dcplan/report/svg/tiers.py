"""Drawing of a network's tiers as SVG: boxes for switches, lines for links."""

from __future__ import annotations

from xml.sax.saxutils import escape

from dcplan.errors import InputError, Place, Problem
from dcplan.result import Result
from dcplan.specs.fabric import network as specs

WIDTH, ROW, TOP, BOX_W, BOX_H = 960, 120, 64, 84, 36
SHOWN = 8
"""Largest number of boxes in a row; longer rows show the first ones, dots and the last."""
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1a1a1a}.t{font-weight:600}"
    ".s{font-size:12px;fill:#555}"
    "rect{fill:#e8eef7;stroke:#2b5c9e}line{stroke:#9db4d3;stroke-width:1}rect.n{fill:#eef3ea;stroke:#4f7a36}"
    "@media(prefers-color-scheme:dark){svg{background:#14171c}text{fill:#e8e8e8}.s{fill:#a9b0bb}"
    "rect{fill:#1f2d42;stroke:#7fa6dc}rect.n{fill:#22301b;stroke:#8fbf70}line{stroke:#45597a}}"
)


def tiers_svg(result: Result) -> str:
    """Draw the network of a ``fabric`` answer as one SVG: one row per tier, nodes below.

    Every row shows at most :data:`SHOWN` boxes; its text gives all counts, so that no information
    is only in the drawing.
    """
    table = result.tables.get(specs.TIERS.name)
    drawn = table is not None and table.rows and set(specs.TIERS.names) <= set(table.columns)
    if table is None or not drawn:
        cause = "this network has no tiers to draw: choose a network of leaf and spine switches"
        raise InputError([Problem("DC050", cause, Place("--picture"), help="omit --picture")])
    tiers = list(reversed(specs.TIERS.rows(table)))
    rows = [(t.tier, t.switches, _words(t)) for t in tiers]
    height = TOP + ROW * (len(rows) + 1)
    links = [f"{t.links_below:,} links" for t in tiers]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-labelledby="title desc"><title id="title">Network tiers</title>'
        f'<desc id="desc">{escape(result.headline)}</desc><style>{STYLE}</style>',
        f'<text class="t" x="16" y="28">{escape(_short(result.headline))}</text>',
    ]
    for i in range(len(rows)):
        below = rows[i + 1][1] if i + 1 < len(rows) else SHOWN + 1
        parts += _links(i, rows[i][1], below)
        parts.append(
            f'<text class="s" x="{WIDTH - 150}" y="{TOP + ROW * i + 86}">{links[i]}</text>'
        )
    for i, (name, count, words) in enumerate(rows):
        parts += _row(i, name, count, words, "")
    parts += _row(len(rows), "node", SHOWN + 1, "nodes", "n")
    return "".join(parts) + "</svg>\n"


def _words(t: specs.TierRow) -> str:
    return f"{t.switches:,} {t.tier} x {t.switch}, {t.ports_down} down, {t.ports_up} up"


def _short(text: str) -> str:
    return text.split(":", maxsplit=1)[0]


def _centers(count: int) -> list[float]:
    shown = min(count, SHOWN)
    step = (WIDTH - 200) / max(shown, 1)
    return [16 + step * (i + 0.5) for i in range(shown)]


def _row(i: int, name: str, count: int, words: str, style: str) -> list[str]:
    y = TOP + ROW * i
    found = [f'<text class="s" x="16" y="{y - 6}">{escape(words)}</text>']
    centers = _centers(count)
    for j, x in enumerate(centers):
        label = f"{name} {j + 1}"
        if count > SHOWN and j == len(centers) - 2:
            label = "…"
        elif count > SHOWN and j == len(centers) - 1:
            label = f"{name} {count:,}" if not style else f"last {name}"
        found.append(
            f'<rect class="{style}" x="{x - BOX_W / 2:.1f}" y="{y}" width="{BOX_W}" '
            f'height="{BOX_H}" rx="5"/>'
            f'<text class="s" x="{x:.1f}" y="{y + 23}" text-anchor="middle">{escape(label)}</text>'
        )
    return found


def _links(i: int, above: int, below: int) -> list[str]:
    y1, y2 = TOP + ROW * i + BOX_H, TOP + ROW * (i + 1)
    pairs = [(a, b) for a in _centers(above) for b in _centers(below)]
    return [f'<line x1="{a:.1f}" y1="{y1}" x2="{b:.1f}" y2="{y2}"/>' for a, b in pairs]
