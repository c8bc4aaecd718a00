"""Tables of every candidate with its coefficients: the only input of the model and the audit.

Indices: ``hall`` and ``site`` are ids (``site/hall`` for halls), ``t`` counts quarters from 0,
months from 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.economics.cash_flow import AssetClass
from dcplan.fabric.bom import Parts
from dcplan.fabric.effective import LinkSpeed
from dcplan.fabric.topology.design import ClosDesign
from dcplan.inputs.cloud_prices import OfferTerms
from dcplan.inputs.excluded import ExcludedOption
from dcplan.planning.goal import EarlierPlan, Goal
from dcplan.planning.problem.energy import OnsiteTerms, TrancheTerms
from dcplan.planning.problem.work.terms import (
    DemandTerms,
    JobTerms,
    NearestLatency,
    PoolPair,
    RunOption,
)
from dcplan.units import MONTHS_PER_QUARTER


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
    """Quarters before the first new block is in service."""


@dataclass(frozen=True)
class CoolingTerms:
    """One cooling option of one hall: capacity and coefficients of one fitted hall."""

    id: str
    air_mw: float
    liquid_mw: float
    pue: float
    peak_pue: float
    wue_l_per_kwh: float
    fit_out_usd: float
    building_usd: float
    """Cost of the shell of one new hall; 0 for existing and leased halls."""


@dataclass(frozen=True)
class HallTerms:
    """A hall type: limits of one hall, number of halls, cost of a new hall."""

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
    """Height of a rack; infinite if the height is no limit. [U]"""
    storage_kw: float = 0.0
    storage_racks: float = 0.0
    storage_usd: float = 0.0
    storage_blocks: tuple[tuple[str, float], ...] = ()
    """Storage tiers with their blocks, if the plan chooses them."""
    storage_tb: tuple[float, ...] = ()
    """Capacity on each of these tiers."""
    existing_units: Mapping[str, int] = field(default_factory=dict)
    """Halls of the type that assets use, by cooling; they are fitted before the plan begins."""
    existing_units_usd: Mapping[str, float] = field(default_factory=dict)
    """Cost of the assets' network by fabric option, paid before the plan begins."""
    existing_parts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Switches and transceivers of the assets' network, by fabric option."""

    def cooling(self, key: str) -> CoolingTerms:
        """Return the terms of one of the hall's cooling options."""
        return next(c for c in self.coolings if c.id == key)


@dataclass(frozen=True)
class PortClass:
    """A class of identical NIC ports.

    It has a rate, protocols, and the nodes per scalable unit of their leaf switches.
    """

    gbps: float
    protocols: tuple[str, ...]
    nodes_per_su: int
    ports_per_cage: int = 1
    """NIC ports per transceiver of a node."""

    @property
    def id(self) -> str:
        """Return a short name for rows and columns."""
        twin = f"-x{self.ports_per_cage}" if self.ports_per_cage > 1 else ""
        return f"{self.gbps:g}g-{'-'.join(self.protocols)}-su{self.nodes_per_su}{twin}"


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
    embodied_t: float | None
    fit_reason: str
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
class Margin:
    """Maximum that rounding to integer switches adds to the shares of a fabric option."""

    usd: float
    kw: float
    racks: float


