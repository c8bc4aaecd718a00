"""Tree networks from the attached nodes: with or without rails, in planes, in pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dcplan.fabric.bom import Fills
from dcplan.fabric.topology.clos import Counts, leaves, size
from dcplan.fabric.topology.design import ClosDesign, design
from dcplan.fabric.topology.kinds import TREES
from dcplan.fabric.topology.wiring import Wiring, even, leaf_fills, upper_fills

MOST_TIERS = 3


@dataclass(frozen=True)
class Attached:
    """Nodes and links that a network connects."""

    nodes: int
    nics_per_node: int
    management_links: int = 0
    """Additional links on leaf switches, such as those of fabric managers, per plane."""


@dataclass(frozen=True)
class Ports:
    """Design of a tree; None values follow from radix and oversubscription."""

    radix: int
    planes: int = 1
    nodes_per_su: int = 1
    leaf_spine: float = 1.0
    """Oversubscription of a leaf switch."""
    spine_core: float = 1.0
    endpoints_per_leaf: int | None = None
    leaf_up: int | None = None
    tiers: int | None = None
    spine_radix: int = 0
    """Ports of a spine switch if it differs from the leaf switch, such as a chassis."""
    core_radix: int = 0
    leaves_per_pod: int = 0
    min_spines: int = 1
    uplink_width: float = 1.0
    """Ports of node speed that one uplink uses: 2 for 400 Gb/s uplinks on 200 Gb/s leaf
    switches."""


@dataclass(frozen=True)
class Network:
    """A sized network."""

    plan: ClosDesign
    counts: Counts
    fills: Fills
    parallel: int = 1
    """Number of identical independent networks (separate rails), included in ``counts``."""
    taper: float | None = None
    """Taper of a dragonfly: injection rate of a group over its global links. Local links count as leaf-spine
    links and global ones as spine-core links."""
    wiring: Wiring | None = None
    """Wiring of one plane of one parallel network, if its cables can be listed."""


def tree(attached: Attached, ports: Ports, topology: str) -> Network:
    r"""Size a tree.

    ``rail-optimized``: a complete leaf group for each rail and scalable unit,
    :math:`L = SU\cdot r\cdot\lceil n_{su}/d\rceil`. ``fat-tree``: endpoints fill one leaf switch after the other,
    :math:`L = \lceil n r / d \rceil`. ``rail-only``: each rail is a separate network.
    ``collapsed-pair``: two switches in each plane that every node reaches, without spines.
    ``linked-pair``: two switches, each with half of the NICs, connected by the links that the
    oversubscription requires.

    Parameters
    ----------
    attached : Attached
        Nodes, NICs, management links.
    ports : Ports
        Radix at the link speed, planes, units, oversubscription.
    topology : str
        One of :data:`dcplan.fabric.topology.kinds.TREES`.

    Raises
    ------
    ValueError
        If the radix is odd, or the network fits no allowed number of tiers; the message states
        the violated rule and a valid alternative.

    References
    ----------
    .. [1] NVIDIA DGX SuperPOD reference architectures (H100, B200, B300, GB300), compute fabric tables.
    .. [2] DeepSeek-AI, 2025, arXiv 2505.09343, table 3.

    Examples
    --------
    >>> tree(Attached(127, 8, 4), Ports(64, nodes_per_su=32), "rail-optimized").counts
    Counts(leaf=32, spine=16, core=0, node_leaf_links=1020, leaf_spine_links=1024,
    spine_core_links=0)
    >>> tree(Attached(8192, 8), Ports(64), "rail-only").counts.switches
    5120
    """
    if topology not in TREES:
        msg = f"unknown topology {topology}: use one of {', '.join(TREES)}"
        raise ValueError(msg)
    odd = [r for r in (ports.radix, ports.spine_radix, ports.core_radix) if r % 2]
    if odd:
        msg = f"radix {odd[0]} is odd, but ports are split between downlinks and uplinks; use {odd[0] - 1}"
        raise ValueError(msg)
    if topology.endswith("pair"):
        return _pair(attached, ports, linked=topology == "linked-pair")
    reasons = []
    for tiers in [ports.tiers] if ports.tiers else range(1, MOST_TIERS + 1):
        try:
            return _tree(attached, ports, topology, tiers)
        except ValueError as error:
            reasons.append(f"{tiers} tier{'s' if tiers > 1 else ''}: {error}")
    msg = "; ".join(reasons)
    raise ValueError(msg)


def _tree(attached: Attached, ports: Ports, topology: str, tiers: int) -> Network:
    alone = topology == "rail-only"
    rails, parallel = (1, attached.nics_per_node) if alone else (attached.nics_per_node, 1)
    on_rails = topology == "rail-optimized"
    plan = _plan(ports, tiers)
    groups = rails if on_rails else 1
    links = attached.nodes * rails + attached.management_links
    if tiers == 1:
        count = math.ceil(links / plan.radix)
    elif on_rails:
        count = leaves(attached.nodes, rails, ports.nodes_per_su, plan.leaf_down)
    else:
        count = math.ceil(links / plan.leaf_down)
    counts = size(plan, count, links, groups)
    per_su = ports.nodes_per_su if on_rails else 0
    wiring = Wiring(plan, attached.nodes, rails, count, per_su, attached.management_links, groups)
    filled = Fills(leaf_fills(wiring), *upper_fills(plan, count, groups)).times(
        plan.planes * parallel
    )
    return Network(plan, _times(counts, parallel), filled, parallel, wiring=wiring)


def _plan(ports: Ports, tiers: int) -> ClosDesign:
    plan = design(
        ports.radix,
        tiers,
        planes=ports.planes,
        leaf_spine=ports.leaf_spine,
        spine_core=ports.spine_core,
        endpoints_per_leaf=None if ports.leaf_up else ports.endpoints_per_leaf,
        spine_radix=ports.spine_radix,
        core_radix=ports.core_radix,
        leaves_per_pod=ports.leaves_per_pod,
        min_spines=ports.min_spines,
    )
    if ports.leaf_up is None or tiers == 1:
        return plan
    down = ports.endpoints_per_leaf or ports.radix - ports.leaf_up
    if down < 1 or (ports.endpoints_per_leaf is None and ports.leaf_up >= ports.radix):
        msg = f"{ports.leaf_up} uplinks leave no port of {ports.radix} for nodes"
        raise ValueError(msg)
    taken = down + ports.leaf_up * ports.uplink_width
    if taken > ports.radix:
        msg = f"{down} endpoints and {ports.leaf_up} uplinks need {taken:g} ports, but a leaf has {ports.radix}"
        raise ValueError(msg)
    return replace(plan, leaf_down=down, leaf_up=ports.leaf_up)


def _times(counts: Counts, n: int) -> Counts:
    return Counts(
        counts.leaf * n,
        counts.spine * n,
        counts.core * n,
        counts.node_leaf_links * n,
        counts.leaf_spine_links * n,
        counts.spine_core_links * n,
    )


def _pair(attached: Attached, ports: Ports, *, linked: bool) -> Network:
    endpoints = attached.nodes * attached.nics_per_node + attached.management_links
    half = math.ceil(endpoints / 2)
    width = ports.uplink_width
    between = math.ceil(half / (ports.leaf_spine * width) - 1e-9) if linked else 0
    taken = half + math.ceil(between * width)
    if taken > ports.radix:
        msg = (
            f"{endpoints} links do not fit a pair of {ports.radix}-port switches"
            f"{f' with {between} links between them' if linked else ''}: use rail-optimized or fat-tree"
        )
        raise ValueError(msg)
    plan = ClosDesign(
        ports.radix, 1, ports.planes, ports.radix - taken + half, between, ports.radix
    )
    p = ports.planes
    filled = Fills(even(2, endpoints, between)).times(p)
    return Network(plan, Counts(2 * p, 0, 0, endpoints * p, between * p, 0), filled)


def nearest(attached: Attached, ports: Ports, topology: str) -> str:
    """Return the nearest network that can be built, as the flags to change.

    It is empty if none was found.

    The order is: an even radix, any number of tiers, the ports that the radix allows, a unit
    as large as the network, no oversubscription, separate rails, a plain fat tree, and the
    maximum nodes.

    Examples
    --------
    >>> nearest(Attached(128, 8), Ports(63, nodes_per_su=32), "rail-optimized")
    '--radix 62'
    >>> nearest(Attached(5000, 8), Ports(64, tiers=2), "fat-tree")
    'leave --tiers out'
    """
    even_ports = replace(ports, radix=max(ports.radix - ports.radix % 2, 2))
    smaller = replace(even_ports, tiers=None, nodes_per_su=min(ports.nodes_per_su, attached.nodes))
    tries = [
        (f"--radix {even_ports.radix}", attached, even_ports, topology),
        ("leave --tiers out", attached, replace(even_ports, tiers=None), topology),
        (
            "leave --endpoints-per-leaf and --leaf-uplinks out",
            attached,
            replace(even_ports, tiers=None, endpoints_per_leaf=None, leaf_up=None),
            topology,
        ),
        (f"--nodes-per-su {smaller.nodes_per_su}", attached, smaller, topology),
        (
            "--oversubscription 1",
            attached,
            replace(even_ports, leaf_spine=1.0, spine_core=1.0),
            topology,
        ),
        ("leave --min-spines out", attached, replace(even_ports, min_spines=1), topology),
        (
            "leave --management-links out",
            replace(attached, management_links=0),
            even_ports,
            topology,
        ),
        ("--topology rail-only", attached, replace(even_ports, tiers=None), "rail-only"),
        ("--topology fat-tree", attached, replace(even_ports, tiers=None), "fat-tree"),
    ]
    for words, these, how, kind in tries:
        if _works(these, how, kind):
            return words
    low, high = 0, attached.nodes
    while low < high:
        middle = (low + high + 1) // 2
        fits = _works(replace(attached, nodes=middle), even_ports, topology)
        low, high = (middle, high) if fits else (low, middle - 1)
    radix = f"--radix {even_ports.radix} and " if even_ports.radix != ports.radix else ""
    return f"{radix}--nodes {low} is the most" if low else ""


def _works(attached: Attached, ports: Ports, topology: str) -> bool:
    try:
        tree(attached, ports, topology)
    except ValueError:
        return False
    return True
