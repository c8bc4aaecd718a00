"""Catalog rows of switches and optics as inputs of a bill of materials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import cast

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Optic, Switch
from dcplan.fabric.bom import Parts
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity

LIGHT = ("transceiver",)


class MissingError(Exception):
    """A part, a radix or a figure that the catalog does not have."""


def radix_of(log: InputLog, model: str, link_gbps: float) -> int:
    """Return the ports of a switch at a link speed.

    Raises
    ------
    MissingError
        If the catalog does not have the switch, or the switch does not have the speed.
    """
    row = log.catalog.find("switches", model, Switch)
    if row is None:
        msg = f"switch {model} is not in the catalog"
        raise MissingError(msg)
    radix = row.ports.get(f"{link_gbps:g}")
    if radix is None:
        msg = f"{row.id} has no port count (radix) at {link_gbps:g} Gb/s"
        raise MissingError(msg)
    return radix


def switch_units(row: Switch | None, log: InputLog) -> float:
    """Return the height of a switch, or the class value if its row has none [U]."""
    if row is not None and row.rack_units is not None:
        return row.rack_units.value
    return log.parameter("network", "switch-rack-units")


def links_per_cage(own: int, family: Fabric | None, planes: int) -> int:
    """Return the links behind one transceiver of a node, by its system and the family.

    A NIC that is split into planes has one cage: its transceiver carries the links of all planes.
    The family says how many links a cage carries with the family's own planes.

    Parameters
    ----------
    own : int
        NIC ports behind one cage of the system.
    family : Fabric, optional
        Family of the network.
    planes : int
        Planes of the network.

    Examples
    --------
    A system with two ports behind a cage, in four planes of no family: eight links.

    >>> links_per_cage(2, None, 4), links_per_cage(1, None, 1)
    (8, 1)
    """
    if family and planes == family.planes:
        return max(own, family.nic_ports_per_cage)
    return own * planes


def links_per_cord(ends: Iterable[tuple[Optic, int]]) -> float:
    """Return the links of a fiber cord: those of one connector, at the end with fewer.

    Each end is a transceiver and the links that it carries. Eight links of 100 Gb/s leave an 800G
    DR8 transceiver in two connectors, so four share a cord. One link of 800 Gb/s has two connectors
    at both ends, so a cord is half of it.
    """
    each = [links / row.connectors for row, links in ends] or [1.0]
    return float(math.floor(min(each))) if min(each) >= 1.0 else min(max(each), 1.0)


def unlike_lanes(near: Optic, far: Optic) -> str:
    """Return why the transceivers of two ends form no link; empty if they do or it is not known.

    Lanes of both ends have one speed, so as many fibers for the rate: 400 Gb/s are four lanes of 100
    Gb/s in DR4, and two of 200 Gb/s in a part of a 1.6T DR8. A transceiver may run some of its lanes.
    """
    if not near.fibers or not far.fibers or _spread(near) == _spread(far):
        return ""
    speeds = [2.0 * x.rate_gbps.value / x.fibers for x in (near, far) if x.fibers]
    return f"{near.id} and {far.id} form no link: {speeds[0]:g} and {speeds[1]:g} Gb/s a pair of fibers"


def optics_of(catalog: Catalog, kinds: Sequence[str], gbps: float, protocol: str) -> list[Optic]:
    """Return the optics of some kinds at a rate that a protocol uses."""
    return [
        row
        for row in catalog.table("optics", Optic).values()
        if row.kind in kinds
        and row.rate_gbps.value == gbps
        and (not row.protocols or protocol in row.protocols)
    ]


def class_part(
    catalog: Catalog, gbps: float, protocol: str, other: Optic | None = None
) -> Optic | None:
    """Return a generic transceiver at a speed.

    Of several, it is the first with the lanes of the transceiver at the other end: as many fibers
    for the rate.
    """
    rows = [r for r in optics_of(catalog, LIGHT, gbps, protocol) if r.vendor == "industry"]
    return min(rows, key=lambda r: other is not None and _spread(r) != _spread(other), default=None)


def _spread(row: Optic) -> float:
    """Return the fibers of a transceiver for its rate [fibers/(Gb/s)]."""
    return (row.fibers or 0) / row.rate_gbps.value


def node_transceiver(
    catalog: Catalog, own: tuple[Optic, Optic], protocol: str, link_gbps: float, links: int
) -> tuple[Optic, int]:
    """Return the transceiver of a NIC's cage, and the links that it carries.

    A cage of several links takes the family's transceiver whose rate is that of the cage, of the
    switch first, or a generic one. A cage of one link takes the family's own, or a generic one at
    the speed of the link. Without either, the family's own runs at a lower speed, one for a link.

    Parameters
    ----------
    catalog : Catalog
        Generic transceivers.
    own : tuple of Optic
        Transceivers of the family: of its leaf switches, and of its nodes.
    protocol : str
        Protocol of the network.
    link_gbps : float
        Speed of one link. [Gb/s]
    links : int
        Links of a cage.
    """
    leaf, node = own
    cage = links * link_gbps
    if links > 1:
        fits = (r for r in (leaf, node) if r.kind in LIGHT and r.rate_gbps.value == cage)
        row = next(fits, None) or class_part(catalog, cage, protocol, leaf)
        if row is not None:
            return row, links
    if node.rate_gbps.value == link_gbps:
        return node, 1
    return class_part(catalog, link_gbps, protocol, leaf) or node, 1


def parts_of(
    log: InputLog,
    family: Fabric,
    models: tuple[str, str, str],
    link_gbps: float,
    node_ports: int = 1,
) -> Parts:
    """Return prices and powers of the parts of a fabric family.

    Cages of a node carry ``node_ports`` links.

    Raises
    ------
    MissingError
        If a value is missing.
    """
    switches = [cast("Switch", log.catalog.find("switches", m, Switch)) for m in models]
    (node_optic, node_links), (leaf_optic, leaf_links) = link_ends(
        log, family, models[0], link_gbps, node_ports
    )
    inside = switches[0].co_packaged
    usd = [_need(log, f"switches.{s.id}.price_usd", s.price_usd) for s in switches]
    kw = [_need(log, f"switches.{s.id}.typical_kw", s.typical_kw or s.max_kw) for s in switches]
    shared = links_per_cord([(node_optic, node_links), (leaf_optic, leaf_links)])
    return Parts(
        leaf_usd=usd[0],
        spine_usd=usd[1],
        core_usd=usd[2],
        leaf_kw=kw[0],
        spine_kw=kw[1],
        core_kw=kw[2],
        switch_units=max(switch_units(s, log) for s in switches),
        leaf_optic_usd=0.0
        if inside
        else _need(log, f"optics.{leaf_optic.id}.price_usd", leaf_optic.price_usd),
        leaf_optic_kw=0.0
        if inside
        else _need(
            log, f"optics.{leaf_optic.id}.max_kw", leaf_optic.max_kw or leaf_optic.typical_kw
        ),
        leaf_optic_ports=leaf_links,
        node_optic_usd=_need(log, f"optics.{node_optic.id}.price_usd", node_optic.price_usd),
        node_optic_kw=_need(
            log, f"optics.{node_optic.id}.max_kw", node_optic.max_kw or node_optic.typical_kw
        ),
        cable_usd=_cable(log, family.fiber) / shared,
        node_optic_ports=node_links,
        leaf_optic_inside=inside,
        cord_links=shared,
    )


def link_ends(
    log: InputLog, family: Fabric, model: str, link_gbps: float, node_ports: int
) -> tuple[tuple[Optic, int], tuple[Optic, int]]:
    """Return the transceivers at a node and at a leaf switch, each with the links that it carries.

    Raises
    ------
    MissingError
        If the catalog lacks one.
    """
    row = cast("Switch", log.catalog.find("switches", model, Switch))
    leaf = _optic(log, family.leaf_optic)
    cage = row.cage_gbps.value if row.cage_gbps else leaf.rate_gbps.value
    own = (leaf, _optic(log, family.node_optic))
    node = node_transceiver(log.catalog, own, family.protocol, link_gbps, node_ports)
    return node, (leaf, max(1, round(cage / link_gbps)))


def _optic(log: InputLog, name: str) -> Optic:
    row = log.catalog.find("optics", name, Optic)
    if row is None:
        msg = f"optic {name} is not in the catalog"
        raise MissingError(msg)
    return row


def _cable(log: InputLog, name: str | None) -> float:
    if name is None:
        return 0.0
    row = _optic(log, name)
    ends = log.take(f"optics.{row.id}.price_usd", row.price_usd) if row.price_usd else 0.0
    if row.usd_per_m is None and row.price_usd is not None:
        return ends
    per_m = _need(log, f"optics.{row.id}.usd_per_m", row.usd_per_m)
    return ends + per_m * log.parameter("power", "cable-length-m")


def _need(log: InputLog, key: str, quantity: Quantity | None) -> float:
    if quantity is None:
        msg = f"the catalog has no value for {key}"
        raise MissingError(msg)
    return log.take(key, quantity)
