"""Exact network of each hall, with integer switch counts, from the racks ordered by quarter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dcplan.fabric.bom import Bill, bill
from dcplan.fabric.topology.clos import Counts
from dcplan.fabric.topology.connected import Nodes, connect
from dcplan.planning.problem.terms import FabricOption, Placement, PlanningProblem, PortClass

P = tuple[str, str, str]
"""Hall, cooling and system."""


@dataclass(frozen=True)
class Network:
    """Switches, cost, power and space of the network of one hall at one time."""

    counts: Counts
    switches: dict[str, int]
    usd: float
    kw: float
    racks: float
    transceivers: int
    ports: int
    parts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Number of parts by NIC class and role: leaf, spine, core, switch optic, node optic, cable."""


EMPTY = Network(Counts(0, 0, 0, 0, 0, 0), {}, 0.0, 0.0, 0.0, 0, 0)


def exact_network(
    problem: PlanningProblem, hall: str, option_id: str | None, racks: Mapping[P, int]
) -> Network:
    """Size the fabric of a hall for the given racks of each placement.

    Every NIC class has its own leaf switches. Counts of switches and scalable units are integers,
    and the number of spine switches divides the leaf uplinks.

    Raises
    ------
    ValueError
        If the racks exceed the reach of the chosen tiers, or need a network in a hall without one.
    """
    option = next((o for o in problem.fabrics if o.hall == hall and o.id == option_id), None)
    if option is None:
        return EMPTY
    if not option.tiers:
        return _no_network(problem, option, racks)
    groups: dict[PortClass, dict[str, list[Placement]]] = defaultdict(lambda: defaultdict(list))
    for place in problem.placements:
        if place.hall == hall and racks.get(place.key, 0) > 0 and place.port_class in option.shares:
            groups[place.port_class][place.system].append(place)
    total = EMPTY
    for ports, systems in groups.items():
        total = _plus(total, _class_network(option, ports, list(systems.values()), racks))
    return total


def _no_network(problem: PlanningProblem, option: FabricOption, racks: Mapping[P, int]) -> Network:
    """Return no switch, optic or cable for one rack of each NIC class."""
    placed = [p for p in problem.placements if p.hall == option.hall and racks.get(p.key, 0) > 0]
    connected = [p for p in placed if p.port_class in option.shares]
    for ports in option.shares:
        own = [p for p in connected if p.port_class == ports]
        if sum(racks[p.key] for p in own) > 1 or not all(p.self_contained for p in own):
            msg = f"more than one rack in {option.hall} needs a network between nodes"
            raise ValueError(msg)
    return replace(EMPTY, ports=sum(racks[p.key] * p.ports for p in connected))


def _class_network(
    option: FabricOption, ports: PortClass, systems: list[list[Placement]], racks: Mapping[P, int]
) -> Network:
    nics = [sum(racks[p.key] * p.ports for p in places) for places in systems]
    rails = [places[0].rails for places in systems]
    nodes = [Nodes(-(-n // r), r) for n, r in zip(nics, rails, strict=True)]
    counts, fills = connect(
        option.topology, option.designs[ports], ports.unit(option.designs[ports].leaf_down), nodes
    )
    found: Bill = bill(counts, option.parts[ports], fills)
    switches: dict[str, int] = defaultdict(int)
    for model, number in zip(
        option.switch_models, (counts.leaf, counts.spine, counts.core), strict=True
    ):
        if number:
            switches[model] += number
    return Network(
        counts,
        dict(switches),
        found.capex_usd,
        found.power_kw,
        found.rack_units / option.switch_racks_units,
        found.switch_transceivers + found.node_transceivers,
        sum(nics),
        {
            (ports.id, "leaf"): counts.leaf,
            (ports.id, "spine"): counts.spine,
            (ports.id, "core"): counts.core,
            (ports.id, "switch optic"): found.switch_transceivers,
            (ports.id, "node optic"): found.node_transceivers,
            (ports.id, "cable"): found.cables,
        },
    )


def _plus(a: Network, b: Network) -> Network:
    counts = Counts(*(x + y for x, y in zip(_tuple(a.counts), _tuple(b.counts), strict=True)))
    switches = {
        m: a.switches.get(m, 0) + b.switches.get(m, 0) for m in {**a.switches, **b.switches}
    }
    return Network(
        counts,
        switches,
        a.usd + b.usd,
        a.kw + b.kw,
        a.racks + b.racks,
        a.transceivers + b.transceivers,
        a.ports + b.ports,
        {key: a.parts.get(key, 0) + b.parts.get(key, 0) for key in {**a.parts, **b.parts}},
    )


def _tuple(c: Counts) -> tuple[int, ...]:
    return c.leaf, c.spine, c.core, c.node_leaf_links, c.leaf_spine_links, c.spine_core_links
