"""Integer switch counts: cost, power and space of a fabric in steps of its leaf switches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dcplan.fabric.topology.clos import leaves
from dcplan.fabric.topology.design import ClosDesign
from dcplan.planning.check_ids import Part
from dcplan.planning.problem.fabrics.network_steps import (
    COST,
    LOAD,
    Link,
    Step,
    leaf_steps,
    node_link,
    plain_steps,
    stepped,
    unit_steps,
)
from dcplan.planning.problem.terms import (
    FabricOption,
    HallTerms,
    LeafGroup,
    Placement,
    PlanningProblem,
    PortClass,
    SwitchSteps,
)
from dcplan.units import KW_PER_MW


def with_steps(problem: PlanningProblem, most: int, *, exact: bool) -> PlanningProblem:
    """Return the planning problem with steps of integer switch counts, if the model is small.

    The number of steps over all quarters is at most ``most``.

    With ``exact`` each system of a tree with units has its own leaf switches, and power and space
    have steps, too. Without, systems share leaf switches, and only the cost has steps, which is a lower
    bound with fewer integers.
    """
    placed = {h.id: [p for p in problem.placements if p.hall == h.id] for h in problem.halls}
    there = {
        key: sum(x.racks for x in problem.existing if x.in_service and x.key == key)
        for key in {x.key for x in problem.existing}
    }
    options = [
        _with_steps(o, problem.hall(o.hall), placed[o.hall], there, exact=exact)
        for o in problem.fabrics
    ]
    count = problem.quarters * sum(
        len(steps.widths) for o in options for steps in o.step_costs.values()
    )
    return (
        replace(problem, fabrics=tuple(options), integer_switches=True)
        if count <= most
        else problem
    )


def _with_steps(
    option: FabricOption,
    hall: HallTerms,
    placed: Iterable[Placement],
    there: Mapping[tuple[str, str, str], int],
    *,
    exact: bool,
) -> FabricOption:
    """Return the option with the steps of each NIC class.

    Steps of ports exist only where all systems of a class have the same number of rails; without
    steps the per-port shares count.

    ``there`` are racks of assets by placement: their ports stay connected after a sale, in
    addition to all ports that the hall can hold.
    """
    if not option.tiers:  # no switches
        return option
    costs: dict[PortClass, SwitchSteps] = {}
    loads: dict[PortClass, SwitchSteps] = {}
    for ports in option.shares:
        own = [p for p in placed if p.port_class == ports]
        found = _ladder(
            option, ports, _systems(own, hall, there), most_ports(hall, own), exact=exact
        )
        if found is None:
            continue
        steps, per_port, groups = found
        by_leaf = bool(groups)
        each = {"usd": per_port.usd, Part.TRANSCEIVERS: per_port.transceivers}
        cost = stepped(steps, COST if exact else COST[:1], each, by_leaf=by_leaf)
        costs[ports] = replace(cost, groups=groups)
        if exact:
            units = option.switch_racks_units
            load = stepped(steps, LOAD, {"kw": per_port.kw}, units, by_leaf=by_leaf)
            loads[ports] = replace(load, groups=groups)
    return replace(option, step_costs=costs, step_loads=loads)


def most_ports(hall: HallTerms, placed: Iterable[Placement]) -> int:
    """Return an upper bound on the NIC ports that the units of a hall hold together.

    A unit with several systems may hold more ports than a unit that one system fills: one may be
    limited by power and another by rack positions. So the bound of a unit is the smallest of the
    sum over systems, all positions with the most ports for each, and all power with the most
    ports for each kW; a unit has one cooling.
    """
    found: dict[str, list[Placement]] = {}
    for p in placed:
        found.setdefault(p.cooling, []).append(p)
    most = 0.0
    for own in found.values():
        alone = sum(p.max_racks_unit * p.ports for p in own)
        by_position = hall.racks * max(p.ports / p.slots if p.slots else math.inf for p in own)
        kw = [p.rated_kw + p.overhead_kw for p in own]
        by_power = (
            hall.it_mw
            * KW_PER_MW
            * max(p.ports / x if x else math.inf for p, x in zip(own, kw, strict=True))
        )
        most = max(most, min(alone, by_position, by_power))
    return math.floor(round(most, 6)) * hall.count


@dataclass(frozen=True)
class _System:
    """NICs of a node of a system, and the most ports that the hall can hold and has connected."""

    rails: int
    most: int
    given: int


def _systems(
    placed: Iterable[Placement], hall: HallTerms, there: Mapping[tuple[str, str, str], int]
) -> dict[str, _System]:
    found: dict[str, _System] = {}
    for p in placed:
        before = found.get(p.system, _System(p.rails, 0, 0))
        most = max(before.most, p.max_racks_unit * hall.count * p.ports)
        given = before.given + there.get(p.key, 0) * p.ports
        found[p.system] = _System(p.rails, most, given)
    return found


Ladder = tuple[list[Step], Link, Mapping[str, LeafGroup]]
"""Steps, one link to a node, and the groups of each system."""


def _ladder(
    option: FabricOption,
    ports: PortClass,
    systems: Mapping[str, _System],
    held: int,
    *,
    exact: bool,
) -> Ladder | None:
    """Return the steps of a NIC class; None if it has none. ``held`` are the most ports of all systems."""
    if not any(x.most + x.given for x in systems.values()):
        return None
    plan, parts, united = option.designs[ports], option.parts[ports], option.united
    link = node_link(plan, parts)
    if exact and united:
        groups = {k: leaf_group(plan, ports, x.rails) for k, x in systems.items()}
        most = sum(
            math.ceil((systems[k].most + systems[k].given) / g.ports) * g.leaves
            for k, g in groups.items()
        )
        steps = leaf_steps(plan, parts, most)
        return (steps, link, groups) if steps else None
    rails = {x.rails for x in systems.values()}
    if len(rails) > 1:
        return None
    each = rails.pop()
    all_ports = held + sum(x.given for x in systems.values())
    steps = (
        unit_steps(plan, parts, ports, each, all_ports)
        if united
        else plain_steps(option.topology, plan, parts, each, all_ports)
    )
    return (steps, link, {}) if steps else None


def leaf_group(plan: ClosDesign, ports: PortClass, rails: int) -> LeafGroup:
    """Return the leaf switches that a system fills together: those of a unit, or a single one.

    Where neither the ports of a unit nor those of a leaf switch divide the other, the groups are single
    leaf switches, which may be fewer than those of the network: a lower bound.

    Examples
    --------
    >>> from dcplan.fabric.topology.design import design
    >>> leaf_group(design(64, 2), PortClass(400.0, ("infiniband",), 32), 8)
    LeafGroup(ports=256, leaves=8)
    >>> leaf_group(design(64, 2), PortClass(400.0, ("infiniband",), 2), 8)
    LeafGroup(ports=32, leaves=1)
    >>> leaf_group(design(64, 2), PortClass(400.0, ("infiniband",), 8), 8)
    LeafGroup(ports=64, leaves=2)

    A unit of 16 nodes with 24 rails has 384 ports, 1.5 leaf switches of 256
    ports: 15 units have 23 leaf switches, and 5,520 ports need at least 22.

    >>> leaf_group(design(512, 2), PortClass(200.0, ("ethernet",), 16), 24)
    LeafGroup(ports=256, leaves=1)
    """
    nodes = ports.unit(plan.leaf_down)
    unit = nodes * rails
    if nodes >= plan.leaf_down:
        return LeafGroup(unit, leaves(nodes, rails, nodes, plan.leaf_down))
    if unit % plan.leaf_down:
        return LeafGroup(plan.leaf_down, 1)
    return LeafGroup(unit, unit // plan.leaf_down)