@dataclass(frozen=True)
class NetworkShare:
    """Network per NIC port of one class on one fabric option.

    It holds ideal values, and upper values that cover rounding.
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
class LeafGroup:
    """Leaf switches of one plane that a system fills together, and the NIC ports on them."""

    ports: int
    leaves: int


@dataclass(frozen=True)
class SwitchSteps:
    """Lower bounds of a NIC class's network by its ports, with integer switch counts.

    Each is an amount per port, plus a jump for each started step of ports. Where each system has
    its own leaf switches, steps count these, and an amount per leaf switch is added.
    """

    widths: tuple[int, ...]
    """Ports of each step; leaf switches of one plane if there are groups."""
    per_port: Mapping[str, float]
    """Amount -> value of one NIC port: ``usd`` and ``transceivers``, or ``kw``."""
    jumps: Mapping[str, tuple[float, ...]]
    """Amount -> addition of each started step: ``usd`` and parts, or ``kw`` and ``racks``."""
    per_leaf: Mapping[str, float] = field(default_factory=dict)
    """Amount -> value of one leaf switch of one plane; empty where steps count ports."""
    groups: Mapping[str, LeafGroup] = field(default_factory=dict)
    """System -> its own leaf switches; empty where steps count ports."""


@dataclass(frozen=True)
class FabricOption:
    """A fabric family with its topology and number of tiers, for the network of one hall."""

    hall: str
    id: str
    family: str
    topology: str
    tiers: int
    protocol: str
    speeds: Mapping[PortClass, LinkSpeed]
    designs: Mapping[PortClass, ClosDesign]
    parts: Mapping[PortClass, Parts]
    shares: Mapping[PortClass, NetworkShare]
    reach: Mapping[PortClass, int]
    """Maximum NIC ports of each class, which has a network of its own."""
    switch_models: tuple[str, str, str]
    switch_racks_units: float
    step_costs: Mapping[PortClass, SwitchSteps] = field(default_factory=dict)
    """Steps of the cost, if known; the per-port share is another bound on it."""
    step_loads: Mapping[PortClass, SwitchSteps] = field(default_factory=dict)
    """Steps of power and space, if known; the per-port shares are other bounds on them."""
    margin_usd: float = 0.0
    margin_kw: float = 0.0
    margin_racks: float = 0.0
    """Maximum that a started scalable unit of the largest system adds to the per-port shares."""

    @property
    def least_reach(self) -> int:
        """Return the ports of the class with the smallest reach."""
        return min(self.reach.values(), default=0)


@dataclass(frozen=True)
class FinanceTerms:
    """Discount rate, budget, residual values."""

    discount_rate: float
    life_quarters: int
    budget_total_usd: float | None
    budget_usd: tuple[float, ...] | None
    hardware_residual_frac: tuple[float, ...]
    """Share of the price left at the end of the horizon, by order quarter."""
    building_residual_frac: tuple[float, ...]
    power_residual_frac: tuple[float, ...]
    cooling_residual_frac: tuple[float, ...]
    debt_share_frac: float = 0.0
    """Share of capital spending that lenders pay in the same quarter."""
    debt_service_frac: tuple[float, ...] = ()
    """Debt service as a share of the loan, 0, 1, 2 … quarters later, with interest."""
    plant_life_months: tuple[tuple[AssetClass, int], ...] = ()
    """Life of building, cooling and power; other assets have the life of hardware."""

    def life_months(self, asset: AssetClass) -> int:
        """Return the months over which an asset is written off."""
        return dict(self.plant_life_months).get(asset, self.life_quarters * MONTHS_PER_QUARTER)


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
    cancel_usd: float | None = None
    """Payment to cancel a rack, after deduction of advance payments; None if it cannot be
    cancelled."""
    in_service: bool = False
    """Whether the racks are in service and connected before the plan begins."""

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


ALL_DATA, HOT, COLD = "all", "hot", "cold"
"""Roles of a storage tier."""


@dataclass(frozen=True)
class StorageShare:
    """Storage of one accelerator on one tier, in fractions of a building block."""

    tier: str
    blocks: float
    usable_tb: float
    read_gb_per_s: float
    write_gb_per_s: float
    kw: float
    racks: float
    usd: float
    binds: str
    """Binding requirement: ``capacity``, ``read`` or ``write``."""
    role: str = ALL_DATA
    """Data on the tier: all, or its hot or cold part."""


@dataclass(frozen=True)
class StorageChoice:
    """A storage tier, or a hot and a cold one, with its cost for one accelerator."""

    hot: str
    cold: str | None
    """None: one tier carries all data."""
    usd: float
    kw: float
    cost_usd: float
    """Present cost: price less residual value, energy, power blocks and space."""


@dataclass(frozen=True)
class PlanningProblem:
    """All candidates of the optimization, with their coefficients and limits."""

    start: str
    quarters: int
    sites: tuple[SiteTerms, ...]
    halls: tuple[HallTerms, ...]
    placements: tuple[Placement, ...]
    fabrics: tuple[FabricOption, ...]
    jobs: tuple[JobTerms, ...]
    run_options: tuple[RunOption, ...]
    demands: tuple[DemandTerms, ...]
    """Demands; those with a row of another demand follow it."""
    offers: tuple[OfferTerms, ...]
    supply: tuple[SupplyTerms, ...]
    finance: FinanceTerms
    orderable: frozenset[str]
    """Systems that may be ordered; the system of a given fleet only if ``systems`` names it."""
    closed: frozenset[tuple[str, str]] = frozenset()
    """Pairs of hall and system without orders."""
    fleet: FleetTerms | None = None
    parts: tuple[PartsTerms, ...] = ()
    vendor_share: Mapping[str, float] = field(default_factory=dict)
    """Maximum share of the spending on ordered racks, by maker."""
    existing: tuple[ExistingTerms, ...] = ()
    """Existing and on-order hardware: assets and orders."""
    cloud_max_accelerators: int | None = None
    margin_factor: float = 1.0
    """Number of rounding margins in the limits. 0 is the true relaxation: every limit uses ideal
    shares, so its bound and its infeasibility also hold for integer switch counts."""
    goal: Goal = field(default_factory=Goal)
    carbon_known: bool = False
    """Whether only offers with known carbon may be rented."""
    earlier: EarlierPlan | None = None
    forced: tuple[str, ...] = ()
    """Systems with at least one ordered rack."""
    integer_switches: bool = False
    """Whether the model has step costs of leaf switches in addition to shares; only in small
    problems."""
    storage: tuple[StorageShare, ...] = ()
    """Storage of each accelerator by tier; empty if the scenario gives the capacity."""
    storage_choices: tuple[StorageChoice, ...] = ()
    """Tiers and pairs that the plan compared, by cost; empty if the tier is given."""
    excluded: tuple[ExcludedOption, ...] = ()
    warnings: tuple[str, ...] = ()
    periods: tuple[float, ...] = (1.0,)
    """Shares of the hours of the week; loads are constant in each period."""
    period_of_hour: tuple[int, ...] = ()
    """Period of each hour of the week from Monday 00:00 UTC; empty for one period."""
    pairs: tuple[PoolPair, ...] = ()
    """Pools of disaggregated services."""
    nearest: tuple[NearestLatency, ...] = ()
    """Nearest hardware of services whose latency limits no hardware meets."""

    @property
    def required(self) -> tuple[DemandTerms, ...]:
        """Return the demands with a row of their own."""
        return tuple(d for d in self.demands if d.row_id == d.id)

    def demand_parts(self, row: str) -> tuple[DemandTerms, ...]:
        """Return the demands whose amounts count for a row."""
        return tuple(d for d in self.demands if d.row_id == row)

    def demand(self, key: str) -> DemandTerms:
        """Return a demand by id."""
        return next(d for d in self.demands if d.id == key)

    def hall(self, key: str) -> HallTerms:
        """Return a hall by id."""
        return next(h for h in self.halls if h.id == key)

    def site(self, key: str) -> SiteTerms:
        """Return a site by id."""
        return next(s for s in self.sites if s.id == key)
