"""Flags of a network that have no effect on the one that was sized."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

from dcplan.answers.fabric.request import FabricRequest
from dcplan.fabric.topology.kinds import ALONE, CLOS, DRAGONFLY, TREES

TORUS, COLLAPSED, LINKED = "torus", "collapsed-pair", "linked-pair"
MOST_TIERS = 3
CORES = ("leaves_per_pod", "core_oversubscription", "core_switch", "core_radix")
SPLIT = ("leaf_uplinks", "endpoints_per_leaf")
ABOVE = ("min_spines", *SPLIT, "spine_switch", "spine_radix")
SPINES = (*ABOVE, "oversubscription", "uplink_gbps")
UNITS, GROUPS, BALANCE = ("nodes_per_su",), ("links_per_pair",), ("load_balancing",)
TREE_ONLY = (*CORES, "min_spines", "tiers", *UNITS, *SPLIT, "oversubscription")
"""Flags of trees that no other topology reads."""
OPTICS = ("media", "nic_ports_per_cage")
FLOOR = ("racks_per_row", "leaf_placement")
SIDES = (
    "storage_gbps",
    "storage_oversubscription",
    "in_band_oversubscription",
    "out_of_band_gbps",
    "out_of_band_ports",
    "out_of_band_switch",
    "out_of_band_oversubscription",
)
TORUS_READS = ("nodes", "system", "topology", "catalogs")
ALWAYS = (
    *TORUS_READS,
    "nics_per_node",
    "nic_gbps",
    "fabric",
    "management_links",
    "switch",
    "radix",
    "planes",
    "nodes_per_rack",
    "rack_kg_max",
    "rack_kw_max",
    "cable_length_m",
    "growth_nodes",
    "compare",
    "for_job",
)
"""Flags that every network with switches reads, or whose conflicts are errors."""
REFUSED = (
    "tokens",
    "site_link_km",
    "site_link_gbps",
    "site_link_optic",
    "site_link_span_km",
    "site_link_router",
)
"""Flags of a question that is not asked are errors."""


@dataclass(frozen=True)
class Case:
    """What decides which flags a network has a place for."""

    topology: str
    tiers: int = MOST_TIERS
    priced: bool = True
    node_optics: bool = True
    storage_spines: int = 1
    in_band_spines: int = 1
    rate_known: bool = False
    """The rate of a NIC is known without the speed of a port."""

    @property
    def pair(self) -> bool:
        """Whether two switches are the network."""
        return self.topology in (COLLAPSED, LINKED)

    @property
    def tree(self) -> bool:
        """Whether the network has tiers of leaves, spines and cores."""
        return self.topology in CLOS

    @property
    def switched(self) -> bool:
        """Whether the network has switches."""
        return self.topology != TORUS


@dataclass(frozen=True)
class Rule:
    """Flags without effect where a condition holds, and the reason."""

    flags: tuple[str, ...]
    holds: Callable[[Case], bool]
    why: str


RULES = (
    Rule(
        tuple(f.name for f in fields(FabricRequest) if f.name not in (*TORUS_READS, *REFUSED)),
        lambda case: not case.switched,
        "a torus connects chips, without a network of switches and NICs",
    ),
    Rule(
        GROUPS,
        lambda case: case.switched and case.topology != DRAGONFLY,
        "only a dragonfly has groups: --topology dragonfly",
    ),
    Rule(
        TREE_ONLY,
        lambda case: case.switched and case.topology not in TREES,
        "a {topology} network is no tree of leaves and spines",
    ),
    Rule(
        ("spine_switch", "spine_radix"),
        lambda case: case.topology == DRAGONFLY,
        "a dragonfly has switches of one kind",
    ),
    Rule(
        (*ABOVE, *CORES, *UNITS, "tiers"),
        lambda case: case.pair,
        "a {topology} is two switches of one kind",
    ),
    Rule(
        ("oversubscription", "uplink_gbps"),
        lambda case: case.topology == COLLAPSED,
        "the two switches have no links between them: --topology linked-pair has",
    ),
    Rule(
        (*SPINES, *CORES, *UNITS),
        lambda case: case.tree and case.tiers == 1,
        "one tier is enough for the nodes: --tiers 2 has spines",
    ),
    Rule(
        BALANCE,
        lambda case: case.pair or (case.tree and case.tiers == 1),
        "no traffic crosses spine switches",
    ),
    Rule(
        CORES,
        lambda case: case.tree and case.tiers == MOST_TIERS - 1,
        "two tiers are enough for the nodes: --tiers 3 has cores",
    ),
    Rule(
        UNITS,
        lambda case: case.topology == ALONE and case.tiers > 1,
        "a {topology} network has no units; the storage network follows them",
    ),
    Rule(
        FLOOR,
        lambda case: case.switched and not case.tree and case.topology != DRAGONFLY,
        "a {topology} network has no rack positions",
    ),
    Rule(
        ("leaf_placement",),
        lambda case: case.topology == DRAGONFLY,
        "switches of a dragonfly are in the racks of their nodes",
    ),
    Rule(
        OPTICS,
        lambda case: case.switched and not case.priced,
        "without catalog parts there is no bill of materials",
    ),
    Rule(
        ("nic_ports_per_cage",),
        lambda case: case.switched and case.priced and not case.node_optics,
        "no link to a node has a transceiver",
    ),
    Rule(
        ("port_gbps",),
        lambda case: case.switched and case.rate_known,
        "it is the port speed of --radix, or the rate of NICs without one",
    ),
    Rule(
        ("storage_oversubscription",),
        lambda case: case.switched and case.storage_spines == 0,
        "one storage switch holds all links",
    ),
    Rule(
        ("in_band_oversubscription",),
        lambda case: case.switched and case.in_band_spines == 0,
        "two in-band switches hold all links",
    ),
)


def unused(request: FabricRequest, case: Case) -> Iterator[str]:
    """Yield a note on the flags that the network does not have a place for, and why."""
    for rule in RULES:
        flags = [_flag(n) for n in rule.flags if _given(request, n)] if rule.holds(case) else []
        if flags:
            yield f"no effect of {', '.join(flags)}: {rule.why.format(topology=case.topology)}"


def unused_in_comparison(request: FabricRequest) -> Iterator[str]:
    """Yield a note on the flags of networks that a comparison does not size."""
    flags = [_flag(name) for name in SIDES if _given(request, name)]
    if flags:
        yield f"no effect of {', '.join(flags)}: a comparison has the compute network alone"


def compute_alone(request: FabricRequest) -> FabricRequest:
    """Return the request without the flags of storage and management networks."""
    return replace(request, **{name: getattr(FabricRequest, name) for name in SIDES})


def _given(request: FabricRequest, name: str) -> bool:
    return bool(getattr(request, name) != getattr(FabricRequest, name, None))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
