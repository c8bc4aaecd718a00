"""Calc_Power: racks, halls, sites, total; every row uses facts, decisions and earlier rows."""

from __future__ import annotations

from dcplan.report.book.calc import Calc
from dcplan.report.book.data.amounts import LINK_KW, PUMP_MW, STOPPED
from dcplan.report.book.data.term import Operand, Term, added, number, when
from dcplan.report.book.grid import NOWHERE, Key, Row, total
from dcplan.report.book.source import coolings, halls, of_site, placements, sites
from dcplan.units import HOURS_PER_QUARTER, KG_PER_TONNE, KW_PER_MW

STORED = ("storage_blocks", "cold_storage_blocks", "storage_kw")
PLACED = (
    "nodes",
    "accelerators",
    "slots",
    "rated_kw",
    "overhead_kw",
    "peak_kw",
    "idle_kw",
    "training_kw",
    "research_kw",
    "busy_frac",
    "idle_average_kw",
    *STORED,
)
RATES = ("pue", "peak_pue", "wue_l_per_kwh")
WARMEST = "pue_warmest_frac"
"""PUE of the warmest season over that of the year, where it sets the PUE of the design day."""
SEASONS = (("pue", "PUE of the season", ""), ("wue_l_per_kwh", "WUE of the season", "L/kWh"))
"""Coefficients with seasons, each with the text and unit of its row."""


def power_sheet(c: Calc) -> None:
    """Write facts, then power, energy, water and carbon by rack, hall, site and in total."""
    sheet, source = c.power, c.source
    sheet.heading("Facts")
    c.facts["hours", NOWHERE] = sheet.fact("hours of a quarter", NOWHERE, "h", HOURS_PER_QUARTER)
    for key in placements(source):
        c.write_facts(sheet, key, (*PLACED, WARMEST, *RATES))
        _write_season(c, key)
    for hall in halls(source):
        for key in coolings(source, hall):
            c.write_facts(sheet, key, ("it_mw", WARMEST, *RATES))
            _write_season(c, key)
        c.write_facts(sheet, (hall, "", ""), STORED)
    for site in sites(source):
        c.write_facts(sheet, (site, "", ""), ("grid_g_per_kwh",))
        c.write_series(sheet, (site, "", ""), ("utility_mw",))
    sheet.heading("Racks")
    for key in placements(source):
        _rack_rows(c, key)
    for hall in halls(source):
        _hall_rows(c, hall)
    for site in sites(source):
        _site_rows(c, site)
    _all_rows(c)
    sheet.heading("Limits")
    for hall in halls(source):
        c.limit("hall IT MW", hall, c.rows["hall power", (hall, "", "")], sheet, KW_PER_MW)
    for site in sites(source):
        c.limit("utility MW", site, c.rows["site load", (site, "", "")], sheet)


def _write_season(c: Calc, key: Key) -> None:
    """Write PUE and WUE of the season, which replace those of the year in later formulas."""
    for name, label, unit in SEASONS:
        share = f"{name.partition('_')[0]}_season_frac"
        c.write_series(c.power, key, (share,))
        if (share, key) in c.facts:
            term = c.facts[name, key] * c.facts[share, key]
            c.facts[name, key] = c.power.line(label, key, unit, term, total=False)


def _write(
    c: Calc, name: str, key: Key, label: str, unit: str, term: Operand, *, whole: bool = False
) -> Row:
    """Write a row that other rows refer to by its name and key."""
    return c.keep(name, c.power.line(label, key, unit, term, total=whole))


def _rack_rows(c: Calc, key: Key) -> None:
    racks = _powered(c, key)
    training, serving = (
        c.decision(what, key) for what in ("training accelerators", "serving accelerators")
    )
    idle, train, research = (
        c.fact(f"{state}_kw", key) for state in ("idle_average", "training", "research")
    )
    _write(c, "rated", key, "rated power", "kW", racks * c.fact("rated_kw", key))
    _write(c, "peak", key, "electrical peak", "kW", racks * c.fact("peak_kw", key))
    _write(
        c,
        "rack storage",
        key,
        "storage power",
        "kW",
        c.decision("racks", key) * c.fact("storage_kw", key),
    )
    busy = (train - idle) * training + (research - idle) * serving
    kw = racks * idle + busy / c.fact("accelerators", key)
    _write(c, "it", key, "IT energy", "MWh", kw * c.fact("hours") / KW_PER_MW, whole=True)


def _powered(c: Calc, key: Key) -> Operand:
    """Return the racks that are on: those of the plan less those out of service during works."""
    racks = c.decision("racks", key)
    return racks - c.decision(STOPPED, key) if key in c.source.keys(STOPPED) else racks


