"""Size and price of storage, in-band and out-of-band networks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.fabric.design import nodes_per_rack
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Fabric, Optic, Switch
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.bom import cages
from dcplan.fabric.side_networks import Side, in_band, out_of_band, storage
from dcplan.fabric.topology.networks import Network
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError, parts_of, switch_units
from dcplan.provenance import Quantity, Status

IN_BAND, IN_BAND_GBPS = "sn4600c", 100
OUT_OF_BAND, OUT_OF_BAND_GBPS = "sn2201", 1
IN_BAND_CABLE = "mfs1s00-aoc"
"""Switches and cable of the H100 SuperPOD's management networks (RA-11333-001 V11, table 8)."""


@dataclass(frozen=True)
class Priced:
    """A side network with its switch, price and power; None if a part has no price."""

    name: str
    model: str
    side: Side
    transceivers: int
    usd: float | None
    kw: float | None
    rack_units: float = 0.0
    gbps: float = 0.0
    """Rate of a link to a node. [Gb/s]"""
    radix: int = 0
    """Ports of a switch at that rate."""
    cable: str = "fiber"
    """Kind of its cables: fiber, aoc or cat6."""


STORAGE = {"infiniband": "qm9700", "ethernet": "tomahawk5-box"}
"""Switches of a storage network if the compute switches lack ports of its speed."""


def sides(
    resolved: ResolvedFabric, network: Network, notes: list[str], log: InputLog
) -> list[Priced]:
    """Size the storage and management networks of the nodes; add a note if one cannot be sized."""
    found: list[Priced] = []
    for size, name in ((_storage, "storage"), (_in_band, "in-band")):
        try:
            found.append(size(resolved, log))
        except ValueError:
            notes.append(f"the {name} network needs more tiers than supported and is not included")
    switches = network.counts.switches + sum(p.side.switches for p in found)
    return [*found, _out_of_band(resolved, switches, log)]


def _p(log: InputLog, key: str) -> float:
    return log.parameter("network", key)


