"""Calc_Cost: every payment by line and site, undiscounted, and residual value."""

from __future__ import annotations

import numpy as np

from dcplan.economics.cash_flow import AssetClass, FlowGroup
from dcplan.planning.audit.books.land import LAND
from dcplan.planning.audit.left import BUILDING, FIT_OUT
from dcplan.report.book.calc import Calc
from dcplan.report.book.data.amounts import AT_END, LAND_NEW, LOT_USD, SOLD
from dcplan.report.book.data.term import Term, added, dot, largest, when
from dcplan.report.book.financing.leases import lease_payments, paid_racks
from dcplan.report.book.grid import NOWHERE, Key, Row, total
from dcplan.report.book.source import (
    RESIDUAL_AT_END,
    Line,
    coolings,
    halls,
    of_site,
    placements,
    sites,
)
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER

TINY = 1e-9
"""Relative tolerance of formulas for rounding errors."""
KEPT = {
    AssetClass.RACKS: "hardware",
    AssetClass.NETWORK: "hardware",
    AssetClass.STORAGE: "hardware",
    AssetClass.BUILDING: "building",
    AssetClass.COOLING: "cooling",
    AssetClass.POWER: "power",
}
"""Asset class of a capital line -> its share of residual value."""
OF_HALLS = {FIT_OUT: "fit_out_usd", BUILDING: "building_usd"}
"""Cost line of a hall -> the price of one unit."""
AS_PLANNED = " (as planned)"
LOT_LEFT = "lot left"
"""Row of the share left of existing hardware, where it has a formula."""
EXTRA, SUPPORT = "rent extra", "rent supported"
"""Amounts of what accompanies rent: pieces at a price, and the payments that bear support."""
BY_SIZE = ("storage", "network", "cpu-nodes")
"""Costs that accompany the rent of each accelerator in use, and bear support as the hours do."""


def cost_sheet(c: Calc) -> None:
    """Write facts, then lines by site; payments without a formula stay as planned."""
    sheet, source = c.cost, c.source
    sheet.heading("Facts")
    c.facts["months", NOWHERE] = sheet.fact("months of a quarter", NOWHERE, "", MONTHS_PER_QUARTER)
    c.write_series(sheet, NOWHERE, ("price_level",))
    for key in placements(source):
        c.write_facts(sheet, key, ("price_usd", "maintenance_usd", "storage_usd"))
    for hall in halls(source):
        c.write_facts(sheet, (hall, "", ""), ("storage_usd",))
        for key in coolings(source, hall):
            c.write_facts(sheet, key, ("fit_out_usd", "building_usd"))
    single = ("block_mw", "block_usd", "land_price_usd", "staff_usd", "land_tax_usd")
    demand = ("opex_usd_per_kw", "demand_usd_per_kw_month", "minimum_take_frac")
    for site in sites(source):
        c.write_facts(sheet, (site, "", ""), single + demand)
        c.write_series(sheet, (site, "", ""), ("usd_per_kwh", "lease_usd_per_kw_month"))
    for site in sites(source):
        sheet.heading(site)
        _capital(c, site)
        _running(c, site)
        _facility(c, site)
    for line, term in lease_payments(c):
        _pay(c, line, term)
    _cloud(c)
    _sales(c)
    _others(c)
    _residual(c)


def _pay(c: Calc, line: Line, term: Term) -> None:
    """Write a line of payments; omit a line without payments."""
    if np.any(term.number) or line in c.source.flows:
        group, name, site = line
        c.lines[line] = c.cost.line(name, (site, "", group), "USD", term)


def _products(c: Calc, what: str, fact: str, keys: list[Key]) -> Term:
    """Sum amounts, each times a fact of its key."""
    return added(c.decision(what, key) * c.fact(fact, key) for key in keys)


def _placed(c: Calc, site: str) -> list[Key]:
    own = of_site(c.source, site)
    return [key for key in placements(c.source) if key[0] in own]


def _fitted(c: Calc, site: str) -> list[Key]:
    return [key for hall in of_site(c.source, site) for key in coolings(c.source, hall)]


