"""Fabric options of a hall.

An option is a family with a number of tiers. It has per-port shares for the model and designs for
the audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dcplan.catalog.schema import Fabric
from dcplan.fabric.bom import Parts
from dcplan.fabric.topology.connected import reach_ports
from dcplan.fabric.topology.design import ClosDesign
from dcplan.fabric.topology.kinds import PLANNED, UNITED, united
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import MissingError, links_per_cage, parts_of
from dcplan.planning.problem.fabrics.alone import without_network
from dcplan.planning.problem.fabrics.fitted import fitted
from dcplan.planning.problem.fabrics.lanes import refuse_unlike_lanes
from dcplan.planning.problem.fabrics.ordered import Ordered
from dcplan.planning.problem.fabrics.trees import max_ports, share, su_margin
from dcplan.planning.problem.terms import (
    FabricOption,
    HallTerms,
    Margin,
    NetworkShare,
    Placement,
    PortClass,
)
from dcplan.scenario.schema import Scenario


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
    most = sum(
        max(p.max_racks_unit * hall.count * p.ports for p in placed if p.port_class == c)
        for c in classes
    )
    result: list[FabricOption] = []
    allowed = [log.catalog.get("fabrics", name, Fabric) for name in ids]
    for family in allowed:
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
        topology = (given and given.topology) or family.topology
        if topology not in PLANNED:
            reason = f"topology {topology}: `plan` chooses {', '.join(PLANNED)}; use dcplan fabric to size it"
            excluded.append(ExcludedOption(Kind.FABRIC, family.id, hall.id, reason))
            continue
        ordered = Ordered(family, topology, given)
        for tiers in ordered.tiers(most):
            try:
                result.append(_option(hall, ordered, tiers, served, placed, allowed, log))
            except MissingError as error:
                if tiers == 1 and topology in UNITED:  # no rack fits one switch
                    continue
                excluded.append(
                    ExcludedOption(Kind.FABRIC, f"{family.id}/{tiers}t", hall.id, str(error))
                )
    kept = _without_dominated(hall, result, excluded, most)
    return kept + without_network(hall, placed, scenario, kept)


def _option(
    hall: HallTerms,
    ordered: Ordered,
    tiers: int,
    served: list[PortClass],
    placed: Sequence[Placement],
    allowed: Sequence[Fabric],
    log: InputLog,
) -> FabricOption:
    family, topology = ordered.family, ordered.topology
    rack_units = log.parameter("network", "network-rack-units")
    designs: dict[PortClass, ClosDesign] = {}
    parts: dict[PortClass, Parts] = {}
    missing: list[str] = []
    for ports in served:
        link = min(ports.gbps, family.rate_gbps.value) / ordered.planes
        try:
            designs[ports] = ordered.design(link, tiers, log)
            cage = links_per_cage(ports.ports_per_cage, family, ordered.planes)
            parts[ports] = parts_of(log, family, ordered.models, link, cage)
            refuse_unlike_lanes(ordered, ports, allowed, log)
        except MissingError as error:  # this class cannot use the family; other classes may
            designs.pop(ports, None)
            missing.append(str(error))
    if not designs:
        raise MissingError("; ".join(missing))
    in_hall = list({(p.system, p.ports): p for p in placed if p.port_class in designs}.values())
    try:
        shares, margin = _costs(topology, tiers, designs, parts, in_hall, hall.count, rack_units)
    except ValueError as error:
        raise MissingError(str(error)) from error
    return FabricOption(
        hall=hall.id,
        id=f"{family.id}/{tiers}t",
        family=family.id,
        topology=topology,
        tiers=tiers,
        protocol=family.protocol,
        speeds={c: ordered.speed(c, designs[c], tiers, log) for c in designs},
        designs=designs,
        parts=parts,
        shares=shares,
        reach={
            c: _reach(topology, {c: designs[c]}, [p for p in in_hall if p.port_class == c])
            for c in designs
        },
        switch_models=ordered.models,
        switch_racks_units=rack_units,
        margin_usd=margin.usd,
        margin_kw=margin.kw,
        margin_racks=margin.racks,
    )


def _costs(
    topology: str,
    tiers: int,
    designs: Mapping[PortClass, ClosDesign],
    parts: Mapping[PortClass, Parts],
    placed: Sequence[Placement],
    halls: int,
    rack_units: float,
) -> tuple[dict[PortClass, NetworkShare], Margin]:
    """Return the cost per port of each NIC class, and the largest margin of a system."""
    if united(topology, tiers):
        shares = {
            c: share(designs[c], parts[c], c.unit(designs[c].leaf_down), rack_units)
            for c in designs
        }
        margins = [
            su_margin(designs[p.port_class], parts[p.port_class], p, rack_units) for p in placed
        ]
    else:
        found = {
            c: fitted(
                topology,
                designs[c],
                parts[c],
                [p for p in placed if p.port_class == c],
                halls,
                rack_units,
            )
            for c in designs
        }
        shares = {c: one for c, (one, _) in found.items()}
        margins = [margin for _, margin in found.values()]
    return shares, Margin(
        max(m.usd for m in margins), max(m.kw for m in margins), max(m.racks for m in margins)
    )


def _reach(
    topology: str, designs: Mapping[PortClass, ClosDesign], placed: Sequence[Placement]
) -> int:
    if united(topology, max(d.tiers for d in designs.values())):
        return max_ports(designs, placed)
    return min(reach_ports(topology, designs[p.port_class], p.rails) for p in placed)


def without_slow(options: list[FabricOption], excluded: list[ExcludedOption]) -> list[FabricOption]:
    """Exclude options whose links are far slower than those of another option of the hall.

    A demand that is measured on a reference job counts the slowest fabric of a hall, because its
    amount cannot depend on the choice of the fabric. A slow option would therefore lower it in
    every plan.
    """
    best: dict[PortClass, float] = {}
    for option in options:
        for ports, speed in option.speeds.items():
            best[ports] = max(best.get(ports, 0.0), speed.gbps)
    kept = []
    for option in options:
        slow = [c for c, s in option.speeds.items() if s.gbps * MAX_SLOWDOWN < best[c]]
        if not slow:
            kept.append(option)
            continue
        reason = (
            f"{option.speeds[slow[0]].gbps:g} of {best[slow[0]]:g} Gb/s: a demand with a reference "
            "job counts the slowest fabric of a hall; name this fabric alone to plan with it"
        )
        excluded.append(ExcludedOption(Kind.FABRIC, option.id, option.hall, reason))
    return kept


MAX_SLOWDOWN = 1.5
"""Ratio of link rates up to which a demand may count the slower one."""


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
    if not set(b.shares) <= set(a.shares):
        return False
    if any(a.reach[c] < min(b.reach[c], most_ports) for c in b.shares):
        return False
    if not all(a.speeds[c].serves(b.speeds[c]) for c in b.shares):
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
