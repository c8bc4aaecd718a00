"""Storage, in-band and out-of-band networks in addition to the compute fabric."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dcplan.fabric.bom import Fills
from dcplan.fabric.topology.clos import size
from dcplan.fabric.topology.design import design
from dcplan.fabric.topology.wiring import even, upper_fills

RATIO_TOLERANCE = 1e-2
"""Tolerance in ports for a rounded ratio (1.333 for 4:3)."""


@dataclass(frozen=True)
class Side:
    """A side network: switches, links, used ports."""

    leaf: int
    spine: int
    node_links: int
    other_links: int
    between_links: int
    fills: Fills
    core: int = 0

    @property
    def switches(self) -> int:
        """Return the number of all switches."""
        return self.leaf + self.spine + self.core


def storage(
    nodes: int,
    links_per_node: int,
    nodes_per_su: int,
    radix: int,
    oversubscription: float,
    target_ports: int,
    target_leaves_per_su: int,
) -> Side:
    r"""Size a storage network: oversubscribed leaf switches of nodes, others of storage.

    Both have the same spine switches.

    Node leaf switches are bought per complete unit, one for ``radix / 2`` links; storage leaf
    switches in the given number per unit. The number of spine switches is the smallest that has all
    uplinks and divides those of node leaves; uplinks of storage leaves are rounded up.

    Parameters
    ----------
    nodes, links_per_node, nodes_per_su : int
        Nodes, storage links of each, nodes of a scalable unit. [-]
    radix : int
        Ports of a switch. [-]
    oversubscription : float
        Oversubscription of node leaf switches, at least 1. [-]
    target_ports : int
        Switch ports to storage. [-]
    target_leaves_per_su : int
        Leaf switches for storage per unit. [-]

    Raises
    ------
    ValueError
        If three tiers do not have enough ports.

    References
    ----------
    .. [1] NVIDIA RA-11333-001 V11, table 8: 127 nodes, 16 switches; 254 node links, 240 between switches, 48 cables to
       storage; the text says nearly 4:3 on the node side.

    Examples
    --------
    >>> s = storage(127, 2, 32, 64, 4 / 3, 48, 1)
    >>> s.leaf, s.spine, s.switches, s.node_links + s.between_links
    (12, 4, 16, 494)
    """
    units = math.ceil(nodes / nodes_per_su)
    down = radix // 2
    node_leaves = max(math.ceil(units * nodes_per_su * links_per_node / down), 1)
    up = max(math.ceil(down / oversubscription - RATIO_TOLERANCE), 1)
    store_leaves = (
        max(units * target_leaves_per_su, math.ceil(target_ports / down)) if target_ports else 0
    )
    node_links = nodes * links_per_node
    ends = node_links + target_ports
    if ends <= radix:
        return Side(1, 0, node_links, target_ports, 0, Fills(even(1, ends)))
    node, store = (node_leaves, node_links), (store_leaves, target_ports)
    if node_leaves + store_leaves > radix:
        return _three_tiers(node, store, radix, oversubscription)
    return _two_tiers(node, store, radix, up)


def _two_tiers(node: tuple[int, int], store: tuple[int, int], radix: int, up: int) -> Side:
    """Size a network in which every leaf switch reaches every spine switch.

    ``node`` and ``store`` are leaf switches and their links; leaves of nodes have at least ``up``
    uplinks, leaves of storage one for each link.
    """
    down = radix // 2
    node_leaves, store_leaves = node[0], store[0]
    each = math.ceil(store[1] / max(store_leaves, 1))
    spine = math.ceil((node_leaves * up + store_leaves * each) / radix)
    # every leaf reaches every spine equally: uplinks are rounded up until leaves and spines have
    # enough ports
    while True:
        node_up, store_up = (math.ceil(n / spine) * spine for n in (up, each))
        between = node_leaves * node_up + store_leaves * store_up
        if between <= spine * radix and max(node_up, store_up) <= down:
            break
        spine += 1
        if spine > down:
            store_leaves, spine = store_leaves + 1, 1
            each = math.ceil(store[1] / store_leaves)
    leaves = (*even(*node, node_up), *even(store_leaves, store[1], store_up))
    fills = Fills(leaves, even(spine, between))
    return Side(node_leaves + store_leaves, spine, node[1], store[1], between, fills)


def _three_tiers(
    node: tuple[int, int], store: tuple[int, int], radix: int, oversubscription: float
) -> Side:
    """Size a network with more leaf switches than a spine switch has ports.

    Leaf switches of nodes and of storage are in one tree with the same oversubscription.
    """
    plan = design(radix, 3, leaf_spine=oversubscription)
    count = node[0] + store[0]
    found = size(plan, count, node[1] + store[1])
    leaves = (*even(*node, plan.leaf_up), *even(*store, plan.leaf_up))
    between = found.leaf_spine_links + found.spine_core_links
    return Side(
        count,
        found.spine,
        node[1],
        store[1],
        between,
        Fills(leaves, *upper_fills(plan, count)),
        found.core,
    )


def in_band(
    nodes: int,
    links_per_node: int,
    other_links: int,
    radix: int,
    uplinks: int,
    peer_links: int,
    cores: int,
) -> Side:
    """Size an in-band (management) network.

    Leaf switches are in pairs with peer links, below two core switches; a small network is one pair.
    Beyond two tiers it is a three-tier tree, whose leaves keep their ports and uplinks.

    Raises
    ------
    ValueError
        If three tiers do not have enough ports.

    References
    ----------
    .. [1] NVIDIA RA-11333-001 V11, table 8: 127 nodes, 8 switches of 64 ports: 254 + 20 links, 24 to cores, 6 to peers.

    Examples
    --------
    >>> s = in_band(127, 2, 20, 64, 4, 2, 2)
    >>> s.leaf, s.spine, s.between_links
    (6, 2, 30)
    """
    ends = nodes * links_per_node + other_links
    if ends + 2 * peer_links <= 2 * radix:
        fills = Fills(even(2, ends, peer_links))
        return Side(2, 0, nodes * links_per_node, other_links, peer_links, fills)
    leaf, core, asked = 0, 0, uplinks
    while core == 0 or core > uplinks:
        # every leaf switch has a link to every core switch
        uplinks = max(uplinks, core)
        leaf = 2 * math.ceil(ends / (radix - uplinks - peer_links) / 2)
        core = max(cores, math.ceil(leaf * uplinks / radix))
        if core > uplinks and core + peer_links > radix // 2:
            own = nodes * links_per_node
            ratio = (radix - asked) / asked
            count = math.ceil(ends / design(radix, 3, leaf_spine=ratio).leaf_down)
            found = _three_tiers((count, ends), (0, 0), radix, ratio)
            return replace(found, node_links=own, other_links=other_links)
    fills = Fills(even(leaf, ends, uplinks + peer_links), even(core, leaf * uplinks))
    return Side(
        leaf,
        core,
        nodes * links_per_node,
        other_links,
        leaf * uplinks + leaf // 2 * peer_links,
        fills,
    )


def out_of_band(
    ports: int,
    inside: int,
    node_racks: int,
    ports_per_node_rack: int,
    radix: int,
    racks_per_switch: int,
    uplinks: int,
) -> Side:
    r"""Size an out-of-band network: 1 Gb/s switches in the node racks for every managed port.

    A switch serves as many racks as its ports allow, at most ``racks_per_switch``; a rack with more
    ports has several switches. ``ports`` are all managed ports, ``inside`` the part in node racks.

    References
    ----------
    .. [1] NVIDIA RA-11333-001 V11, table 8: 8 switches for 32 node racks and 317 ports; GB300 enterprise design: 54
       ports a rack, 16 switches for 8 racks.

    Examples
    --------
    >>> out_of_band(317, 223, 32, 7, 48, 4, 2).leaf, out_of_band(432, 432, 8, 54, 48, 4, 2).leaf
    (8, 16)
    """
    each = min(max(radix // max(ports_per_node_rack, 1), 1), racks_per_switch)
    leaf = math.ceil(node_racks / each) * math.ceil(each * ports_per_node_rack / radix)
    leaf = max(leaf, math.ceil(ports / radix), 2)
    return Side(leaf, 0, inside, ports - inside, leaf * uplinks, Fills(even(leaf, ports, uplinks)))
