"""Wiring of a tree: ports of every link, in closed form on arrays."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.pods import Pods, pods

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Wiring:
    """Wiring of one plane of one tree; planes and separate rails are copies of it.

    ``nodes_per_su`` is 0 if endpoints fill one leaf after the other (plain fat tree), otherwise the
    nodes of a scalable unit, whose rails have their own leaf switches. ``groups`` is the number of
    rails with their own spine switches.
    """

    plan: ClosDesign
    nodes: int
    rails: int
    leaf_count: int
    nodes_per_su: int = 0
    management_links: int = 0
    groups: int = 1

    @functools.cached_property
    def pods(self) -> tuple[Pods, ...]:
        """Return the pods above the leaf switches; none for a single tier."""
        return pods(self.plan, self.leaf_count, self.groups) if self.plan.tiers > 1 else ()

    @functools.cached_property
    def spine_count(self) -> int:
        """Return the number of spine switches."""
        return sum(p.pods * p.spines for p in self.pods)

    @functools.cached_property
    def core_count(self) -> int:
        """Return the number of core switches."""
        return math.ceil(
            sum(p.pods * p.spines * p.spine_up for p in self.pods) / self.plan.core_ports
        )

    @property
    def block(self) -> int:
        """Return the nodes whose rails have their own leaf switches.

        It is the unit, or as many nodes as a leaf switch has ports.
        """
        return max(self.nodes_per_su, self.plan.leaf_down)

    @property
    def leaves_per_rail(self) -> int:
        """Return the leaf switches of one rail of a block."""
        return math.ceil(self.block / self.plan.leaf_down)


@dataclass(frozen=True)
class Fill:
    """A number of identical switches, and their used ports."""

    switches: int
    down: int
    up: int


def leaf_of(wiring: Wiring, node: Whole, rail: Whole) -> tuple[Whole, Whole]:
    """Return leaf switch and port of nodes' NICs.

    Parameters
    ----------
    wiring : Wiring
        The tree.
    node, rail : array of int
        Node from 0, and NIC of the node from 0.

    Examples
    --------
    Node 33 of a SuperPOD, rail 2: second unit, so leaf 8 + 2, port 1.

    >>> from dcplan.fabric.topology.design import design
    >>> w = Wiring(design(64, 2), 127, 8, 32, 32)
    >>> leaf, port = leaf_of(w, np.array([33]), np.array([2]))
    >>> int(leaf[0]), int(port[0])
    (10, 1)
    """
    down = wiring.plan.leaf_down
    if wiring.plan.tiers == 1 or not wiring.nodes_per_su:
        end = node * wiring.rails + rail
        return end // down, end % down
    whole, inside = np.divmod(node, wiring.block)
    each = wiring.leaves_per_rail
    share = math.ceil(wiring.block / each)
    leaf = whole * wiring.rails * each + rail * each + inside // share
    port = inside % share
    if wiring.nodes_per_su >= down:
        return leaf, port
    # the nodes of the last block may not fill one leaf per rail: its rails share leaf switches
    full, rest = divmod(wiring.nodes, wiring.block)
    end = rail * rest + inside
    last = whole == full
    return np.where(last, full * wiring.rails + end // down, leaf), np.where(last, end % down, port)


def leaf_ports(wiring: Wiring) -> Whole:
    """Return the used ports towards nodes and managers, of every leaf switch.

    Management links use free ports, one per leaf from the last leaf backwards, repeatedly.

    Raises
    ------
    ValueError
        If the leaf switches have fewer free ports than there are management links.
    """
    most = wiring.plan.radix if wiring.plan.tiers == 1 else wiring.plan.leaf_down
    used = _node_ports(wiring, most)
    left, spare = wiring.management_links, most * wiring.leaf_count - int(used.sum())
    if left > spare:
        fewer = wiring.nodes - math.ceil((left - spare) / wiring.rails)
        rule = (
            f"{fewer} nodes leave room for them"
            if fewer > 0
            else "no number of nodes leaves room for so many"
        )
        msg = f"{left} management links, but {wiring.leaf_count} leaves have {spare} ports free: {rule}"
        raise ValueError(msg)
    while left:
        free = np.flatnonzero(used < most)[::-1][:left]
        used[free] += 1
        left -= free.size
    return used


def _node_ports(wiring: Wiring, most: int) -> Whole:
    """Return the ports of every leaf that nodes use; full blocks are identical."""
    ends = wiring.nodes * wiring.rails
    if wiring.plan.tiers == 1 or not wiring.nodes_per_su:
        return np.clip(ends - most * np.arange(wiring.leaf_count, dtype=np.int64), 0, most)
    whole = wiring.nodes // wiring.block
    each = wiring.rails * wiring.leaves_per_rail
    share = math.ceil(wiring.block / wiring.leaves_per_rail)
    pattern = np.clip(
        wiring.block - share * np.arange(wiring.leaves_per_rail, dtype=np.int64), 0, share
    )
    used = np.zeros(wiring.leaf_count, dtype=np.int64)
    used[: whole * each] = np.tile(pattern, whole * wiring.rails)
    node = np.repeat(np.arange(whole * wiring.block, wiring.nodes), wiring.rails)
    leaf, _ = leaf_of(
        wiring, node, np.tile(np.arange(wiring.rails), wiring.nodes - whole * wiring.block)
    )
    return used + np.bincount(leaf, minlength=wiring.leaf_count)


def leaf_fills(wiring: Wiring) -> tuple[Fill, ...]:
    """Return the leaf switches of one plane by their used ports.

    Examples
    --------
    The last unit of 127 nodes has 31; four management links fill four of its eight leaf switches
    again.

    >>> from dcplan.fabric.topology.design import design
    >>> leaf_fills(Wiring(design(64, 2), 127, 8, 32, 32, 4))
    (Fill(switches=4, down=31, up=32), Fill(switches=28, down=32, up=32))
    """
    up = wiring.plan.leaf_up if wiring.plan.tiers > 1 else 0
    down, count = np.unique(leaf_ports(wiring), return_counts=True)
    return tuple(Fill(int(n), int(d), up) for d, n in zip(down, count, strict=True))


def upper_fills(
    plan: ClosDesign, leaf_count: int, groups: int = 1
) -> tuple[tuple[Fill, ...], tuple[Fill, ...]]:
    """Return the spine and core switches of one plane by their used ports.

    Examples
    --------
    >>> from dcplan.fabric.topology.design import design
    >>> upper_fills(design(64, 2), 32)
    ((Fill(switches=16, down=64, up=0),), ())
    """
    if plan.tiers == 1:
        return (), ()
    spines = tuple(
        Fill(p.pods * p.spines, p.spine_down, p.spine_up) for p in pods(plan, leaf_count, groups)
    )
    up = sum(f.switches * f.up for f in spines)
    return spines, even(math.ceil(up / plan.core_ports), up)


def even(switches: int, down: int, up: int = 0) -> tuple[Fill, ...]:
    """Distribute links over switches as evenly as possible.

    Examples
    --------
    >>> even(3, 10)
    (Fill(switches=2, down=3, up=0), Fill(switches=1, down=4, up=0))
    """
    if not switches:
        return ()
    low, more = divmod(down, switches)
    return (Fill(switches - more, low, up),) + ((Fill(more, low + 1, up),) if more else ())
