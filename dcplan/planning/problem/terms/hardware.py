"""Systems in halls, hardware that is already decided, and what vendors deliver."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.planning.problem.terms.network import PortClass
from dcplan.planning.problem.work.terms import DemandTerms


@dataclass(frozen=True)
class Placement:
    """A system in a hall under a cooling option.

    All values are for one rack (or one multi-rack unit).
    """

    hall: str
    cooling: str
    system: str
    accelerator: str
    accelerators: int
    nodes: int
    slots: int
    rated_kw: float
    peak_kw: float
    idle_kw: float
    idle_average_kw: float
    """Average power without work of the scenario: idle power, or that of the utilization of a given
    fleet."""
    training_kw: float
    research_kw: float
    air_kw: float
    liquid_kw: float
    overhead_kw: float
    weight_kg: float
    ports: int
    rails: int
    port_class: PortClass
    price_usd: float
    maintenance_usd_per_quarter: float
    lead: int
    first_order: int
    max_racks_unit: int
    fit_reason: str
    domain: int = 1
    """Accelerators that need no network between them: those of a scale-up domain, or of a server."""
    storage_usd: float = 0.0
    storage_kw: float = 0.0
    storage_racks: float = 0.0
    """Shared storage for one rack; it has its own racks."""
    storage_blocks: tuple[tuple[str, float], ...] = ()
    """Storage tiers with their blocks for one rack, if the plan chooses them."""
    derived_nodes: int = 0
    """Nodes that the rack's limits allow; a given number may exceed it and is reported."""
    fan_frac: float = 0.0
    """Share of the power that a conversion for immersion removes; powers are without it."""
    conversion_usd: float = 0.0
    """Price of the conversion of one node, which the price includes."""
    in_tank: bool = False
    """Whether the unit is an immersion tank, which is one unit on several rack positions."""

    makers: tuple[str, ...] = ()
    """Makers of the system and of its accelerators."""
    price_factor: tuple[float, ...] = ()
    """Price by order quarter relative to the price; empty: no change."""

    @property
    def self_contained(self) -> bool:
        """Return whether the accelerators of one unit need no network between them."""
        return 0 < self.accelerators <= self.domain and self.ports > 0

    @property
    def racks(self) -> int:
        """Return the racks of one unit: its rack positions, or 1 for a tank."""
        return 1 if self.in_tank else self.slots

    @property
    def unit(self) -> str:
        """Return the word for one unit."""
        return "tank" if self.in_tank else "rack"

    def rack_usd(self, t: int) -> float:
        """Return the price of one rack ordered in a quarter."""
        if not self.price_factor:
            return self.price_usd
        conversion = self.conversion_usd * self.nodes  # its price does not follow a vendor's quote
        return (self.price_usd - conversion) * self.price_factor[t] + conversion

    def order_usd(self, t: int) -> float:
        """Return the price of one rack ordered in a quarter, including its storage."""
        return self.rack_usd(t) + self.storage_usd

    def serving_kw(self, demand: DemandTerms) -> float:
        """Return the mean power that serving adds to one idle accelerator over the week [kW]."""
        below = demand.below_rated_kw.get((self.hall, self.system))
        rack = self.research_kw if below is None else self.rated_kw - below * self.accelerators
        more = (rack - self.idle_average_kw) / self.accelerators
        return demand.hours_frac * demand.load_frac * more

    @property
    def key(self) -> tuple[str, str, str]:
        """Return hall, cooling and system."""
        return self.hall, self.cooling, self.system


@dataclass(frozen=True)
class FleetTerms:
    """Accelerators already decided: in service and paid in the first quarter."""

    hall: str
    system: str
    accelerators: int


@dataclass(frozen=True)
class ExistingTerms:
    """Racks in service or on order when the plan begins."""

    id: str
    key: tuple[str, str, str]
    """Hall, cooling and system."""
    racks: int
    first: int
    """First quarter in service."""
    last: int
    """First quarter after the end of life."""
    end_usd: float
    """Residual value of a rack at the end of the horizon."""
    resale_usd: tuple[float, ...] = ()
    """Sale value of a rack by quarter of sale; empty if it may not be sold."""
    due_usd: float = 0.0
    """Payment due on arrival of a rack, including storage."""
    storage_usd: float = 0.0
    advance_usd: float = 0.0
    """Part of the price of a rack on order that was paid before the plan begins."""
    cancel_usd: float | None = None
    """Payment to cancel a rack, after deduction of advance payments; None if it cannot be
    cancelled."""
    in_service: bool = False
    """Whether the racks are in service and connected before the plan begins."""
    paid_usd: float = 0.0
    """Price that was paid for a rack in service."""
    age: int = 0
    """Quarters in service before the plan begins."""

    @property
    def disposal_window(self) -> range:
        """Return the quarters in which racks may be sold or cancelled."""
        if self.cancel_usd is not None:
            return range(1)
        return range(min(len(self.resale_usd), self.last))

    def serves(self, t: int) -> bool:
        """Return whether the racks that are not disposed of are in service in a quarter."""
        return self.first <= t < self.last


@dataclass(frozen=True)
class SupplyTerms:
    """Maximum racks from a vendor by order quarter; None means no limit."""

    system: str
    racks: tuple[float, ...]


@dataclass(frozen=True)
class PartsTerms:
    """Maximum switches, transceivers or power blocks bought per quarter, over all sites."""

    part: str
    most: tuple[float, ...]
