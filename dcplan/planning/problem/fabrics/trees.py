"""Trees with complete leaf switches per scalable unit: cost per port, margins and reach."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping

from dcplan.fabric.bom import Parts
from dcplan.fabric.topology.design import ClosDesign
from dcplan.planning.problem.terms import Margin, NetworkShare, Placement, PortClass

MOST_SYSTEMS = 3
"""Systems in one hall whose partly empty units the reach allows for. With more, the exact network
may exceed the reach, which the audit reports."""


def max_ports(designs: Mapping[PortClass, ClosDesign], placed: Iterable[Placement]) -> int:
    """Return the ports that the tiers reach with an integer number of leaf switches per unit.

    Two tiers hold as many leaf switches as a spine switch has ports. A unit of n nodes needs
    ceil(n / d) leaf switches per rail, so partly used leaf switches reduce the reach. Each further
    system may leave one more unit partly empty; a hall holds at most ``MOST_SYSTEMS`` of them.
    """
    placed = list({p.system: p for p in placed}.values())
    reach = [d.reach_endpoints for d in designs.values()]
    nodes_of = {p.system: p.port_class.unit(designs[p.port_class].leaf_down) for p in placed}
    units = sorted((nodes_of[p.system] * p.rails for p in placed), reverse=True)
    for p in placed:
        plan, nodes = designs[p.port_class], nodes_of[p.system]
        unit = nodes * p.rails
        if plan.tiers == 2 and nodes >= plan.leaf_down:
            reach.append(plan.spine_ports // (p.rails * math.ceil(nodes / plan.leaf_down)) * unit)
        elif plan.tiers == 2:
            reach.append(plan.spine_ports * plan.leaf_down - unit)
    return max(min(reach) - sum(units[1:MOST_SYSTEMS]), 0)


def share(plan: ClosDesign, parts: Parts, nodes_per_su: int, rack_units: float) -> NetworkShare:
    """Return the network per NIC port: ideal fractions and upper values of switches and optics.

    The upper values cover the rounding to divisors.

    A full scalable unit has its own leaf switches per rail, ceil(n/d)/n per port; a smaller unit
    shares leaf switches, 1/d per port. Neither exceeds the exact count.
    """
    p, q = plan.planes, parts.leaf_optic_ports
    leaf = p * _leaves_per_port(plan, nodes_per_su)
    up = leaf * plan.leaf_up if plan.tiers > 1 else 0.0
    spine = up / plan.spine_down if plan.tiers > 1 else 0.0
    spine_core = spine * plan.spine_up if plan.tiers == 3 else 0.0
    core = spine_core / plan.core_ports
    worst = _worst_rounding(plan.leaf_up) if plan.tiers > 1 else 1.0
    pluggable = not parts.leaf_optic_inside
    cage = (p + 2 * (up + spine_core)) / q * pluggable
    half_filled = (2 * leaf + (plan.tiers - 1) * spine * worst + core) * (q - 1) / q * pluggable
    nodes = p / parts.node_optic_ports
    optics_usd = (
        cage * parts.leaf_optic_usd
        + nodes * parts.node_optic_usd
        + (p + up + spine_core) * parts.cable_usd
    )
    optics_kw = cage * parts.leaf_optic_kw + nodes * parts.node_optic_kw
    usd = leaf * parts.leaf_usd + core * parts.core_usd + optics_usd
    kw = leaf * parts.leaf_kw + core * parts.core_kw + optics_kw
    units = (leaf + spine + core) * parts.switch_units
    upper_units = (leaf + spine * worst + core) * parts.switch_units
    return NetworkShare(
        usd=usd + spine * parts.spine_usd,
        kw=kw + spine * parts.spine_kw,
        racks=units / rack_units,
        upper_usd=usd + worst * spine * parts.spine_usd + half_filled * parts.leaf_optic_usd,
        upper_kw=kw + worst * spine * parts.spine_kw + half_filled * parts.leaf_optic_kw,
        upper_racks=upper_units / rack_units,
        switches=leaf + spine + core,
        transceivers=cage + nodes,
        upper_switches=leaf + spine * worst + core,
        upper_transceivers=cage + half_filled + nodes,
    )


def _leaves_per_port(plan: ClosDesign, nodes_per_su: int) -> float:
    d = plan.leaf_down
    return math.ceil(nodes_per_su / d) / nodes_per_su if nodes_per_su >= d else 1.0 / d


def _worst_rounding(uplinks: int) -> float:
    """Return the largest ratio of a spine count rounded up to a divisor of the uplinks to itself."""
    divisors = [d for d in range(1, uplinks + 1) if uplinks % d == 0]
    pairs = itertools.pairwise(divisors)
    return max((high / (low + 1) for low, high in pairs), default=1.0)


def su_margin(plan: ClosDesign, parts: Parts, placement: Placement, rack_units: float) -> Margin:
    """Return USD, kW and network racks of one scalable unit that is started but not filled.

    They include one spine and one core switch.
    """
    nodes = placement.port_class.unit(plan.leaf_down)
    links = (
        nodes * placement.rails
        if nodes >= plan.leaf_down
        else nodes * placement.rails + plan.leaf_down
    )
    each = share(plan, parts, nodes, rack_units)
    extra_switches = (plan.tiers > 1) + (plan.tiers > 2)
    p = plan.planes
    # each spine switch of the last pod may have one more uplink than the ratio requires
    ports_up = plan.leaf_up if plan.tiers > 2 else 0
    optics = plan.spine_ports / parts.leaf_optic_ports * extra_switches + 2 * ports_up + 1
    cables = ports_up * parts.cable_usd
    usd = links * each.upper_usd + p * (
        extra_switches * max(parts.spine_usd, parts.core_usd)
        + optics * parts.leaf_optic_usd
        + cables
    )
    kw = links * each.upper_kw + p * (
        extra_switches * max(parts.spine_kw, parts.core_kw) + optics * parts.leaf_optic_kw
    )
    racks = links * each.upper_racks + p * extra_switches * parts.switch_units / rack_units + 1.0
    return Margin(usd, kw, racks)
