"""What ``dcplan fabric`` is asked, with every name looked up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

from dcplan.answers.common.catalog_rows import unknown
from dcplan.answers.fabric.request import RACK_UNITS, Wish, choices
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Row, Switch, System
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.topology.networks import TREES, Attached, Ports
from dcplan.inputs.recovery import hosts_of

R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Asked:
    """A network with every name looked up."""

    wish: Wish
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

    @property
    def accelerators(self) -> int | None:
        """Accelerators that the network joins, where the system is known."""
        return self.wish.nodes * self.system.accelerators if self.system else None

    @property
    def models(self) -> tuple[Switch | None, Switch | None, Switch | None]:
        """Switches of the three tiers."""
        return self.leaf, self.spine, self.core

    @property
    def protocol(self) -> str:
        """Protocol of the leaves; Ethernet where only a radix is given."""
        return self.leaf.protocol if self.leaf else "ethernet"

    @property
    def balancing(self) -> str:
        """How flows are spread over paths."""
        if self.wish.load_balancing:
            return self.wish.load_balancing
        if self.topology.endswith("scheduled"):
            return "scheduled"
        if self.family:
            return self.family.load_balancing
        return "adaptive" if self.protocol in {"infiniband", "slingshot"} else "ecmp"


def resolve(wish: Wish, catalog: Catalog) -> Asked:
    """Look up every name and fill what is left out from the system and the fabric family.

    Raises
    ------
    InputError
        With every problem: unknown names, missing amounts, a NIC faster than a port.
    """
    problems: list[Problem] = []
    machine = _row(catalog, "systems", wish.system, System, problems)
    family = _row(catalog, "fabrics", wish.fabric, Fabric, problems)
    leaf = _row(
        catalog, "switches", wish.switch or (family.leaf if family else None), Switch, problems
    )
    above = _row(
        catalog,
        "switches",
        wish.spine_switch or (family.spine if family else None),
        Switch,
        problems,
    )
    top = _row(
        catalog, "switches", wish.core_switch or (family.core if family else None), Switch, problems
    )
    problems += choices(wish)
    planes = wish.planes or (family.planes if family else 1)
    per_su = wish.nodes_per_su or (machine.nodes_per_su if machine else None) or 1
    topology = _topology(wish, machine, family, per_su)
    hosts, nics, gbps = _nics(wish, machine, planes, topology, problems)
    link = gbps / planes
    cells = (
        leaf.fabric_gbps.value
        if leaf and leaf.fabric_gbps and topology.endswith("scheduled")
        else None
    )
    between = wish.uplink_gbps or cells or link
    radix = _radix(wish, leaf, gbps, link, planes, topology, problems)
    spine = wish.spine_radix or _ports(
        above or (leaf if between != link else None), between, planes, problems
    )
    core = wish.core_radix or _ports(top, between, planes, problems)
    if topology.endswith("scheduled") and (leaf is None or leaf.fabric_ports is None or not spine):
        cause = "a scheduled fabric needs a family whose leaf has fabric ports and whose spine is in the catalog"
        problems.append(
            Problem("DC050", cause, Place("--fabric"), help="--fabric eth-400-scheduled")
        )
    own = above or leaf
    problems += _consistent(wish, machine, (leaf, above, top), topology)
    if problems:
        raise InputError(problems)
    if wish.nodes_per_su is None and machine and machine.form == "server":
        per_su = _whole_leaves(per_su, wish, radix)
    ports = Ports(
        radix,
        planes,
        per_su,
        wish.oversubscription,
        wish.core_oversubscription,
        wish.endpoints_per_leaf,
        wish.leaf_uplinks,
        wish.tiers,
        spine,
        core,
        wish.leaves_per_pod or 0,
        wish.least_spines or 1,
    )
    cage = wish.nic_ports_per_cage or max(
        machine.scaleout_ports_per_cage if machine else 1,
        family.nic_ports_per_cage if family else 1,
    )
    attached = Attached(wish.nodes * hosts, nics, wish.management_links)
    return Asked(
        wish,
        attached,
        _mixed(ports, link, between, leaf, topology),
        topology,
        link,
        between,
        leaf,
        own,
        top or own,
        family,
        machine,
        cage,
    )


def _topology(wish: Wish, machine: System | None, family: Fabric | None, per_su: int) -> str:
    """As typed; a torus of chips that have links of their own; the family's; rails where units are
    known.
    """
    if wish.topology:
        return wish.topology
    if machine and "ici" in machine.protocols and not (wish.switch or wish.fabric or wish.radix):
        return "torus"
    if family and family.topology not in TREES:
        return family.topology
    return "rail-optimized" if per_su > 1 else "fat-tree"


def _whole_leaves(per_su: int, wish: Wish, radix: int) -> int:
    """Units of servers that fill leaves: 72 nodes are for leaves of 72 ports, with leaves of 64 a
    unit has 64.
    """
    down = wish.endpoints_per_leaf or math.floor(
        radix * wish.oversubscription / (1.0 + wish.oversubscription) + 1e-9
    )
    return per_su // down * down if down and per_su > down else per_su


def _mixed(ports: Ports, link: float, between: float, leaf: Switch | None, topology: str) -> Ports:
    """Leaf ports where those between switches have another speed: as many as carry what the ratio
    asks for.
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


