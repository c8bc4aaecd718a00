"""Calc_Power: racks to hall to site to all, every row from facts, decisions and rows before it."""

from __future__ import annotations

import numpy as np

from dcplan.report.book.calc import Calc
from dcplan.report.book.grid import NOWHERE, Array, Key, Row, summed, total
from dcplan.report.book.source import coolings, halls, of_site, placements, sites
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW

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
    "standing_kw",
    "storage_blocks",
    "storage_kw",
)
COOLED = ("it_mw", "pue", "peak_pue", "wue_l_per_kwh")


def power_sheet(c: Calc) -> None:
    """Facts, then racks to hall to site to all: power, energy, water, carbon."""
    sheet, source = c.power, c.source
    sheet.heading("Facts")
    c.facts["hours", NOWHERE] = sheet.fact(
        "hours of a quarter", NOWHERE, "h", HOURS_PER_QUARTER, None
    )
    for key in placements(source):
        c.write_facts(sheet, key, PLACED)
    for hall in halls(source):
        for key in coolings(source, hall):
            c.write_facts(sheet, key, COOLED)
        c.write_facts(sheet, (hall, "", ""), ("storage_blocks", "storage_kw"))
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
        c.limit("utility MW", site, c.rows["site facility", (site, "", "")], sheet)


def _rack_rows(c: Calc, key: Key) -> None:
    racks, training, serving = (
        c.decision(what, key) for what in ("racks", "training accelerators", "serving accelerators")
    )
    rated, peak, standing = (c.fact(x, key) for x in ("rated_kw", "peak_kw", "standing_kw"))
    train, research, each = (c.fact(x, key) for x in ("training_kw", "research_kw", "accelerators"))
    hours = c.fact("hours", NOWHERE)
    c.keep(
        "rated",
        key,
        c.power.line(
            "rated power",
            key,
            "kW",
            racks.values * rated.value,
            lambda t: f"{racks.at(t)} * {rated.cell()}",
            total=False,
        ),
    )
    c.keep(
        "peak",
        key,
        c.power.line(
            "electrical peak",
            key,
            "kW",
            racks.values * peak.value,
            lambda t: f"{racks.at(t)} * {peak.cell()}",
            total=False,
        ),
    )
    c.keep(
        "rack storage",
        key,
        c.power.line(
            "storage power",
            key,
            "kW",
            racks.values * c.fact("storage_kw", key).value,
            lambda t: f"{racks.at(t)} * {c.fact('storage_kw', key).cell()}",
            total=False,
        ),
    )
    average = (
        racks.values * standing.value
        + (train.value - standing.value) * training.values / each.value
        + (research.value - standing.value) * serving.values / each.value
    )

    def energy(t: int) -> str:
        more = f"({train.cell()} - {standing.cell()}) * {training.at(t)}"
        busy = f"({research.cell()} - {standing.cell()}) * {serving.at(t)}"
        kw = f"{racks.at(t)} * {standing.cell()} + ({more} + {busy}) / {each.cell()}"
        return f"({kw}) * {hours.cell()} / 1000"

    c.keep(
        "it", key, c.power.line("IT energy", key, "MWh", average * hours.value / KW_PER_MW, energy)
    )


def _weighted(c: Calc, hall: str, name: str) -> Row:
    """Coefficient of what is not in the racks: that of the racks around it, else of the fitted
    units.
    """
    keys = [k for k in placements(c.source) if k[0] == hall]
    racks = [
        (c.rows["rated", k], c.fact(name, (hall, k[1], "")))
        for k in keys
        if (name, (hall, k[1], "")) in c.facts
    ]
    units = [(c.decision("units", k), c.fact(name, k)) for k in coolings(c.source, hall)]
    length = c.source.length
    kw = total([r for r, _ in racks], length)
    n = total([u for u, _ in units], length)
    by_racks = sum((r.values * f.value for r, f in racks), np.zeros(length))
    by_units = sum((u.values * f.value for u, f in units), np.zeros(length))
    values = np.where(
        kw > 0, by_racks / np.where(kw > 0, kw, 1.0), by_units / np.where(n > 0, n, 1.0)
    )

    def formula(t: int) -> str:
        weights, pieces = (
            summed([r for r, _ in racks])(t),
            " + ".join(f"{r.at(t)} * {f.cell()}" for r, f in racks),
        )
        there, fitted = (
            summed([u for u, _ in units])(t),
            " + ".join(f"{u.at(t)} * {f.cell()}" for u, f in units),
        )
        otherwise = f"IF({there} > 0, ({fitted or 0}) / ({there}), 0)"
        return f"IF({weights} > 0, ({pieces or 0}) / ({weights}), {otherwise})"

    return c.power.line(
        f"{name} of storage and switches",
        (hall, "", ""),
        "",
        np.asarray(values),
        formula,
        total=False,
    )


