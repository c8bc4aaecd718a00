"""Network of one class of NICs from the nodes that it connects, for every topology of a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.fabric.bom import Fills
from dcplan.fabric.topology.clos import Counts, leaves, parts_per_endpoint, size
from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.direct import GROUP_SWITCHES, scheduled, slingshot
from dcplan.fabric.topology.kinds import ALONE, DRAGONFLY, SCHEDULED, UNITED
from dcplan.fabric.topology.networks import Network
from dcplan.fabric.topology.wiring import Fill, Wiring, leaf_fills, upper_fills


@dataclass(frozen=True)
class Nodes:
    """Nodes of one system, and the NICs (rails) of each."""

    count: int
    rails: int


def connect(
    topology: str, plan: ClosDesign, nodes_per_su: int, systems: Sequence[Nodes]
) -> tuple[Counts, Fills]:
    """Size the network of all nodes with the same class of NICs.

    In a tree, each system has its own leaf switches, and all share the tiers above. With
    ``rail-only``, each rail of each system is a network of its own. A scheduled fabric and a
    dragonfly connect all ports in the same way.

    Parameters
    ----------
    topology : str
        One of :data:`dcplan.fabric.topology.kinds.PLANNED`.
    plan : ClosDesign
        Ports of the switches.
    nodes_per_su : int
        Nodes of a scalable unit, at least 1. [-]
    systems : sequence of Nodes
        Nodes of each system.

    Raises
    ------
    ValueError
        If the nodes exceed the reach of the design.

    Examples
    --------
    1,024 nodes of eight rails: rail-only needs two tiers, all rails together three.

    >>> from dcplan.fabric.topology.design import design
    >>> counts, _ = connect("rail-only", design(64, 2), 32, [Nodes(1024, 8)])
    >>> counts.leaf, counts.spine, counts.core
    (256, 128, 0)
    >>> counts, _ = connect("rail-optimized", design(64, 3), 32, [Nodes(1024, 8)])
    >>> counts.leaf, counts.spine, counts.core
    (256, 256, 128)
    """
    ports = sum(n.count * n.rails for n in systems)
    if topology == SCHEDULED:
        return _parts(scheduled(ports, plan.leaf_down, plan.leaf_up, plan.spine_ports))
    if topology == DRAGONFLY:
        return _parts(slingshot(ports, plan.radix, None))
    if topology == ALONE:
        each = [_one_rail(plan, n) for n in systems]
        return _sum_counts([c for c, _ in each]), _sum_fills([f for _, f in each])
    if plan.tiers == 1:
        return _one_switch(plan, ports)
    return _tree(plan, nodes_per_su, systems, ports)


def _parts(network: Network) -> tuple[Counts, Fills]:
    return network.counts, network.fills


def _one_switch(plan: ClosDesign, ports: int) -> tuple[Counts, Fills]:
    """Connect all systems to one switch of each plane."""
    counts = size(plan, math.ceil(ports / plan.radix), ports)
    return counts, Fills((Fill(1, ports, 0),)).times(plan.planes)


def _tree(
    plan: ClosDesign, nodes_per_su: int, systems: Sequence[Nodes], ports: int
) -> tuple[Counts, Fills]:
    leaf_count = 0
    filled: list[Fill] = []
    for n in systems:
        own = leaves(n.count, n.rails, nodes_per_su, plan.leaf_down)
        filled += leaf_fills(Wiring(plan, n.count, n.rails, own, nodes_per_su))
        leaf_count += own
    counts = size(plan, leaf_count, ports)
    return counts, Fills(tuple(filled), *upper_fills(plan, leaf_count)).times(plan.planes)


def _one_rail(plan: ClosDesign, nodes: Nodes) -> tuple[Counts, Fills]:
    own = leaves(nodes.count, 1, 1, plan.leaf_down)
    counts = size(plan, own, nodes.count)
    filled = leaf_fills(Wiring(plan, nodes.count, 1, own, 0))
    fills = Fills(filled, *upper_fills(plan, own)).times(plan.planes * nodes.rails)
    return _sum_counts([counts] * nodes.rails), fills


def _sum_counts(found: Sequence[Counts]) -> Counts:
    rows = [
        (c.leaf, c.spine, c.core, c.node_leaf_links, c.leaf_spine_links, c.spine_core_links)
        for c in found
    ]
    return Counts(*(sum(column) for column in zip(*rows, strict=True)))


def _sum_fills(found: Sequence[Fills]) -> Fills:
    tiers = zip(*(f.tiers for f in found), strict=True)
    return Fills(*(tuple(fill for part in tier for fill in part) for tier in tiers))


def reach_ports(topology: str, plan: ClosDesign, rails: int) -> int:
    """Return the most NIC ports that a design without scalable units connects.

    Examples
    --------
    >>> from dcplan.fabric.topology.design import design
    >>> reach_ports("rail-only", design(64, 2), 8)
    16384
    """
    if topology == SCHEDULED:
        return plan.spine_ports * plan.leaf_down
    if topology == DRAGONFLY:
        up = plan.radix - plan.leaf_down - (GROUP_SWITCHES - 1)
        return (GROUP_SWITCHES * up + 1) * GROUP_SWITCHES * plan.leaf_down
    if plan.tiers == 1 and topology in UNITED:
        return plan.radix
    return plan.reach_endpoints * rails


def step_ports(topology: str, plan: ClosDesign, rails: int) -> int:
    """Return the NIC ports after which a network without units needs further switches.

    Examples
    --------
    >>> from dcplan.fabric.topology.design import design
    >>> step_ports("rail-only", design(64, 2), 8)
    256
    """
    if topology == ALONE:
        return plan.leaf_down * rails
    return (
        plan.leaf_down
        if topology == SCHEDULED or plan.tiers == 1
        else GROUP_SWITCHES * plan.leaf_down
    )


def per_port(topology: str, plan: ClosDesign) -> tuple[float, float]:
    """Return switches and links per NIC port, without rounding.

    A dragonfly has as many global links as ports: its taper is 1.

    Examples
    --------
    >>> per_port("dragonfly", ClosDesign(64, 2, 1, 16, 31, 64))
    (0.0625, 2.46875)
    """
    if topology == DRAGONFLY:
        local = (GROUP_SWITCHES - 1) / 2.0 / plan.leaf_down
        return 1.0 / plan.leaf_down, 1.0 + local + 0.5
    return parts_per_endpoint(plan)
