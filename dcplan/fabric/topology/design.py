"""Port design of a Clos network's switches, independent of the network size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

SEARCH_FRAC = 0.8
"""Fewest ports to nodes that are tried, over those that the oversubscription allows."""
SEARCH_PORTS = 128
"""Most numbers of ports to nodes, and of leaf switches, that are tried."""


@dataclass(frozen=True)
class ClosDesign:
    """Design of a network, independent of its size.

    Parameters
    ----------
    radix : int
        Switch ports at the link speed. [-]
    tiers : int
        2 or 3.
    planes : int
        Parallel networks, each with every node. [-]
    leaf_down : int
        Leaf ports used towards nodes. [-]
    leaf_up : int
        Leaf ports used towards spines. [-]
    spine_down : int
        Spine ports towards leaves in a three-tier network; the rest are towards core switches. [-]
    spine_radix, core_radix : int, default 0
        Ports of spine and core switches if they differ from leaf switches, such as chassis.
        [-]
    leaves_per_pod : int, default 0
        Three tiers: leaves that share spines; as many as a spine has ports down where 0. [-]
    min_spines : int, default 1
        Spines of a pod at least: with two, one may fail. [-]
    """

    radix: int
    tiers: int
    planes: int
    leaf_down: int
    leaf_up: int
    spine_down: int
    spine_radix: int = 0
    core_radix: int = 0
    leaves_per_pod: int = 0
    min_spines: int = 1

    @property
    def spine_ports(self) -> int:
        """Return the ports of a spine switch."""
        return self.spine_radix or self.radix

    @property
    def core_ports(self) -> int:
        """Return the ports of a core switch."""
        return self.core_radix or self.spine_ports

    @property
    def spine_up(self) -> int:
        """Return the spine ports towards core switches."""
        return self.spine_ports - self.spine_down

    @property
    def pod_room(self) -> int:
        """Return the leaf switches of a full pod."""
        return min(self.leaves_per_pod or self.spine_down, self.spine_down)

    @property
    def reach_endpoints(self) -> int:
        """Return the maximum endpoints of one plane, with a port of every core for each pod."""
        if self.tiers == 1:
            return self.radix
        if self.tiers == 2:
            return self.spine_ports * self.leaf_down
        return self.pod_room * self.core_ports * self.leaf_down


def design(
    radix: int,
    tiers: int,
    *,
    planes: int = 1,
    leaf_spine: float = 1.0,
    spine_core: float = 1.0,
    endpoints_per_leaf: int | None = None,
    spine_radix: int = 0,
    core_radix: int = 0,
    leaves_per_pod: int = 0,
    min_spines: int = 1,
) -> ClosDesign:
    """Split the ports of each tier by its oversubscription (downlink over uplink capacity).

    Parameters
    ----------
    radix, tiers, planes : int
        Ports of a leaf at the link speed; 1 to 3 tiers; parallel networks. [-]
    leaf_spine, spine_core : float, default 1
        Oversubscription of leaf and spine switches; above 0. [-]
    endpoints_per_leaf : int, optional
        Leaf ports towards nodes, where not all that the oversubscription allows. [-]
    spine_radix, core_radix, leaves_per_pod, min_spines : int
        As in :class:`ClosDesign`.

    Raises
    ------
    ValueError
        If ``endpoints_per_leaf`` and the required uplinks exceed the radix.

    Examples
    --------
    >>> d = design(64, 2)
    >>> d.leaf_down, d.leaf_up, d.spine_down
    (32, 32, 64)
    >>> design(128, 3, endpoints_per_leaf=16, spine_core=7).spine_down
    112
    """
    if tiers == 1:
        return ClosDesign(radix, 1, planes, radix, 0, radix)
    if leaf_spine <= 0 or spine_core <= 0:
        msg = "oversubscription must be above 0"
        raise ValueError(msg)
    above = spine_radix or radix
    spine_down = above if tiers == 2 else math.floor(above * spine_core / (1.0 + spine_core) + 1e-9)
    down, up = _leaf_ports(radix, spine_down, leaf_spine, endpoints_per_leaf)
    return ClosDesign(
        radix,
        tiers,
        planes,
        down,
        up,
        spine_down,
        spine_radix,
        core_radix,
        leaves_per_pod,
        min_spines,
    )


def _leaf_ports(
    radix: int, spine_down: int, leaf_spine: float, endpoints: int | None
) -> tuple[int, int]:
    """Return the ports of a leaf towards nodes and towards spines."""
    down = endpoints or math.floor(radix * leaf_spine / (1.0 + leaf_spine) + 1e-9)
    up = math.ceil(down / leaf_spine - 1e-9)
    if endpoints and down + up > radix:
        msg = f"{down} endpoints and {up} uplinks exceed the {radix} ports of a leaf"
        raise ValueError(msg)
    up = min(up, radix - down)
    if down < 1 or up < 1 or down >= radix:
        msg = f"oversubscription {leaf_spine:g} leaves no ports on a leaf of {radix}"
        raise ValueError(msg)
    if endpoints or leaf_spine == 1.0:
        return down, up
    return even_split(radix, max(spine_down, 1), leaf_spine)


@cache
def even_split(radix: int, spine_down: int, leaf_spine: float) -> tuple[int, int]:
    r"""Return the ports of a leaf to nodes and to spines that need the fewest switches on average.

    Each leaf has the same number of links to each spine, so spines divide the uplinks: 43 uplinks
    need 43 spines where 17 would do. Of the splits that keep the oversubscription,

    .. math:: \min_d \operatorname{mean}_{l} \frac{l + S(l, U)}{l\,d},\qquad U = \lceil d/o \rceil

    over the numbers l of leaf switches below a spine; S as in :func:`dcplan.fabric.topology.pods.pods`.

    Parameters
    ----------
    radix, spine_down : int
        Ports of a leaf switch, and of a spine switch towards leaf switches. [-]
    leaf_spine : float
        Oversubscription, above 0. [-]

    Examples
    --------
    85 and 43 ports keep 2:1 on 128 ports, but 43 is a prime number.

    >>> even_split(128, 128, 2.0), even_split(64, 64, 2.0), even_split(144, 144, 4.0)
    ((84, 42), (40, 20), (112, 28))
    """
    most = math.floor(radix * leaf_spine / (1.0 + leaf_spine) + 1e-9)
    least = max(math.ceil(most * SEARCH_FRAC), most - SEARCH_PORTS, 1)
    leaves = np.unique(np.linspace(1, spine_down, min(spine_down, SEARCH_PORTS)).astype(np.int64))
    best, found = math.inf, (most, min(math.ceil(most / leaf_spine - 1e-9), radix - most))
    for down in range(most, least - 1, -1):
        up = min(math.ceil(down / leaf_spine - 1e-9), radix - down)
        divisors = np.array([n for n in range(1, up + 1) if up % n == 0], dtype=np.int64)
        needed = np.minimum(np.ceil(leaves * up / spine_down), up)
        spines = divisors[np.searchsorted(divisors, needed)]
        mean = float(np.mean((leaves + spines) / (leaves * down)))
        if mean < best - 1e-12:
            best, found = mean, (down, up)
    return found
