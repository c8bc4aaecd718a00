"""The network that was asked for: sized, wired and placed on a floor."""

from __future__ import annotations

import math
from dataclasses import replace

from dcplan.answers.fabric.request import RACK_UNITS
from dcplan.answers.fabric.resolve import Asked
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.floor.groups import group_lengths
from dcplan.fabric.floor.lengths import Lengths
from dcplan.fabric.floor.placement import Floor, Hall, square_row
from dcplan.fabric.topology.direct import GROUP_SWITCHES, scheduled, slingshot
from dcplan.fabric.topology.networks import Network, nearest, tree
from dcplan.inputs.log import Ledger


def sized(asked: Asked) -> Network:
    """Size the network.

    Raises
    ------
    InputError
        When no network of that kind holds the nodes; with the rule and the nearest that works.
    """
    try:
        return _network(asked)
    except ValueError as error:
        problem = Problem("DC050", str(error), Place("fabric"), help=_next(asked))
        raise InputError([problem]) from error


def _network(asked: Asked) -> Network:
    ends = asked.attached.nodes * asked.attached.nics_per_node + asked.attached.management_links
    ports = asked.ports
    if asked.topology.endswith("scheduled"):
        rails = asked.attached.nics_per_node if asked.topology == "rail-scheduled" else 1
        return scheduled(ends, ports.radix, ports.leaf_up or 0, ports.spine_radix, rails)
    if asked.topology == "dragonfly":
        return slingshot(ends, ports.radix, asked.wish.links_per_pair)
    return tree(asked.attached, ports, asked.topology)


def _next(asked: Asked) -> str:
    if asked.topology == "scheduled":
        return "--topology rail-scheduled"
    if asked.topology == "dragonfly":
        return "leave --links-per-pair out"
    found = nearest(asked.attached, asked.ports, asked.topology)
    return found or "take more --planes or a switch of more ports"


def placed(asked: Asked, network: Network, ledger: Ledger) -> Hall | None:
    """The network's racks on a floor; None for networks whose cables are not named one by one."""
    if network.wiring is None:
        return None
    floor = _floor(asked, ledger)
    hall = Hall(network.wiring, floor, network.plan.planes * network.parallel)
    if asked.wish.racks_per_row:
        return hall
    racks = hall.units * hall.unit_racks + sum(hall.center_racks)
    return replace(hall, floor=replace(floor, racks_per_row=square_row(racks, floor)))


def groups_placed(asked: Asked, network: Network, ledger: Ledger) -> dict[str, Lengths]:
    """Cables of a dragonfly by tier: groups fill as many racks as asked for, as the family's, or
    as their nodes do.
    """
    floor = _floor(asked, ledger)
    group_nodes = math.ceil(GROUP_SWITCHES * network.plan.leaf_down / asked.attached.nics_per_node)
    usual = asked.family.group_racks if asked.family and not asked.wish.nodes_per_rack else None
    racks = usual or math.ceil(group_nodes / floor.nodes_per_rack)
    if not asked.wish.racks_per_row:
        every = network.counts.leaf // GROUP_SWITCHES * racks
        floor = replace(floor, racks_per_row=square_row(every, floor))
    return group_lengths(network.counts, racks, floor)


def _floor(asked: Asked, ledger: Ledger) -> Floor:
    leaf, spine, core = (
        _per_rack(m.rack_units.value if m and m.rack_units else 2.0, ledger) for m in asked.models
    )
    return Floor(
        nodes_per_rack=nodes_per_rack(asked, ledger),
        racks_per_row=asked.wish.racks_per_row
        or round(ledger.parameter("network", "racks-per-row")),
        rack_pitch_m=ledger.parameter("network", "rack-pitch-m"),
        row_pitch_m=ledger.parameter("network", "row-pitch-m"),
        drop_m=ledger.parameter("network", "cable-drop-m"),
        in_rack_m=ledger.parameter("network", "in-rack-cable-m"),
        slack_frac=ledger.parameter("network", "cable-slack-frac"),
        leaf_rack_switches=leaf,
        spine_rack_switches=spine,
        core_rack_switches=core,
        leaf_at=asked.wish.leaf_at,
    )


def _per_rack(units: float, ledger: Ledger) -> int:
    return max(math.floor(ledger.parameter("network", "network-rack-units") / units), 1)


def nodes_per_rack(asked: Asked, ledger: Ledger) -> int:
    """Nodes of a rack: as typed, of the reference design, of a rack system, by height, or four."""
    system = asked.system
    if asked.wish.nodes_per_rack:
        return asked.wish.nodes_per_rack
    if system and system.nodes_per_rack:
        return system.nodes_per_rack
    if system and system.form != "server":
        return max(asked.attached.nodes // asked.wish.nodes // max(system.racks, 1), 1)
    if system and system.rack_units:
        return max(math.floor(RACK_UNITS / system.rack_units.value), 1)
    return round(ledger.parameter("network", "nodes-per-rack"))
