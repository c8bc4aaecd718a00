"""What ``dcplan fabric`` is asked: every flag with its range, and flags that do not go together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.topology.kinds import KINDS
from dcplan.specs.request import Flag

MOST, MOST_PORTS = 10_000_000, 100_000
MEDIA = ("family", "reach", "aoc", "lpo", "lro", "cpo")
LEAF_AT = ("unit", "rack", "center")
BALANCING = ("ecmp", "qp-scaling", "adaptive", "spray", "scheduled")
SIZE, SHAPE, PARTS, FLOOR, MORE = "Size", "Shape", "Parts", "Floor", "Questions"


@dataclass(frozen=True)
class FabricRequest:
    """One network, and what to tell about it."""

    nodes: Annotated[
        int,
        Flag(
            "nodes; systems where --system is given",
            low=1,
            high=MOST,
            names=("--nodes", "-n"),
            panel=SIZE,
        ),
    ]
    nics_per_node: Annotated[
        int | None, Flag("NICs of a node; left out, the system's", low=1, high=10_000, panel=SIZE)
    ] = None
    nic_gbps: Annotated[
        float | None,
        Flag("rate of a NIC; left out, the system's", unit="Gb/s", low=1, high=1e6, panel=SIZE),
    ] = None
    system: Annotated[
        str | None, Flag("catalog system, such as dgx-b300", complete="systems", panel=SIZE)
    ] = None
    fabric: Annotated[
        str | None,
        Flag("catalog fabric family, such as ib-xdr-800", complete="fabrics", panel=SIZE),
    ] = None
    management_links: Annotated[
        int,
        Flag("further links on leaves, such as a fabric manager's", low=0, high=MOST, panel=SIZE),
    ] = 0
    switch: Annotated[
        str | None, Flag("catalog switch, such as qm9700; left out, the family's", panel=PARTS)
    ] = None
    spine_switch: Annotated[
        str | None, Flag("another switch for spines, such as a chassis", panel=PARTS)
    ] = None
    core_switch: Annotated[str | None, Flag("another switch for cores", panel=PARTS)] = None
    radix: Annotated[
        int | None, Flag("any switch: ports at --port-gbps", low=2, high=MOST_PORTS, panel=PARTS)
    ] = None
    port_gbps: Annotated[
        float | None, Flag("speed of such a port", unit="Gb/s", low=1, high=1e6, panel=PARTS)
    ] = None
    spine_radix: Annotated[
        int | None, Flag("ports of any other spine", low=2, high=MOST_PORTS, panel=PARTS)
    ] = None
    core_radix: Annotated[
        int | None, Flag("ports of any other core", low=2, high=MOST_PORTS, panel=PARTS)
    ] = None
    uplink_gbps: Annotated[
        float | None,
        Flag(
            "speed between switches, if not that to nodes",
            unit="Gb/s",
            low=1,
            high=1e6,
            panel=PARTS,
        ),
    ] = None
    media: Annotated[
        str,
        Flag(
            "transceivers; reach also takes copper and active cables inside their reach",
            choices=MEDIA,
            panel=PARTS,
        ),
    ] = "family"
    nic_ports_per_cage: Annotated[
        int | None, Flag("NIC ports behind one transceiver of a node", low=1, high=16, panel=PARTS)
    ] = None
    topology: Annotated[
        str | None,
        Flag(
            "kind of network (left out: the family's, else rail-optimized where units are known, "
            "else fat-tree)",
            choices=KINDS,
            panel=SHAPE,
        ),
    ] = None
    nodes_per_su: Annotated[
        int | None,
        Flag("nodes of a scalable unit; leaves are bought whole", low=1, high=MOST, panel=SHAPE),
    ] = None
    planes: Annotated[
        int | None, Flag("parallel networks that share a NIC", low=1, high=256, panel=SHAPE)
    ] = None
    oversubscription: Annotated[
        float, Flag("down over up capacity of leaves", low=0.1, high=1000, panel=SHAPE)
    ] = 1.0
    core_oversubscription: Annotated[
        float, Flag("the same of spines in three tiers", low=0.1, high=1000, panel=SHAPE)
    ] = 1.0
    endpoints_per_leaf: Annotated[
        int | None, Flag("leaf ports towards nodes", low=1, high=MOST_PORTS, panel=SHAPE)
    ] = None
    leaf_uplinks: Annotated[
        int | None, Flag("leaf ports towards spines", low=1, high=MOST_PORTS, panel=SHAPE)
    ] = None
    leaves_per_pod: Annotated[
        int | None,
        Flag("three tiers: leaves that share spines", low=1, high=MOST_PORTS, panel=SHAPE),
    ] = None
    min_spines: Annotated[
        int | None, Flag("spines of a pod at least", low=1, high=MOST_PORTS, panel=SHAPE)
    ] = None
    tiers: Annotated[
        int | None, Flag("the fewest that do if left out", low=1, high=3, panel=SHAPE)
    ] = None
    links_per_pair: Annotated[
        int | None,
        Flag(
            "dragonfly: links between each pair of groups; left out, as many as keep a group's "
            "injection",
            low=1,
            high=MOST_PORTS,
            panel=SHAPE,
        ),
    ] = None
    load_balancing: Annotated[
        str | None,
        Flag(
            "how flows are spread over paths (left out: the family's, else adaptive on InfiniBand "
            "and Slingshot, ecmp on Ethernet)",
            choices=BALANCING,
            panel=SHAPE,
        ),
    ] = None
    nodes_per_rack: Annotated[
        int | None,
        Flag(
            "nodes of a rack; left out, the system's, else as many as its height allows",
            low=1,
            high=1000,
            panel=FLOOR,
        ),
    ] = None
    racks_per_row: Annotated[
        int | None,
        Flag("racks of a row; a square hall if left out", low=1, high=100_000, panel=FLOOR),
    ] = None
    leaf_placement: Annotated[
        str,
        Flag(
            "leaves stand amid their unit, in the rack of their nodes, or in the center",
            choices=LEAF_AT,
            panel=FLOOR,
        ),
    ] = "unit"
    cable_length_m: Annotated[
        float | None,
        Flag(
            "cable length between switches, if not from the floor",
            unit="m",
            low=0.1,
            high=2e6,
            panel=FLOOR,
        ),
    ] = None
    growth_nodes: Annotated[
        tuple[int, ...], Flag("later size; repeat for more phases", low=1, high=MOST, panel=MORE)
    ] = ()
    site_link_km: Annotated[
        float | None,
        Flag(
            "air distance to another hall or site to join",
            unit="km",
            low=0.001,
            high=20_000,
            panel=MORE,
        ),
    ] = None
    site_link_gbps: Annotated[
        float | None,
        Flag(
            "capacity between them; left out, a tenth of the network's bisection",
            unit="Gb/s",
            low=0.001,
            high=1e9,
            panel=MORE,
        ),
    ] = None
    site_link_optic: Annotated[
        str, Flag("catalog optic between them", complete="optics", panel=MORE)
    ] = "coherent-400zr"
    compare: Annotated[
        str | None,
        Flag("fabric families side by side, with commas; all for every one that fits", panel=MORE),
    ] = None
    for_job: Annotated[
        str | None,
        Flag(
            "rank the families by USD of one finished run of this model",
            metavar="MODEL",
            panel=MORE,
        ),
    ] = None
    tokens: Annotated[
        float | None, Flag("training tokens of that run; left out, the model's own", panel=MORE)
    ] = None
    catalogs: Annotated[tuple[str, ...], Flag("overlay folder; repeatable, the last wins")] = ()

    @property
    def several(self) -> bool:
        """Whether families are compared, not one network sized."""
        return self.compare is not None or self.for_job is not None


def saved(request: FabricRequest) -> dict[str, Any]:
    """Return what a result keeps of a request: everything but what was left out."""
    given = {f.name: getattr(request, f.name) for f in fields(request)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value not in (None, ())
    }


def refuse_unfit(request: FabricRequest) -> None:
    """Refuse flags that do not go with the others.

    Raises
    ------
    InputError
        With every such flag.
    """
    joined = request.site_link_km is not None or request.site_link_gbps is not None
    wrong = {
        "growth and joining are asked for one fabric, without --compare and --for-job": (
            request.several and (joined or bool(request.growth_nodes))
        ),
        "--site-link-gbps needs --site-link-km": request.site_link_gbps is not None
        and request.site_link_km is None,
    }
    problems = [Problem("DC050", cause, Place("fabric")) for cause, is_so in wrong.items() if is_so]
    if request.for_job and not request.system:
        cause = "a run needs to know the accelerators"
        problems.append(Problem("DC050", cause, Place("--for-job"), help="--system dgx-h100"))
    if problems:
        raise InputError(problems)
