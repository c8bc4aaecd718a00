"""One-line diagram of a hall as SVG: utility, transformers, switchgear, generators, UPS, busway, racks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from dcplan.errors import InputError, Place, Problem
from dcplan.facility.electrical.power import TWO_SIDES
from dcplan.report.svg.supply import MAIN_Y, MARGIN, before, breaker, label, line, text, utility
from dcplan.result import Cell, Result
from dcplan.specs.facility import hall
from dcplan.specs.facility.equipment import ALL, ELECTRICAL, MECHANICAL, ElectricalRow

GROUP, LABEL_X = 400.0, 186.0
SIDES = (66.0, 146.0)
"""Places of the sides A and B in a group."""
TX_Y, BUS_Y, GEN_Y, UPS_Y, WAY_Y, RACK_Y = (*(244.0, 300.0, 342.0, 384.0, 458.0, 506.0),)
NOTE_Y, LINE = 600.0, 18.0
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
        text(MARGIN, 30.0, f"One-line diagram: {title}", "t"),
        *utility(result, width),
    ]
    for group in groups:
        parts += _group(group)
    parts += [text(MARGIN, NOTE_Y + LINE * i, note, "s") for i, note in enumerate(notes)]
    return "".join(parts) + "</svg>\n"


def _groups(result: Result) -> list[Group]:
    """Return the load classes with blocks, from left to right."""
    rows = ELECTRICAL.rows(result.tables[ELECTRICAL.name])
    names = list(dict.fromkeys(row.load_class for row in rows if row.load_class != ALL))
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


def _group(group: Group) -> list[str]:
    """Draw one block on each side of a load class, and the labels of its equipment."""
    parts = [
        text(group.x + LABEL_X, MAIN_Y + 22, group.name, "t"),
        text(group.x + LABEL_X, MAIN_Y + 38, group.words, "s"),
    ]
    for i, x in enumerate(group.centers):
        parts += _block(group, x, "AB"[i] if group.sides > 1 else "")
    at = (TX_Y, BUS_Y, GEN_Y, UPS_Y, WAY_Y)
    for name, y in zip(EQUIPMENT, at, strict=True):
        for j, words in enumerate(label(group.lines[name])):
            parts.append(text(group.x + LABEL_X, y + 15 * j, words, "s"))
    left, right = group.x + SIDES[0] - 40, group.x + SIDES[1] + 22
    parts.append(
        f'<rect class="r" x="{left:g}" y="{RACK_Y:g}" width="{right - left:g}" height="40" rx="4"/>'
    )
    kind = "motors, lighting" if group.lines["ups"].count is None else "racks"
    parts.append(text((left + right) / 2, RACK_Y + 25, kind, "m"))
    parts += [
        text(group.x + LABEL_X, RACK_Y + 12 + 15 * j, words, "s")
        for j, words in enumerate(group.loads)
    ]
    return parts


def _block(group: Group, x: float, side: str) -> list[str]:
    """Draw the symbols of one block from the main bus to the racks."""
    parts = [
        line(x, MAIN_Y, x, TX_Y - 25),
        *breaker(x, MAIN_Y + 16),
        f'<circle cx="{x:g}" cy="{TX_Y - 14:g}" r="11"/>',
        f'<circle cx="{x:g}" cy="{TX_Y + 2:g}" r="11"/>',
        line(x, TX_Y + 13, x, BUS_Y),
        *breaker(x, BUS_Y - 22),
        line(x - 44, BUS_Y, x + 14, BUS_Y, "b"),
        line(x - 36, BUS_Y, x - 36, GEN_Y - 12),
        *breaker(x - 36, BUS_Y + 16),
        f'<circle cx="{x - 36:g}" cy="{GEN_Y:g}" r="12"/>',
        text(x - 36, GEN_Y + 5, "G", "m"),
    ]
    if group.lines["ups"].count is None:
        parts.append(line(x, BUS_Y, x, RACK_Y))
        return [*parts, *breaker(x, BUS_Y + 24)]
    parts += [
        line(x, BUS_Y, x, UPS_Y - 16),
        *breaker(x, BUS_Y + 24),
        f'<rect class="r" x="{x - 16:g}" y="{UPS_Y - 16:g}" width="32" height="32"/>',
        f'<path d="M{x - 16:g} {UPS_Y + 16:g}L{x + 16:g} {UPS_Y - 16:g}"/>',
        line(x, UPS_Y + 16, x, WAY_Y),
        *breaker(x, UPS_Y + 36),
        line(x - 24, WAY_Y, x + 24, WAY_Y, "b"),
        line(x, WAY_Y, x, RACK_Y),
    ]
    if side:
        parts.append(text(x + 8, WAY_Y - 10, side, "t"))
    return parts


def _notes(result: Result, groups: list[Group]) -> Iterable[str]:
    """Return the text below the drawing: what the blocks of the drawing show, and what is not sized."""
    yield from _wrapped(
        "One block is drawn on each side; labels count the units of all blocks. Each class has "
        "transformers of its own; their feeders come from one medium-voltage bus. Load is that of the "
        "design day over all installed units."
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
    for row in before(result):
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