def _capital(c: Calc, site: str) -> None:
    placed, here = _placed(c, site), (site, "", "")
    for system in dict.fromkeys(key[2] for key in placed):
        term = added(
            paid_racks(c, key) * c.fact("price_usd", key) * c.decision("price over list", key)
            for key in placed
            if key[2] == system
        )
        _pay(c, (FlowGroup.CAPEX, f"racks {system}", site), term)
    given = added(c.fact("storage_usd", (hall, "", "")) for hall in of_site(c.source, site))
    stores = _products(c, "racks bought", "storage_usd", placed)
    _pay(c, (FlowGroup.CAPEX, "storage", site), stores + c.decision("storage given", here) * given)
    bills = total(c.rows["network usd", (hall, "", "")] for hall in of_site(c.source, site))
    _pay(c, (FlowGroup.CAPEX, "network", site), bills)
    for line, name in OF_HALLS.items():
        _pay(c, (FlowGroup.CAPEX, line, site), _products(c, "units new", name, _fitted(c, site)))
    blocks = c.decision("blocks new", here) * c.fact("block_usd", here)
    _pay(c, (FlowGroup.CAPEX, "power blocks", site), blocks)
    if "land_price_usd" in c.source.facts[here]:  # an earlier result has none
        plot = c.decision(LAND_NEW, here) * c.fact("land_price_usd", here)
        _pay(c, (FlowGroup.CAPEX, LAND, site), plot)


def _running(c: Calc, site: str) -> None:
    """Write the payments for energy."""
    here = (site, "", "")
    energy = bought_mwh(c, site) * KW_PER_MW * c.fact("usd_per_kwh", here)
    _pay(c, (FlowGroup.ENERGY, "energy", site), energy)
    each = c.fact("demand_usd_per_kw_month", here)
    if each.value:
        used = total(c.decision("units", key) for key in _fitted(c, site)) > 0
        take = c.fact("minimum_take_frac", here) * c.fact("utility_mw", here)
        peak = c.rows["site load", here] - c.decision("MW made", here)
        billed = largest(peak, when(used, take, 0))
        _pay(
            c,
            (FlowGroup.ENERGY, "demand charge", site),
            _risen(c, billed * KW_PER_MW * each * c.fact("months")),
        )


def bought_mwh(c: Calc, site: str) -> Term:
    """Return the energy that the tariff of a site bills: neither from plants on the site nor contracts."""
    here = (site, "", "")
    bought = c.rows["site hall mwh", here] - c.decision("MWh made", here)
    if here in c.source.keys("MWh contracted"):
        bought = bought - c.decision("MWh contracted", here)
    return bought


def _risen(c: Calc, term: Term) -> Term:
    """Return a running cost at the prices of each quarter."""
    level = c.facts.get(("price_level", NOWHERE))
    return term if level is None else term * level


def _facility(c: Calc, site: str) -> None:
    """Write the payments for staff, upkeep and the lease."""
    here, placed, fitted = (site, "", ""), _placed(c, site), _fitted(c, site)
    used = total(c.decision("units", key) for key in fitted) > 0
    _pay(c, (FlowGroup.OPEX, "staff", site), _risen(c, when(used, c.fact("staff_usd", here), 0)))
    if "land_tax_usd" in c.source.facts[here]:  # an earlier result has none
        land = when(used, c.fact("land_tax_usd", here), 0)
        _pay(c, (FlowGroup.OPEX, "property tax on land", site), land)
    upkeep = _products(c, "racks", "maintenance_usd", placed)
    _pay(c, (FlowGroup.OPEX, "hardware maintenance", site), _risen(c, upkeep))
    rated = added(c.rows["rated", key] * c.fact("opex_usd_per_kw", here) for key in placed)
    _pay(c, (FlowGroup.OPEX, "facility", site), _risen(c, rated))
    rent = c.fact("lease_usd_per_kw_month", here)
    if np.any(rent.values):
        mw = _products(c, "units", "it_mw", fitted)
        _pay(c, (FlowGroup.OPEX, "lease", site), mw * KW_PER_MW * rent * c.fact("months"))


def _cloud(c: Calc) -> None:
    """Write rent: hours of each line at its offer's price."""
    keys = c.source.keys("rented hours")
    if keys:
        c.cost.heading("Rent")
    for key in keys:
        offer, term, text = key
        group, _, line = text.partition(" ")
        price = (offer, term, "")
        if ("usd_per_h", price) not in c.facts:
            c.write_facts(c.cost, price, ("node", "usd_per_h"))
        _pay(c, (group, line, ""), c.decision("rented hours", key) * c.fact("usd_per_h", price))
    _beside_rent(c)


