"""Size, wiring and floor placement of a requested network."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dcplan.answers.fabric.devices import rack_limits
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.catalog.schema import Switch
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.floor.groups import group_lengths
from dcplan.fabric.floor.lengths import STOCK_M, Lengths, lengths, stock
from dcplan.fabric.floor.placement import Floor, Hall, square_row
from dcplan.fabric.topology.direct import GROUP_SWITCHES, scheduled, slingshot
from dcplan.fabric.topology.networks import Network, nearest, tree
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import switch_units


def sized(resolved: ResolvedFabric) -> Network:
    """Size the network.

    Raises
    ------
    InputError
        When no network of that kind fits the nodes; the error names the rule and the nearest valid
        size.
    """
    try:
        return _network(resolved)
    except ValueError as error:
        problem = Problem("DC050", str(error), Place("fabric"), help=_next(resolved))
        raise InputError([problem]) from error


def _network(resolved: ResolvedFabric) -> Network:
    attached, ports = resolved.attached, resolved.ports
    ends = attached.nodes * attached.nics_per_node + attached.management_links
    if resolved.topology.endswith("scheduled"):
        rails = attached.nics_per_node if resolved.topology == "rail-scheduled" else 1
        return scheduled(ends, ports.radix, ports.leaf_up or 0, ports.spine_radix, rails)
    if resolved.topology == "dragonfly":
        return slingshot(ends, ports.radix, resolved.request.links_per_pair)
    return tree(attached, ports, resolved.topology)


def _next(resolved: ResolvedFabric) -> str:
    if resolved.topology == "scheduled":
        return "--topology rail-scheduled"
    if resolved.topology == "dragonfly":
        return "omit --links-per-pair"
    found = nearest(resolved.attached, resolved.ports, resolved.topology)
    return found or "use more --planes or a switch with more ports"


def placed(resolved: ResolvedFabric, network: Network, log: InputLog) -> Hall | None:
    """Place the network's racks on a floor; None for networks without a cable list."""
    if network.wiring is None:
        return None
    floor = _floor(resolved, log)
    hall = Hall(network.wiring, floor, network.plan.planes * network.parallel)
    _refuse_full_racks(resolved, hall, log)
    if resolved.request.racks_per_row:
        return hall
    racks = hall.units * hall.unit_racks + sum(hall.center_racks)
    return replace(hall, floor=replace(floor, racks_per_row=square_row(racks, floor)))


def _refuse_full_racks(resolved: ResolvedFabric, hall: Hall, log: InputLog) -> None:
    """Refuse racks of nodes, with leaves if they are there, that exceed height, weight or power.

    Raises
    ------
    InputError
        With the units, kg or kW of nodes and leaves, and those of a rack.
    """
    system, floor = resolved.system, hall.floor
    limit = rack_limits.limits(resolved)
    racked = min(floor.nodes_per_rack, hall.wiring.nodes)
    load = rack_limits.node_load(resolved).times(racked)
    if system is not None:
        rack_limits.refuse(f"{racked} nodes of {system.id}", load, limit)
    if floor.leaf_at != "rack" or system is None:
        return
    row, column = hall.leaf_at(np.arange(hall.wiring.leaf_count), 0)
    _, counts = np.unique(np.stack([row, column]), axis=1, return_counts=True)
    leaves = int(counts.max()) * hall.copies
    height = log.parameter("facility", "rack-units")
    leaf = f"{leaves} x {resolved.leaf.id if resolved.leaf else 'leaf'}"
    cause = ""
    if system.form != "server":
        cause = f"{leaf} do not fit in a rack of {system.id}, which is sold as a full rack"
    elif system.rack_units is not None:
        nodes = racked
        used = nodes * system.rack_units.value + leaves * switch_units(resolved.leaf, log)
        both = load.plus(rack_limits.switch_load(resolved.leaf).times(leaves))
        rack_limits.refuse(f"{nodes} x {system.id} and {leaf}", both, limit)
        if used > height:
            what = f"{nodes} x {system.id} and {leaf}"
            cause = f"{what} do not fit in a rack: {used:g} U of {height:g} U"
    if cause:
        help_text = "--leaf-placement unit, or fewer --nodes-per-rack"
        problem = Problem("DC050", cause, Place("--leaf-placement"), help=help_text)
        raise InputError([problem])


