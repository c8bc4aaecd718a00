"""Request of ``dcplan fabric``: every flag, and combinations that are refused."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from dcplan.answers.fabric.flags import panels, place, shape, size
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.links.facts import ROUTER_ROW

MORE = panels.MORE
"""Panel of the help with further questions."""


@dataclass(frozen=True)
class FabricRequest:
    """One network and the questions about it."""

    nodes: size.Nodes
    nics_per_node: size.NicsPerNode = None
    nic_gbps: size.NicGbps = None
    system: size.System = None
    fabric: size.Fabric = None
    management_links: size.ManagementLinks = 0
    switch: size.Switch = None
    spine_switch: size.SpineSwitch = None
    core_switch: size.CoreSwitch = None
    radix: size.Radix = None
    port_gbps: size.PortGbps = None
    spine_radix: size.SpineRadix = None
    core_radix: size.CoreRadix = None
    uplink_gbps: size.UplinkGbps = None
    media: size.Media = "family"
    nic_ports_per_cage: size.NicPortsPerCage = None
    topology: shape.Topology = None
    nodes_per_su: shape.NodesPerSu = None
    planes: shape.Planes = None
    oversubscription: shape.Oversubscription = None
    core_oversubscription: shape.CoreOversubscription = 1.0
    endpoints_per_leaf: shape.EndpointsPerLeaf = None
    leaf_uplinks: shape.LeafUplinks = None
    leaves_per_pod: shape.LeavesPerPod = None
    min_spines: shape.MinSpines = None
    tiers: shape.Tiers = None
    storage_gbps: shape.StorageGbps = None
    storage_oversubscription: shape.StorageOversubscription = None
    in_band_oversubscription: shape.InBandOversubscription = None
    out_of_band_gbps: shape.OutOfBandGbps = None
    out_of_band_ports: shape.OutOfBandPorts = None
    out_of_band_switch: shape.OutOfBandSwitch = None
    out_of_band_oversubscription: shape.OutOfBandOversubscription = None
    links_per_pair: shape.LinksPerPair = None
    load_balancing: shape.LoadBalancing = None
    nodes_per_rack: place.NodesPerRack = None
    rack_kg_max: place.RackKgMax = None
    rack_kw_max: place.RackKwMax = None
    racks_per_row: place.RacksPerRow = None
    leaf_placement: place.LeafPlacement = "unit"
    cable_length_m: place.CableLengthM = None
    growth_nodes: place.GrowthNodes = ()
    site_link_km: place.SiteLinkKm = None
    site_link_gbps: place.SiteLinkGbps = None
    site_link_optic: place.SiteLinkOptic = None
    site_link_span_km: place.SiteLinkSpanKm = None
    site_link_router: place.SiteLinkRouter = ROUTER_ROW
    compare: place.Compare = None
    for_job: place.ForJob = None
    tokens: place.Tokens = None
    catalogs: place.Catalogs = ()

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
    problems += _conflicts(request)
    if request.for_job and not request.system:
        cause = "a run needs the accelerators of a system"
        problems.append(Problem("DC050", cause, Place("--for-job"), help="--system dgx-h100"))
    if problems:
        raise InputError(problems)


def _conflicts(request: FabricRequest) -> list[Problem]:
    """Return a problem for each flag that contradicts a comparison, or needs one."""
    found = []
    if request.several and request.fabric is not None:
        cause = "a comparison sizes the families that --compare names"
        step = f"--compare {request.fabric}" if request.compare is None else "leave --fabric out"
        found.append(Problem("DC050", cause, Place("--fabric"), help=step))
    if request.several and request.switch is not None:
        cause = "a comparison takes the switches of each family"
        found.append(Problem("DC050", cause, Place("--switch"), help="leave --switch out"))
    if request.several and request.topology == "torus":
        cause = "a torus connects chips, without the families of a comparison"
        found.append(Problem("DC050", cause, Place("--topology"), help="leave --compare out"))
    if request.tokens is not None and request.for_job is None:
        cause = "it is the length of a run"
        found.append(Problem("DC050", cause, Place("--tokens"), help="--for-job MODEL"))
    return found
