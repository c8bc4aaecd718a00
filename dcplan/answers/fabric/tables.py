"""Tables and headline of one network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dcplan.answers.fabric.bom import Line
from dcplan.answers.fabric.built import Built
from dcplan.answers.fabric.side_networks import Priced
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.result import Table
from dcplan.specs.fabric import network as specs


def headline(built: Built, installed_usd: float = 0.0) -> str:
    """Return switches, links, price and power of the compute network in one line.

    The price of all networks follows if there are more.
    """
    resolved, network = built.resolved, built.network
    c, plan, attached = network.counts, network.plan, resolved.attached
    kind = resolved.topology
    if network.taper is None:
        kind += f", {plan.tiers} tier{'s' if plan.tiers > 1 else ''}"
    kind += f", {resolved.ports.planes} planes" if resolved.ports.planes > 1 else ""
    t = built.totals
    money = (
        f"; compute network price USD {t.price.value / 1e6:,.2f} M, power {t.kw:,.0f} kW"
        if t
        else ""
    )
    if t and installed_usd > t.price.value:
        money += f"; all networks USD {installed_usd / 1e6:,.2f} M"
    links = c.node_leaf_links + c.leaf_spine_links + c.spine_core_links
    tiers = {"leaf": c.leaf, "spine": c.spine, "core": c.core}
    by_tier = ", ".join(f"{n:,} {tier}" for tier, n in tiers.items() if n)
    return (
        f"{attached.nodes:,} nodes with {attached.nics_per_node} NICs of {resolved.nic_gbps:g} "
        f"Gb/s ({kind}): {c.switches:,} switches ({by_tier}), {links:,} links{money}"
    )


def tables_of(built: Built) -> dict[str, Table]:
    """Return switches, bill of materials and cable lengths."""
    tables = {"tiers": specs.TIERS.table(_tiers(built))}
    if built.bill:
        tables["bill_of_materials"] = specs.BILL.table(
            specs.BillRow(**x) for x in _parts(built.bill)
        )
        tables["ancillary"] = specs.ANCILLARY.table(
            specs.AncillaryRow(**x) for x in _parts(built.extras)
        )
    tables["cable_lengths"] = specs.CABLE_LENGTHS.table(_lengths(built))
    return tables


def side_networks(found: Sequence[Priced]) -> Table:
    """Return one row per storage or management network."""
    return specs.SIDE_NETWORKS.table(
        specs.NetworkRow(
            network=p.name,
            switch=p.model,
            leaf_switches=p.side.leaf,
            spine_switches=p.side.spine,
            core_switches=p.side.core,
            node_links=p.side.node_links,
            other_links=p.side.other_links,
            links_between=p.side.between_links,
            transceivers=p.transceivers,
            power_kw=p.kw,
            usd=p.usd,
        )
        for p in found
    )


def _lengths(built: Built) -> Iterator[specs.LengthRow]:
    for tier, found in built.lengths.items():
        media = {c.stock_m: c.medium.id for c in built.chosen.tiers.get(tier, [])}
        for i in np.flatnonzero(found.counts).tolist():
            meters = float(STOCK_M[i]) if i < STOCK_M.size else found.longest_m
            yield specs.LengthRow(tier, meters, int(found.counts[i]), media.get(meters))


def _parts(lines: Sequence[Line]) -> Iterator[dict[str, Any]]:
    """Yield the columns of the lines with pieces."""
    for x in lines:
        if x.count:
            yield {
                "item": x.item,
                "part": x.part,
                "count": x.count,
                "power_kw": x.kw,
                "usd": x.price.value,
                "low_usd": x.price.low,
                "high_usd": x.price.high,
                "weight_kg": x.kg or None,
                "price": x.status,
            }


def _tiers(built: Built) -> Iterator[specs.TierRow]:
    resolved, c, plan = built.resolved, built.network.counts, built.network.plan
    leaf, spine, core = (m.id if m else f"{resolved.ports.radix} ports" for m in resolved.models)
    down = plan.radix if plan.tiers == 1 and not plan.leaf_up else plan.leaf_down
    yield specs.TierRow("leaf", leaf, c.leaf, down, plan.leaf_up, c.node_leaf_links)
    if c.spine:
        up = plan.spine_up if plan.tiers == 3 else 0
        down = plan.spine_ports - up
        yield specs.TierRow("spine", spine, c.spine, down, up, c.leaf_spine_links)
    if c.core:
        yield specs.TierRow("core", core, c.core, plan.core_ports, 0, c.spine_core_links)
