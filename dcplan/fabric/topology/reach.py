"""Largest network of a design: the most nodes that its switches and tiers connect."""

from __future__ import annotations

import math

from dcplan.fabric.topology.wiring import Wiring


def most_nodes(wiring: Wiring) -> int:
    r"""Return the most nodes that the switches and tiers of a tree connect.

    A fat tree connects :math:`\lfloor (k_s d - m) / r \rfloor` nodes in two tiers and
    :math:`\lfloor (l_{max} k_c d - m) / r \rfloor` in three. With rails in units, leaf switches are
    limited to :math:`k_s` or :math:`l_{max} k_c`, and a unit takes :math:`r \lceil n_{su} / d \rceil`
    of them.

    Parameters
    ----------
    wiring : Wiring
        One plane of the tree.

    Examples
    --------
    Eight rails on 144 ports in two tiers: 18 units of 72 nodes.

    >>> from dcplan.fabric.topology.networks import Attached, Ports, tree
    >>> network = tree(Attached(72, 8), Ports(144, nodes_per_su=72), "rail-optimized")
    >>> most_nodes(network.wiring)
    1296
    """
    plan, rails, unit = wiring.plan, wiring.rails, wiring.nodes_per_su
    ends = plan.reach_endpoints - wiring.management_links
    if not unit or plan.tiers == 1:
        return ends // rails
    most_leaves = plan.reach_endpoints // plan.leaf_down
    if unit < plan.leaf_down:
        return min(most_leaves * plan.leaf_down // (unit * rails) * unit, ends // rails)
    return most_leaves // (rails * math.ceil(unit / plan.leaf_down)) * unit