def _beside_rent(c: Calc) -> None:
    """Write what accompanies rent: pieces at their price, and support, a share of what bears it."""
    borne: dict[tuple[str, str], list[Row]] = {}
    for offer, _, text in c.source.keys("rented hours"):
        group, _, line = text.partition(" ")
        rows = borne.setdefault((offer, group), [])
        row = c.lines.get((group, line, ""))
        if row is not None and row not in rows:
            rows.append(row)
    for key in c.source.keys(EXTRA):
        offer, extra, text = key
        group, _, line = text.partition(" ")
        if ("usd_each", (offer, extra, "")) not in c.facts:
            c.write_facts(c.cost, (offer, extra, ""), ("usd_each",))
        each = c.fact("usd_each", (offer, extra, ""))
        _pay(c, (group, line, ""), c.decision(EXTRA, key) * each)
        if extra in BY_SIZE:
            borne.setdefault((offer, group), []).append(c.lines[group, line, ""])
    for key in c.source.keys(SUPPORT):
        offer, extra, text = key
        group, _, line = text.partition(" ")
        if ("support_frac", (offer, extra, "")) not in c.facts:
            c.write_facts(c.cost, (offer, extra, ""), ("support_frac",))
        fee = c.fact("support_frac", (offer, extra, ""))
        _pay(c, (group, line, ""), fee * added(row.term() for row in borne[offer, group]))


def _lots(c: Calc, kind: str) -> list[tuple[Key, Row, Row]]:
    """Return the price when new and the share left of existing hardware, where it has a formula."""
    return [
        (key, c.decision(LOT_USD, key), c.rows[LOT_LEFT, key])
        for key in c.source.keys(LOT_USD)
        if key[1] == kind and (LOT_LEFT, key) in c.rows
    ]


def _sales(c: Calc) -> None:
    """Write what sales of existing hardware bring."""
    for (lot, kind, site), price, left in _lots(c, SOLD):
        _pay(c, (FlowGroup.RESIDUAL, f"{kind} {lot}", site), -(price * left))


def _others(c: Calc) -> None:
    """Write the payments without a formula.

    They are the cost of existing hardware and of generation on site, sales, and the value of
    unserved demand.
    """
    nothing = np.zeros(c.source.length)
    for line, values in c.source.flows.items():
        known = c.lines[line].values if line in c.lines else nothing
        rest = values - known if c.source.rest is None else c.source.rest.get(line, nothing)
        if line[0] != RESIDUAL_AT_END and np.any(
            np.abs(rest) > TINY * np.maximum(np.abs(values), 1.0)
        ):
            c.rest[line] = rest
    if c.rest:
        c.cost.heading("As planned: payments without a formula in this workbook")
    for (group, name, site), rest in c.rest.items():
        c.lines[group, f"{name}{AS_PLANNED}", site] = c.cost.frozen(
            name, (site, "", group), "USD", rest, "derived", total=True
        )


def _residual(c: Calc) -> None:
    """Write the residual value at the end of the horizon, line by line: money received."""
    c.cost.heading("Residual value at the end of the horizon (money received)")
    shares = {
        kind: c.decision("share left", (kind, "", "")) for kind in dict.fromkeys(KEPT.values())
    }
    done: dict[tuple[str, str], float] = {}
    for (group, name, site), row in c.lines.items():
        base = name.removesuffix(AS_PLANNED)
        asset = c.source.assets.get((group, base, site), AssetClass.OTHER)
        kind = KEPT.get(asset)
        if group != FlowGroup.CAPEX or (kind is None and asset is not AssetClass.LAND):
            continue
        worth = row if name not in OF_HALLS else _in_use(c, name, site)
        share = shares[kind] if kind else c.decision("share left", (LAND, site, ""))
        term = -dot(worth.span(), share.span())
        done[base, site] = done.get((base, site), 0.0) + term.value
        _left(c, name, base, site, term)
    for (lot, kept, site), price, left in _lots(c, AT_END):
        label = f"{kept} {lot}"
        term = -dot(price.span(), left.span())
        done[label, site] = term.value
        _left(c, label, label, site, term)
    for line, values in c.source.flows.items():
        group, name, site = line
        if group != RESIDUAL_AT_END:
            continue
        whole = float(values.sum())
        if c.source.rest is None:
            rest = whole - done.get((name, site), 0.0)
        else:
            rest = float(c.source.rest[line].sum()) if line in c.source.rest else 0.0
        if abs(rest) > TINY * max(abs(whole), 1.0):
            c.rest[line] = np.array([rest])
            _left(c, name, name, site, rest)


def _in_use(c: Calc, line: str, site: str) -> Row:
    """Write the price of the hall units that racks use at the end, by quarter of the fit-out."""
    paid = _products(c, "units valued", OF_HALLS[line], _fitted(c, site))
    return c.cost.line(f"{line}, in use at the end", (site, "", ""), "USD", paid)


def _left(c: Calc, label: str, line: str, site: str, value: Term | float) -> None:
    """Write the residual value of a line."""
    row = c.cost.fact(f"residual {label}", (site, "", "residual"), "USD", value)
    c.left.append(row)
    c.ends.setdefault((line, site), []).append(row)


def group_rows(c: Calc, group: str) -> list[Row]:
    """Return the lines of a group."""
    return [row for line, row in c.lines.items() if line[0] == group]
