"""Networks without a tree: scheduled cell fabrics, dragonflies, tori."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.fabric.bom import Fills
from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.networks import Network
from dcplan.fabric.topology.wiring import even

GROUP_SWITCHES = 32
"""Switches of a Slingshot group (glennklockwood.com/garden/slingshot)."""
CUBE_CHIPS, CUBE_FACE_LINKS = 64, 96
"""A 4 x 4 x 4 cube: six faces of 16 links leave it (Jouppi et al. 2023, arXiv 2304.01433, section
2)."""


def scheduled(
    endpoints: int, leaf_down: int, leaf_up: int, spine_radix: int, rails: int = 1
) -> Network:
    """Size a scheduled cell fabric: every leaf uses all spines, so spines need not divide uplinks.

    Each rail has its own leaves. Rails share spines as far as a spine has a port for every leaf;
    beyond that they are separate fabrics.

    Parameters
    ----------
    endpoints : int
        Links to nodes, all rails together. [-]
    leaf_down, leaf_up : int
        Ports of a leaf towards nodes and towards spines. [-]
    spine_radix : int
        Ports of a spine switch at the fabric speed of the leaf switch. [-]
    rails : int, default 1
        Rails with their own leaves. [-]

    Raises
    ------
    ValueError
        If there are more leaf switches than a spine switch has ports.

    Examples
    --------
    Jericho3-AI and Ramon3, 2,304 accelerators on 400 Gb/s are 1,152 ports of 800 (AMD's reference
    design of 2K):

    >>> scheduled(1152, 18, 20, 128).counts
    Counts(leaf=64, spine=10, core=0, node_leaf_links=1152, leaf_spine_links=1280,
    spine_core_links=0)

    256 nodes of eight rails fill eight leaves of 36 ports on each rail; 64 leaves share spines:

    >>> counts = scheduled(256 * 8, 36, 20, 128, rails=8).counts
    >>> counts.leaf, counts.spine
    (64, 10)
    """
    each = math.ceil(endpoints / rails)
    leaf = math.ceil(each / leaf_down)
    if rails > 1 and leaf * rails <= spine_radix:
        return _shared(endpoints, leaf * rails, (leaf_down, leaf_up), spine_radix)
    spine = math.ceil(leaf * leaf_up / spine_radix)
    if leaf > spine_radix:
        msg = f"{leaf} leaves exceed the {spine_radix} ports of a spine; a third tier of cells is not supported"
        raise ValueError(msg)
    plan = ClosDesign(leaf_down + leaf_up, 2, 1, leaf_down, leaf_up, spine_radix, spine_radix)
    filled = Fills(even(leaf, each, leaf_up), even(spine, leaf * leaf_up)).times(rails)
    counts = Counts(leaf * rails, spine * rails, 0, endpoints, leaf * leaf_up * rails, 0)
    return Network(plan, counts, filled, rails)


def _shared(endpoints: int, leaf: int, ports: tuple[int, int], spine_radix: int) -> Network:
    """Return the fabric of rails that share spines; ``ports`` of a leaf are those down and up."""
    down, up = ports
    spine = math.ceil(leaf * up / spine_radix)
    plan = ClosDesign(down + up, 2, 1, down, up, spine_radix, spine_radix)
    filled = Fills(even(leaf, endpoints, up), even(spine, leaf * up))
    return Network(plan, Counts(leaf, spine, 0, endpoints, leaf * up, 0), filled)


@dataclass(frozen=True)
class Dragonfly:
    """Fully connected groups of switches, and links between all pairs of groups."""

    switches: int
    endpoints: int
    local_links: int
    global_links: int
    taper: float
    """Taper: injection rate of a group divided by the rate of its global links."""


def dragonfly(
    groups: int, per_group: int, endpoints_per_switch: int, links_per_pair: float
) -> Dragonfly:
    r"""Size a dragonfly with q links between each pair of groups.

    It has :math:`G a (a-1)/2` local links and :math:`q\,G(G-1)/2` global links.

    Raises
    ------
    ValueError
        If a group has fewer than two switches, or there is only one group.

    References
    ----------
    .. [1] J. Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008.

    Examples
    --------
    Frontier: 74 groups of 32 switches with 16 endpoints, 4 links between groups.

    >>> d = dragonfly(74, 32, 16, 4)
    >>> d.switches, d.local_links, d.global_links, round(d.taper, 3)
    (2368, 36704, 10804, 1.753)
    """
    if groups < 2 or per_group < 2:
        msg = f"{groups} groups of {per_group} switches: a dragonfly needs at least two of each"
        raise ValueError(msg)
    endpoints = groups * per_group * endpoints_per_switch
    away = (groups - 1) * links_per_pair
    return Dragonfly(
        groups * per_group,
        endpoints,
        groups * per_group * (per_group - 1) // 2,
        round(groups * away / 2),
        per_group * endpoints_per_switch / away,
    )


def slingshot(endpoints: int, radix: int, links_per_pair: int | None) -> Network:
    """Return a dragonfly with the dimensions of HPE Slingshot.

    It has 32 switches per group, a quarter of the ports to nodes, and global links up to a taper of
    1. By default, pairs of groups get all available links, up to the full traffic of a group.

    Raises
    ------
    ValueError
        If the groups need more global links than a group has ports, or none is available for a
        pair.

    Examples
    --------
    >>> n = slingshot(37632, 64, 4)
    >>> n.counts.leaf, n.counts.leaf_spine_links, n.counts.spine_core_links, round(n.taper, 3)
    (2368, 36704, 10804, 1.753)
    """
    down, local = radix // 4, GROUP_SWITCHES - 1
    up = radix - down - local
    groups = max(math.ceil(endpoints / (GROUP_SWITCHES * down)), 2)
    room = GROUP_SWITCHES * up // (groups - 1)
    pairs = links_per_pair or min(room, GROUP_SWITCHES * down // (groups - 1)) or 1
    if not 1 <= pairs <= room:
        msg = f"{groups} groups leave {room} links for each pair of groups, {pairs} are required"
        raise ValueError(msg)
    found = dragonfly(groups, GROUP_SWITCHES, down, pairs)
    plan = ClosDesign(radix, 2, 1, down, local, radix)
    counts = Counts(found.switches, 0, 0, endpoints, found.local_links, found.global_links)
    between = 2 * (found.local_links + found.global_links)
    filled = even(found.switches, endpoints, math.ceil(between / found.switches))
    return Network(plan, counts, Fills(filled), taper=found.taper)


@dataclass(frozen=True)
class Torus:
    """A 3D torus of cubes behind optical circuit switches."""

    cubes: int
    optical_ends: int
    circuits: int
    links: int
    """Number of all links between chips, copper and optical."""


def flat_torus(chips: int) -> tuple[int, int]:
    """Return the sides of the most even rectangle for a number of chips.

    Each chip has two links, both copper.

    Raises
    ------
    ValueError
        If the chips do not form a rectangle with sides of at least two.

    Examples
    --------
    A TPU v5e pod.

    >>> flat_torus(256), flat_torus(128)
    ((16, 16), (8, 16))
    """
    short = next(n for n in range(math.isqrt(max(chips, 1)), 0, -1) if chips % n == 0)
    if short < 2:
        msg = f"{chips} chips do not form a rectangle"
        raise ValueError(msg)
    return short, chips // short


def torus(chips: int) -> Torus:
    """Size a torus of cubes of 64 chips, each with 144 copper links and 96 optical ends.

    Raises
    ------
    ValueError
        If the number of chips is not a multiple of 64; the message names the next size that is.

    Examples
    --------
    An Ironwood superpod of 9,216: 1.5 optics a chip.

    >>> t = torus(9216)
    >>> t.cubes, t.circuits, t.optical_ends / 9216
    (144, 6912, 1.5)
    """
    if chips < CUBE_CHIPS or chips % CUBE_CHIPS:
        near = max(round(chips / CUBE_CHIPS), 1) * CUBE_CHIPS
        msg = f"{chips} chips are not a multiple of {CUBE_CHIPS}; {near} are"
        raise ValueError(msg)
    cubes = chips // CUBE_CHIPS
    return Torus(cubes, cubes * CUBE_FACE_LINKS, cubes * CUBE_FACE_LINKS // 2, 3 * chips)
