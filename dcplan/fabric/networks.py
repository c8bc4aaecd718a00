"""Any network from what is attached to it: fat trees on rails or not, scheduled fabrics, dragonflies, tori."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.fabric.clos import ClosDesign, Counts, design, leaves, size

TREES = ("rail-optimized", "fat-tree", "rail-only", "collapsed-pair")
MOST_TIERS = 3
GROUP_SWITCHES = 32
"""Switches of a Slingshot group (glennklockwood.com/garden/slingshot)."""
CUBE_CHIPS, CUBE_FACE_LINKS = 64, 96
"""A 4 x 4 x 4 cube: six faces of 16 links leave it (Jouppi et al. 2023, arXiv 2304.01433, section 2)."""


@dataclass(frozen=True)
class Attached:
    """What a network connects."""

    nodes: int
    nics_per_node: int
    management_links: int = 0
    """Further links on leaves, such as those of fabric managers; of one plane."""


@dataclass(frozen=True)
class Ports:
    """How a tree is to be built; what is None follows from the radix and the oversubscription."""

    radix: int
    planes: int = 1
    nodes_per_su: int = 1
    leaf_spine: float = 1.0
    """Down over up capacity of a leaf."""
    spine_core: float = 1.0
    endpoints_per_leaf: int | None = None
    leaf_up: int | None = None
    tiers: int | None = None


@dataclass(frozen=True)
class Network:
    """A sized network."""

    plan: ClosDesign
    counts: Counts
    parallel: int = 1
    """Independent networks alike (rails that do not meet), counted in ``counts``."""
    taper: float | None = None
    """Dragonfly: injection of a group over its global links. There local links count as leaf-spine links and global
    ones as spine-core links."""


def tree(attached: Attached, ports: Ports, topology: str) -> Network:
    r"""Size a fat tree.

    ``rail-optimized``: a leaf group for each rail and scalable unit, bought for the whole unit,
    :math:`L = SU\cdot r\cdot\lceil n_{su}/d\rceil`. ``fat-tree``: endpoints fill leaf after leaf,
    :math:`L = \lceil n r / d \rceil`. ``rail-only``: each rail is a network of its own. ``collapsed-pair``: two
    switches in each plane that every node reaches, without spines.

    Parameters
    ----------
    attached : Attached
        Nodes, NICs, management links.
    ports : Ports
        Radix at the link speed, planes, units, oversubscription.
    topology : str
        One of :data:`TREES`.

    Raises
    ------
    ValueError
        When the radix is odd, or no allowed number of tiers holds the network; the message says which rule fails
        and what would work.

    References
    ----------
    .. [1] NVIDIA DGX SuperPOD reference architectures (H100, B200, B300, GB300), compute fabric tables.
    .. [2] DeepSeek-AI, 2025, arXiv 2505.09343, table 3.

    Examples
    --------
    >>> tree(Attached(127, 8, 4), Ports(64, nodes_per_su=32), "rail-optimized").counts
    Counts(leaf=32, spine=16, core=0, node_leaf_links=1020, leaf_spine_links=1024, spine_core_links=0)
    >>> tree(Attached(8192, 8), Ports(64), "rail-only").counts.switches
    5120
    """
    if topology not in TREES:
        msg = f"topology {topology}: one of {', '.join(TREES)}"
        raise ValueError(msg)
    if ports.radix % 2:
        msg = f"radix {ports.radix} is odd: ports are split between down and up; {ports.radix - 1} works"
        raise ValueError(msg)
    if topology == "collapsed-pair":
        return _pair(attached, ports)
    rails = 1 if topology == "rail-only" else attached.nics_per_node
    parallel = attached.nics_per_node if topology == "rail-only" else 1
    allowed = [ports.tiers] if ports.tiers else list(range(1, MOST_TIERS + 1))
    reasons = []
    for tiers in allowed:
        try:
            plan = _plan(ports, tiers)
            count = _leaf_count(plan, attached.nodes, rails, ports.nodes_per_su, rail_optimized=topology == TREES[0])
            links = attached.nodes * rails + attached.management_links
            counts = size(plan, count, links)
        except ValueError as error:
            reasons.append(f"{tiers} tiers: {error}")
            continue
        return Network(plan, _times(counts, parallel), parallel)
    msg = "; ".join(reasons)
    raise ValueError(msg)


def _plan(ports: Ports, tiers: int) -> ClosDesign:
    plan = design(
        ports.radix,
        tiers,
        planes=ports.planes,
        leaf_spine=ports.leaf_spine,
        spine_core=ports.spine_core,
        endpoints_per_leaf=None if ports.leaf_up else ports.endpoints_per_leaf,
    )
    if ports.leaf_up is None or tiers == 1:
        return plan
    down = ports.endpoints_per_leaf or ports.radix - ports.leaf_up
    if down < 1 or (ports.endpoints_per_leaf is None and ports.leaf_up >= ports.radix):
        msg = f"{ports.leaf_up} uplinks leave no port of {ports.radix} for nodes"
        raise ValueError(msg)
    return ClosDesign(plan.radix, tiers, plan.planes, down, ports.leaf_up, plan.spine_down)


def _leaf_count(plan: ClosDesign, nodes: int, rails: int, per_su: int, *, rail_optimized: bool) -> int:
    """Leaves of one plane."""
    if plan.tiers == 1:
        return math.ceil(nodes * rails / plan.radix)
    if rail_optimized:
        return leaves(nodes, rails, per_su, plan.leaf_down)
    return math.ceil(nodes * rails / plan.leaf_down)


def _times(counts: Counts, n: int) -> Counts:
    return Counts(
        counts.leaf * n,
        counts.spine * n,
        counts.core * n,
        counts.node_leaf_links * n,
        counts.leaf_spine_links * n,
        counts.spine_core_links * n,
    )


def _pair(attached: Attached, ports: Ports) -> Network:
    endpoints = attached.nodes * attached.nics_per_node + attached.management_links
    if endpoints > 2 * ports.radix:
        msg = (
            f"{endpoints} links do not fit a pair of {ports.radix}-port switches: rail-optimized or fat-tree holds them"
        )
        raise ValueError(msg)
    plan = ClosDesign(ports.radix, 1, ports.planes, ports.radix, 0, ports.radix)
    return Network(plan, Counts(2 * ports.planes, 0, 0, endpoints * ports.planes, 0, 0))


def scheduled(endpoints: int, leaf_down: int, leaf_up: int, spine_radix: int) -> Network:
    """Scheduled fabric of cells: every leaf spreads over all spines, so spines need no divisor.

    Examples
    --------
    Jericho3-AI and Ramon3, 2,304 accelerators on 400 Gb/s are 1,152 ports of 800 (AMD's reference design of 2K):

    >>> scheduled(1152, 18, 20, 128).counts
    Counts(leaf=64, spine=10, core=0, node_leaf_links=1152, leaf_spine_links=1280, spine_core_links=0)
    """
    leaf = math.ceil(endpoints / leaf_down)
    spine = math.ceil(leaf * leaf_up / spine_radix)
    if leaf > spine_radix:
        msg = f"{leaf} leaves exceed the {spine_radix} ports of a spine: a third tier of cells is not sized"
        raise ValueError(msg)
    plan = ClosDesign(leaf_down + leaf_up, 2, 1, leaf_down, leaf_up, spine_radix)
    return Network(plan, Counts(leaf, spine, 0, endpoints, leaf * leaf_up, 0))


@dataclass(frozen=True)
class Dragonfly:
    """Groups of switches that all meet, and links between all pairs of groups."""

    switches: int
    endpoints: int
    local_links: int
    global_links: int
    taper: float
    """Injection of a group over its global links."""


def dragonfly(groups: int, per_group: int, endpoints_per_switch: int, links_per_pair: float) -> Dragonfly:
    r"""Dragonfly with a links between each pair of groups: :math:`G a (a-1)/2` local, :math:`q\,G(G-1)/2` global.

    Raises
    ------
    ValueError
        When a group has fewer than two switches, or there is no other group.

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
        msg = f"{groups} groups of {per_group} switches: a dragonfly has two of each at least"
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
    """A dragonfly of HPE's shape: 32 switches a group, a quarter of the ports to nodes, as many global links as fit.

    Raises
    ------
    ValueError
        When the groups ask for more global links than a group has ports, or none is left for a pair.

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
    pairs = links_per_pair or min(room, GROUP_SWITCHES * down // (groups - 1))
    if not 1 <= pairs <= room:
        msg = f"{groups} groups leave {room} links for each pair of groups, {pairs} are asked for"
        raise ValueError(msg)
    found = dragonfly(groups, GROUP_SWITCHES, down, pairs)
    plan = ClosDesign(radix, 2, 1, down, local, radix)
    counts = Counts(found.switches, 0, 0, endpoints, found.local_links, found.global_links)
    return Network(plan, counts, taper=found.taper)


@dataclass(frozen=True)
class Torus:
    """A 3D torus of cubes behind optical circuit switches."""

    cubes: int
    optical_ends: int
    circuits: int
    links: int
    """All links between chips, copper and optical."""


def torus(chips: int) -> Torus:
    """Cubes of 64 chips: 144 copper links inside, 96 optical ends out of each; three links a chip.

    Raises
    ------
    ValueError
        When the chips do not make whole cubes; the message names the next size that does.

    Examples
    --------
    An Ironwood superpod of 9,216: 1.5 optics a chip.

    >>> t = torus(9216)
    >>> t.cubes, t.circuits, t.optical_ends / 9216
    (144, 6912, 1.5)
    """
    if chips < CUBE_CHIPS or chips % CUBE_CHIPS:
        near = max(round(chips / CUBE_CHIPS), 1) * CUBE_CHIPS
        msg = f"{chips} chips do not make whole cubes of {CUBE_CHIPS}: {near} do"
        raise ValueError(msg)
    cubes = chips // CUBE_CHIPS
    return Torus(cubes, cubes * CUBE_FACE_LINKS, cubes * CUBE_FACE_LINKS // 2, 3 * chips)
