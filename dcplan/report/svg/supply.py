"""Supply of a one-line diagram, with the symbols and labels that all of it shares."""

from __future__ import annotations

from xml.sax.saxutils import escape

from dcplan.facility.electrical.power import RULES
from dcplan.result import Result
from dcplan.specs.facility import energy
from dcplan.specs.facility.equipment import ALL, ELECTRICAL, ElectricalRow

MARGIN, FIRST_X = 24.0, 66.0
"""Edge of the drawing, and place of the first source behind it."""
SUPPLY_Y, UTILITY_Y, MAIN_Y = 52.0, 126.0, 180.0
LABEL_WIDTH = 250.0


def utility(result: Result, width: float) -> list[str]:
    """Draw the utility, sources on site and a battery, all on the main bus."""
    peak = result.value("power.peak_facility_mw")
    rows = {row.tag: row for row in before(result)}
    main = rows.get("TX-U")
    volts = (main or rows["MVS"]).supply_volts
    kv = f"{volts:,.0f} V" if volts else "voltage not known"
    sources = [("~", [f"utility: {peak:,.1f} MW on the design day,", kv])]
    if energy.ONSITE.name in result.tables:
        own_rows = list(energy.ONSITE.rows(result.tables[energy.ONSITE.name]))
        if all(row.source != "grid" for row in own_rows):
            sources = []
        own = [f"{row.source}: {row.mw:,.4g} MW" for row in own_rows if row.source != "grid"]
        if own:
            sources.append(("G", own))
    rated = [result.metrics.get(key) for key in (energy.BATTERY_MW.key, energy.BATTERY_MWH.key)]
    if all(rated):
        mw, mwh = (float(m.value or 0.0) for m in rated if m)
        sources.append(("B", [f"battery by duty: {mw:,.1f} MW, {mwh:,.1f} MWh"]))
    step = (width - 2 * MARGIN) / len(sources)
    parts = [line(MARGIN, MAIN_Y, width - MARGIN, MAIN_Y, "b")]
    for j, row in enumerate(rows.values()):
        parts += [
            text(MARGIN + LABEL_WIDTH * k, SUPPLY_Y + 15 * j, words, "s")
            for k, words in enumerate(label(row))
        ]
    for i, (mark, words) in enumerate(sources):
        x = MARGIN + FIRST_X + step * i
        parts += [
            f'<circle cx="{x:g}" cy="{UTILITY_Y:g}" r="16"/>',
            text(x, UTILITY_Y + 5, mark, "m"),
            *_incoming(x, transformed=main is not None and mark == "~"),
            *(text(x + 28, UTILITY_Y - 6 + 15 * j, each, "s") for j, each in enumerate(words)),
        ]
    return parts


def _incoming(x: float, *, transformed: bool) -> list[str]:
    """Draw a line with a breaker from a source to the main bus, and a main transformer if there is one."""
    if not transformed:
        return [line(x, UTILITY_Y + 16, x, MAIN_Y), *breaker(x, MAIN_Y - 19)]
    return [
        f'<circle cx="{x:g}" cy="{UTILITY_Y + 25:g}" r="8"/>',
        f'<circle cx="{x:g}" cy="{UTILITY_Y + 36:g}" r="8"/>',
        line(x, UTILITY_Y + 44, x, MAIN_Y),
        *breaker(x, MAIN_Y - 6),
    ]


def before(result: Result) -> list[ElectricalRow]:
    """Return the lines of the supply before the load classes."""
    rows = ELECTRICAL.rows(result.tables[ELECTRICAL.name])
    return [row for row in rows if row.load_class == ALL]


def label(row: ElectricalRow) -> tuple[str, ...]:
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
    fault = f", {row.short_circuit_ka:,.4g} kA" if row.short_circuit_ka else ""
    first = f"{row.tag}: {row.count:,} x {rating}{volts}{fault}"
    load = f", {row.load_frac * 100:.0f} % load" if row.load_frac is not None else ""
    rule = row.redundancy or "n"
    return first, f"{row.equipment}, {rule.upper() if rule in RULES else rule}{load}"


def text(x: float, y: float, words: str, style: str) -> str:
    """Return text at a place."""
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, style: str = "") -> str:
    """Return a line between two places."""
    return f'<line class="{style}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def breaker(x: float, y: float) -> list[str]:
    """Return the symbol of a breaker."""
    return [f'<rect class="q" x="{x - 4:g}" y="{y - 4:g}" width="8" height="8"/>']
