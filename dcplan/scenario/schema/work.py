"""Workloads and resources: rent, a given fleet, its network and storage, and deliveries."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dcplan.catalog.schema.market import Term
from dcplan.catalog.schema.ranges import (
    AtLeastOne,
    Fraction,
    InstancePrice,
    NonNegative,
    Positive,
    Ratio,
    Series,
)
from dcplan.scenario.schema.assets import YearlyChange
from dcplan.scenario.schema.base import AllOrIds, Count, CountOrZero, Part, Quarter
from dcplan.scenario.schema.demand import Capacity, Reference
from dcplan.scenario.schema.jobs import Job, PostTrainingJob, ScheduledJob
from dcplan.scenario.schema.queue import Queued
from dcplan.scenario.schema.service import Inference

AccompanyingCost = Literal[
    "storage", "network-and-egress", "cpu-nodes", "support", "set-up", "debugging"
]
"""Cost that accompanies a rent, by its name in `cloud.leave_out` and `comparison.leave_out`."""


class Workloads(Part):
    """All demand."""

    training: tuple[Job, ...] = ()
    """Training runs."""
    post_training: tuple[PostTrainingJob, ...] = ()
    """Runs of reinforcement learning."""
    capacity: tuple[Capacity, ...] = ()
    """Research capacity in addition to the training runs."""
    inference: tuple[Inference, ...] = ()
    """Inference: tokens to serve."""
    queue: tuple[Queued, ...] = ()
    """Classes of jobs that wait in a queue for accelerators of a pool."""

    @property
    def jobs(self) -> tuple[ScheduledJob, ...]:
        """Jobs of every kind."""
        return (*self.training, *self.post_training)


class Cloud(Part):
    """Cloud capacity that may be rented."""

    offers: AllOrIds
    """Catalog cloud offers that may be rented, or `all`."""
    terms: Annotated[tuple[Term, ...], Field(min_length=1)] = ("on-demand",)
    """Price terms: on-demand, or commitments such as reserved-1y."""
    prices: dict[str, dict[str, InstancePrice]] = Field(default_factory=dict)
    """Your own quotes: offer -> price, such as on_demand_usd_per_h or reserved_3y_usd_per_h -> USD
    per hour of one instance."""
    max_accelerators: CountOrZero | None = None
    """Maximum accelerators rented at the same time, all offers together. Default: no limit."""
    max_accelerators_per_offer: CountOrZero | None = None
    """Maximum accelerators of one offer. Default:
    `finance/cloud-capacity-per-offer-accelerators`."""
    egress_tb_per_month: NonNegative | None = None
    """Data leaving the cloud in a month. A plan pays it in each quarter with rent, at the highest
    egress price of the offers in use. Default: none."""
    leave_out: tuple[AccompanyingCost, ...] = ()
    """Costs that accompany the rent and do not count, such as set-up. Default: all count."""
    price_change_frac_per_year: YearlyChange | None = None
    """Annual change of cloud prices, from the start of the horizon on. Default: 0."""


class Fleet(Part):
    """Hardware already decided: in service, and paid, in the first quarter."""

    system: str
    """Catalog system."""
    accelerators: Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
    """Number of accelerators."""
    site: str | None = None
    """Site of the hardware. Default: the first site."""
    hall: str | None = None
    """Hall of that site. Default: its first hall."""
    nodes_per_rack: Count | None = None
    """Nodes in one rack. Default: the number that power, space and weight allow."""
    utilization_frac: Fraction | None = None
    """Share of the hours in which the fleet works; it sets the energy and the hours rented instead.
    Default in `tco`: 1."""
    reference: Reference | None = None
    """Reference job whose delivered PFLOP-days and tokens `tco` prices. Default: Llama 3.1
    70B."""


class Oversubscription(Part):
    """Oversubscription of a tier: downlink capacity divided by uplink capacity; 1 is non-blocking."""

    leaf_spine: Ratio | None = None
    """Oversubscription between leaf and spine switches. Default: 1."""
    spine_core: Ratio | None = None
    """Oversubscription between spine and core switches. Default: 1."""


class GivenFabric(Part):
    """A given fabric; missing fields come from the family."""

    id: str
    """Row of the catalog kind fabrics."""
    topology: str | None = None
    """Topology, such as fat-tree or rail-optimized. Default: the topology of the family."""
    tiers: Annotated[int, Field(ge=1, le=3, strict=True)] | None = None
    """Number of tiers. Default: the smallest number that reaches every accelerator."""
    planes: Annotated[int, Field(ge=1, le=16, strict=True)] | None = None
    """Number of planes, parallel networks that share a NIC. Default: the number of the family."""
    endpoints_per_leaf: Annotated[int, Field(ge=1, le=4096, strict=True)] | None = None
    """Leaf ports towards nodes. Default: half of the ports in a non-blocking network."""
    nodes_per_su: Annotated[int, Field(ge=1, le=100_000, strict=True)] | None = None
    """Nodes per scalable unit; each unit has an integer number of leaf switches. Default: the value
    of the family."""
    oversubscription: Oversubscription = Oversubscription()
    """Oversubscription of its tiers."""
    load_balancing: Literal["ecmp", "qp-scaling", "adaptive", "spray", "scheduled"] | None = None
    """Load balancing of flows over paths. Default: that of the family."""


class Storage(Part):
    """Shared storage bought with the fleet. Default: sized from the jobs and the accelerators."""

    usable_pb: Positive | None = None
    """Usable capacity. Default: sized from the accelerators."""
    level: Literal["good", "better", "best"] = "better"
    """Service level: read and write rates per accelerator, as defined in NVIDIA's SuperPOD
    guide."""
    tier: str | None = None
    """Row of the catalog kind ``storage_tiers`` for all storage. Default: `flash-parallel-class`."""
    tiers: AllOrIds | None = None
    """Rows of the catalog kind ``storage_tiers``, or `all`: the plan chooses one tier, or a hot and
    a cold one. Default: the tier of `tier`."""
    hot_frac: Fraction | None = None
    """Share of the capacity that needs the rates of the service level, on the hot tier of `tiers`.
    Default: `storage/storage-hot-frac`."""
    bytes_per_token: Positive | None = None
    """Training data read per token: 4 for token ids; images and video need far more."""
    dataset_tb: Positive | None = None
    """Training data, if more than the tokens of the jobs; its capacity adds to that for the
    accelerators."""
    kept_checkpoints: AtLeastOne | None = None
    """Number of checkpoints kept at the same time. Default: `storage/storage-kept-checkpoints`."""


class Supply(Part):
    """Vendor deliveries: racks per quarter and lead time."""

    system: str
    """Catalog system."""
    racks_per_quarter: Series | None = None
    """Maximum racks delivered, one number or one per quarter. Default: no limit."""
    lead_quarters: CountOrZero | None = None
    """Lead time from order to service, in quarters. Default: 1."""
    from_quarter: Quarter | None = Field(default=None, alias="from")
    """First quarter of delivery. Default: the release quarter."""
    price_change_frac_per_year: YearlyChange | None = None
    """Annual price change of this system, instead of
    finance.hardware_price_change_frac_per_year."""
    price_usd: Series | None = None
    """Price of one unit by order quarter, instead of the catalog price."""


class PartsPerQuarter(Part):
    """Maximum deliveries of parts per quarter, over all sites. Default: no limit."""

    switches: Series | None = None
    """Switches of the compute fabric."""
    transceivers: Series | None = None
    """Transceivers of switches and nodes."""
    power_blocks: Series | None = None
    """Power blocks; one block holds UPS, generator and transformer."""
