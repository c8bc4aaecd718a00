"""Two- and three-tier Clos networks: switches and links from the endpoint count."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class ClosDesign:
    """What is fixed about a network before its size is known.

    Parameters
    ----------
    radix : int
        Switch ports at the link speed. [-]
    tiers : int
        2 or 3.
    planes : int
        Parallel networks, each with every node on it. [-]
    leaf_down : int
        Leaf ports used towards nodes. [-]
    leaf_up : int
        Leaf ports used towards spines. [-]
    spine_down : int
        Spine ports towards leaves in a three-tier network; the rest go to cores. [-]
    """

    radix: int
    tiers: int
    planes: int
    leaf_down: int
    leaf_up: int
    spine_down: int

    @property
    def spine_up(self) -> int:
        """Spine ports towards the core."""
        return self.radix - self.spine_down

    @property
    def reach_endpoints(self) -> int:
        """Largest number of endpoints of one plane."""
        if self.tiers == 1:
            return self.radix
        if self.tiers == 2:
            return self.radix * self.leaf_down
        # every core port holds one spine: k cores' ports bound the spines of a pod group
        leaves_per_pod = self.spine_down
        pods = self.radix
        return leaves_per_pod * pods * self.leaf_down


@dataclass(frozen=True)
class Counts:
    """Switches and links of a network, all planes together."""

    leaf: int
    spine: int
    core: int
    node_leaf_links: int
    leaf_spine_links: int
    spine_core_links: int

    @property
    def switches(self) -> int:
        """All switches."""
        return self.leaf + self.spine + self.core


def design(
    radix: int,
    tiers: int,
    *,
    planes: int = 1,
    leaf_spine: float = 1.0,
    spine_core: float = 1.0,
    endpoints_per_leaf: int | None = None,
) -> ClosDesign:
    """Split the ports of each tier by its oversubscription (down over up capacity).

    Raises
    ------
    ValueError
        When ``endpoints_per_leaf`` and the uplinks it asks for exceed the radix.

    Examples
    --------
    >>> design(64, 2)
    ClosDesign(radix=64, tiers=2, planes=1, leaf_down=32, leaf_up=32, spine_down=64)
    >>> design(128, 3, endpoints_per_leaf=16, spine_core=7).spine_down
    112
    """
    if tiers == 1:
        return ClosDesign(radix, 1, planes, radix, 0, radix)
    if leaf_spine <= 0 or spine_core <= 0:
        msg = "oversubscription must be above 0"
        raise ValueError(msg)
    down = endpoints_per_leaf or math.floor(radix * leaf_spine / (1.0 + leaf_spine) + 1e-9)
    up = math.ceil(down / leaf_spine - 1e-9)
    if endpoints_per_leaf and down + up > radix:
        msg = f"{down} endpoints and {up} uplinks exceed the {radix} ports of a leaf"
        raise ValueError(msg)
    up = min(up, radix - down)
    if down < 1 or up < 1 or down >= radix:
        msg = f"oversubscription {leaf_spine:g} leaves no ports on a leaf of {radix}"
        raise ValueError(msg)
    spine_down = radix if tiers == 2 else math.floor(radix * spine_core / (1.0 + spine_core) + 1e-9)
    return ClosDesign(radix, tiers, planes, down, up, spine_down)


def parts_per_endpoint(plan: ClosDesign) -> tuple[float, float]:
    """Switches and links for each endpoint of all planes, rounding left out.

    Examples
    --------
    >>> parts_per_endpoint(design(64, 2))
    (0.046875, 2.0)
    >>> parts_per_endpoint(design(64, 3))
    (0.078125, 3.0)
    """
    leaf, links = 1.0 / plan.leaf_down, 1.0
    if plan.tiers == 1:
        return plan.planes * leaf, plan.planes * links
    up = plan.leaf_up / plan.leaf_down
    spine, links = up / plan.spine_down, links + up
    if plan.tiers == 2:
        return plan.planes * (leaf + spine), plan.planes * links
    over = spine * plan.spine_up
    return plan.planes * (leaf + spine + over / plan.radix), plan.planes * (links + over)


def leaves(nodes: int, rails: int, nodes_per_su: int, leaf_down: int) -> int:
    r"""Leaves of one plane: a group per rail and scalable unit, bought for the whole unit.

    .. math:: L = SU \\cdot r \\cdot \\lceil n_{su} / d \\rceil

    When the unit holds fewer nodes than a leaf has ports, rails share leaves and whole leaves are counted.

    Examples
    --------
    >>> leaves(nodes=128, rails=8, nodes_per_su=32, leaf_down=32)
    32
    >>> leaves(nodes=3, rails=8, nodes_per_su=4, leaf_down=32)
    1
    """
    units = math.ceil(nodes / nodes_per_su)
    if nodes_per_su >= leaf_down:
        return units * rails * math.ceil(nodes_per_su / leaf_down)
    return math.ceil(units * nodes_per_su * rails / leaf_down)


def size(plan: ClosDesign, leaf_count: int, node_links: int) -> Counts:
    r"""Spines, cores and links above a number of leaves (of one plane), times the planes.

    Two tiers: :math:`S_0 = \lceil L U / k \rceil`, rounded up to a divisor of U so that every leaf has
    equal links to every spine. Three tiers: :math:`S = \lceil L U / k_{down} \rceil`,
    :math:`C = \lceil S\,k_{up} / k \rceil`.

    Parameters
    ----------
    plan : ClosDesign
        Ports of each tier.
    leaf_count : int
        Leaves of one plane. [-]
    node_links : int
        Node-leaf links of one plane. [-]

    Raises
    ------
    ValueError
        When the leaves do not fit the tiers.

    References
    ----------
    .. [1] NVIDIA DGX SuperPOD reference architectures RA-11333-001 V11 (H100), tables 3 and 4.

    Examples
    --------
    >>> size(design(64, 2), 32, 1024)
    Counts(leaf=32, spine=16, core=0, node_leaf_links=1024, leaf_spine_links=1024, spine_core_links=0)
    >>> size(design(64, 3), 512, 16384)
    Counts(leaf=512, spine=512, core=256, node_leaf_links=16384, leaf_spine_links=16384, spine_core_links=16384)
    """
    if leaf_count == 0:
        return Counts(0, 0, 0, 0, 0, 0)
    uplinks = leaf_count * plan.leaf_up
    spine, core, spine_core = 0, 0, 0
    if plan.tiers == 1 and leaf_count > 1:
        msg = f"{leaf_count} leaves without a spine do not form one network"
        raise ValueError(msg)
    if plan.tiers == 2:
        if leaf_count > plan.radix:
            msg = f"{leaf_count} leaves exceed the {plan.radix} ports of a spine: three tiers are needed"
            raise ValueError(msg)
        spine = _next_divisor(plan.leaf_up, math.ceil(uplinks / plan.radix))
    elif plan.tiers == 3:
        spine = math.ceil(uplinks / plan.spine_down)
        spine_core = spine * plan.spine_up
        core = math.ceil(spine_core / plan.radix)
        if leaf_count * plan.leaf_down > plan.reach_endpoints:
            msg = f"{leaf_count} leaves exceed a three-tier network of radix {plan.radix}"
            raise ValueError(msg)
    p = plan.planes
    leaf_spine = uplinks if plan.tiers > 1 else 0
    return Counts(leaf_count * p, spine * p, core * p, node_links * p, leaf_spine * p, spine_core * p)


def _next_divisor(number: int, at_least: int) -> int:
    return next((d for d in range(at_least, number + 1) if number % d == 0), at_least)
