"""Request of ``dcplan fabric``: every flag with its range, and combinations that are refused."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.topology.kinds import KINDS
from dcplan.inputs.links.facts import ROUTER_ROW
from dcplan.specs.request import Flag

MOST, MOST_PORTS = 10_000_000, 100_000
MEDIA = ("family", "reach", "aoc", "lpo", "lro", "cpo")
LEAF_AT = ("unit", "rack", "center")
BALANCING = ("ecmp", "qp-scaling", "adaptive", "spray", "scheduled")
SIZE, SHAPE, PARTS, FLOOR, MORE = "Size", "Shape", "Parts", "Floor", "Questions"


@dataclass(frozen=True)
class FabricRequest:
    """One network and the questions about it."""

    nodes: Annotated[
        int,
        Flag(
            "number of nodes (number of systems with --system)",
            low=1,
            high=MOST,
            names=("--nodes", "-n"),
            panel=SIZE,
        ),
    ]
    nics_per_node: Annotated[
        int | None,
        Flag("NICs per node (default: those of the system)", low=1, high=10_000, panel=SIZE),
    ] = None
    nic_gbps: Annotated[
        float | None,
        Flag(
            "rate of a NIC (default: that of the system)", unit="Gb/s", low=1, high=1e6, panel=SIZE
        ),
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
        Flag(
            "additional links on the leaves, such as those of a fabric manager",
            low=0,
            high=MOST,
            panel=SIZE,
        ),
    ] = 0
    switch: Annotated[
        str | None,
        Flag("catalog switch, such as qm9700 (default: that of the family)", panel=PARTS),
    ] = None
    spine_switch: Annotated[
        str | None, Flag("different switch for the spines, such as a chassis", panel=PARTS)
    ] = None
    core_switch: Annotated[str | None, Flag("different switch for the cores", panel=PARTS)] = None
    radix: Annotated[
        int | None,
        Flag(
            "switch ports at --port-gbps (needs no catalog switch)",
            low=2,
            high=MOST_PORTS,
            panel=PARTS,
        ),
    ] = None
    port_gbps: Annotated[
        float | None, Flag("port speed for --radix", unit="Gb/s", low=1, high=1e6, panel=PARTS)
    ] = None
    spine_radix: Annotated[
        int | None,
        Flag("spine switch ports (needs no catalog switch)", low=2, high=MOST_PORTS, panel=PARTS),
    ] = None
    core_radix: Annotated[
        int | None,
        Flag("core switch ports (needs no catalog switch)", low=2, high=MOST_PORTS, panel=PARTS),
    ] = None
    uplink_gbps: Annotated[
        float | None,
        Flag(
            "speed of links between switches (default: that of links to nodes)",
            unit="Gb/s",
            low=1,
            high=1e6,
            panel=PARTS,
        ),
    ] = None
    media: Annotated[
        str,
        Flag(
            "transceivers; reach also uses copper and active cables within their reach",
            choices=MEDIA,
            panel=PARTS,
        ),
    ] = "family"
    nic_ports_per_cage: Annotated[
        int | None, Flag("NIC ports per transceiver of a node", low=1, high=16, panel=PARTS)
    ] = None
    topology: Annotated[
        str | None,
        Flag(
            "kind of network (default: that of the family, else rail-optimized if the scalable "
            "unit is known, else fat-tree)",
            choices=KINDS,
            panel=SHAPE,
        ),
    ] = None
    nodes_per_su: Annotated[
        int | None,
        Flag(
            "nodes per scalable unit; a unit has an integer number of leaves",
            low=1,
            high=MOST,
            panel=SHAPE,
        ),
    ] = None
    planes: Annotated[
        int | None,
        Flag("parallel networks that share the rate of a NIC", low=1, high=256, panel=SHAPE),
    ] = None
    oversubscription: Annotated[
        float | None,
        Flag(
            "leaf oversubscription: downlink over uplink capacity (default: that of the fabric, or 1)",
            low=0.1,
            high=1000,
            panel=SHAPE,
        ),
    ] = None
    core_oversubscription: Annotated[
        float,
        Flag("spine oversubscription in a three-tier network", low=0.1, high=1000, panel=SHAPE),
    ] = 1.0
    endpoints_per_leaf: Annotated[
        int | None, Flag("leaf ports to nodes", low=1, high=MOST_PORTS, panel=SHAPE)
    ] = None
    leaf_uplinks: Annotated[
        int | None, Flag("leaf ports to spines", low=1, high=MOST_PORTS, panel=SHAPE)
    ] = None
    leaves_per_pod: Annotated[
        int | None,
        Flag("leaves per pod in a three-tier network", low=1, high=MOST_PORTS, panel=SHAPE),
    ] = None
    min_spines: Annotated[
        int | None, Flag("minimum spines per pod", low=1, high=MOST_PORTS, panel=SHAPE)
    ] = None
    tiers: Annotated[
        int | None,
        Flag("switch tiers (default: the fewest that suffice)", low=1, high=3, panel=SHAPE),
    ] = None
    storage_gbps: Annotated[
        float | None,
        Flag(
            "rate of a storage link of a node (default: network.storage-link-gbps of the catalog)",
            unit="Gb/s",
            low=1,
            high=1e6,
            panel=SHAPE,
        ),
    ] = None
    storage_oversubscription: Annotated[
        float | None,
        Flag(
            "oversubscription of the storage network's leaves of nodes (default: that of the catalog)",
            low=1,
            high=1000,
            panel=SHAPE,
        ),
    ] = None
    in_band_oversubscription: Annotated[
        float | None,
        Flag(
            "oversubscription of the in-band network's leaves (default: from the uplinks of the "
            "catalog)",
            low=1,
            high=1000,
            panel=SHAPE,
        ),
    ] = None
    out_of_band_gbps: Annotated[
        float | None,
        Flag(
            "rate of a port of the out-of-band network (default: 1)",
            unit="Gb/s",
            low=0.1,
            high=1e6,
            panel=SHAPE,
        ),
    ] = None
    out_of_band_switch: Annotated[
        str | None,
        Flag(
            "catalog switch of the out-of-band network (default: sn2201)",
            complete="switches",
            panel=SHAPE,
        ),
    ] = None
    out_of_band_oversubscription: Annotated[
        float | None,
        Flag(
            "oversubscription of an out-of-band switch (default: from the uplinks of the catalog)",
            low=0.01,
            high=1000,
            panel=SHAPE,
        ),
    ] = None
    links_per_pair: Annotated[
        int | None,
        Flag(
            "dragonfly: links between each pair of groups (default: enough for the injection rate "
            "of a group)",
            low=1,
            high=MOST_PORTS,
            panel=SHAPE,
        ),
    ] = None
    load_balancing: Annotated[
        str | None,
        Flag(
            "how flows are spread over paths (default: that of the family, else adaptive on "
            "InfiniBand and Slingshot, ecmp on Ethernet)",
            choices=BALANCING,
            panel=SHAPE,
        ),
    ] = None
    nodes_per_rack: Annotated[
        int | None,
        Flag(
            "nodes per rack (default: those of the system, else as many as fit the rack height)",
            low=1,
            high=1000,
            panel=FLOOR,
        ),
    ] = None
    rack_kg_max: Annotated[
        float | None,
        Flag(
            "highest weight of the devices of a rack (default: not limited)",
            unit="kg",
            low=1,
            high=100_000,
            panel=FLOOR,
        ),
    ] = None
    rack_kw_max: Annotated[
        float | None,
        Flag(
            "highest power of the devices of a rack (default: not limited)",
            unit="kW",
            low=0.1,
            high=10_000,
            panel=FLOOR,
        ),
    ] = None
    racks_per_row: Annotated[
        int | None, Flag("racks per row (default: a square hall)", low=1, high=100_000, panel=FLOOR)
    ] = None
    leaf_placement: Annotated[
        str,
        Flag(
            "location of the leaves: in the middle of their unit, in the rack of their nodes, or "
            "in the center of the hall",
            choices=LEAF_AT,
            panel=FLOOR,
        ),
    ] = "unit"
    cable_length_m: Annotated[
        float | None,
        Flag(
            "cable length between switches (default: from the floor layout)",
            unit="m",
            low=0.1,
            high=2e6,
            panel=FLOOR,
        ),
    ] = None
    growth_nodes: Annotated[
        tuple[int, ...],
        Flag("later size in nodes; repeat for more phases", low=1, high=MOST, panel=MORE),
    ] = ()
    site_link_km: Annotated[
        float | None,
        Flag(
            "straight-line distance to another hall or site to connect",
            unit="km",
            low=0.001,
            high=20_000,
            panel=MORE,
        ),
    ] = None
    site_link_gbps: Annotated[
        float | None,
        Flag(
            "capacity of the site link (default: a tenth of the network's bisection bandwidth)",
            unit="Gb/s",
            low=0.001,
            high=1e9,
            panel=MORE,
        ),
    ] = None
    site_link_optic: Annotated[
        str | None,
        Flag(
            "catalog optic of the site link (default: coherent-400zr as far as it reaches, then the "
            "long-haul signal with the lowest cost of ten years)",
            complete="optics",
            panel=MORE,
        ),
    ] = None
    site_link_span_km: Annotated[
        float | None,
        Flag(
            "longest distance between amplifiers of a long-haul link (default: 80, from the "
            "catalog)",
            unit="km",
            low=10,
            high=150,
            panel=MORE,
        ),
    ] = None
    site_link_router: Annotated[
        str,
        Flag(
            "catalog switch that routes a long-haul link at both ends",
            complete="switches",
            panel=MORE,
        ),
    ] = ROUTER_ROW
    compare: Annotated[
        str | None,
        Flag(
            "fabric families to compare, separated by commas; all: every family that fits",
            panel=MORE,
        ),
    ] = None
    for_job: Annotated[
        str | None,
        Flag(
            "rank the families by USD per finished run of this model", metavar="MODEL", panel=MORE
        ),
    ] = None
    tokens: Annotated[
        float | None, Flag("training tokens of that run (default: those of the model)", panel=MORE)
    ] = None
    catalogs: Annotated[
        tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
    ] = ()

    @property
    def several(self) -> bool:
        """Whether the request compares families instead of sizing one network."""
        return self.compare is not None or self.for_job is not None


def saved(request: FabricRequest) -> dict[str, Any]:
    """Return the fields that a result stores: those that have a value."""
    given = {f.name: getattr(request, f.name) for f in fields(request)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value not in (None, ())
    }


def refuse_unfit(request: FabricRequest) -> None:
    """Refuse combinations of flags that are not supported.

    Raises
    ------
    InputError
        With every such flag.
    """
    joined = request.site_link_km is not None or request.site_link_gbps is not None
    extras = {
        "--site-link-gbps": request.site_link_gbps is not None,
        "--site-link-optic": request.site_link_optic is not None,
        "--site-link-span-km": request.site_link_span_km is not None,
        "--site-link-router": request.site_link_router != FabricRequest.site_link_router,
    }
    wrong = {
        "--growth-nodes and --site-link-km need one fabric: leave --compare and --for-job out": (
            request.several and (joined or bool(request.growth_nodes))
        )
    }
    wrong |= {
        f"{flag} needs --site-link-km": given and request.site_link_km is None
        for flag, given in extras.items()
    }
    problems = [Problem("DC050", cause, Place("fabric")) for cause, is_so in wrong.items() if is_so]
    if request.for_job and not request.system:
        cause = "a run needs the accelerators of a system"
        problems.append(Problem("DC050", cause, Place("--for-job"), help="--system dgx-h100"))
    if problems:
        raise InputError(problems)
