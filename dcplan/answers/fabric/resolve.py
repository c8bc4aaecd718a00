"""The request of ``dcplan fabric`` with names resolved and defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcplan.answers.fabric.parts import ports as counts
from dcplan.answers.fabric.parts.named import Parts, mismatches, named_parts
from dcplan.answers.fabric.request import FabricRequest
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Switch, System
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.topology.kinds import ALONE, CLOS, TREES
from dcplan.fabric.topology.networks import Attached, Ports
from dcplan.fabric.topology.shape import RAILS, Shape, open_shape, open_split
from dcplan.inputs.recovery import hosts_of


@dataclass(frozen=True)
class ResolvedFabric:
    """A network with every name resolved."""

    request: FabricRequest
    attached: Attached
    ports: Ports
    topology: str
    link_gbps: float
    between_gbps: float
    leaf: Switch | None
    spine: Switch | None
    core: Switch | None
    family: Fabric | None
    system: System | None
    ports_per_cage: int = 1
    shape_note: str = ""
    """Reason for the shape, if it is not the usual one."""

    @property
    def accelerators(self) -> int | None:
        """Accelerators of the network, if the system is known."""
        return self.request.nodes * self.system.accelerators if self.system else None

    @property
    def models(self) -> tuple[Switch | None, Switch | None, Switch | None]:
        """Switches of the three tiers."""
        return self.leaf, self.spine, self.core

    @property
    def protocol(self) -> str:
        """Protocol of the leaf switches; Ethernet if only a radix is given."""
        return self.leaf.protocol if self.leaf else "ethernet"

    @property
    def nic_gbps(self) -> float:
        """Rate of a NIC over all planes [Gb/s]."""
        return self.link_gbps * self.ports.planes

    @property
    def balancing(self) -> str:
        """Load balancing of flows over paths."""
        if self.request.load_balancing:
            return self.request.load_balancing
        if self.topology.endswith("scheduled"):
            return "scheduled"
        if self.family:
            return self.family.load_balancing
        return "adaptive" if self.protocol in {"infiniband", "slingshot"} else "ecmp"


def resolve(request: FabricRequest, catalog: Catalog) -> ResolvedFabric:
    """Resolve every name, and fill in defaults from the system and the fabric family.

    Raises
    ------
    InputError
        With every problem: unknown names, missing amounts, a NIC faster than a port.
    """
    problems: list[Problem] = []
    parts = named_parts(request, catalog, problems)
    per_su = request.nodes_per_su or (parts.system.nodes_per_su if parts.system else None) or 1
    topology = _topology(parts, per_su)
    hosts = hosts_of(parts.system) if parts.system else 1
    nics, gbps = _nics(parts, hosts, topology, problems)
    link = gbps / parts.planes
    between = counts.between_gbps(parts, link, topology)
    ports = counts.port_counts(parts, link, between, topology, problems)
    if not problems:
        families = catalog.table("fabrics", Fabric).values()
        counts.refuse_slow_family(parts, link, families, problems)
    problems += mismatches(parts, topology)
    if problems:
        raise InputError(problems)
    own = parts.spine or parts.leaf
    ports = counts.mixed(replace(ports, nodes_per_su=per_su), link, between, parts.leaf, topology)
    attached = Attached(request.nodes * hosts, nics, request.management_links)
    shape = _shape(parts, attached, ports, topology, hosts)
    ports = replace(ports, nodes_per_su=shape.nodes_per_su)
    if shape.topology in CLOS and not request.growth_nodes:  # phases of a growth share one split
        ports = open_split(attached, ports, shape.topology)
    return ResolvedFabric(
        request,
        attached,
        ports,
        shape.topology,
        link,
        between,
        parts.leaf,
        own,
        parts.core or own,
        parts.family,
        parts.system,
        request.nic_ports_per_cage or counts.ports_per_cage(parts),
        shape.note,
    )


def _shape(parts: Parts, attached: Attached, ports: Ports, topology: str, hosts: int) -> Shape:
    """Return the shape of rails in units: what the request leaves open follows the nodes.

    A network that grows is shaped for its last size.
    """
    request = parts.request
    if topology != RAILS or request.nodes_per_su is not None:
        return Shape(topology, ports.nodes_per_su)
    rack_scale = parts.system and parts.system.form != "server"
    rack_nodes = hosts // max(parts.system.racks, 1) if rack_scale and parts.system else 1
    last = max(request.nodes, *request.growth_nodes) if request.growth_nodes else request.nodes
    found = open_shape(replace(attached, nodes=last * hosts), ports, max(rack_nodes, 1))
    if request.topology == RAILS and found.topology != RAILS:
        return Shape(RAILS, found.nodes_per_su)
    return found


def _topology(parts: Parts, per_su: int) -> str:
    """Choose the topology if the request leaves it open.

    Chips with direct links form a torus; otherwise the family's topology applies; scalable units of
    several nodes imply rails.
    """
    request, system, family = parts.request, parts.system, parts.family
    if request.topology:
        return request.topology
    named = request.switch or request.fabric or request.radix
    if system and "ici" in system.protocols and not named:
        return "torus"
    if family and (family.topology not in TREES or family.topology == ALONE):
        return family.topology
    return "rail-optimized" if per_su > 1 else "fat-tree"


def _nics(parts: Parts, hosts: int, topology: str, problems: list[Problem]) -> tuple[int, float]:
    """Return NICs of a host and their rate."""
    request, system = parts.request, parts.system
    nics, gbps = request.nics_per_node or 0, request.nic_gbps or 0.0
    if system and system.scaleout_ports:
        nics = nics or system.scaleout_ports // hosts
    if system and system.scaleout_port_gbps:
        gbps = gbps or system.scaleout_port_gbps.value
    gbps = gbps or (request.port_gbps or 0.0) * parts.planes
    if topology == "torus":
        return nics or 1, gbps or 1.0
    needed = {"--nics-per-node": nics, "--nic-gbps": gbps}
    problems += [
        Problem("DC050", f"{flag} is required", Place("fabric"))
        for flag, value in needed.items()
        if not value
    ]
    return nics, gbps