def _nics(
    wish: Wish, machine: System | None, planes: int, topology: str, problems: list[Problem]
) -> tuple[int, int, float]:
    """Hosts of a system, NICs of a host and their rate."""
    hosts = hosts_of(machine) if machine else 1
    nics, gbps = wish.nics_per_node or 0, wish.nic_gbps or 0.0
    if machine and machine.scaleout_ports:
        nics = nics or machine.scaleout_ports // hosts
    if machine and machine.scaleout_port_gbps:
        gbps = gbps or machine.scaleout_port_gbps.value
    gbps = gbps or (wish.port_gbps or 0.0) * planes
    if topology == "torus":
        return hosts, nics or 1, gbps or 1.0
    needed = {"--nics-per-node": nics, "--nic-gbps": gbps}
    problems += [
        Problem("DC050", f"{flag} is needed", Place("fabric"))
        for flag, value in needed.items()
        if not value
    ]
    return hosts, nics, gbps


def _radix(
    wish: Wish,
    leaf: Switch | None,
    gbps: float,
    link: float,
    planes: int,
    topology: str,
    problems: list[Problem],
) -> int:
    """Ports of a leaf at the link speed."""
    if topology == "torus":
        return 2
    if wish.radix:
        if wish.port_gbps is not None and link > wish.port_gbps:
            cause = f"a NIC of {gbps:g} Gb/s in {planes} planes is faster than a port of {wish.port_gbps:g}"
            mend = f"--planes {math.ceil(gbps / wish.port_gbps)}"
            problems.append(Problem("DC050", cause, Place("--nic-gbps"), help=mend))
        return wish.radix
    if leaf is None:
        if not problems:
            problems.append(
                Problem("DC050", "--switch, --radix or --fabric is needed", Place("fabric"))
            )
        return 0
    return _ports(leaf, link, planes, problems)


def _ports(model: Switch | None, link: float, planes: int, problems: list[Problem]) -> int:
    """Ports of a switch at a speed; 0 without a switch."""
    if model is None or not link:
        return 0
    found = model.ports.get(f"{link:g}", 0)
    if found:
        return found
    speeds = ", ".join(
        f"{n} x {rate}" for rate, n in sorted(model.ports.items(), key=lambda p: float(p[0]))
    )
    slower = [float(rate) for rate in model.ports if link % float(rate) == 0 and float(rate) < link]
    mend = (
        f"--planes {round(planes * link / max(slower))}"
        if slower
        else "dcplan catalog list switches"
    )
    cause = f"{model.id} has no {link:g} Gb/s ports: it has {speeds}"
    problems.append(Problem("DC050", cause, Place("--switch"), help=mend))
    return 0


def _consistent(
    wish: Wish, machine: System | None, models: tuple[Switch | None, ...], topology: str
) -> list[Problem]:
    """Parts that do not go together."""
    found = []
    leaf = models[0]
    for flag, model in (("--spine-switch", models[1]), ("--core-switch", models[2])):
        if leaf and model and model.protocol != leaf.protocol:
            cause = f"{model.id} speaks {model.protocol}, {leaf.id} {leaf.protocol}"
            found.append(Problem("DC050", cause, Place(flag), help=f"{flag} {leaf.id}"))
    if wish.load_balancing == "scheduled" and not topology.endswith("scheduled"):
        cause = f"cells are scheduled by their own switches, not in a {topology} network"
        found.append(
            Problem("DC050", cause, Place("--load-balancing"), help="--topology scheduled")
        )
    most = max(leaf.ports.values()) if leaf and wish.radix and wish.switch else 0
    if wish.radix and most and wish.radix > most:
        cause = f"{wish.radix} ports, {leaf.id if leaf else ''} has {most} at most"
        found.append(
            Problem("DC050", cause, Place("--radix"), help="leave --radix or --switch out")
        )
    if wish.nodes_per_rack and machine and machine.rack_units and machine.form == "server":
        fits = int(RACK_UNITS // machine.rack_units.value)
        if wish.nodes_per_rack > fits:
            cause = f"{wish.nodes_per_rack} x {machine.rack_units.value:g} U do not fit a rack of {RACK_UNITS} U"
            found.append(
                Problem("DC050", cause, Place("--nodes-per-rack"), help=f"--nodes-per-rack {fits}")
            )
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
