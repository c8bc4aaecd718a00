"""Families of fabrics whose transceivers form links with the NICs of a system."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.catalog.schema import Fabric
from dcplan.inputs.log import InputLog
from dcplan.inputs.network_parts import (
    MissingError,
    link_ends,
    links_per_cage,
    radix_of,
    unlike_lanes,
)
from dcplan.planning.problem.fabrics.ordered import Ordered
from dcplan.planning.problem.terms import PortClass


def refuse_unlike_lanes(
    ordered: Ordered, ports: PortClass, allowed: Sequence[Fabric], log: InputLog
) -> None:
    """Refuse a family whose transceivers form no link with those of a NIC, if another allowed one's do.

    Without another family the class part stays: the catalog has no lane speed of NICs, and one of 200 Gb/s
    may have two lanes of 100 Gb/s where the class part has four of 50.
    """
    why = _unlike_lanes(ordered, ports, log)
    if not why:
        return
    for family in allowed:
        if family.protocol not in ports.protocols or family.rate_gbps.value < ports.gbps:
            continue
        other = Ordered(family, family.topology, None)
        try:
            radix_of(log, family.leaf, ports.gbps / family.planes)
            fits = not _unlike_lanes(other, ports, log)
        except MissingError:
            continue
        if fits:
            msg = f"{why}; {family.id} fits"
            raise MissingError(msg)


def _unlike_lanes(ordered: Ordered, ports: PortClass, log: InputLog) -> str:
    """Return why the transceivers of a NIC and of a family's leaf switch form no link."""
    family = ordered.family
    link = min(ports.gbps, family.rate_gbps.value) / ordered.planes
    cage = links_per_cage(ports.ports_per_cage, family, ordered.planes)
    (node, _), (leaf, _) = link_ends(log, family, ordered.models[0], link, cage)
    return unlike_lanes(node, leaf)
