"""Fabric options of a hall.

An option is a family with a number of tiers. It has per-port shares for the model and designs for
the audit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from dcplan.catalog.schema import Fabric
from dcplan.fabric.bom import Parts
from dcplan.fabric.topology.design import ClosDesign, design
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError, parts_of, radix_of
from dcplan.planning.problem.terms import (
    FabricOption,
    HallTerms,
    NetworkShare,
    Placement,
    PortClass,
)
from dcplan.scenario.schema import GivenFabric, Scenario
from dcplan.units import BITS_PER_BYTE


def fabric_options(
    hall: HallTerms,
    placed: Sequence[Placement],
    scenario: Scenario,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> list[FabricOption]:
    """Return all fabrics that a hall may use.

    Fabrics without a price or without suitable systems are listed as excluded.
    """
    families = log.catalog.table("fabrics", Fabric)
    given = scenario.fabric
    if given:
        ids: Iterable[str] = [given.id]
    elif scenario.fabrics == "all":
        ids = families
    else:
        ids = scenario.fabrics
    classes = {p.port_class for p in placed}
    result: list[FabricOption] = []
    for name in ids:
        family = log.catalog.get("fabrics", name, Fabric)
        served = sorted((c for c in classes if family.protocol in c.protocols), key=lambda c: c.id)
        if not served:
            excluded.append(
                ExcludedOption(
                    Kind.FABRIC,
                    family.id,
                    hall.id,
                    f"no system of this hall has {family.protocol} ports",
                )
            )
            continue
        if family.topology not in ("fat-tree", "rail-optimized") or (
            given and given.topology not in (None, "fat-tree", "rail-optimized")
        ):
            asked = given.topology if given and given.topology else family.topology
            reason = f"topology {asked}: `plan` supports fat-tree and rail-optimized only; use dcplan fabric to size it"
            excluded.append(ExcludedOption(Kind.FABRIC, family.id, hall.id, reason))
            continue
        for tiers in [given.tiers] if given and given.tiers else family.tiers:
            try:
                result.append(_option(hall, family, tiers, served, placed, given, log))
            except MissingError as error:
                excluded.append(
                    ExcludedOption(Kind.FABRIC, f"{family.id}/{tiers}t", hall.id, str(error))
                )
    most = sum(
        max(p.max_racks_unit * hall.count * p.ports for p in placed if p.port_class == c)
        for c in classes
    )
    return _without_dominated(hall, result, excluded, most)


def _option(
    hall: HallTerms,
    family: Fabric,
    tiers: int,
    served: list[PortClass],
    placed: Sequence[Placement],
    given: GivenFabric | None,
    log: InputLog,
) -> FabricOption:
    models = (family.leaf, family.spine or family.leaf, family.core or family.spine or family.leaf)
    planes = (given and given.planes) or family.planes
    rack_units = log.parameter("network", "network-rack-units")
    designs: dict[PortClass, ClosDesign] = {}
    parts: dict[PortClass, Parts] = {}
    shares: dict[PortClass, NetworkShare] = {}
    missing: list[str] = []
    for ports in served:
        if family.rate_gbps.value < ports.gbps:
            slow, fast = f"{family.rate_gbps.value:g}", f"{ports.gbps:g}"
            missing.append(
                f"{slow} Gb/s is less than the {fast} Gb/s NICs; training was measured at full rate"
            )
            continue
        link = ports.gbps / planes
        try:
            designs[ports] = _design(log, models, link, tiers, planes, family, given)
        except MissingError as error:  # this class cannot use the family; other classes may
            missing.append(str(error))
            continue
        parts[ports] = parts_of(log, family, models, link, ports.ports_per_cage)
        shares[ports] = _share(designs[ports], parts[ports], ports.nodes_per_su, rack_units)
    if not shares:
        raise MissingError("; ".join(missing))
    in_hall = {p.system: p for p in placed if p.port_class in shares}
    margins = [
        _su_margin(designs[p.port_class], parts[p.port_class], p, rack_units)
        for p in in_hall.values()
    ]
    usd, kw, racks = (max(column) for column in zip(*margins, strict=True))
    return FabricOption(
        hall=hall.id,
        id=f"{family.id}/{tiers}t",
        family=family.id,
        tiers=tiers,
        protocol=family.protocol,
        gbps=family.rate_gbps.value,
        designs=designs,
        parts=parts,
        shares=shares,
        max_ports=_max_ports(designs, in_hall.values()),
        switch_models=models,
        switch_racks_units=rack_units,
        margin_usd=usd,
        margin_kw=kw,
        margin_racks=racks,
    )


def _max_ports(designs: Mapping[PortClass, ClosDesign], placed: Iterable[Placement]) -> int:
    """Return the ports that the tiers reach with an integer number of leaf switches per unit.

    Two tiers hold as many leaf switches as a spine switch has ports. A unit of n nodes needs
    ceil(n / d) leaf switches per rail, so partly used leaf switches reduce the reach. Each further
    system may leave one more unit partly empty.
    """
    placed = list(placed)
    reach = [d.reach_endpoints for d in designs.values()]
    spare = 0
    for p in placed:
        plan, nodes = designs[p.port_class], p.port_class.nodes_per_su
        unit = nodes * p.rails
        spare += unit
        if plan.tiers == 2 and nodes >= plan.leaf_down:
            reach.append(plan.spine_ports // (p.rails * math.ceil(nodes / plan.leaf_down)) * unit)
        elif plan.tiers == 2:
            reach.append(plan.spine_ports * plan.leaf_down - unit)
    first = max((p.port_class.nodes_per_su * p.rails for p in placed), default=0)
    return max(min(reach) - (spare - first), 0)


def _design(
    log: InputLog,
    models: tuple[str, str, str],
    link_gbps: float,
    tiers: int,
    planes: int,
    family: Fabric,
    given: GivenFabric | None,
) -> ClosDesign:
    radix = min(radix_of(log, model, link_gbps) for model in models[:tiers])
    default = family.oversubscription.value if family.oversubscription else 1.0
    over = given.oversubscription if given else None
    try:
        return design(
            radix,
            tiers,
            planes=planes,
            leaf_spine=over.leaf_spine.value if over and over.leaf_spine else default,
            spine_core=over.spine_core.value if over and over.spine_core else 1.0,
            endpoints_per_leaf=given.endpoints_per_leaf if given else None,
        )
    except ValueError as error:
        raise MissingError(str(error)) from error


def _share(plan: ClosDesign, parts: Parts, nodes_per_su: int, rack_units: float) -> NetworkShare:
    """Return the network per NIC port: ideal fractions and upper values of switches and optics.

    The upper values cover the rounding to divisors.

    A full scalable unit has its own leaf switches per rail, ceil(n/d)/n per port; a smaller unit
    shares leaf switches, 1/d per port. Neither exceeds the exact count.
    """
    p, q = plan.planes, parts.leaf_optic_ports
    leaf = p * _leaves_per_port(plan, nodes_per_su)
    up = leaf * plan.leaf_up if plan.tiers > 1 else 0.0
    spine = up / plan.spine_down if plan.tiers > 1 else 0.0
    spine_core = spine * plan.spine_up if plan.tiers == 3 else 0.0
    core = spine_core / plan.core_ports
    worst = _worst_rounding(plan.leaf_up) if plan.tiers > 1 else 1.0
    cage = (p + 2 * (up + spine_core)) / q
    half_filled = (2 * leaf + (plan.tiers - 1) * spine * worst + core) * (q - 1) / q
    nodes = p / parts.node_optic_ports
    optics_usd = (
        cage * parts.leaf_optic_usd
        + nodes * parts.node_optic_usd
        + (p + up + spine_core) * parts.cable_usd
    )
    optics_kw = cage * parts.leaf_optic_kw + nodes * parts.node_optic_kw
    usd = leaf * parts.leaf_usd + core * parts.core_usd + optics_usd
    kw = leaf * parts.leaf_kw + core * parts.core_kw + optics_kw
    units = (leaf + spine + core) * parts.switch_units
    upper_units = (leaf + spine * worst + core) * parts.switch_units
    return NetworkShare(
        usd=usd + spine * parts.spine_usd,
        kw=kw + spine * parts.spine_kw,
        racks=units / rack_units,
        upper_usd=usd + worst * spine * parts.spine_usd + half_filled * parts.leaf_optic_usd,
        upper_kw=kw + worst * spine * parts.spine_kw + half_filled * parts.leaf_optic_kw,
        upper_racks=upper_units / rack_units,
        switches=leaf + spine + core,
        transceivers=cage + nodes,
        upper_switches=leaf + spine * worst + core,
        upper_transceivers=cage + half_filled + nodes,
    )


def _leaves_per_port(plan: ClosDesign, nodes_per_su: int) -> float:
    d = plan.leaf_down
    return math.ceil(nodes_per_su / d) / nodes_per_su if nodes_per_su >= d else 1.0 / d


def _worst_rounding(uplinks: int) -> float:
    """Return the largest ratio of a spine count rounded up to a divisor of the uplinks to itself."""
    divisors = [d for d in range(1, uplinks + 1) if uplinks % d == 0]
    pairs = itertools.pairwise(divisors)
    return max((high / (low + 1) for low, high in pairs), default=1.0)


def _su_margin(
    plan: ClosDesign, parts: Parts, placement: Placement, rack_units: float
) -> tuple[float, float, float]:
    """Return USD, kW and network racks of one scalable unit that is started but not filled.

    They include one spine and one core switch.
    """
    nodes = placement.port_class.nodes_per_su
    links = (
        nodes * placement.rails
        if nodes >= plan.leaf_down
        else nodes * placement.rails + plan.leaf_down
    )
    share = _share(plan, parts, nodes, rack_units)
    extra_switches = (plan.tiers > 1) + (plan.tiers > 2)
    p = plan.planes
    # each spine switch of the last pod may have one more uplink than the ratio requires
    ports_up = plan.leaf_up if plan.tiers > 2 else 0
    optics = plan.spine_ports / parts.leaf_optic_ports * extra_switches + 2 * ports_up + 1
    cables = ports_up * parts.cable_usd
    usd = links * share.upper_usd + p * (
        extra_switches * max(parts.spine_usd, parts.core_usd)
        + optics * parts.leaf_optic_usd
        + cables
    )
    kw = links * share.upper_kw + p * (
        extra_switches * max(parts.spine_kw, parts.core_kw) + optics * parts.leaf_optic_kw
    )
    racks = links * share.upper_racks + p * extra_switches * parts.switch_units / rack_units + 1.0
    return usd, kw, racks


def _without_dominated(
    hall: HallTerms, options: list[FabricOption], excluded: list[ExcludedOption], most_ports: int
) -> list[FabricOption]:
    """Exclude options that another option equals or beats in rate, reach, cost, power and space.

    The comparison covers every port class. Reach beyond the ports that the hall can hold does not
    count.
    """
    kept: list[FabricOption] = []
    for option in sorted(
        options, key=lambda o: (sum(s.usd for s in o.shares.values()) / len(o.shares), o.id)
    ):
        better = next((k for k in kept if _dominates(k, option, most_ports)), None)
        if better:
            excluded.append(
                ExcludedOption(
                    Kind.FABRIC,
                    option.id,
                    hall.id,
                    f"dominated by {better.id} in speed, cost and power",
                )
            )
        else:
            kept.append(option)
    return kept


def _dominates(a: FabricOption, b: FabricOption, most_ports: int) -> bool:
    if not set(b.shares) <= set(a.shares) or a.max_ports < min(b.max_ports, most_ports):
        return False
    if any(a.link_gbps(c) < b.link_gbps(c) for c in b.shares):
        return False
    shares = all(_share_at_most(a.shares[c], b.shares[c]) for c in b.shares)
    return (
        shares
        and a.margin_usd <= b.margin_usd
        and a.margin_kw <= b.margin_kw
        and a.margin_racks <= b.margin_racks
    )


def _share_at_most(a: NetworkShare, b: NetworkShare) -> bool:
    return (
        a.usd <= b.usd
        and a.kw <= b.kw
        and a.upper_usd <= b.upper_usd
        and a.upper_kw <= b.upper_kw
        and a.upper_racks <= b.upper_racks
    )


def link_gb_per_s(option: FabricOption, placement: Placement) -> float:
    """Return the one-way scale-out bandwidth of one accelerator [GB/s]."""
    ports_each = placement.ports / placement.accelerators
    return ports_each * option.link_gbps(placement.port_class) / BITS_PER_BYTE
