"""Growth in phases: purchases, recabling and idle ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dcplan.fabric.topology.links import CHUNK, leaf_numbers, placed_pods
from dcplan.fabric.topology.networks import Network
from dcplan.fabric.topology.wiring import Whole, Wiring, leaf_of


@dataclass(frozen=True)
class Phase:
    """One purchase of one growth strategy."""

    way: str
    """``as needed``: each phase has the smallest network for its size. ``spines first``: spines and
    cores of the last phase are bought with the first, so that leaves are cabled once."""
    nodes: int
    leaf: int
    spine: int
    core: int
    node_links: int
    between_links: int
    recabled_links: int
    """Links of the previous phase that must be recabled."""
    spare_switches: int
    """Switches of the previous phase that are no longer used."""
    idle_spine_ports: int


def kept_links(before: Wiring, after: Wiring) -> int:
    """Return the leaf-spine links of one plane that stay in place.

    Leaves keep their numbers. A link stays if its leaf still reaches that spine; of several
    parallel links, as many stay as both networks have.
    """
    if not before.pods or not after.pods:
        return 0
    after_pod: dict[int, tuple[int, int]] = {}
    for kind, first_leaf, first_spine in placed_pods(after):
        for leaf in leaf_numbers(after, first_leaf + np.arange(kind.leaves)).tolist():
            after_pod[leaf] = (first_spine, kind.spines)
    kept = 0
    up, new_up = before.plan.leaf_up, after.plan.leaf_up
    for (mine, then), leaves in _pairs(before, after_pod).items():
        shared = max(min(mine[0] + mine[1], then[0] + then[1]) - max(mine[0], then[0]), 0)
        kept += leaves * shared * min(up // mine[1], new_up // then[1])
    return kept


def kept_ends(before: Wiring, after: Wiring) -> int:
    """Return the links of nodes and managers of one plane that stay on their leaf switch.

    Managers use the last leaf switches and move.
    """
    kept = 0
    for first in range(0, before.nodes, CHUNK):
        nodes = np.arange(first, min(first + CHUNK, before.nodes))
        node, rail = np.repeat(nodes, before.rails), np.tile(np.arange(before.rails), nodes.size)
        kept += int((leaf_of(before, node, rail)[0] == leaf_of(after, node, rail)[0]).sum())
    return kept


def kept_cores(before: Wiring, after: Wiring) -> int:
    """Return the spine-core links of one plane that stay in place."""
    if not before.core_count or not after.core_count:
        return 0
    most = max(before.core_count, after.core_count)
    a, b = _core_pairs(before, most), _core_pairs(after, most)
    size = max(a.max(), b.max()) + 1
    return int(np.minimum(np.bincount(a, minlength=size), np.bincount(b, minlength=size)).sum())


def _core_pairs(wiring: Wiring, cores: int) -> Whole:
    up = np.concatenate([np.full(p.pods * p.spines, p.spine_up) for p in wiring.pods])
    spine = np.repeat(np.arange(up.size), up)
    return np.asarray(spine * cores + np.arange(spine.size) % wiring.core_count)


Span = tuple[int, int]
"""First spine switch and number of spine switches of a pod."""


def _pairs(before: Wiring, after_pod: dict[int, Span]) -> Counter[tuple[Span, Span]]:
    found: Counter[tuple[Span, Span]] = Counter()
    for kind, first_leaf, first_spine in placed_pods(before):
        for leaf in leaf_numbers(before, first_leaf + np.arange(kind.leaves)).tolist():
            if leaf in after_pod:
                found[(first_spine, kind.spines), after_pod[leaf]] += 1
    return found


def phases(
    steps: list[tuple[int, Network]], settled: list[tuple[int, Network]] | None = None
) -> Iterator[Phase]:
    """Return the phases of both growth strategies.

    Parameters
    ----------
    steps : list
        Nodes and the smallest network of each phase, with the largest last.
    settled : list
        The same, each with the number of tiers of the last; None if they already have it.
    """
    yield from _as_needed(steps)
    yield from _spines_first(settled or steps)


def _as_needed(steps: list[tuple[int, Network]]) -> Iterator[Phase]:
    have = None
    for nodes, network in steps:
        c = network.counts
        between = c.leaf_spine_links + c.spine_core_links
        idle = _idle(network)
        if have is None:
            yield Phase(
                "as needed", nodes, c.leaf, c.spine, c.core, c.node_leaf_links, between, 0, 0, idle
            )
        else:
            b = have.counts
            before_links = b.node_leaf_links + b.leaf_spine_links + b.spine_core_links
            moved = before_links - _kept(have, network)
            new = [max(x - y, 0) for x, y in zip(_switches(network), _switches(have), strict=True)]
            left = sum(
                max(y - x, 0) for x, y in zip(_switches(network), _switches(have), strict=True)
            )
            before = b.leaf_spine_links + b.spine_core_links
            links = (c.node_leaf_links - b.node_leaf_links, max(between - before, 0), moved)
            yield Phase("as needed", nodes, new[0], new[1], new[2], *links, left, idle)
        have = network


def _spines_first(steps: list[tuple[int, Network]]) -> Iterator[Phase]:
    """Yield phases with all spines and cores first, and leaf switches as nodes are added."""
    last = steps[-1][1]
    have_leaf, have_links = 0, 0
    for i, (nodes, network) in enumerate(steps):
        c, final = network.counts, last.counts
        leaf, links = c.leaf - have_leaf, c.node_leaf_links - have_links
        spine, core = (final.spine, final.core) if i == 0 else (0, 0)
        between = leaf * last.plan.leaf_up + (final.spine_core_links if i == 0 else 0)
        idle = _idle(last) + final.leaf_spine_links - c.leaf * last.plan.leaf_up
        yield Phase("spines first", nodes, leaf, spine, core, links, between, 0, 0, idle)
        have_leaf, have_links = c.leaf, c.node_leaf_links


def _switches(network: Network) -> tuple[int, int, int]:
    return network.counts.leaf, network.counts.spine, network.counts.core


def _kept(before: Network, after: Network) -> int:
    if before.wiring is None or after.wiring is None:
        return 0
    one = kept_links(before.wiring, after.wiring) + kept_ends(before.wiring, after.wiring)
    return (one + kept_cores(before.wiring, after.wiring)) * before.plan.planes * before.parallel


def _idle(network: Network) -> int:
    """Return the spine ports without a link."""
    ports = network.counts.spine * network.plan.spine_ports
    return ports - network.counts.leaf_spine_links - network.counts.spine_core_links
