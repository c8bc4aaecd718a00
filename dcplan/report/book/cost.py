"""Calc_Cost: every payment by line and site, undiscounted, and what is left at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcplan.economics.cash_flow import AssetClass, FlowGroup
from dcplan.report.book.calc import Calc
from dcplan.report.book.grid import NOWHERE, Array, Row, summed, total
from dcplan.report.book.source import RESIDUAL_AT_END, coolings, halls, of_site, placements, sites
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER

TINY = 1e-9
"""Part of a payment that formulas may miss by rounding."""
KEPT = {
    AssetClass.RACKS: "hardware",
    AssetClass.NETWORK: "hardware",
    AssetClass.STORAGE: "hardware",
    AssetClass.BUILDING: "building",
    AssetClass.COOLING: "cooling",
    AssetClass.POWER: "power",
}
"""Asset class of a capital line -> the share of its price that is left."""
AS_PLANNED = " (as planned)"
Line = tuple[str, str, str]
"""Group, line, site."""


def cost_sheet(c: Calc) -> None:
    """Facts, then lines by site; what no formula covers stands as it was planned."""
    sheet, source = c.cost, c.source
    sheet.heading("Facts")
    c.facts["months", NOWHERE] = sheet.fact(
        "months of a quarter", NOWHERE, "", MONTHS_PER_QUARTER, None
    )
    for key in placements(source):
        c.write_facts(sheet, key, ("price_usd", "maintenance_usd", "storage_usd"))
    for hall in halls(source):
        c.write_facts(sheet, (hall, "", ""), ("storage_usd",))
        for key in coolings(source, hall):
            c.write_facts(sheet, key, ("fit_out_usd", "building_usd"))
    for site in sites(source):
        key = (site, "", "")
        c.write_facts(
            sheet,
            key,
            (
                "block_mw",
                "block_usd",
                "staff_usd",
                "opex_usd_per_kw",
                "demand_usd_per_kw_month",
                "minimum_take_frac",
            ),
        )
        c.write_series(sheet, key, ("usd_per_kwh", "lease_usd_per_kw_month"))
    lines: dict[Line, Row] = {}
    for site in sites(source):
        sheet.heading(site)
        _capital(c, site, lines)
        _running(c, site, lines)
    _cloud(c, lines)
    _others(c, lines)
    _residual(c, lines)


def _add(
    c: Calc, lines: dict[Line, Row], line: Line, values: Array, formula: Callable[[int], str]
) -> None:
    """A line that the plan pays; one that is nothing is left out."""
    if np.any(values) or line in c.source.flows:
        group, name, site = line
        lines[line] = c.cost.line(name, (site, "", group), "USD", values, formula)


def _products(pairs: list[tuple[Row, Row]], length: int) -> tuple[Array, Callable[[int], str]]:
    """Sum of rows times single values."""
    values = np.sum([r.values * f.value for r, f in pairs], axis=0) if pairs else np.zeros(length)
    return values, lambda t: " + ".join(f"{r.at(t)} * {f.cell()}" for r, f in pairs) or "0"


def _capital(c: Calc, site: str, lines: dict[Line, Row]) -> None:
    source, length = c.source, c.source.length
    own = of_site(source, site)
    placed = [k for k in placements(source) if k[0] in own]
    for system in dict.fromkeys(k[2] for k in placed):
        rows = [
            (
                c.decision("racks bought", k),
                c.fact("price_usd", k),
                c.decision("price over list", k),
            )
            for k in placed
            if k[2] == system
        ]
        values = np.sum([r.values * f.value * over.values for r, f, over in rows], axis=0)
        _add(c, lines, (FlowGroup.CAPEX, f"racks {system}", site), values, _triples(rows))
    stores = [(c.decision("racks bought", k), c.fact("storage_usd", k)) for k in placed]
    given = [c.fact("storage_usd", (hall, "", "")) for hall in own]
    values, text = _products(stores, length)
    now = c.decision("storage given", (site, "", ""))
    first = now.values * sum(f.value for f in given)
    _add(
        c,
        lines,
        (FlowGroup.CAPEX, "storage", site),
        values + first,
        lambda t: f"{text(t)} + {now.at(t)} * ({' + '.join(f.cell() for f in given) or 0})",
    )
    bills = [c.rows["network usd", (hall, "", "")] for hall in own]
    _add(c, lines, (FlowGroup.CAPEX, "network", site), total(bills, length), summed(bills))
    for line, name in (("cooling and fit-out", "fit_out_usd"), ("building", "building_usd")):
        pairs = [
            (c.decision("units new", k), c.fact(name, k))
            for hall in own
            for k in coolings(source, hall)
        ]
        _add(c, lines, (FlowGroup.CAPEX, line, site), *_products(pairs, length))
    key = (site, "", "")
    _add(
        c,
        lines,
        (FlowGroup.CAPEX, "power blocks", site),
        *_products([(c.decision("blocks new", key), c.fact("block_usd", key))], length),
    )


def _triples(rows: list[tuple[Row, Row, Row]]) -> Callable[[int], str]:
    return lambda t: " + ".join(f"{r.at(t)} * {f.cell()} * {over.at(t)}" for r, f, over in rows)


def _running(c: Calc, site: str, lines: dict[Line, Row]) -> None:
    source, length, key = c.source, c.source.length, (site, "", "")
    own = of_site(source, site)
    placed = [k for k in placements(source) if k[0] in own]
    mwh, made, price = (
        c.rows["site hall mwh", key],
        c.decision("MWh made", key),
        c.fact("usd_per_kwh", key),
    )
    _add(
        c,
        lines,
        (FlowGroup.ENERGY, "energy", site),
        (mwh.values - made.values) * KW_PER_MW * price.values,
        lambda t: f"({mwh.at(t)} - {made.at(t)}) * 1000 * {price.at(t)}",
    )
    units = [c.decision("units", k) for hall in own for k in coolings(source, hall)]
    used = np.asarray(total(units, length) > 0, dtype=np.float64)
    if c.fact("demand_usd_per_kw_month", key).value:
        _demand(c, site, lines, units)
    staff = c.fact("staff_usd", key)
    _add(
        c,
        lines,
        (FlowGroup.OPEX, "staff", site),
        used * staff.value,
        lambda t: f"IF({summed(units)(t)} > 0, {staff.cell()}, 0)",
    )
    racks = [(c.decision("racks", k), c.fact("maintenance_usd", k)) for k in placed]
    _add(c, lines, (FlowGroup.OPEX, "hardware maintenance", site), *_products(racks, length))
    each = c.fact("opex_usd_per_kw", key)
    _add(
        c,
        lines,
        (FlowGroup.OPEX, "facility", site),
        *_products([(c.rows["rated", k], each) for k in placed], length),
    )
    if np.any(c.fact("lease_usd_per_kw_month", key).values):
        _lease(c, site, lines)


def _demand(c: Calc, site: str, lines: dict[Line, Row], units: list[Row]) -> None:
    """Demand charge on the peak, at least on the take that is paid for."""
    key = (site, "", "")
    peak, made = c.rows["site facility", key], c.decision("MW made", key)
    take, utility = c.fact("minimum_take_frac", key), c.fact("utility_mw", key)
    each, months = c.fact("demand_usd_per_kw_month", key), c.fact("months", NOWHERE)
    used = total(units, c.source.length) > 0
    billed = np.maximum(peak.values - made.values, np.where(used, take.value * utility.values, 0.0))

    def formula(t: int) -> str:
        least = f"IF({summed(units)(t)} > 0, {take.cell()} * {utility.at(t)}, 0)"
        return f"MAX({peak.at(t)} - {made.at(t)}, {least}) * 1000 * {each.cell()} * {months.cell()}"

    _add(
        c,
        lines,
        (FlowGroup.ENERGY, "demand charge", site),
        billed * KW_PER_MW * each.value * MONTHS_PER_QUARTER,
        formula,
    )


def _lease(c: Calc, site: str, lines: dict[Line, Row]) -> None:
    rent, months = c.fact("lease_usd_per_kw_month", (site, "", "")), c.fact("months", NOWHERE)
    keys = [k for hall in of_site(c.source, site) for k in coolings(c.source, hall)]
    mw, text = _products(
        [(c.decision("units", k), c.fact("it_mw", k)) for k in keys], c.source.length
    )
    _add(
        c,
        lines,
        (FlowGroup.OPEX, "lease", site),
        mw * KW_PER_MW * rent.values * MONTHS_PER_QUARTER,
        lambda t: f"({text(t)}) * 1000 * {rent.at(t)} * {months.cell()}",
    )


def _cloud(c: Calc, lines: dict[Line, Row]) -> None:
    """Rent: hours of each line at its offer's price."""
    keys = c.source.keys("rented hours")
    if keys:
        c.cost.heading("Rented")
    for key in keys:
        offer, term, text = key
        group, _, line = text.partition(" ")
        price = (offer, term, "")
        if ("usd_per_h", price) not in c.facts:
            c.write_facts(c.cost, price, ("node", "usd_per_h"))
        _add(
            c,
            lines,
            (group, line, ""),
            *_products(
                [(c.decision("rented hours", key), c.fact("usd_per_h", price))], c.source.length
            ),
        )


