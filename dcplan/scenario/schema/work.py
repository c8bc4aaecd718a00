"""Demand and resources: jobs, cloud, fleet, storage, reliability, supply, expectations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.market import Term
from dcplan.provenance import (
    AtLeastOne,
    EventHours,
    Fraction,
    Hours,
    InstancePrice,
    NodeStops,
    NonNegative,
    Positive,
    Ratio,
    Seconds,
    Series,
    Slowdown,
    YearHours,
)
from dcplan.scenario.schema.assets import YearlyChange
from dcplan.scenario.schema.base import (
    AllOrIds,
    Count,
    CountOrZero,
    Key,
    Part,
    Quarter,
    UnitShare,
    check_speed,
)
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


class Reliability(Part):
    """Failure and recovery of jobs; missing fields come from ``catalogs/reliability``."""

    checkpoint: Literal["async", "blocking", "peer"] = "async"
    """Checkpoint method. async: copied to host memory and written in the background; peer: in
    addition, hosts keep copies for each other."""
    save_s: Seconds | None = None
    """Blocking time of a save. Default: computed from checkpoint size and write rate."""
    interval_s: Seconds | None = None
    """Training time between saves. Default: Daly's optimum."""
    restart_s: Seconds | None = None
    """Time from a stop to the next step, including detection and loading."""
    detection_s: Seconds | None = None
    """Time to notice and diagnose a failure. Default: `reliability/detection-h`."""
    stops_per_1000_node_days: NodeStops | None = None
    """Stop rate of one node, instead of the rates of its parts. A measured rate has the nodes with
    frequent failures in it, so it does not go with `lemon_nodes`."""
    replaced_frac: Fraction | None = None
    """Share of these stops after which the node is away for `repair_h`. Default: as for the parts."""
    spares: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] | None = None
    """Spare nodes of a job. Default: enough for 99% of the time."""
    repair_h: Hours | None = None
    """Mean repair time of a failed node. Default: `reliability/node-repair-h`."""
    production_slowdown: Slowdown | None = None
    """Step time of the run divided by that of a tuned benchmark; 1 if the step time is measured."""
    early_life: bool = False
    """Whether a new cluster has more failures in its first month."""
    lemon_nodes: bool = False
    """Whether nodes with frequent failures stay in the cluster: the rates of the catalog are without
    them."""
    corruption_rollback_h: Hours | None = None
    """Training thrown away for one silent corruption that was found. Default:
    `reliability/corruption-rollback-h`."""
    replica_accelerators: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None
    """Accelerators of an elastic data-parallel replica: when it stops, the others train on. Default:
    every stop ends the complete job."""
    stall_s: NonNegative | None = None
    """Time that all replicas lose when one of them stops. Default: `reliability/replica-stall-s`."""
    rejoin_s: Seconds | None = None
    """Time from the stop of a replica until it trains again. Default: detection and restart."""
    whole_job_stops_per_day: NonNegative | None = None
    """Stops of the complete job with elastic replicas, at any size. Default: the planned stops of its
    parts, at most `reliability/whole-job-stops-per-day`."""

    interrupted_h_per_year: YearHours | None = None
    """Hours per year in which the grid takes back the power of the run, for `train`; in a plan, the
    sites state them. Default: none."""
    interruption_h: EventHours | None = None
    """Length of one of these interruptions. Default: `power/interruption-h`."""
    interrupted_power_frac: UnitShare | None = None
    """Share of the run's power that goes on meanwhile. Default: 0, the run pauses and restarts."""
    interrupted_speed_frac: UnitShare | None = None
    """Speed meanwhile over that at full power. Default: the share of the power."""

    @field_validator("lemon_nodes")
    @classmethod
    def _lemons(cls, asked: bool, info: ValidationInfo) -> bool:
        if asked and info.data.get("stops_per_1000_node_days") is not None:
            kind = "lemons"
            msg = (
                "nodes with frequent failures would count twice: the rate of "
                "stops_per_1000_node_days has them; leave lemon_nodes out"
            )
            raise PydanticCustomError(kind, msg)
        return asked

    @model_validator(mode="after")
    def _interruptions(self) -> Reliability:
        needs = ("interruption_h", "interrupted_power_frac", "interrupted_speed_frac")
        unused = [name for name in needs if getattr(self, name) is not None]
        if unused and self.interrupted_h_per_year is None:
            kind, msg = "interruptions", "{names} need interrupted_h_per_year: give it too"
            raise PydanticCustomError(kind, msg, {"names": " and ".join(unused)})
        check_speed(self.interrupted_power_frac, self.interrupted_speed_frac)
        return self

    @model_validator(mode="after")
    def _one_of_each(self) -> Reliability:
        if self.replaced_frac is not None and self.stops_per_1000_node_days is None:
            kind = "replaced"
            msg = "replaced_frac is a share of stops_per_1000_node_days: give it too"
            raise PydanticCustomError(kind, msg)
        if self.detection_s is not None and self.restart_s is not None:
            kind = "detection"
            raise PydanticCustomError(kind, "restart_s contains the detection: omit detection_s")
        return self

    @model_validator(mode="after")
    def _replicas(self) -> Reliability:
        needs = ("stall_s", "rejoin_s", "whole_job_stops_per_day")
        unused = [name for name in needs if getattr(self, name) is not None]
        if unused and self.replica_accelerators is None:
            kind = "replicas"
            msg = "only elastic replicas use {names}: give replica_accelerators too"
            raise PydanticCustomError(kind, msg, {"names": " and ".join(unused)})
        return self


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