def lengths_of(
    resolved: ResolvedFabric, network: Network, hall: Hall | None, log: InputLog
) -> dict[str, Lengths]:
    """Return cables of every tier by length.

    Lengths are measured on the floor; networks without a placement use the catalog's average
    length. Between switches, a requested length takes precedence.
    """
    c, length_m = network.counts, resolved.request.cable_length_m
    if hall is not None:
        found = lengths(hall)
    elif network.taper is not None:
        found = _groups(resolved, network, log)
    else:
        meters = log.parameter("power", "cable-length-m")
        second = "leaf-spine" if c.spine else "leaf-leaf"
        tiers = {
            "node-leaf": c.node_leaf_links,
            second: c.leaf_spine_links,
            "spine-core": c.spine_core_links,
        }
        found = {tier: _all_at(meters, n) for tier, n in tiers.items() if n}
    if length_m is not None:
        between = {t: x for t, x in found.items() if t != "node-leaf"} or found
        found = found | {t: _all_at(length_m, x.cables) for t, x in between.items()}
    return found


def _all_at(meters: float, cables: int) -> Lengths:
    counts = np.zeros(STOCK_M.size + 1, dtype=np.int64)
    counts[int(stock(np.array([meters]))[0])] = cables
    return Lengths(counts, meters * cables, meters)


def _groups(resolved: ResolvedFabric, network: Network, log: InputLog) -> dict[str, Lengths]:
    """Return cables of a dragonfly by tier.

    The racks per group come from the request, the fabric family, or the number of nodes.
    """
    floor, request, family = _floor(resolved, log), resolved.request, resolved.family
    nics = resolved.attached.nics_per_node
    group_nodes = math.ceil(GROUP_SWITCHES * network.plan.leaf_down / nics)
    usual = family.group_racks if family and not request.nodes_per_rack else None
    racks = usual or math.ceil(group_nodes / floor.nodes_per_rack)
    if not request.racks_per_row:
        every = network.counts.leaf // GROUP_SWITCHES * racks
        floor = replace(floor, racks_per_row=square_row(every, floor))
    return group_lengths(network.counts, racks, floor)


def _floor(resolved: ResolvedFabric, log: InputLog) -> Floor:
    limit = rack_limits.limits(resolved)
    leaf, spine, core = (_per_rack(m, limit, log) for m in resolved.models)
    return Floor(
        nodes_per_rack=nodes_per_rack(resolved, log),
        racks_per_row=resolved.request.racks_per_row
        or round(log.parameter("network", "racks-per-row")),
        rack_pitch_m=log.parameter("network", "rack-pitch-m"),
        row_pitch_m=log.parameter("network", "row-pitch-m"),
        drop_m=log.parameter("network", "cable-drop-m"),
        in_rack_m=log.parameter("network", "in-rack-cable-m"),
        slack_frac=log.parameter("network", "cable-slack-frac"),
        leaf_rack_switches=leaf,
        spine_rack_switches=spine,
        core_rack_switches=core,
        leaf_at=resolved.request.leaf_placement,
    )


def _per_rack(row: Switch | None, limit: rack_limits.Load, log: InputLog) -> int:
    """Return the switches of a network rack: by height, and by weight and power if limited."""
    most = math.floor(log.parameter("network", "network-rack-units") / switch_units(row, log))
    name = row.id if row else "switch"
    return rack_limits.fit_count(name, rack_limits.switch_load(row), max(most, 1), limit)


def nodes_per_rack(resolved: ResolvedFabric, log: InputLog) -> int:
    """Return the nodes per rack.

    In order of precedence: the request, the system's reference design, a rack-scale system, the
    height of a rack, the catalog's default. Weight and power of a rack lower those that the request
    leaves open.
    """
    request, system = resolved.request, resolved.system
    if request.nodes_per_rack:
        return request.nodes_per_rack
    if system and system.form != "server" and not system.nodes_per_rack:
        return max(resolved.attached.nodes // request.nodes // max(system.racks, 1), 1)
    if system and system.nodes_per_rack:
        most = system.nodes_per_rack
    elif system and system.rack_units:
        height = log.parameter("facility", "rack-units")
        most = max(math.floor(height / system.rack_units.value), 1)
    else:
        most = round(log.parameter("network", "nodes-per-rack"))
    name = system.id if system else "node"
    return rack_limits.fit_count(
        name, rack_limits.node_load(resolved), most, rack_limits.limits(resolved)
    )
