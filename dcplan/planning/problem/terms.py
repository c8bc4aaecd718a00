"""Plain tables of every candidate with its coefficients.

All that the model and the audit know of the world.

Indices: ``hall`` and ``site`` are ids (``site/hall`` for halls), ``t`` counts quarters from 0,
months from 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.fabric.bom import Parts
from dcplan.fabric.topology.design import ClosDesign
from dcplan.inputs.cloud_prices import OfferTerms
from dcplan.inputs.excluded import ExcludedOption
from dcplan.planning.goal import EarlierPlan, Goal
from dcplan.planning.problem.energy import OnsiteTerms, TrancheTerms
from dcplan.planning.problem.work.terms import DemandTerms, JobTerms, RunOption


@dataclass(frozen=True)
class SiteTerms:
    """Limits and tariffs of a site, by quarter where they vary."""

    id: str
    utility_mw: tuple[float, ...]
    usd_per_kwh: tuple[float, ...]
    demand_usd_per_kw_month: float
    minimum_take_frac: float
    grid_g_per_kwh: float
    max_t_per_year: float | None
    max_l_per_year: float | None
    redundancy: str
    block_mw: float
    block_usd: float
    lease_usd_per_kw_month: tuple[float, ...] | None
    staff_usd_per_quarter: float
    opex_usd_per_kw_quarter: float
    tranches: tuple[TrancheTerms, ...] = ()
    onsite: tuple[OnsiteTerms, ...] = ()
    block_lead: int = 0
    """Quarters before which no new block serves."""


@dataclass(frozen=True)
class CoolingTerms:
    """One cooling option of one hall: capacity of a fitted unit and its coefficients."""

    id: str
    air_mw: float
    liquid_mw: float
    pue: float
    peak_pue: float
    wue_l_per_kwh: float
    fit_out_usd: float
    building_usd: float
    """Shell of one new unit; 0 for existing and leased halls."""


@dataclass(frozen=True)
class HallTerms:
    """A hall type: limits of one unit, how many units, what a new one costs."""

    id: str
    site: str
    name: str
    count: int
    racks: int
    it_mw: float
    existing: bool
    available_from: int
    needs_blocks: bool
    coolings: tuple[CoolingTerms, ...]
    rack_units: float = math.inf
    """Height of a rack; infinite where height does not limit. [U]"""
    storage_kw: float = 0.0
    storage_racks: float = 0.0
    storage_usd: float = 0.0
    existing_units: Mapping[str, int] = field(default_factory=dict)
    """Units that assets fill, by cooling: fitted before the plan begins."""
    existing_units_usd: Mapping[str, float] = field(default_factory=dict)
    """What the assets' network cost, by fabric option: paid before the plan begins."""
    existing_parts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Its switches and transceivers, by fabric option."""

    def cooling(self, key: str) -> CoolingTerms:
        """Terms of one of the hall's cooling options."""
        return next(c for c in self.coolings if c.id == key)


@dataclass(frozen=True)
class PortClass:
    """NIC ports alike for a fabric.

    Rate, protocols, and nodes of the scalable unit their leaves are bought for.
    """

    gbps: float
    protocols: tuple[str, ...]
    nodes_per_su: int
    ports_per_cage: int = 1
    """NIC ports behind one transceiver of a node."""

    @property
    def id(self) -> str:
        """Short name for rows and columns."""
        return f"{self.gbps:g}g-{'-'.join(self.protocols)}-su{self.nodes_per_su}"


@dataclass(frozen=True)
class Placement:
    """A system in a hall under a cooling option.

    All figures are for one rack (or one multi-rack unit).
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
    """Average while none of the scenario's work runs on it: idle, or a given fleet's own
    utilization."""
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
    embodied_t: float | None
    fit_reason: str
    storage_usd: float = 0.0
    storage_kw: float = 0.0
    storage_racks: float = 0.0
    """Shared storage that comes with one rack; it stands in racks of its own."""
    derived_nodes: int = 0
    """Nodes that the rack's limits allow; a given override may exceed them and is reported."""

    makers: tuple[str, ...] = ()
    """Of the system and of its accelerators."""
    price_factor: tuple[float, ...] = ()
    """By order quarter, over the price; left out, it does not change."""

    def rack_usd(self, t: int) -> float:
        """Price of one rack ordered in a quarter."""
        return self.price_usd * (self.price_factor[t] if self.price_factor else 1.0)

    def order_usd(self, t: int) -> float:
        """Return the same, with the storage that comes with it."""
        return self.rack_usd(t) + self.storage_usd

    @property
    def key(self) -> tuple[str, str, str]:
        """Hall, cooling and system."""
        return self.hall, self.cooling, self.system


@dataclass(frozen=True)
class NetworkShare:
    """Network per NIC port of one class on one fabric option.

    Ideal figures, and upper ones that cover rounding.
    """

    usd: float
    kw: float
    racks: float
    upper_usd: float
    upper_kw: float
    upper_racks: float
    switches: float = 0.0
    transceivers: float = 0.0
    upper_switches: float = 0.0
    upper_transceivers: float = 0.0


@dataclass(frozen=True)
class StepCost:
    """Lower bound of a NIC class's network cost.

    So much a port, and a jump for each step of ports begun.
    """

    usd_per_port: float
    widths: tuple[int, ...]
    """Ports of each step."""
    jumps_usd: tuple[float, ...]
    """What beginning a step adds."""


