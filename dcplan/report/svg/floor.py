"""Drawing of a hall as SVG: rack elevations and the rows on the floor."""

from __future__ import annotations

from xml.sax.saxutils import escape

from dcplan.errors import InputError, Place, Problem
from dcplan.result import Cell, Result

WIDTH, MARGIN = 960.0, 16.0
RACK_H, RACK_W, RACK_GAP = 252.0, 96.0, 180.0
ROW_H, ROW_GAP, CELL_MAX = 22.0, 16.0, 54.0
DRAWN = 60
"""Largest number of rows in the drawing; it states how many more there are."""
CLASSES = {"compute": "a", "network and storage": "b", "cdu": "c"}
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1a1a1a}.t{font-weight:600}.s{font-size:12px;fill:#555}"
    "rect{stroke:#fff;stroke-width:1}.o{fill:none;stroke:#666;stroke-width:2}"
    ".a{fill:#3b6fb0}.b{fill:#5b8c4a}.c{fill:#b9772f}.e{fill:#e6e8ec}.w{fill:#fff;font-size:11px}"
    "@media(prefers-color-scheme:dark){svg{background:#14171c}text{fill:#e8e8e8}.s{fill:#a9b0bb}"
    "rect{stroke:#14171c}.o{stroke:#a9b0bb}.e{fill:#2a2f38}.w{fill:#fff}}"
)
Row = dict[str, Cell]


def floor_svg(result: Result) -> str:
    """Draw elevations and floor of a ``facility`` answer with a system, rack by rack.

    It shows up to :data:`DRAWN` rows.

    Raises
    ------
    InputError
        When the answer has no racks.
    """
    if "floor" not in result.tables:
        cause = "there are no racks to draw: set --cooling and a --system with a known power"
        raise InputError([Problem("DC062", cause, Place("--picture"), help="--system gb300-nvl72")])
    kinds, whole = _rows(result, "racks"), _rows(result, "floor")
    rows = whole[:DRAWN]
    shown = [kind for kind in kinds if kind["rack_kw"] is not None]
    top = 108.0 + RACK_H + 48.0
    left = len(whole) - len(rows)
    height = top + (64.0 if left else 40.0) + (ROW_H + ROW_GAP) * len(rows) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" role="img" '
        f'aria-labelledby="title desc"><title id="title">Racks and floor of the hall</title>'
        f'<desc id="desc">{escape(_summary(result, kinds))}</desc><style>{STYLE}</style>',
        f'<text class="t" x="{MARGIN:g}" y="28">{escape(result.headline.split(":")[0])}</text>',
        f'<text class="s" x="{MARGIN:g}" y="50">{escape(_summary(result, kinds))}</text>',
    ]
    for i, kind in enumerate(shown):
        rack = _rack_units(result, kind)
        parts += _elevation(MARGIN + 28.0 + i * (RACK_W + RACK_GAP), 108.0, kind, rack)
    parts += _floor(rows, top)
    if left:
        parts.append(
            f'<text class="s" x="{MARGIN:g}" y="{height - MARGIN:g}">and {left:,} more rows</text>'
        )
    return "".join(parts) + "</svg>\n"


def _rows(result: Result, name: str) -> list[Row]:
    return result.tables[name].records()


def _summary(result: Result, kinds: list[Row]) -> str:
    racks = ", ".join(f"{kind['racks']:,} {kind['kind']}" for kind in kinds)
    return f"{result.value('floor.rows'):,.0f} rows of racks on {result.value('floor.area_m2'):,.0f} m2: {racks}"


def _rack_units(result: Result, kind: Row) -> float:
    """Return the height of a rack of nodes; 0 for a rack without known units."""
    return result.input_value("facility.rack-units") if kind["node_units"] else 0.0


def _elevation(x: float, y: float, kind: Row, rack_units: float) -> list[str]:
    """Draw the front view of one rack: nodes from the bottom, empty space above."""
    name = str(kind["kind"])
    words = f"{kind['rack_kw']:,.4g} kW each, {kind['racks']:,} racks"
    parts = [
        f'<text class="t" x="{x:g}" y="{y - 28:g}">{escape(name)}</text>',
        f'<text class="s" x="{x:g}" y="{y - 10:g}">{escape(words)}</text>',
        f'<rect class="e" x="{x:g}" y="{y:g}" width="{RACK_W:g}" height="{RACK_H:g}"/>',
    ]
    units, nodes = float(kind["node_units"] or 0.0), int(kind["nodes_per_rack"] or 0)
    if units and nodes:
        each = RACK_H / rack_units * units
        for j in range(nodes):
            low = y + RACK_H - each * (j + 1)
            parts += [
                f'<rect class="a" x="{x + 3:g}" y="{low:.1f}" width="{RACK_W - 6:g}" height="{each:.1f}"/>',
                f'<text class="w" x="{x + RACK_W / 2:g}" y="{low + each / 2 + 4:.1f}" text-anchor="middle">'
                f"{units:g}U</text>",
            ]
        free = rack_units - units * nodes
        parts.append(
            f'<text class="s" x="{x + RACK_W + 8:g}" y="{y + 14:g}">{free:g}U of {rack_units:g}U free</text>'
        )
    else:
        parts.append(
            f'<rect class="{CLASSES.get(name, "e")}" x="{x + 3:g}" y="{y + 3:g}" width="{RACK_W - 6:g}" '
            f'height="{RACK_H - 6:g}"/>'
        )
    label = str(kind["system"] or "")
    parts.append(f'<rect class="o" x="{x:g}" y="{y:g}" width="{RACK_W:g}" height="{RACK_H:g}"/>')
    parts.append(f'<text class="s" x="{x:g}" y="{y + RACK_H + 18:g}">{escape(label)}</text>')
    return parts


def _floor(rows: list[Row], top: float) -> list[str]:
    """Draw every row with its line-up."""
    longest = max(int(row["racks"] or 0) for row in rows)
    cell = min((WIDTH - 2 * MARGIN - 60.0) / longest, CELL_MAX)
    parts = [f'<text class="t" x="{MARGIN:g}" y="{top:g}">Floor</text>']
    present = [
        (name, style)
        for name, style in CLASSES.items()
        if any(name in str(row["line_up"]) for row in rows)
    ]
    for i, (name, style) in enumerate(present):
        x = 110.0 + i * 190.0
        parts.append(f'<rect class="{style}" x="{x:g}" y="{top - 12:g}" width="14" height="14"/>')
        parts.append(f'<text class="s" x="{x + 20:g}" y="{top:g}">{escape(name)}</text>')
    for i, row in enumerate(rows):
        y, x = top + 20.0 + i * (ROW_H + ROW_GAP), MARGIN + 52.0
        parts.append(f'<text class="s" x="{MARGIN:g}" y="{y + 15:g}">row {row["row"]}</text>')
        for run in str(row["line_up"]).split(", "):
            count, _, name = run.partition(" ")
            for _ in range(int(count)):
                parts.append(
                    f'<rect class="{CLASSES[name]}" x="{x:.1f}" y="{y:g}" width="{cell:.1f}" height="{ROW_H:g}"/>'
                )
                x += cell
    return parts