def _storage(resolved: ResolvedFabric, log: InputLog) -> Priced:
    """Size the storage network.

    It uses the compute leaf if that has ports of the storage rate, otherwise a switch of the same
    protocol.
    """
    request, nodes = resolved.request, resolved.attached.nodes
    gbps = request.storage_gbps or _p(log, "storage-link-gbps")
    row = resolved.leaf
    if row is None or f"{gbps:g}" not in row.ports:
        name = STORAGE.get(resolved.protocol, STORAGE["ethernet"])
        row = log.catalog.get(
            "switches", log.text("fabric.storage_switch", name, Status.DEFAULT), Switch
        )
    radix = row.ports.get(f"{gbps:g}", 0)
    if not radix:
        speeds = ", ".join(row.ports)
        cause = f"{row.id} of the storage network has no {gbps:g} Gb/s ports; it has {speeds}"
        problem = Problem("DC050", cause, Place("--storage-gbps"), help="--storage-gbps 400")
        raise InputError([problem])
    side = storage(
        nodes,
        round(_p(log, "storage-links-per-node")),
        max(min(resolved.ports.nodes_per_su, nodes), radix // 2),
        radix,
        request.storage_oversubscription or _p(log, "storage-node-oversubscription"),
        math.ceil(_p(log, "storage-target-ports-per-node") * nodes - 1e-9),
        round(_p(log, "storage-leaves-per-su")),
    )
    return replace(_priced_storage(row, side, gbps, log), gbps=gbps, radix=radix)


def _priced_storage(row: Switch, side: Side, gbps: float, log: InputLog) -> Priced:
    """Price a storage network with the transceivers of a family of its rate."""
    units = switch_units(row, log) * side.switches
    family = next(
        (
            f
            for f in log.catalog.table("fabrics", Fabric).values()
            if f.protocol == row.protocol and f.rate_gbps.value == gbps and f.planes == 1
        ),
        None,
    )
    if family is None:
        return Priced("storage", row.id, side, 0, None, None, units)
    try:
        parts = parts_of(log, family, (row.id, row.id, row.id), gbps)
    except MissingError:
        return Priced("storage", row.id, side, 0, None, None, units)
    ports = parts.leaf_optic_ports
    # cables to storage have fixed ends
    switch_ends = cages(side.fills.leaf, ports, ports) + cages(side.fills.spine, ports, ports)
    switch_ends -= math.ceil(side.other_links / ports)
    usd = (
        side.switches * parts.leaf_usd
        + switch_ends * parts.leaf_optic_usd
        + side.node_links * parts.node_optic_usd
    )
    usd += (side.node_links + side.between_links) * parts.cable_usd
    kw = (
        side.switches * parts.leaf_kw
        + switch_ends * parts.leaf_optic_kw
        + side.node_links * parts.node_optic_kw
    )
    return Priced("storage", row.id, side, switch_ends + side.node_links, usd, kw, units)


def _in_band(resolved: ResolvedFabric, log: InputLog) -> Priced:
    row = log.catalog.get("switches", IN_BAND, Switch)
    log.text("fabric.in_band_switch", row.id, Status.DEFAULT)
    radix, ratio = row.ports[str(IN_BAND_GBPS)], resolved.request.in_band_oversubscription
    peers = round(_p(log, "in-band-peer-links"))
    uplinks = (
        math.ceil((radix - peers) / (1.0 + ratio))
        if ratio
        else round(_p(log, "in-band-uplinks-per-leaf"))
    )
    side = in_band(
        resolved.attached.nodes,
        round(_p(log, "in-band-links-per-node")),
        round(_p(log, "in-band-other-links")),
        radix,
        uplinks,
        peers,
        round(_p(log, "in-band-cores")),
    )
    cable = log.catalog.get("optics", IN_BAND_CABLE, Optic)
    links = side.node_links + side.other_links + side.between_links
    key = f"optics.{cable.id}.price_usd"
    found = _plain("in-band", row, side, links, cable.price_usd, key, log)
    return replace(found, gbps=float(IN_BAND_GBPS), radix=radix, cable=cable.kind)


def managed_ports(resolved: ResolvedFabric, log: InputLog) -> int:
    """Return the ports of a node on the out-of-band network: requested, the system's, or usual."""
    if resolved.request.out_of_band_ports:
        return resolved.request.out_of_band_ports
    system = resolved.system
    if system is None or system.management_ports is None:
        return round(_p(log, "oob-ports-per-node"))
    return round(log.take(f"systems.{system.id}.management_ports", system.management_ports))


def _out_of_band(resolved: ResolvedFabric, switches: int, log: InputLog) -> Priced:
    row, radix, uplinks = _out_of_band_switch(resolved, log)
    each = nodes_per_rack(resolved, log)
    racks = math.ceil(resolved.attached.nodes / each)
    managed = managed_ports(resolved, log)
    strips = round(_p(log, "pdus-per-node-rack"))
    others = switches + round(_p(log, "management-servers"))
    network_racks = math.ceil(switches / _p(log, "network-rack-units"))
    ports = resolved.attached.nodes * managed + racks * strips + others
    ports += network_racks * round(_p(log, "pdus-per-network-rack"))
    side = out_of_band(
        ports,
        resolved.attached.nodes * managed + racks * strips,
        racks,
        each * managed + strips,
        radix,
        round(_p(log, "oob-node-racks-per-switch")),
        uplinks,
    )
    copper = Quantity(value=_p(log, "copper-patch-usd"))
    gbps = resolved.request.out_of_band_gbps or float(OUT_OF_BAND_GBPS)
    found = _plain("out-of-band", row, side, ports, copper, "", log)
    return replace(found, gbps=gbps, radix=radix, cable="cat6")


def _out_of_band_switch(resolved: ResolvedFabric, log: InputLog) -> tuple[Switch, int, int]:
    """Return the out-of-band switch, its ports of the rate, and its uplinks.

    Uplinks use the fastest ports of the switch: ports x rate over the uplinks' rate is the
    oversubscription.

    Raises
    ------
    InputError
        When the switch lacks ports of the rate, or enough faster ports for the uplinks.
    """
    request = resolved.request
    name = request.out_of_band_switch or OUT_OF_BAND
    row = named(log.catalog, "switches", name, Switch, "--out-of-band-switch")
    status = Status.INPUT if request.out_of_band_switch else Status.DEFAULT
    log.text("fabric.out_of_band_switch", row.id, status)
    gbps = request.out_of_band_gbps or float(OUT_OF_BAND_GBPS)
    radix, fast = row.ports.get(f"{gbps:g}", 0), max(float(rate) for rate in row.ports)
    if not radix:
        cause = f"{row.id} has no {gbps:g} Gb/s ports; it has {', '.join(row.ports)}"
        step = "--out-of-band-switch with a switch that has them"
        raise InputError([Problem("DC050", cause, Place("--out-of-band-gbps"), help=step)])
    ratio = request.out_of_band_oversubscription
    if ratio is None:
        return row, radix, round(_p(log, "oob-uplinks-per-switch"))
    uplinks = math.ceil(radix * gbps / (fast * ratio) - 1e-9)
    if fast == gbps:  # uplinks take ports of the same rate
        uplinks = math.ceil(radix / (1.0 + ratio) - 1e-9)
        return row, radix - uplinks, uplinks
    if uplinks > row.ports[f"{fast:g}"]:
        least = radix * gbps / (fast * row.ports[f"{fast:g}"])
        cause = (
            f"{ratio:g} needs {uplinks} uplinks of {fast:g} Gb/s, {row.id} has "
            f"{row.ports[f'{fast:g}']}"
        )
        place = Place("--out-of-band-oversubscription")
        step = f"--out-of-band-oversubscription {math.ceil(least * 100) / 100:g} or more"
        raise InputError([Problem("DC050", cause, place, help=step)])
    return row, radix, uplinks


def _plain(
    name: str, row: Switch, side: Side, links: int, cable: Quantity | None, key: str, log: InputLog
) -> Priced:
    """Price switches at typical power, and cables with fixed ends."""
    if row.price_usd is None or row.typical_kw is None or cable is None:
        return Priced(name, row.id, side, 0, None, None)
    price = log.take(f"switches.{row.id}.price_usd", row.price_usd)
    kw = log.take(f"switches.{row.id}.typical_kw", row.typical_kw)
    each = log.take(key, cable) if key else cable.value
    units = switch_units(row, log) * side.switches
    return Priced(
        name, row.id, side, 0, side.switches * price + links * each, side.switches * kw, units
    )
