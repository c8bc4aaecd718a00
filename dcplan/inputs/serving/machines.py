"""What serves: a catalog system, a cloud offer or an accelerator, by the name of the request."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.catalog.accelerator_names import accelerator_of
from dcplan.catalog.loader import Catalog
from dcplan.catalog.rent import market_rent
from dcplan.catalog.schema import Accelerator, Offer, System
from dcplan.errors import Place, Problem, did_you_mean
from dcplan.inputs.training.devices import HOST_ACCELERATORS
from dcplan.provenance import Quantity, first_day
from dcplan.units import BITS_PER_BYTE


@dataclass(frozen=True)
class Machine:
    """Hardware that serves: an accelerator, in a system or an offer where one is named."""

    name: str
    accelerator: Accelerator
    system: System | None
    size: int
    """Accelerators of one unit."""
    nic_gb_per_s: float | None
    """Scale-out bandwidth of one accelerator, one way; None for the class value of its family."""
    domain: int | None
    """Accelerators of one scale-up domain in this unit; None for that of the accelerator."""
    rent: Quantity | None
    """Default rent of one accelerator-hour."""

    @property
    def host_accelerators(self) -> int:
        """Accelerators that share a host, whatever joins them."""
        return min(self.size, HOST_ACCELERATORS)


def machine_of(catalog: Catalog, name: str) -> Machine | Problem:
    """Return the hardware of a name: a system, a cloud offer or an accelerator."""
    system = catalog.find("systems", name, System)
    if system is not None:
        row = catalog.get("accelerators", system.accelerator, Accelerator)
        return Machine(
            system.id,
            row,
            system,
            system.accelerators,
            _nic_gb_per_s(system),
            min(row.scaleup_domain, system.accelerators) if row.scaleup_domain else None,
            market_rent(catalog, row.id),
        )
    offer = catalog.find("cloud", name, Offer)
    if offer is not None:
        return _offered(catalog, offer)
    found = accelerator_of(catalog, name)
    if found is not None:
        size = min(found.scaleup_domain or HOST_ACCELERATORS, HOST_ACCELERATORS)
        size = size if size > 1 else HOST_ACCELERATORS
        return Machine(found.id, found, None, size, None, None, market_rent(catalog, found.id))
    known = [*catalog.rows["systems"], *catalog.rows["accelerators"]]
    return Problem(
        "DC010",
        f"{name!r} is not a system, a cloud offer or an accelerator of the catalog",
        Place("--system"),
        did_you_mean(name, known),
        "dcplan catalog list systems",
    )


def _offered(catalog: Catalog, offer: Offer) -> Machine:
    row = catalog.get("accelerators", offer.accelerator, Accelerator)
    nic = (
        offer.scaleout_gbps.value / offer.accelerators / BITS_PER_BYTE
        if offer.scaleout_gbps
        else None
    )
    prices = sorted(offer.prices, key=lambda p: (p.term != "on-demand", first_day(p.as_of)))
    listed = [p for p in prices if p.term == prices[0].term] if prices else []
    rent = None
    if listed:
        last = listed[-1]
        rent = last.usd_per_h.model_copy(
            update={
                "value": last.usd_per_h.value / offer.accelerators,
                "low": None,
                "high": None,
                "source": f"{offer.name}, {last.term}, {last.as_of}: {last.source}",
            }
        )
    domain = min(row.scaleup_domain, offer.accelerators) if row.scaleup_domain else None
    return Machine(offer.id, row, None, offer.accelerators, nic, domain, rent)


def _nic_gb_per_s(system: System) -> float | None:
    if system.scaleout_port_gbps is None:
        return None
    ports = system.scaleout_ports / system.accelerators if system.scaleout_ports else 1.0
    return ports * system.scaleout_port_gbps.value / BITS_PER_BYTE
