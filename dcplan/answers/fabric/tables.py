"""Tables, headline and notes of one network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dcplan.answers.fabric.bill.lines import Kind, Line
from dcplan.answers.fabric.built import Built
from dcplan.answers.fabric.parts.unused import MOST_TIERS, Case, unused
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.answers.fabric.side_networks import Priced
from dcplan.fabric.floor.lengths import STOCK_M
from dcplan.fabric.topology.pods import better_uplinks
from dcplan.result import Table
from dcplan.specs.fabric import network as specs
from dcplan.specs.fabric import use

TWO_TIERS = 2
SAVED_FRAC = 0.25
"""Share of spine switches that another number of uplinks saves, above which a note is given."""
IDLE_FRAC = 0.1
"""Share of unused leaf ports above which a note is given."""


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
    nodes = f"{attached.nodes:,} node{'s' if attached.nodes > 1 else ''}"
    return (
        f"{nodes} with {attached.nics_per_node} NICs of {resolved.nic_gbps:g} "
        f"Gb/s ({kind}): {c.switches:,} switches ({by_tier}), {links:,} links{money}"
        + (f"; {built.same_media}" if built.same_media else "")
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
                "type": _type(x),
                "reach_m": x.optic.reach_m.value if x.optic and x.optic.reach_m else None,
                "fibers": x.optic.fibers if x.optic else None,
                "count": x.count,
                "power_kw": x.kw,
                "usd": x.price.value,
                "low_usd": x.price.low,
                "high_usd": x.price.high,
                "weight_kg": x.kg or None,
                "price": x.status,
            }


def _type(line: Line) -> str:
    """Return the type of a transceiver or cable in the words of the trade."""
    if line.optic is None:
        return ""
    return line.optic.type or line.optic.kind.upper()


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


def notes_table(found: Iterable[str]) -> dict[str, Table]:
    """Return the table of the notes; none without a note."""
    rows = [use.NoteRow(note) for note in found]
    return {"notes": use.NOTES.table(rows)} if rows else {}


def notes(built: Built) -> Iterator[str]:
    """Yield the notes on one network."""
    resolved, c, plan = built.resolved, built.network.counts, built.network.plan
    per_su, nodes = resolved.ports.nodes_per_su, resolved.attached.nodes
    rails = resolved.topology == "rail-optimized" and plan.tiers > 1
    yield from unused(resolved.request, _case(built))
    if resolved.shape_note and plan.tiers > 1:
        yield resolved.shape_note
    if rails and nodes < per_su:
        whole = f"leaf switches are bought for a full scalable unit of {per_su} nodes"
        yield f"{whole}; {per_su - nodes} node positions stay empty"
    if rails and 1 < per_su < plan.leaf_down:
        yield (
            f"scalable units of {per_su} nodes do not fill leaf switches of {plan.leaf_down} "
            f"ports, so rails share leaf switches; set --nodes-per-su {plan.leaf_down} for "
            "separate leaf switches per rail"
        )
    yield from built.chosen.notes
    if built.same_media:
        yield f"{built.same_media}: every link has the parts of --media family"
    yield from _idle(built)
    yield from _many_spines(built)
    yield from _mismatched(resolved)
    if why := built.unlike_lanes:
        yield f"{why}; dcplan fabric --compare all lists the families that fit these NICs"
    alone = c.spine // (resolved.ports.planes * built.network.parallel) == 1 and plan.tiers == 2
    if alone and resolved.ports.planes == 1:
        yield "a single spine is a single point of failure; set --min-spines 2 to add a second"


def _case(built: Built) -> Case:
    """Return what decides which flags the network has a place for.

    A network that grows may use them later.
    """
    resolved, request = built.resolved, built.resolved.request
    sides = {p.name: p.side for p in built.side_networks}
    storage, in_band = sides.get("storage"), sides.get("in-band")
    known = request.nic_gbps or (resolved.system and resolved.system.scaleout_port_gbps)
    grows = bool(request.growth_nodes)
    return Case(
        topology=resolved.topology,
        tiers=MOST_TIERS if grows else built.network.plan.tiers,
        priced=bool(built.bill),
        node_optics=any(line.kind is Kind.NODE_OPTIC for line in built.bill),
        storage_spines=storage.spine if storage else 1,
        in_band_spines=in_band.spine if in_band else 1,
        rate_known=bool(known and not request.radix),
    )


def _many_spines(built: Built) -> Iterator[str]:
    """Report uplinks whose divisors need far more spines than other numbers of uplinks do."""
    wiring = built.network.wiring
    if wiring is None or wiring.plan.tiers != TWO_TIERS or built.resolved.ports.uplink_width != 1:
        return
    up, spines = better_uplinks(wiring.plan, wiring.leaf_count)
    plan, now = wiring.plan, wiring.spine_count
    if spines <= now * (1 - SAVED_FRAC):
        yield (
            f"{plan.leaf_up} uplinks of a leaf switch are shared evenly by {now} spine switches; "
            f"--endpoints-per-leaf {plan.leaf_down} --leaf-uplinks {up} needs {spines}"
        )


def _idle(built: Built) -> Iterator[str]:
    """Report unused leaf ports if they are more than 10 %."""
    wiring = built.network.wiring
    if wiring is None or not wiring.nodes_per_su or wiring.plan.tiers == 1 or built.hall is None:
        return
    ports = wiring.leaf_count * wiring.plan.leaf_down
    idle = ports - wiring.nodes * wiring.rails - wiring.management_links
    if idle > ports * IDLE_FRAC:
        copies, down, unit = built.hall.copies, wiring.plan.leaf_down, wiring.nodes_per_su
        whole = max(unit // down, 1) * down
        fills = (
            f"--nodes-per-su {whole} or --topology fat-tree fills"
            if whole != unit
            else "--topology fat-tree fills"
        )
        yield (
            f"{idle * copies:,} of {ports * copies:,} node ports of leaf switches are unused, "
            f"because scalable units have {unit} nodes and leaf switches {down} ports; {fills} "
            "them"
        )


def _mismatched(resolved: ResolvedFabric) -> Iterator[str]:
    """Report parts that fit together only under conditions."""
    request, system, leaf = resolved.request, resolved.system, resolved.leaf
    if system and leaf and system.protocols and leaf.protocol not in system.protocols:
        listed = f"{system.id} has {', '.join(system.protocols)} NICs"
        yield f"{listed}, but {leaf.id} uses {leaf.protocol}"
    used = resolved.ports.radix
    if leaf and request.radix and request.switch and used < max(leaf.ports.values()):
        yield f"{used} ports of {leaf.id} are used, but the price is for the complete switch"