def _hall_rows(c: Calc, hall: str) -> None:
    c.power.heading(hall)
    key = (hall, "", "")
    length, hours = c.source.length, c.fact("hours", NOWHERE)
    racks = [k for k in placements(c.source) if k[0] == hall]
    rated, peak, it = ([c.rows[name, k] for k in racks] for name in ("rated", "peak", "it"))
    units = [c.decision("units", k) for k in coolings(c.source, hall)]
    own, stores = c.fact("storage_kw", key), [c.rows["rack storage", k] for k in racks]
    fitted = total(units, length)
    network = c.rows["network kW", key]
    extra = c.keep(
        "extra",
        key,
        c.power.line(
            "storage and switches",
            key,
            "kW",
            network.values + np.where(fitted > 0, own.value + total(stores, length), 0.0),
            lambda t: (
                f"{network.at(t)} + IF({summed(units)(t)} > 0, {own.cell()} + {summed(stores)(t)}, 0)"
            ),
            total=False,
        ),
    )
    pue, peak_pue, wue = (_weighted(c, hall, name) for name in ("pue", "peak_pue", "wue_l_per_kwh"))
    there = np.where(total(rated, length) + fitted > 0, 1.0, 0.0)
    beside = extra.values * hours.value / KW_PER_MW
    c.keep(
        "hall rated",
        key,
        c.power.line(
            "rated IT power",
            key,
            "kW",
            total(rated, length) + extra.values,
            lambda t: f"{summed(rated)(t)} + {extra.at(t)}",
            total=False,
        ),
    )
    beside_racks = [c.fact("overhead_kw", k) for k in racks]
    c.keep(
        "hall power",
        key,
        c.power.line(
            "power in the hall, with pumps and fans beside the racks",
            key,
            "kW",
            total(rated, length)
            + extra.values
            + np.sum(
                [
                    c.decision("racks", k).values * f.value
                    for k, f in zip(racks, beside_racks, strict=True)
                ],
                axis=0,
            ),
            lambda t: (
                f"{summed(rated)(t)} + {extra.at(t)} + "
                + (
                    " + ".join(
                        f"{c.decision('racks', k).at(t)} * {f.cell()}"
                        for k, f in zip(racks, beside_racks, strict=True)
                    )
                    or "0"
                )
            ),
            total=False,
        ),
    )
    c.keep(
        "hall peak",
        key,
        c.power.line(
            "electrical peak",
            key,
            "kW",
            total(peak, length) + extra.values,
            lambda t: f"{summed(peak)(t)} + {extra.at(t)}",
            total=False,
        ),
    )
    cool = {k: (hall, k[1], "") for k in racks}

    def each(rows: list[Row], name: str) -> Array:
        parts = [r.values * c.fact(name, cool[k]).value for r, k in zip(rows, racks, strict=True)]
        return np.sum(parts, axis=0) if parts else np.zeros(length)

    def texts(rows: list[Row], name: str, t: int) -> str:
        pairs = zip(rows, racks, strict=True)
        return " + ".join(f"{r.at(t)} * {c.fact(name, cool[k]).cell()}" for r, k in pairs) or "0"

    c.keep(
        "facility",
        key,
        c.power.line(
            "facility power on the design day",
            key,
            "MW",
            each(rated, "peak_pue") / KW_PER_MW + extra.values * peak_pue.values / KW_PER_MW,
            lambda t: f"({texts(rated, 'peak_pue', t)} + {extra.at(t)} * {peak_pue.at(t)}) / 1000",
            total=False,
        ),
    )
    c.keep(
        "hall it",
        key,
        c.power.line(
            "IT energy",
            key,
            "MWh",
            total(it, length) + beside * there,
            lambda t: (
                f"{summed(it)(t)} + {extra.at(t)} * {hours.cell()} / 1000 * "
                f"IF({summed(rated)(t)} + {summed(units)(t)} > 0, 1, 0)"
            ),
        ),
    )
    c.keep(
        "hall mwh",
        key,
        c.power.line(
            "facility energy",
            key,
            "MWh",
            each(it, "pue") + beside * pue.values,
            lambda t: (
                f"{texts(it, 'pue', t)} + {extra.at(t)} * {hours.cell()} / 1000 * {pue.at(t)}"
            ),
        ),
    )
    c.keep(
        "water",
        key,
        c.power.line(
            "water",
            key,
            "L",
            (each(it, "wue_l_per_kwh") + beside * wue.values) * KW_PER_MW,
            lambda t: (
                f"({texts(it, 'wue_l_per_kwh', t)} + {extra.at(t)} * {hours.cell()} / 1000 * {wue.at(t)}) * 1000"
            ),
        ),
    )


def _site_rows(c: Calc, site: str) -> None:
    c.power.heading(site)
    key, length = (site, "", ""), c.source.length
    own = [(hall, "", "") for hall in of_site(c.source, site)]
    for name, label, unit, whole in (
        ("facility", "facility power on the design day", "MW", False),
        ("hall mwh", "facility energy", "MWh", True),
    ):
        rows = [c.rows[name, k] for k in own]
        c.keep(
            f"site {name}",
            key,
            c.power.line(label, key, unit, total(rows, length), summed(rows), total=whole),
        )
    mwh, made, grid = (
        c.rows["site hall mwh", key],
        c.decision("MWh made", key),
        c.fact("grid_g_per_kwh", key),
    )
    c.keep(
        "carbon",
        key,
        c.power.line(
            "carbon of the grid",
            key,
            "t",
            (mwh.values - made.values) * grid.value / 1000.0,
            lambda t: f"({mwh.at(t)} - {made.at(t)}) * {grid.cell()} / 1000",
        ),
    )


def _all_rows(c: Calc) -> None:
    c.power.heading("All sites")
    source, length = c.source, c.source.length
    every = [(hall, "", "") for hall in halls(source)]
    for name, label, unit, whole in (
        ("hall rated", "rated IT power", "kW", False),
        ("hall peak", "electrical peak", "kW", False),
        ("facility", "facility power on the design day", "MW", False),
        ("hall it", "IT energy", "MWh", True),
        ("hall mwh", "facility energy", "MWh", True),
        ("water", "water", "L", True),
    ):
        rows = [c.rows[name, k] for k in every]
        c.keep(
            f"all {name}",
            NOWHERE,
            c.power.line(label, NOWHERE, unit, total(rows, length), summed(rows), total=whole),
        )
    rows = [c.rows["carbon", (site, "", "")] for site in sites(source)]
    c.keep(
        "all carbon",
        NOWHERE,
        c.power.line("carbon of the grid", NOWHERE, "t", total(rows, length), summed(rows)),
    )
