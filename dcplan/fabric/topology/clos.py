"""Two- and three-tier Clos networks: switches and links from the endpoint count."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.pods import pods


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
        """Return the number of all switches."""
        return self.leaf + self.spine + self.core


def parts_per_endpoint(plan: ClosDesign) -> tuple[float, float]:
    """Return switches and links per endpoint of all planes, without rounding.

    Examples
    --------
    >>> from dcplan.fabric.topology.design import design
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
    return plan.planes * (leaf + spine + over / plan.core_ports), plan.planes * (links + over)


def leaves(nodes: int, rails: int, nodes_per_su: int, leaf_down: int) -> int:
    r"""Return the leaf switches of one plane: a complete group per rail and scalable unit.

    .. math:: L = SU \\cdot r \\cdot \\lceil n_{su} / d \\rceil

    If the unit has fewer nodes than a leaf switch has ports, rails share leaf switches, and integer
    numbers count.

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


def size(plan: ClosDesign, leaf_count: int, node_links: int, groups: int = 1) -> Counts:
    r"""Return spines, cores and links above a number of leaves of one plane, for all planes.

    Spine switches follow :func:`pods`; core switches :math:`C = \lceil L_{sc} / k \rceil` for the links above the
    spines.

    Parameters
    ----------
    plan : ClosDesign
        Ports of each tier.
    leaf_count : int
        Leaves of one plane. [-]
    node_links : int
        Node-leaf links of one plane. [-]
    groups : int, default 1
        Rails with their own spine switches, as in :func:`pods`. [-]

    Raises
    ------
    ValueError
        If the leaf switches exceed the tiers.

    References
    ----------
    .. [1] NVIDIA DGX SuperPOD reference architectures RA-11333-001 V11 (H100), tables 3 and 4.

    Examples
    --------
    >>> from dcplan.fabric.topology.design import design
    >>> size(design(64, 2), 32, 1024)
    Counts(leaf=32, spine=16, core=0, node_leaf_links=1024, leaf_spine_links=1024,
    spine_core_links=0)
    >>> size(design(64, 3), 512, 16384)
    Counts(leaf=512, spine=512, core=256, node_leaf_links=16384, leaf_spine_links=16384,
    spine_core_links=16384)
    """
    if leaf_count == 0:
        return Counts(0, 0, 0, 0, 0, 0)
    _must_fit(plan, leaf_count)
    p = plan.planes
    if plan.tiers == 1:
        return Counts(leaf_count * p, 0, 0, node_links * p, 0, 0)
    found = pods(plan, leaf_count, groups)
    spine = sum(pod.pods * pod.spines for pod in found)
    spine_core = sum(pod.pods * pod.spines * pod.spine_up for pod in found)
    core = math.ceil(spine_core / plan.core_ports)
    return Counts(
        leaf_count * p,
        spine * p,
        core * p,
        node_links * p,
        leaf_count * plan.leaf_up * p,
        spine_core * p,
    )


def _must_fit(plan: ClosDesign, leaf_count: int) -> None:
    if plan.tiers == 1 and leaf_count > 1:
        msg = f"{leaf_count} leaves without a spine do not form one network"
        raise ValueError(msg)
    if plan.tiers == 2 and leaf_count > plan.spine_ports:
        msg = f"{leaf_count} leaves exceed the {plan.spine_ports} ports of a spine; use three tiers"
        raise ValueError(msg)
    most = plan.pod_room * plan.core_ports
    if plan.tiers == 3 and leaf_count > most:
        msg = f"{leaf_count} leaves exceed a three-tier network of radix {plan.radix}, which has at most {most}"
        raise ValueError(msg)