def _others(c: Calc, lines: dict[Line, Row]) -> None:
    """Payments that no formula gives: what is held or made on site, sales, the worth of unserved
    demand.
    """
    found = []
    for line, values in c.source.flows.items():
        group, name, site = line
        known = lines[line].values if line in lines else np.zeros(c.source.length)
        rest = (
            values - known
            if c.source.rest is None
            else c.source.rest.get(line, np.zeros(c.source.length))
        )
        if group == RESIDUAL_AT_END or np.all(
            np.abs(rest) <= TINY * np.maximum(np.abs(values), 1.0)
        ):
            continue
        found.append((line, rest))
        c.rest[line] = rest
    if found:
        c.cost.heading("As planned: no formula of this workbook gives these")
    for (group, name, site), rest in found:
        lines[group, f"{name}{AS_PLANNED}", site] = c.cost.frozen(
            name, (site, "", group), "USD", rest, "derived", total=True
        )
    for key, row in lines.items():
        c.rows["|".join(key), NOWHERE] = row


def _residual(c: Calc, lines: dict[Line, Row]) -> None:
    """Value left at the end of the horizon, line by line: money in."""
    c.cost.heading("Left at the end of the horizon (money in)")
    shares = {
        kind: c.decision("share left", (kind, "", "")) for kind in dict.fromkeys(KEPT.values())
    }
    done: dict[tuple[str, str], float] = {}
    for (group, name, site), row in lines.items():
        base = name.removesuffix(AS_PLANNED)
        kind = KEPT.get(c.source.assets.get((group, base, site), AssetClass.OTHER))
        if group != FlowGroup.CAPEX or kind is None:
            continue
        share = shares[kind]
        value = -float(row.values @ share.values)
        done[base, site] = done.get((base, site), 0.0) + value
        c.rows[f"left|{name}|{site}", NOWHERE] = c.cost.fact(
            f"residual {name}",
            (site, "", "residual"),
            "USD",
            value,
            f"-SUMPRODUCT({row.span()}, {share.span()})",
        )
    for (group, name, site), values in c.source.flows.items():
        if group != RESIDUAL_AT_END:
            continue
        line, whole = (group, name, site), float(values.sum())
        if c.source.rest is None:
            rest = whole - done.get((name, site), 0.0)
        else:
            rest = float(c.source.rest[line].sum()) if line in c.source.rest else 0.0
        if abs(rest) > TINY * max(abs(whole), 1.0):
            c.rest[line] = np.array([rest])
            c.rows[f"left|{name}{AS_PLANNED}|{site}", NOWHERE] = c.cost.fact(
                f"residual {name}", (site, "", "residual"), "USD", rest, None
            )


def group_rows(c: Calc, group: str) -> list[Row]:
    """Lines of a group."""
    return [
        row
        for (name, key), row in c.rows.items()
        if key == NOWHERE and name.startswith(f"{group}|")
    ]
