"""Wiring of storage and management networks: which port of which switch every link takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcplan.fabric.side_networks import Side
from dcplan.fabric.topology.links import Links, links
from dcplan.fabric.topology.wiring import Fill, Wiring


@dataclass(frozen=True)
class SideLink:
    """A link; devices and ports are numbered from 0, ports of a leaf towards nodes come first."""

    lower: int
    lower_port: int
    upper: int
    upper_port: int


def ports_down(side: Side) -> Iterator[tuple[int, int]]:
    """Yield leaf and port of every link down, leaf after leaf.

    Examples
    --------
    >>> from dcplan.fabric.side_networks import out_of_band
    >>> list(ports_down(out_of_band(5, 5, 1, 5, 48, 4, 2)))
    [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    """
    for number, fill in enumerate(_leaves(side)):
        for port in range(fill.down):
            yield number, port


def _leaves(side: Side) -> list[Fill]:
    """Return the ports in use of every leaf switch."""
    return [fill for fill in side.fills.leaf for _ in range(fill.switches)]


def node_links(side: Side, nodes: int) -> Iterator[SideLink]:
    """Yield the links of the nodes: the first of every node, then the second of every node.

    Leaf switches of other devices come after those of nodes. Where both share leaf switches, the
    links of other devices are spread between the rounds, so that the two links of a node are half of
    the network apart.

    Examples
    --------
    127 nodes with two links and 20 others on six leaves (RA-11333-001 V11, table 8):

    >>> from dcplan.fabric.side_networks import in_band
    >>> found = list(node_links(in_band(127, 2, 20, 64, 4, 2, 2), 127))
    >>> len(found), found[0].upper, found[127].upper
    (254, 0, 3)
    """
    each, taken = side.node_links // nodes, ports_down(side)
    others = 0 if _apart(side) else side.other_links
    for link in range(each):
        for node in range(nodes):
            leaf, port = next(taken)
            yield SideLink(node, link, leaf, port)
        share = others // (each - link)
        others -= share
        for _ in range(share):
            next(taken)


def _apart(side: Side) -> bool:
    """Return whether some leaf switches have exactly the links of the nodes."""
    total = 0
    for fill in _leaves(side):
        total += fill.down
        if total >= side.node_links:
            break
    return total == side.node_links


def switch_links(side: Side) -> Iterator[tuple[str, SideLink]]:
    """Yield the links between switches with the upper tier: ``peer``, ``spine`` or ``core``.

    Uplinks of a leaf are spread evenly over the spine switches; the leaves of a pair have links to
    each other. An out-of-band network has none: its uplinks leave it.

    Examples
    --------
    >>> from dcplan.fabric.side_networks import in_band
    >>> found = list(switch_links(in_band(127, 2, 20, 64, 4, 2, 2)))
    >>> [sum(tier == kind for tier, _ in found) for kind in ("spine", "peer")]
    [24, 6]
    """
    if side.plan is not None:
        ends = side.node_links + side.other_links
        for part in links(Wiring(side.plan, ends, 1, side.leaf)):
            if part.tier != "node-leaf":
                yield from _of_tree(side, part.tier.split("-")[1], part)
        return
    taken, turn = [0] * side.spine, 0
    leaves = _leaves(side)
    for number, fill in enumerate(leaves):
        for up in range(fill.up - side.peer_links if side.spine else 0):
            spine = turn % side.spine
            yield "spine", SideLink(number, fill.down + up, spine, taken[spine])
            taken[spine] += 1
            turn += 1
    for number in range(0, side.leaf - 1, 2):
        pair = leaves[number], leaves[number + 1]
        first = [fill.down + fill.up - side.peer_links for fill in pair]
        for i in range(side.peer_links):
            yield "peer", SideLink(number, first[0] + i, number + 1, first[1] + i)


def _of_tree(side: Side, upper: str, part: Links) -> Iterator[tuple[str, SideLink]]:
    """Yield the links of a tier of a three-tier tree."""
    plan = side.plan
    below = 0 if plan is None else plan.leaf_down if upper == "spine" else plan.spine_down
    columns = (part.lower, part.lower_port, part.upper, part.upper_port)
    for a, a_port, b, b_port in zip(*(c.tolist() for c in columns), strict=True):
        yield upper, SideLink(a, below + a_port, b, b_port)
