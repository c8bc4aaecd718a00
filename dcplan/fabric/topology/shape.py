"""Shape of a network that is left open: the scalable unit that fills leaf switches, and fewer tiers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dcplan.fabric.topology.design import SEARCH_FRAC, SEARCH_PORTS, design
from dcplan.fabric.topology.networks import Attached, Network, Ports, tree

RAILS, TREE = "rail-optimized", "fat-tree"
SEARCH_UPLINKS = 8
"""Uplinks of a leaf switch that are tried beyond those that the oversubscription needs."""


@dataclass(frozen=True)
class Shape:
    """Topology, nodes of a scalable unit, and the reason if it is not the usual one."""

    topology: str
    nodes_per_su: int
    note: str = ""


def filled_unit(nodes_per_su: int, leaf_down: int, rack_nodes: int = 1) -> int:
    r"""Return the nodes of a scalable unit with the fewest leaf switches per node.

    A unit of :math:`u` nodes has :math:`\lceil u/d \rceil` leaf switches per rail, so
    :math:`\lceil u/d \rceil / u` per node. Units are complete racks, and at most as large as the
    reference unit. Of equal ones, the largest counts. A reference unit below the ports of a leaf
    switch stays.

    Parameters
    ----------
    nodes_per_su : int
        Nodes of the reference unit, at least 1. [-]
    leaf_down : int
        Ports of a leaf switch to nodes, at least 1. [-]
    rack_nodes : int, default 1
        Nodes of a rack-scale system, which units do not divide. [-]

    Examples
    --------
    GB300 units of 8 racks with 18 trays: leaf switches of 72 ports take them complete, those of 64
    ports take 7 racks (126 of 128 ports), and those of 126 ports take 7 racks each.

    >>> filled_unit(144, 72, 18), filled_unit(144, 64, 18), filled_unit(144, 126, 18)
    (144, 126, 126)
    >>> filled_unit(72, 64), filled_unit(32, 64)
    (64, 32)
    """
    if nodes_per_su <= leaf_down:
        return nodes_per_su
    most = math.ceil(nodes_per_su / leaf_down)
    filled = {m * leaf_down // rack_nodes * rack_nodes for m in range(1, most + 1)}
    units = [u for u in {*filled, nodes_per_su} if 0 < u <= nodes_per_su]
    return min(units, key=lambda u: (math.ceil(u / leaf_down) / u, -u))


def open_shape(attached: Attached, ports: Ports, rack_nodes: int = 1) -> Shape:
    """Choose unit and topology of rails in units if the request leaves both open.

    The fewest tiers come first. Units that fill leaf switches are compared with the reference unit
    by their switches. A fat tree is chosen if rails in units need another tier, or if the nodes are
    fewer than one unit and a fat tree has fewer switches.

    Parameters
    ----------
    attached : Attached
        Nodes, NICs, management links.
    ports : Ports
        Ports of the switches, with the reference unit.
    rack_nodes : int, default 1
        Nodes of a rack-scale system. [-]

    Examples
    --------
    110 racks of GB300 on two planes of 128-port switches: units of 144 nodes need three tiers,
    those of 126 two.

    >>> open_shape(Attached(1980, 4), Ports(128, planes=2, nodes_per_su=144), 18).nodes_per_su
    126
    >>> open_shape(Attached(9, 8), Ports(64, nodes_per_su=32)).topology
    'fat-tree'
    """
    usual = Shape(RAILS, ports.nodes_per_su)
    down = _leaf_down(ports)
    units = {filled_unit(ports.nodes_per_su, down, rack_nodes), ports.nodes_per_su}
    sized = {u: _try(attached, replace(ports, nodes_per_su=u), RAILS) for u in units}
    rails = {u: n for u, n in sized.items() if n is not None}
    plain = _try(attached, ports, TREE)
    if not rails:
        why = f"rail-optimized units of {ports.nodes_per_su} nodes fit no number of tiers"
        return Shape(TREE, ports.nodes_per_su, f"{why}: a fat tree does") if plain else usual
    unit = min(rails, key=lambda u: (rails[u].plan.tiers, rails[u].counts.switches, -u))
    best = rails[unit]
    if plain and plain.plan.tiers < best.plan.tiers:
        why = f"rail-optimized units need {best.plan.tiers} tiers, a fat tree {plain.plan.tiers}"
        return Shape(TREE, unit, f"{why}; --topology rail-optimized keeps the units")
    few = best.plan.tiers > 1 and attached.nodes < unit
    if plain and few and plain.counts.switches < best.counts.switches:
        why = f"{attached.nodes} nodes are less than a scalable unit of {unit}"
        saved = f"a fat tree has {plain.counts.switches} switches, the unit {best.counts.switches}"
        return Shape(TREE, unit, f"{why}: {saved}; --topology rail-optimized buys the unit")
    if unit == ports.nodes_per_su:
        return usual
    why = f"scalable units have {unit} nodes to fill leaf switches of {down} ports"
    return Shape(RAILS, unit, f"{why}; the reference unit has {ports.nodes_per_su}")


def open_split(attached: Attached, ports: Ports, topology: str) -> Ports:
    """Return the ports with the split of a leaf switch that needs the least at this size.

    The fewest tiers come first, then the fewest ports: those of all switches, and again those of
    links between switches, as a port and its transceiver cost about the same. The split stays where
    endpoints or uplinks are given, without oversubscription, and where uplinks have another speed.

    Parameters
    ----------
    attached : Attached
        Nodes, NICs, management links.
    ports : Ports
        Ports of the switches, with the oversubscription of a leaf switch.
    topology : str
        A kind of tree without pairs.

    Examples
    --------
    128 nodes at 2:1: 18 switches, where 85 and 43 ports need 56.

    >>> found = open_split(Attached(128, 8), Ports(128, leaf_spine=2.0), "fat-tree")
    >>> found.endpoints_per_leaf, found.leaf_up, tree(Attached(128, 8), found, "fat-tree").counts.switches
    (80, 40, 18)
    """
    given = ports.endpoints_per_leaf or ports.leaf_up
    usual = None if given else _try(attached, ports, topology)
    if usual is None or ports.leaf_spine == 1.0 or ports.uplink_width != 1.0:
        return ports
    if usual.plan.tiers == 1:
        return ports
    best, found = _ports_of(usual), ports
    most = math.floor(ports.radix * ports.leaf_spine / (1.0 + ports.leaf_spine) + 1e-9)
    least = max(math.ceil(most * SEARCH_FRAC), most - SEARCH_PORTS, 1)
    for down in range(most, least - 1, -1):
        few = math.ceil(down / ports.leaf_spine - 1e-9)
        for up in range(few, min(few + SEARCH_UPLINKS, ports.radix - down) + 1):
            split = replace(ports, endpoints_per_leaf=down, leaf_up=up)
            network = _try(attached, split, topology)
            if network and _ports_of(network) < best:
                best, found = _ports_of(network), split
    return found


def _ports_of(network: Network) -> tuple[int, int]:
    """Return the tiers, and the ports of switches plus those of links between switches."""
    plan, c = network.plan, network.counts
    ports = c.leaf * plan.radix + c.spine * plan.spine_ports + c.core * plan.core_ports
    return plan.tiers, ports + 2 * (c.leaf_spine_links + c.spine_core_links)


def _leaf_down(ports: Ports) -> int:
    """Return the ports of a leaf switch to nodes in a network with spines."""
    if ports.endpoints_per_leaf or ports.leaf_up:
        return max(ports.endpoints_per_leaf or ports.radix - (ports.leaf_up or 0), 1)
    try:
        plan = design(ports.radix, 2, leaf_spine=ports.leaf_spine, spine_radix=ports.spine_radix)
    except ValueError:
        return 1
    return plan.leaf_down


def _try(attached: Attached, ports: Ports, topology: str) -> Network | None:
    try:
        return tree(attached, ports, topology)
    except ValueError:
        return None
