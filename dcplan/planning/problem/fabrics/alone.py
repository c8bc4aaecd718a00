"""Halls with one server or rack-scale system: its accelerators need no network between nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from dcplan.fabric.effective import LinkSpeed
from dcplan.planning.problem.fabrics.ordered import MOST_ONE_SWITCH_PORTS
from dcplan.planning.problem.terms import (
    NO_FABRIC,
    FabricOption,
    HallTerms,
    NetworkShare,
    Placement,
    PortClass,
)
from dcplan.scenario.schema import Scenario


def without_network(
    hall: HallTerms,
    placed: Sequence[Placement],
    scenario: Scenario,
    options: Sequence[FabricOption],
) -> list[FabricOption]:
    """Return the option of a hall without a network between nodes, if it may have one.

    It connects one rack of each class of NICs. A hall has it where it may have a single switch: it
    holds few NIC ports, and the scenario gives no number of tiers. A scenario with links between
    halls has none, because a link ends at a switch.
    """
    fixed = scenario.fabric is not None and scenario.fabric.tiers is not None
    served = {c for o in options for c in o.shares}
    most = sum(
        max(p.max_racks_unit * hall.count * p.ports for p in placed if p.port_class == c)
        for c in served
    )
    if fixed or scenario.links or most > MOST_ONE_SWITCH_PORTS:
        return []
    racks = {c: rack_ports(p for p in placed if p.port_class == c) for c in served}
    reach = {c: n for c, n in racks.items() if n}
    speeds: dict[PortClass, list[float]] = defaultdict(list)
    for option in options:
        for c, speed in option.speeds.items():
            speeds[c].append(speed.gbps)
    if not reach:
        return []
    return [
        FabricOption(
            hall=hall.id,
            id=NO_FABRIC,
            family=NO_FABRIC,
            topology=NO_FABRIC,
            tiers=0,
            protocol="",
            speeds={c: LinkSpeed(max(speeds[c]), 1.0, True) for c in reach},
            designs={},
            parts={},
            shares={c: NetworkShare(0.0, 0.0, 0.0, 0.0, 0.0, 0.0) for c in reach},
            reach=reach,
            switch_models=("", "", ""),
            switch_racks_units=1.0,
        )
    ]


def rack_ports(placed: Iterable[Placement]) -> int:
    r"""Return the NIC ports up to which a hall holds one rack whose accelerators need no network.

    It is the largest :math:`p_k` with :math:`p_k < 2 \min_j p_j` and no smaller rack that needs a
    network; 0 if the smallest rack needs one. A rack needs none if its accelerators are one scale-up
    domain, or if it is one server. More than one rack never has so few ports.

    Parameters
    ----------
    placed : iterable of Placement
        Placements of one class of NICs in a hall.
    """
    racks = {(p.ports, p.self_contained) for p in placed}
    two = 2 * min(ports for ports, _ in racks)
    most = min((ports for ports, contained in racks if not contained), default=two)
    return max((ports for ports, _ in racks if ports < min(two, most)), default=0)