DateLimit = Annotated[str, Field(pattern=r"^\d{4}-(Q[1-4]|(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))$")]
"""A date such as ``2027-09-01``, or a quarter such as ``2027-Q3``."""


class Expectation(Part):
    """A pass/fail test of a metric, absolute or relative to a base (CI)."""

    id: Key
    """Name of the expectation, shown in every report."""
    metric: str
    """Key of the metric."""
    min: float | DateLimit | None = None
    """Minimum of the metric; of a finish, a date (2027-09-01) or a quarter (2027-Q3)."""
    max: float | DateLimit | None = None
    """Maximum of the metric; of a finish, a date or a quarter, up to its last day."""
    equals: float | DateLimit | None = None
    """Required value of the metric, within tol; of a finish, a date or a quarter."""
    tol: Annotated[float, Field(ge=0)] | None = None
    """Absolute tolerance of equals. Default: 0."""
    change_min: float | None = None
    """Minimum change from the base: answer minus base, in days for a finish."""
    change_max: float | None = None
    """Maximum change from the base: answer minus base, in days for a finish."""
    change_pct_min: float | None = None
    """Minimum change from the base in percent."""
    change_pct_max: float | None = None
    """Maximum change from the base in percent; a decrease is negative."""
    against: str | None = None
    """Base of the change: `base` (given by `dcplan test --base`, otherwise the variant of that
    name), a name in `scenarios:`, or `file`, the scenario without a variant."""
    when: str | None = None
    """Variant to which the expectation applies: a name in `scenarios:` or a pattern of names;
    `file` is the scenario without a variant."""
    severity: Literal["error", "warn"] = "error"
    """`error` fails the test, `warn` only reports."""
    owner: str | None = None
    """Person or team responsible for the metric."""
    note: str | None = None
    """Free text, shown in reports."""

    @model_validator(mode="before")
    @classmethod
    def _has_a_limit(cls, data: Any) -> Any:
        limits = {
            "min",
            "max",
            "equals",
            "change_min",
            "change_max",
            "change_pct_min",
            "change_pct_max",
        }
        if isinstance(data, dict) and not limits & set(data):
            code = "expectation"
            raise PydanticCustomError(
                code,
                "an expectation needs one of min, max, equals, change_max, change_pct_max, change_min, change_pct_min",
            )
        return data
