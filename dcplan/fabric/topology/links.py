"""Links of a tree, from port to port, in closed form on arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dcplan.fabric.topology.pods import Pods, rail_groups
from dcplan.fabric.topology.wiring import Whole, Wiring, leaf_of, leaf_ports

CHUNK = 65_536
"""Links computed at a time."""


@dataclass(frozen=True)
class Links:
    """Links of one tier; switches are numbered from 0 in their tier.

    Ports count from 0 on each side of a switch.
    """

    tier: str
    lower: Whole
    """Node, leaf or spine; -1 for a manager."""
    lower_port: Whole
    upper: Whole
    upper_port: Whole


def links(wiring: Wiring) -> Iterator[Links]:
    """Yield every link of one plane, in chunks.

    The order is nodes to leaves, leaves to spines, spines to cores.
    """
    yield from _node_links(wiring)
    yield from (_leaf_spine(wiring, *at) for at in placed_pods(wiring))
    first, before = 0, 0
    for pod in wiring.pods:
        for _ in range(pod.pods if pod.spine_up else 0):
            yield _spine_core(wiring, pod, first, before)
            first, before = first + pod.spines, before + pod.spines * pod.spine_up


def placed_pods(wiring: Wiring) -> Iterator[tuple[Pods, int, int]]:
    """Yield each pod, its first leaf in :func:`leaf_numbers`, and its first spine."""
    groups = rail_groups(wiring.plan, wiring.leaf_count, wiring.groups)
    first_spine, done = 0, 0
    for kind in wiring.pods:
        each = kind.pods // groups
        for j in range(kind.pods):
            start = j // each * (wiring.leaf_count // groups) + done + j % each * kind.leaves
            yield kind, start, first_spine
            first_spine += kind.spines
        done += each * kind.leaves


def _node_links(wiring: Wiring) -> Iterator[Links]:
    step = max(CHUNK // wiring.rails, 1)
    for first in range(0, wiring.nodes, step):
        nodes = np.arange(first, min(first + step, wiring.nodes))
        node, rail = np.repeat(nodes, wiring.rails), np.tile(np.arange(wiring.rails), nodes.size)
        leaf, port = leaf_of(wiring, node, rail)
        yield Links("node-leaf", node, rail, leaf, port)
    if wiring.management_links:
        yield _management(wiring)


def _management(wiring: Wiring) -> Links:
    plain = Wiring(wiring.plan, wiring.nodes, wiring.rails, wiring.leaf_count, wiring.nodes_per_su)
    before, after = leaf_ports(plain), leaf_ports(wiring)
    leaf = np.repeat(np.arange(wiring.leaf_count), after - before)
    port = np.concatenate([np.arange(b, a) for b, a in zip(before, after, strict=True)])
    number = np.arange(leaf.size)
    return Links("node-leaf", np.full_like(leaf, -1), number, leaf, port)


def leaf_numbers(wiring: Wiring, position: Whole) -> Whole:
    """Return the leaf switch at a position in the order of the pods.

    The order is rail by rail if rails have their own spine switches.
    """
    each = wiring.leaves_per_rail
    blocks, rest = divmod(wiring.leaf_count, wiring.rails * each)
    if rest or rail_groups(wiring.plan, wiring.leaf_count, wiring.groups) != wiring.rails:
        return position
    rail, index = np.divmod(position, blocks * each)
    block, inside = np.divmod(index, each)
    return (block * wiring.rails + rail) * each + inside


def _leaf_spine(wiring: Wiring, pod: Pods, first_leaf: int, first_spine: int) -> Links:
    up = wiring.plan.leaf_up
    index, uplink = np.divmod(np.arange(pod.leaves * up), up)
    each = up // pod.spines
    leaf = leaf_numbers(wiring, first_leaf + index)
    return Links(
        "leaf-spine",
        leaf,
        uplink,
        first_spine + uplink % pod.spines,
        index * each + uplink // pod.spines,
    )


def _spine_core(wiring: Wiring, pod: Pods, first_spine: int, before: int) -> Links:
    index, uplink = np.divmod(np.arange(pod.spines * pod.spine_up), pod.spine_up)
    core, port = (
        (before + np.arange(index.size)) % wiring.core_count,
        (before + np.arange(index.size)) // wiring.core_count,
    )
    return Links("spine-core", first_spine + index, uplink, core, port)
