"""One-line diagram of a hall as SVG: utility, transformers, switchgear, generators, UPS, busway, racks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from dcplan.errors import InputError, Place, Problem
from dcplan.facility.electrical.power import RULES, TWO_SIDES
from dcplan.result import Cell, Result
from dcplan.specs.facility import energy, hall
from dcplan.specs.facility.equipment import ELECTRICAL, MECHANICAL, ElectricalRow

GROUP, MARGIN, LABEL_X = 400.0, 24.0, 186.0
SIDES = (66.0, 146.0)
"""Places of the sides A and B in a group."""
UTILITY_Y, MAIN_Y, TX_Y, BUS_Y, GEN_Y, UPS_Y, WAY_Y, RACK_Y = (
    *(78.0, 132.0, 196.0, 252.0, 294.0, 336.0, 410.0, 458.0),
)
NOTE_Y, LINE = 552.0, 18.0
NOTE_CHARS = 150
EQUIPMENT = ("transformer", "switchgear", "generator", "ups", "busway")
RACK_KINDS = {"C": ("compute", "tank"), "N": ("network and storage",)}
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1a1a1a}.t{font-weight:600}.s{font-size:12px;fill:#555}"
    ".m{text-anchor:middle}line,circle,path,rect{stroke:#2b5c9e;stroke-width:1.6;fill:none}"
    ".b{stroke-width:5}.q{fill:#2b5c9e}.r{fill:#e8eef7}"
    "@media(prefers-color-scheme:dark){svg{background:#14171c}text{fill:#e8e8e8}.s{fill:#a9b0bb}"
    "line,circle,path,rect{stroke:#7fa6dc}.q{fill:#7fa6dc}.r{fill:#1f2d42}}"
)
Row = dict[str, Cell]


@dataclass(frozen=True)
class Group:
    """One load class: its lines of the schedule, its place, and what its blocks feed."""

    x: float
    name: str
    lines: dict[str, ElectricalRow]
    words: str
    loads: tuple[str, ...]
    sides: int

    @property
    def centers(self) -> list[float]:
        """Places of its sides in the drawing."""
        return [self.x + each for each in SIDES[: self.sides]]


def one_line_svg(result: Result) -> str:
    """Draw the one-line diagram of a ``facility`` answer: one block on each side of each load class.

    Labels have count, rating, redundancy and load of all blocks, so that no figure is only in the
    drawing.

    Raises
    ------
    InputError
        When the answer has no electrical schedule.
    """
    if ELECTRICAL.name not in result.tables:
        cause = "there is no electrical schedule to draw: set --cooling instead of --compare"
        raise InputError([Problem("DC062", cause, Place("--one-line"), help="--cooling NAME")])
    groups = _groups(result)
    notes = list(_notes(result, groups))
    width = 2 * MARGIN + GROUP * len(groups)
    height = NOTE_Y + LINE * len(notes) + MARGIN
    title = result.headline.split(":")[0]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-labelledby="title desc"><title id="title">One-line diagram of the hall</title>'
        f'<desc id="desc">{escape("; ".join(f"{g.name}: {g.words}" for g in groups))}</desc><style>{STYLE}</style>',
        _text(MARGIN, 30.0, f"One-line diagram: {title}", "t"),
        *_utility(result, width),
    ]
    for group in groups:
        parts += _group(group)
    parts += [_text(MARGIN, NOTE_Y + LINE * i, note, "s") for i, note in enumerate(notes)]
    return "".join(parts) + "</svg>\n"


def _groups(result: Result) -> list[Group]:
    """Return the load classes with blocks, from left to right."""
    rows = ELECTRICAL.rows(result.tables[ELECTRICAL.name])
    names = list(dict.fromkeys(row.load_class for row in rows))
    blocks = {b.load_class: b for b in hall.POWER_BLOCKS.rows(result.tables["power_blocks"])}
    found = []
    for i, name in enumerate(names):
        lines = {row.equipment: row for row in rows if row.load_class == name}
        block = blocks[name]
        each = block.installed_mw / block.blocks
        words = (
            f"{block.load_mw:,.1f} MW on {block.blocks} x {each:,.3g} MW, "
            f"{block.redundancy.upper()}"
        )
        letter = lines["transformer"].tag[-1]
        fed = letter in RACK_KINDS
        sides = 2 if fed and block.redundancy != "n" else 1
        loads = _racks(result, letter) if fed else _plant(result)
        found.append(Group(MARGIN + GROUP * i, name, lines, words, loads, sides))
    return found


def _racks(result: Result, letter: str) -> tuple[str, ...]:
    """Return the racks behind the busway, kind by kind."""
    if hall.RACKS.name not in result.tables:
        return ("racks are known with --system only",)
    kinds = [
        r
        for r in hall.RACKS.rows(result.tables[hall.RACKS.name])
        if r.kind in RACK_KINDS[letter] and r.racks
    ]
    return tuple(
        f"{r.racks:,} {'tanks' if r.kind == 'tank' else 'racks'}"
        + (f" of {r.rack_kw:,.4g} kW" if r.rack_kw else "")
        + (f", {r.system}" if r.system else "")
        for r in kinds
    ) or ("no racks of this class fit",)


def _plant(result: Result) -> tuple[str, ...]:
    """Return the plant behind the switchgear of cooling, three kinds on a line."""
    rows = MECHANICAL.rows(result.tables[MECHANICAL.name])
    words = [f"{r.count:,} {r.equipment}" for r in rows if r.count]
    return tuple(", ".join(words[i : i + 2]) for i in range(0, len(words), 2))


def _utility(result: Result, width: float) -> list[str]:
    """Draw the utility, sources on site and a battery, all on the main bus."""
    peak = result.value("power.peak_facility_mw")
    sources = [("~", [f"utility: {peak:,.1f} MW on the design day,", "voltage not known"])]
    if energy.ONSITE.name in result.tables:
        rows = list(energy.ONSITE.rows(result.tables[energy.ONSITE.name]))
        if all(row.source != "grid" for row in rows):
            sources = []
        own = [f"{row.source}: {row.mw:,.4g} MW" for row in rows if row.source != "grid"]
        if own:
            sources.append(("G", own))
    rated = [result.metrics.get(key) for key in (energy.BATTERY_MW.key, energy.BATTERY_MWH.key)]
    if all(rated):
        mw, mwh = (float(m.value or 0.0) for m in rated if m)
        sources.append(("B", [f"battery by duty: {mw:,.1f} MW, {mwh:,.1f} MWh"]))
    step = (width - 2 * MARGIN) / len(sources)
    parts = [_line(MARGIN, MAIN_Y, width - MARGIN, MAIN_Y, "b")]
    for i, (mark, words) in enumerate(sources):
        x = MARGIN + SIDES[0] + step * i
        parts += [
            f'<circle cx="{x:g}" cy="{UTILITY_Y:g}" r="16"/>',
            _text(x, UTILITY_Y + 5, mark, "m"),
            _line(x, UTILITY_Y + 16, x, MAIN_Y),
            *_breaker(x, 113.0),
            *(_text(x + 28, UTILITY_Y - 6 + 15 * j, line, "s") for j, line in enumerate(words)),
        ]
    return parts


def _group(group: Group) -> list[str]:
    """Draw one block on each side of a load class, and the labels of its equipment."""
    parts = [
        _text(group.x + LABEL_X, MAIN_Y + 22, group.name, "t"),
        _text(group.x + LABEL_X, MAIN_Y + 38, group.words, "s"),
    ]
    for i, x in enumerate(group.centers):
        parts += _block(group, x, "AB"[i] if group.sides > 1 else "")
    at = (TX_Y, BUS_Y, GEN_Y, UPS_Y, WAY_Y)
    for name, y in zip(EQUIPMENT, at, strict=True):
        for j, words in enumerate(_label(group.lines[name])):
            parts.append(_text(group.x + LABEL_X, y + 15 * j, words, "s"))
    left, right = group.x + SIDES[0] - 40, group.x + SIDES[1] + 22
    parts.append(
        f'<rect class="r" x="{left:g}" y="{RACK_Y:g}" width="{right - left:g}" height="40" rx="4"/>'
    )
    kind = "motors, lighting" if group.lines["ups"].count is None else "racks"
    parts.append(_text((left + right) / 2, RACK_Y + 25, kind, "m"))
    parts += [
        _text(group.x + LABEL_X, RACK_Y + 12 + 15 * j, words, "s")
        for j, words in enumerate(group.loads)
    ]
    return parts


def _block(group: Group, x: float, side: str) -> list[str]:
    """Draw the symbols of one block from the main bus to the racks."""
    parts = [
        _line(x, MAIN_Y, x, TX_Y - 25),
        *_breaker(x, MAIN_Y + 16),
        f'<circle cx="{x:g}" cy="{TX_Y - 14:g}" r="11"/>',
        f'<circle cx="{x:g}" cy="{TX_Y + 2:g}" r="11"/>',
        _line(x, TX_Y + 13, x, BUS_Y),
        *_breaker(x, BUS_Y - 22),
        _line(x - 44, BUS_Y, x + 14, BUS_Y, "b"),
        _line(x - 36, BUS_Y, x - 36, GEN_Y - 12),
        *_breaker(x - 36, BUS_Y + 16),
        f'<circle cx="{x - 36:g}" cy="{GEN_Y:g}" r="12"/>',
        _text(x - 36, GEN_Y + 5, "G", "m"),
    ]
    if group.lines["ups"].count is None:
        parts.append(_line(x, BUS_Y, x, RACK_Y))
        return [*parts, *_breaker(x, BUS_Y + 24)]
    parts += [
        _line(x, BUS_Y, x, UPS_Y - 16),
        *_breaker(x, BUS_Y + 24),
        f'<rect class="r" x="{x - 16:g}" y="{UPS_Y - 16:g}" width="32" height="32"/>',
        f'<path d="M{x - 16:g} {UPS_Y + 16:g}L{x + 16:g} {UPS_Y - 16:g}"/>',
        _line(x, UPS_Y + 16, x, WAY_Y),
        *_breaker(x, UPS_Y + 36),
        _line(x - 24, WAY_Y, x + 24, WAY_Y, "b"),
        _line(x, WAY_Y, x, RACK_Y),
    ]
    if side:
        parts.append(_text(x + 8, WAY_Y - 10, side, "t"))
    return parts


def _label(row: ElectricalRow) -> tuple[str, ...]:
    """Return tag, count, rating, redundancy and load of one line of the schedule."""
    if row.count is None:
        return (f"{row.tag}: {row.equipment} not sized",)
    rating = (
        f"{row.rating_kva:,.0f} kVA"
        if row.rating_kva
        else f"{row.rating_amps:,.0f} A"
        if row.rating_amps
        else f"{row.rating_kw or 0:,.0f} kW"
    )
    volts = f", {row.line_volts:,.0f} V" if row.line_volts else ""
    first = f"{row.tag}: {row.count:,} x {rating}{volts}"
    load = f", {row.load_frac * 100:.0f} % load" if row.load_frac is not None else ""
    rule = row.redundancy or "n"
    return first, f"{row.equipment}, {rule.upper() if rule in RULES else rule}{load}"


def _notes(result: Result, groups: list[Group]) -> Iterable[str]:
    """Return the text below the drawing: what the blocks of the drawing show, and what is not sized."""
    yield from _wrapped(
        "One block is drawn on each side; labels count the units of all blocks. Each class has "
        "transformers of its own. Load is that of the design day over all installed units."
    )
    for group in groups:
        rule, count = (group.lines["transformer"].redundancy, group.lines["transformer"].count or 0)
        if group.sides == 1:
            yield f"{group.name}: one side."
        elif rule == TWO_SIDES:
            yield f"{group.name}: {count // 2} blocks on side A and {count // 2} on side B; each carries the load."
        else:
            yield f"{group.name}: sides A and B of a row come from two of the {count} blocks; any one may fail."
    seen: dict[str, list[str]] = {}
    for group in groups:
        for row in group.lines.values():
            if row.not_sized:
                seen.setdefault(row.not_sized, []).append(row.tag)
    for reason, tags in seen.items():
        yield from _wrapped(f"Not sized, {', '.join(tags)}: {reason}.")


def _wrapped(words: str) -> Iterable[str]:
    line = ""
    for word in words.split():
        if len(line) + len(word) >= NOTE_CHARS:
            yield line
            line = ""
        line = f"{line} {word}".strip()
    yield line


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, style: str = "") -> str:
    return f'<line class="{style}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def _breaker(x: float, y: float) -> list[str]:
    return [f'<rect class="q" x="{x - 4:g}" y="{y - 4:g}" width="8" height="8"/>']
