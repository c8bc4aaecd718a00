"""Tables and headline of one network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcplan.answers.fabric.bom import Line
from dcplan.answers.fabric.built import Built
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.result import Cell, Table


def headline(built: Built) -> str:
    """Switches, links, money and power in one line."""
    asked, network = built.asked, built.network
    c, plan = network.counts, network.plan
    kind = asked.topology
    if network.taper is None:
        kind += f", {plan.tiers} tier{'s' if plan.tiers > 1 else ''}"
    kind += f", {asked.ports.planes} planes" if asked.ports.planes > 1 else ""
    t = built.totals
    money = f"; USD {t.price.value / 1e6:,.2f} M, {t.kw:,.0f} kW" if t else ""
    return (
        f"{asked.attached.nodes:,} nodes x {asked.attached.nics_per_node} at {asked.link_gbps * asked.ports.planes:g} "
        f"Gb/s ({kind}): {c.switches:,} switches ({c.leaf:,} leaf, {c.spine:,} spine, {c.core:,} core), "
        f"{c.node_leaf_links + c.leaf_spine_links + c.spine_core_links:,} links{money}"
    )


def tables_of(built: Built) -> dict[str, Table]:
    """Switches, bill of materials and lengths."""
    tables = {"tiers": _tiers(built)}
    if built.bill:
        tables["bill"] = _lines(built.bill)
        tables["beside"] = _lines(built.extras)
    rows: list[tuple[Cell, ...]] = []
    for tier, found in built.lengths.items():
        media = {c.stock_m: c.medium.id for c in built.chosen.tiers.get(tier, [])}
        for i in np.flatnonzero(found.counts).tolist():
            metres = float(STOCK_M[i]) if i < STOCK_M.size else found.longest_m
            rows.append((tier, metres, int(found.counts[i]), media.get(metres)))
    tables["lengths"] = Table(("tier", "stock_m", "links", "medium"), tuple(rows))
    return tables


def _lines(lines: Sequence[Line]) -> Table:
    columns = (
        "item",
        "part",
        "count",
        "power_kw",
        "usd",
        "low_usd",
        "high_usd",
        "weight_kg",
        "price",
    )
    rows = [
        (x.item, x.part, x.count, x.kw, x.price.value, x.price.low, x.price.high, x.kg, x.status)
        for x in lines
        if x.count
    ]
    return Table(columns, tuple(rows))


def _tiers(built: Built) -> Table:
    asked, c, plan = built.asked, built.network.counts, built.network.plan
    names = [m.id if m else f"{asked.ports.radix} ports" for m in asked.models]
    down = plan.radix if plan.tiers == 1 and not plan.leaf_up else plan.leaf_down
    tiers: list[tuple[Cell, ...]] = [
        ("leaf", names[0], c.leaf, down, plan.leaf_up, c.node_leaf_links)
    ]
    if c.spine:
        up = plan.spine_up if plan.tiers == 3 else 0
        tiers.append(("spine", names[1], c.spine, plan.spine_ports - up, up, c.leaf_spine_links))
    if c.core:
        tiers.append(("core", names[2], c.core, plan.core_ports, 0, c.spine_core_links))
    return Table(
        ("tier", "switch", "switches", "ports_down", "ports_up", "links_below"), tuple(tiers)
    )
