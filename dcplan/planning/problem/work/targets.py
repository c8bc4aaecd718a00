"""Places where a job may run: halls with a system on a fabric, and cloud offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dcplan.fabric.effective import LinkSpeed
from dcplan.fabric.topology.connected import per_port
from dcplan.inputs.cloud_prices import OfferTerms, cloud_place
from dcplan.inputs.recovery import Network
from dcplan.planning.problem.terms import FabricOption, HallTerms, Placement
from dcplan.planning.problem.work.parts import RunPart
from dcplan.reliability.power_cuts import NO_CUTS, PowerCuts
from dcplan.training.wide_area import Span
from dcplan.units import BITS_PER_BYTE

NO_EXCHANGE = Span()
NO_LINK = LinkSpeed(0.0)
"""Link of a cloud offer, whose network a plan does not choose."""


@dataclass(frozen=True)
class Target:
    """A place where a job may run: units of one system (or offer) at one link speed."""

    place: str
    system: str
    accelerator: str
    unit: int
    limit: int
    gb_per_s: float
    """One-way scale-out rate of one accelerator on the link."""
    link: LinkSpeed
    usd_per_accelerator_hour: float = 0.0
    network: Network | None = None
    """Switches and links per NIC port; None for a class network."""
    redundancy: str = "n+1"
    offer: OfferTerms | None = None
    """Cloud offer of the place, with its conditions; None for a hall."""
    parts: tuple[RunPart, ...] = ()
    """Part of each hall if the target is several halls, whose units and limits it adds."""
    cuts: PowerCuts = NO_CUTS
    """Interruptions of power in which a run pauses or slows; without any, it keeps its power."""

    @property
    def label(self) -> str:
        """Return its name for messages."""
        what = ", with interruptions" if self.cuts.hours_per_year else ""
        return f"{self.place} {self.system}{what}"

    @property
    def count(self) -> int:
        """Return the number of its places."""
        return len(self.parts) or 1

    @property
    def halls(self) -> tuple[str, ...]:
        """Return its places."""
        return tuple(part.place for part in self.parts) or (self.place,)

    @property
    def exchange(self) -> Span:
        """Return the exchanges of a run between halls and sites."""
        return self.parts[0].exchange if self.parts else NO_EXCHANGE

    @property
    def available_frac(self) -> float:
        """Return the share of the time in which an instance serves a demand.

        The rest are the waits after reclaims: 1 / (1 + rate x wait).
        """
        if self.offer is None:
            return 1.0
        return 1.0 / (1.0 + self.offer.reclaims_per_instance_h * self.offer.wait_h)


def targets(
    placed: Iterable[Placement],
    options: Iterable[FabricOption],
    halls: Mapping[str, HallTerms],
    offers: Iterable[OfferTerms],
) -> list[Target]:
    """Return all places where a job may run: (hall, system, link speed) and offers."""
    found: dict[tuple[str, str, LinkSpeed], Target] = {}
    limits: dict[tuple[str, str], int] = {}
    for p in placed:
        most = p.max_racks_unit * halls[p.hall].count * p.accelerators
        limits[p.hall, p.system] = max(limits.get((p.hall, p.system), 0), most)
    by_hall: dict[str, list[FabricOption]] = {}
    for option in options:
        by_hall.setdefault(option.hall, []).append(option)
    for p in placed:
        for option in by_hall.get(p.hall, []):
            if p.port_class not in option.shares or not option.tiers:
                continue  # a hall without a network is as fast as any for what its one rack holds
            link = option.speeds[p.port_class]
            each = p.ports / p.accelerators
            unit = p.accelerators // max(p.ports // p.rails, 1)  # of one host
            found[p.hall, p.system, link] = Target(
                p.hall,
                p.system,
                p.accelerator,
                unit,
                limits[p.hall, p.system],
                each * link.gbps / BITS_PER_BYTE,
                link,
                network=Network(*per_port(option.topology, option.designs[p.port_class])),
                redundancy=halls[p.hall].redundancy,
            )
    for offer in offers:
        found[cloud_place(offer.id), offer.accelerator, NO_LINK] = Target(
            cloud_place(offer.id),
            offer.accelerator,
            offer.accelerator,
            offer.node_accelerators,
            min(offer.max_accelerators, offer.most_per_job or offer.max_accelerators),
            offer.gb_per_s,
            NO_LINK,
            sum(offer.usd_per_accelerator_hour) / len(offer.usd_per_accelerator_hour),
            offer=offer,
        )
    return list(found.values())