def _weighted(c: Calc, hall: str, name: str) -> Row:
    """Write the coefficient of storage and switches.

    It is the average over the racks of the hall, or over the fitted units without racks.
    """
    racks = [
        (c.rows["rated", k], c.fact(name, (hall, k[1], "")))
        for k in _racks(c, hall)
        if (name, (hall, k[1], "")) in c.facts
    ]
    units = [(c.decision("units", k), c.fact(name, k)) for k in coolings(c.source, hall)]

    def average(pairs: list[tuple[Row, Row]], otherwise: Term) -> Term:
        weight = total(row for row, _ in pairs)
        return when(weight > 0, added(row * each for row, each in pairs) / weight, otherwise)

    term = average(racks, average(units, number(0)))
    return c.power.line(f"{name} of storage and switches", (hall, "", ""), "", term, total=False)


def _racks(c: Calc, hall: str) -> list[Key]:
    return [key for key in placements(c.source) if key[0] == hall]


def _hall_rows(c: Calc, hall: str) -> None:
    c.power.heading(hall)
    key, racks = (hall, "", ""), _racks(c, hall)
    rated, peak, it, stores = (
        [c.rows[name, k] for k in racks] for name in ("rated", "peak", "it", "rack storage")
    )
    fitted = total(c.decision("units", k) for k in coolings(c.source, hall))
    storage = when(fitted > 0, c.fact("storage_kw", key) + total(stores), 0)
    kw = c.rows["network kW", key] + storage
    if key in c.source.keys(LINK_KW):
        kw += c.decision(LINK_KW, key)
    extra = _write(c, "extra", key, "storage and switches", "kW", kw)
    pue, peak_pue, wue = (_weighted(c, hall, name) for name in RATES)
    rated_kw = total(rated) + extra
    _write(c, "hall rated", key, "rated IT power", "kW", rated_kw)
    overhead = added(_powered(c, k) * c.fact("overhead_kw", k) for k in racks)
    label = "power in the hall, including pumps and fans"
    _write(c, "hall power", key, label, "kW", rated_kw + overhead)
    _write(c, "hall peak", key, "electrical peak", "kW", total(peak) + extra)

    def cooled(rows: list[Row], name: str) -> Term:
        """Sum rows, each times a coefficient of its system and cooling."""
        pairs = zip(rows, racks, strict=True)
        return added(row * c.cooled(name, k) for row, k in pairs)

    mw = (cooled(rated, "peak_pue") + extra * peak_pue) / KW_PER_MW
    _write(c, "facility", key, "facility power on the design day", "MW", mw)
    mwh = extra * c.fact("hours") / KW_PER_MW
    there = when(total(rated) + fitted > 0, 1, 0)
    _write(c, "hall it", key, "IT energy", "MWh", total(it) + mwh * there, whole=True)
    facility = cooled(it, "pue") + mwh * pue
    _write(c, "hall mwh", key, "facility energy", "MWh", facility, whole=True)
    liters = (cooled(it, "wue_l_per_kwh") + mwh * wue) * KW_PER_MW
    _write(c, "water", key, "water", "L", liters, whole=True)


def _site_rows(c: Calc, site: str) -> None:
    c.power.heading(site)
    key, own = (site, "", ""), of_site(c.source, site)
    for name, label, unit, whole in (
        ("facility", "facility power on the design day", "MW", False),
        ("hall mwh", "facility energy", "MWh", True),
    ):
        term = total(c.rows[name, (hall, "", "")] for hall in own)
        _write(c, f"site {name}", key, label, unit, term, whole=whole)
    if key in c.source.keys(PUMP_MW):
        load = c.rows["site facility", key] + c.decision(PUMP_MW, key)
        _write(c, "site load", key, "facility power with the heat pump", "MW", load)
    else:
        c.rows["site load", key] = c.rows["site facility", key]
    bought = c.rows["site hall mwh", key] - c.decision("MWh made", key)
    tonnes = bought * c.fact("grid_g_per_kwh", key) / KG_PER_TONNE
    _write(c, "carbon", key, "carbon of grid energy", "t", tonnes, whole=True)


def _all_rows(c: Calc) -> None:
    c.power.heading("All sites")
    for name, label, unit, whole in (
        ("hall rated", "rated IT power", "kW", False),
        ("hall peak", "electrical peak", "kW", False),
        ("facility", "facility power on the design day", "MW", False),
        ("hall it", "IT energy", "MWh", True),
        ("hall mwh", "facility energy", "MWh", True),
        ("water", "water", "L", True),
    ):
        term = total(c.rows[name, (hall, "", "")] for hall in halls(c.source))
        _write(c, f"all {name}", NOWHERE, label, unit, term, whole=whole)
    term = total(c.rows["carbon", (site, "", "")] for site in sites(c.source))
    _write(c, "all carbon", NOWHERE, "carbon of grid energy", "t", term, whole=True)
