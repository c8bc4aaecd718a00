"""The request of ``dcplan fabric`` with names resolved and defaults filled in."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

from dcplan.answers.common.catalog_rows import unknown
from dcplan.answers.fabric.request import FabricRequest
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Parameter, Row, Switch, System
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.topology.kinds import ALONE, TREES
from dcplan.fabric.topology.networks import Attached, Ports
from dcplan.fabric.topology.shape import RAILS, Shape, open_shape
from dcplan.inputs.recovery import hosts_of

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Parts:
    """A request with the catalog rows that it names."""

    request: FabricRequest
    system: System | None
    family: Fabric | None
    leaf: Switch | None
    spine: Switch | None
    """Set only if it differs from the leaf."""
    core: Switch | None
    """Set only if it differs from the spine."""
    rack_units: float
    """Height of a rack [U]."""

    @property
    def oversubscription(self) -> float:
        """Downlink over uplink capacity of a leaf: the request, the family, or 1."""
        if self.request.oversubscription is not None:
            return self.request.oversubscription
        own = self.family.oversubscription if self.family else None
        return own.value if own is not None else 1.0

    @property
    def planes(self) -> int:
        """Parallel networks; each has its share of the NIC's rate."""
        return self.request.planes or (self.family.planes if self.family else 1)


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
    parts = _named(request, catalog, problems)
    per_su = request.nodes_per_su or (parts.system.nodes_per_su if parts.system else None) or 1
    topology = _topology(parts, per_su)
    hosts = hosts_of(parts.system) if parts.system else 1
    nics, gbps = _nics(parts, hosts, topology, problems)
    link = gbps / parts.planes
    between = _between_gbps(parts, link, topology)
    ports = _port_counts(parts, link, between, topology, problems)
    problems += _mismatches(parts, topology)
    if problems:
        raise InputError(problems)
    own = parts.spine or parts.leaf
    ports = _mixed(replace(ports, nodes_per_su=per_su), link, between, parts.leaf, topology)
    attached = Attached(request.nodes * hosts, nics, request.management_links)
    shape = _shape(parts, attached, ports, topology, hosts)
    return ResolvedFabric(
        request,
        attached,
        replace(ports, nodes_per_su=shape.nodes_per_su),
        shape.topology,
        link,
        between,
        parts.leaf,
        own,
        parts.core or own,
        parts.family,
        parts.system,
        request.nic_ports_per_cage or _ports_per_cage(parts),
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


def _named(request: FabricRequest, catalog: Catalog, problems: list[Problem]) -> Parts:
    """Resolve every name; the default switches are those of the family."""
    system = _row(catalog, "systems", request.system, System, problems)
    family = _row(catalog, "fabrics", request.fabric, Fabric, problems)
    leaf, spine, core = (
        _row(catalog, "switches", name or usual, Switch, problems)
        for name, usual in (
            (request.switch, family.leaf if family else None),
            (request.spine_switch, family.spine if family else None),
            (request.core_switch, family.core if family else None),
        )
    )
    height = catalog.get("facility", "rack-units", Parameter).value.value
    return Parts(request, system, family, leaf, spine, core, height)


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


def _between_gbps(parts: Parts, link: float, topology: str) -> float:
    """Return the speed of links between switches [Gb/s]."""
    leaf = parts.leaf
    cells = leaf.fabric_gbps.value if leaf and leaf.fabric_gbps else None
    return parts.request.uplink_gbps or (cells if topology.endswith("scheduled") else None) or link


def _port_counts(
    parts: Parts, link: float, between: float, topology: str, problems: list[Problem]
) -> Ports:
    """Return ports of switches at the speeds of their links."""
    request, leaf = parts.request, parts.leaf
    radix = _radix(parts, link, topology, problems)
    above = parts.spine or (leaf if between != link else None)
    spine = request.spine_radix or _ports(above, between, parts.planes, problems)
    core = request.core_radix or _ports(parts.core, between, parts.planes, problems)
    if topology.endswith("scheduled") and (leaf is None or leaf.fabric_ports is None or not spine):
        cause = (
            "a scheduled fabric needs a family with fabric ports on the leaf and a spine in the "
            "catalog"
        )
        help_text = "--fabric eth-400-scheduled"
        problems.append(Problem("DC050", cause, Place("--fabric"), help=help_text))
    return Ports(
        radix,
        parts.planes,
        leaf_spine=parts.oversubscription,
        spine_core=request.core_oversubscription,
        endpoints_per_leaf=request.endpoints_per_leaf,
        leaf_up=request.leaf_uplinks,
        tiers=request.tiers,
        spine_radix=spine,
        core_radix=core,
        leaves_per_pod=request.leaves_per_pod or 0,
        min_spines=request.min_spines or 1,
    )


def _ports_per_cage(parts: Parts) -> int:
    """Return links behind one transceiver of a node, by the system and the family.

    A NIC that is split into planes has one cage: its transceiver carries the links of all planes.
    """
    own = parts.system.scaleout_ports_per_cage if parts.system else 1
    if parts.family and parts.planes == parts.family.planes:
        return max(own, parts.family.nic_ports_per_cage)
    return own * parts.planes


def _mixed(ports: Ports, link: float, between: float, leaf: Switch | None, topology: str) -> Ports:
    """Return the ports of a leaf whose uplinks have another speed.

    The uplinks provide the capacity that the oversubscription ratio requires.
    """
    if between == link:
        return ports
    if topology.endswith("scheduled") and leaf:
        return replace(
            Ports(ports.radix, ports.planes),
            leaf_up=leaf.fabric_ports,
            spine_radix=ports.spine_radix,
        )
    down = ports.endpoints_per_leaf or math.floor(
        ports.radix * ports.leaf_spine / (1.0 + ports.leaf_spine) + 1e-9
    )
    up = ports.leaf_up or math.ceil(down * link / (ports.leaf_spine * between) - 1e-9)
    return replace(ports, endpoints_per_leaf=down, leaf_up=up, uplink_width=between / link)


def _radix(parts: Parts, link: float, topology: str, problems: list[Problem]) -> int:
    """Return ports of a leaf at the link speed."""
    request, planes = parts.request, parts.planes
    if topology == "torus":
        return 2
    if request.radix:
        gbps, port_gbps = link * planes, request.port_gbps
        if port_gbps is not None and link > port_gbps:
            cause = f"a NIC of {gbps:g} Gb/s in {planes} planes is faster than a port of "
            help_text = f"--planes {math.ceil(gbps / port_gbps)}"
            place = Place("--nic-gbps")
            problems.append(Problem("DC050", f"{cause}{port_gbps:g}", place, help=help_text))
        return request.radix
    if parts.leaf is None:
        if not problems:
            cause = "--switch, --radix or --fabric is required"
            problems.append(Problem("DC050", cause, Place("fabric")))
        return 0
    return _ports(parts.leaf, link, planes, problems)


def _ports(model: Switch | None, link: float, planes: int, problems: list[Problem]) -> int:
    """Return ports of a switch at a speed; 0 without a switch."""
    if model is None or not link:
        return 0
    found = model.ports.get(f"{link:g}", 0)
    if found:
        return found
    speeds = ", ".join(
        f"{n} x {rate}" for rate, n in sorted(model.ports.items(), key=lambda p: float(p[0]))
    )
    slower = [float(rate) for rate in model.ports if link % float(rate) == 0 and float(rate) < link]
    help_text = (
        f"--planes {round(planes * link / max(slower))}"
        if slower
        else "dcplan catalog list switches"
    )
    cause = f"{model.id} has no {link:g} Gb/s ports; available ports: {speeds}"
    problems.append(Problem("DC050", cause, Place("--switch"), help=help_text))
    return 0


def _mismatches(parts: Parts, topology: str) -> list[Problem]:
    """Return problems of incompatible parts."""
    request, system, leaf = parts.request, parts.system, parts.leaf
    found = []
    for flag, model in (("--spine-switch", parts.spine), ("--core-switch", parts.core)):
        if leaf and model and model.protocol != leaf.protocol:
            cause = f"{model.id} uses {model.protocol}, but {leaf.id} uses {leaf.protocol}"
            found.append(Problem("DC050", cause, Place(flag), help=f"{flag} {leaf.id}"))
    if request.load_balancing == "scheduled" and not topology.endswith("scheduled"):
        cause = (
            f"cell scheduling needs scheduled switches and is not available in a {topology} network"
        )
        found.append(
            Problem("DC050", cause, Place("--load-balancing"), help="--topology scheduled")
        )
    pluggable = [m for m in (leaf, parts.spine, parts.core) if m and not m.co_packaged]
    if request.media == "cpo" and pluggable:
        cause = (
            "co-packaged optics are a part of the switch, and no NIC has them: "
            f"{pluggable[0].id} takes pluggable transceivers"
        )
        help_text = "--switch q3450-ld, or another switch with co-packaged optics, without --media"
        found.append(Problem("DC050", cause, Place("--media"), help=help_text))
    most = max(leaf.ports.values()) if leaf and request.radix and request.switch else 0
    if request.radix and most and request.radix > most:
        cause = (
            f"{request.radix} ports are requested, but {leaf.id if leaf else ''} has at most {most}"
        )
        found.append(Problem("DC050", cause, Place("--radix"), help="omit --radix or --switch"))
    if request.nodes_per_rack and system and system.rack_units and system.form == "server":
        fits = int(parts.rack_units // system.rack_units.value)
        if request.nodes_per_rack > fits:
            each = f"{request.nodes_per_rack} x {system.rack_units.value:g} U"
            cause = f"{each} do not fit in a rack of {parts.rack_units:g} U"
            help_text = f"--nodes-per-rack {fits}"
            found.append(Problem("DC050", cause, Place("--nodes-per-rack"), help=help_text))
    return found


def _row(
    catalog: Catalog, kind: str, name: str | None, model: type[R], problems: list[Problem]
) -> R | None:
    if name is None:
        return None
    row = catalog.find(kind, name, model)
    if row is None:
        problems.append(unknown(catalog, kind, name, "fabric"))
    return row