@dataclass(frozen=True)
class FabricOption:
    """A fabric family at a number of tiers for one hall domain."""

    hall: str
    id: str
    family: str
    tiers: int
    protocol: str
    gbps: float
    designs: Mapping[PortClass, ClosDesign]
    parts: Mapping[PortClass, Parts]
    shares: Mapping[PortClass, NetworkShare]
    max_ports: int
    switch_models: tuple[str, str, str]
    switch_racks_units: float
    step_costs: Mapping[PortClass, StepCost] = field(default_factory=dict)
    """Where steps are known; the per-port share bounds the cost besides."""
    margin_usd: float = 0.0
    margin_kw: float = 0.0
    margin_racks: float = 0.0
    """What one started scalable unit of the largest system may add above the per-port shares."""

    def link_gbps(self, ports: PortClass) -> float:
        """One-way rate a NIC port of a class gets on this fabric."""
        return min(ports.gbps, self.gbps)


@dataclass(frozen=True)
class FinanceTerms:
    """Discounting, budget, residual shares."""

    discount_rate: float
    life_quarters: int
    budget_total_usd: float | None
    budget_usd: tuple[float, ...] | None
    hardware_residual_frac: tuple[float, ...]
    """By order quarter: share of the price left at the end of the horizon."""
    building_residual_frac: tuple[float, ...]
    power_residual_frac: tuple[float, ...]
    cooling_residual_frac: tuple[float, ...]
    debt_share_frac: float = 0.0
    """Of capital spending, what lenders pay in its quarter."""
    debt_service_frac: tuple[float, ...] = ()
    """Of what was borrowed, what is paid back with interest 0, 1, 2 … quarters after."""


@dataclass(frozen=True)
class FleetTerms:
    """Accelerators already decided: in service and paid in the first quarter."""

    hall: str
    system: str
    accelerators: int


@dataclass(frozen=True)
class ExistingTerms:
    """Racks that exist or are on order when the plan begins."""

    id: str
    key: tuple[str, str, str]
    """Hall, cooling, system."""
    racks: int
    first: int
    """Quarter from which they serve."""
    last: int
    """First quarter after their life."""
    end_usd: float
    """Worth of a rack at the end of the horizon."""
    resale_usd: tuple[float, ...] = ()
    """Worth of a rack by the quarter in which it is sold; none where it stays."""
    due_usd: float = 0.0
    """Paid for a rack, storage included, when it arrives."""
    storage_usd: float = 0.0
    cancel_usd: float | None = None
    """Paid to cancel a rack, what was paid ahead set off; None where the order stands."""
    in_service: bool = False
    """In service and connected before the plan begins."""

    @property
    def disposal_window(self) -> range:
        """Quarters in which racks may be sold or cancelled."""
        if self.cancel_usd is not None:
            return range(1)
        return range(min(len(self.resale_usd), self.last))

    def serves(self, t: int) -> bool:
        """Whether what is kept serves in a quarter."""
        return self.first <= t < self.last


@dataclass(frozen=True)
class SupplyTerms:
    """Racks a vendor ships by order quarter; None means no limit."""

    system: str
    racks: tuple[float, ...]


@dataclass(frozen=True)
class PartsTerms:
    """Switches, transceivers or power blocks that may be bought in a quarter, over all sites."""

    part: str
    most: tuple[float, ...]


@dataclass(frozen=True)
class StorageShare:
    """Storage that comes with one accelerator, in parts of a building block."""

    tier: str
    blocks: float
    usable_tb: float
    read_gb_per_s: float
    write_gb_per_s: float
    kw: float
    racks: float
    usd: float
    binds: str
    """``capacity``, ``read`` or ``write``."""


@dataclass(frozen=True)
class PlanningProblem:
    """Everything the optimizer may choose from."""

    start: str
    quarters: int
    sites: tuple[SiteTerms, ...]
    halls: tuple[HallTerms, ...]
    placements: tuple[Placement, ...]
    fabrics: tuple[FabricOption, ...]
    jobs: tuple[JobTerms, ...]
    run_options: tuple[RunOption, ...]
    demands: tuple[DemandTerms, ...]
    offers: tuple[OfferTerms, ...]
    supply: tuple[SupplyTerms, ...]
    finance: FinanceTerms
    orderable: frozenset[str]
    """Systems that may be ordered; a given fleet's system is orderable only when ``systems`` names
    it."""
    closed: frozenset[tuple[str, str]] = frozenset()
    """Halls and systems that are not ordered for them."""
    fleet: FleetTerms | None = None
    parts: tuple[PartsTerms, ...] = ()
    vendor_share: Mapping[str, float] = field(default_factory=dict)
    """Largest share of the spending on ordered racks, by maker."""
    existing: tuple[ExistingTerms, ...] = ()
    """Assets and orders."""
    cloud_max_accelerators: int | None = None
    margin_factor: float = 1.0
    """How many rounding margins the limits keep. 0 is the true relaxation: ideal shares in every
    limit, so that its bound and its infeasibility hold for whole switches too."""
    goal: Goal = field(default_factory=Goal)
    carbon_known: bool = False
    """Offers of unknown carbon are not rented."""
    earlier: EarlierPlan | None = None
    forced: tuple[str, ...] = ()
    """Systems of which at least one rack must be bought."""
    integer_switches: bool = False
    """Networks cost steps of whole leaves in the model, not shares alone; for menus small enough.
    """
    storage: StorageShare | None = None
    """What each accelerator brings; None where the scenario gives the capacity."""
    excluded: tuple[ExcludedOption, ...] = ()
    warnings: tuple[str, ...] = ()

    def hall(self, key: str) -> HallTerms:
        """Hall by id."""
        return next(h for h in self.halls if h.id == key)

    def site(self, key: str) -> SiteTerms:
        """Site by id."""
        return next(s for s in self.sites if s.id == key)
