"""Places where a job may run: halls with a system on a fabric, and cloud offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dcplan.fabric.topology.clos import parts_per_endpoint
from dcplan.inputs.cloud_prices import OfferTerms, cloud_place
from dcplan.inputs.recovery import Network
from dcplan.planning.problem.terms import FabricOption, HallTerms, Placement
from dcplan.units import BITS_PER_BYTE


@dataclass(frozen=True)
class Target:
    """A place where a job may run: units of one system (or offer) at one link rate."""

    place: str
    system: str
    accelerator: str
    unit: int
    limit: int
    gb_per_s: float
    link_gbps: float
    usd_per_accelerator_hour: float = 0.0
    network: Network | None = None
    """Switches and links per NIC port; None for a class network."""
    redundancy: str = "n+1"


def targets(
    placed: Iterable[Placement],
    options: Iterable[FabricOption],
    halls: Mapping[str, HallTerms],
    offers: Iterable[OfferTerms],
    offer_gb_per_s: Mapping[str, float],
    redundancy: Mapping[str, str],
) -> list[Target]:
    """Return all places where a job may run: (hall, system, link rate) and offers."""
    found: dict[tuple[str, str, float], Target] = {}
    limits: dict[tuple[str, str], int] = {}
    for p in placed:
        most = p.max_racks_unit * halls[p.hall].count * p.accelerators
        limits[p.hall, p.system] = max(limits.get((p.hall, p.system), 0), most)
    by_hall: dict[str, list[FabricOption]] = {}
    for option in options:
        by_hall.setdefault(option.hall, []).append(option)
    for p in placed:
        for option in by_hall.get(p.hall, []):
            if p.port_class not in option.shares:
                continue
            link = option.link_gbps(p.port_class)
            each = p.ports / p.accelerators
            unit = p.accelerators // max(p.ports // p.rails, 1)  # of one host
            found[p.hall, p.system, link] = Target(
                p.hall,
                p.system,
                p.accelerator,
                unit,
                limits[p.hall, p.system],
                each * link / BITS_PER_BYTE,
                link,
                network=Network(*parts_per_endpoint(option.designs[p.port_class])),
                redundancy=redundancy.get(p.hall.split("/")[0], "n+1"),
            )
    for offer in offers:
        found[cloud_place(offer.id), offer.accelerator, 0.0] = Target(
            cloud_place(offer.id),
            offer.accelerator,
            offer.accelerator,
            offer.node_accelerators,
            offer.max_accelerators,
            offer_gb_per_s[offer.id],
            0.0,
            sum(offer.usd_per_accelerator_hour) / len(offer.usd_per_accelerator_hour),
        )
    return list(found.values())
