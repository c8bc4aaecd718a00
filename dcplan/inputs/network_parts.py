"""Catalog rows of switches and optics as inputs of a bill of materials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from dcplan.catalog.schema import Fabric, Optic, Switch
from dcplan.fabric.bom import Parts
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity


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


def links_per_cord(ends: Iterable[tuple[Optic, int]]) -> int:
    """Return the links that share a fiber cord: those of one connector, at the end with fewer.

    Each end is a transceiver and the links that it carries. Eight links of 100 Gb/s leave an 800G
    DR8 transceiver in two connectors, so four share a cord.
    """
    return max(min((links // row.connectors for row, links in ends), default=1), 1)


def node_part(leaf: Optic, node: Optic, links: int, link_gbps: float) -> Optic:
    """Return the transceiver of a node's cage: the family's own, or for several links the switches'.

    The family's own carries several links if its rate is that of the cage.
    """
    return node if links == 1 or node.rate_gbps.value == links * link_gbps else leaf


def parts_of(
    log: InputLog,
    family: Fabric,
    models: tuple[str, str, str],
    link_gbps: float,
    node_ports: int = 1,
) -> Parts:
    """Return prices and powers of the parts of a fabric family.

    A node whose cages carry ``node_ports`` links uses the switches' transceiver if that carries as
    many, or the family's own transceiver if its rate is that of the cage.

    Raises
    ------
    MissingError
        If a value is missing.
    """
    switches = [cast("Switch", log.catalog.find("switches", m, Switch)) for m in models]
    usd = [_need(log, f"switches.{s.id}.price_usd", s.price_usd) for s in switches]
    kw = [_need(log, f"switches.{s.id}.typical_kw", s.typical_kw or s.max_kw) for s in switches]
    leaf_optic = _optic(log, family.leaf_optic)
    cage = switches[0].cage_gbps.value if switches[0].cage_gbps else leaf_optic.rate_gbps.value
    inside = switches[0].co_packaged
    twin = not inside and node_ports > 1 and leaf_optic.rate_gbps.value >= node_ports * link_gbps
    node_optic = _optic(log, family.node_optic)
    split = node_ports > 1 and node_optic.rate_gbps.value == node_ports * link_gbps
    leaf_links = max(1, round(cage / link_gbps))
    node_links = node_ports if twin or split else 1
    node_optic = node_part(leaf_optic, node_optic, node_links, link_gbps)
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
        cable_usd=_cable(log, family.fiber)
        / links_per_cord([(node_optic, node_links), (leaf_optic, leaf_links)]),
        node_optic_ports=node_links,
        leaf_optic_inside=inside,
    )


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
