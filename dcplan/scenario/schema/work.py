"""What must be done: training jobs, research capacity, rented hardware."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.market import Term
from dcplan.provenance import (
    AtLeastOne,
    Fraction,
    Hours,
    NodeStops,
    NonNegative,
    Positive,
    Ratio,
    Seconds,
    Series,
    Slowdown,
)
from dcplan.scenario.schema.assets import YearlyChange
from dcplan.scenario.schema.base import AllOrIds, Count, CountOrZero, Key, Part, Quarter
from dcplan.scenario.schema.demand import Capacity, Inference, Precision, Reference

DEADLINE_CONFIDENCE = 0.8
"""Share of the finish-time distribution that ends by the deadline, where a job gives none."""


class Job(Part):
    """A training run: this model on this many tokens, by a date or within a time."""

    id: Key
    """Name of the run, used in keys and metrics."""
    model: str
    """Catalog id, or a path (relative to the scenario file) to a Hugging Face config.json."""
    tokens: Positive
    """Training tokens."""
    seq_len: Annotated[int, Field(ge=1, le=100_000_000, strict=True)]
    """Tokens of a sequence."""
    global_batch_tokens: Positive
    """Tokens of one optimizer step; a layout may round it by up to a tenth, to whole
    micro-batches."""
    precision: Annotated[tuple[Precision, ...], Field(min_length=1)]
    """Recipes that are of equal quality to you; the plan may choose any of them."""
    start: Quarter | None = None
    """Earliest quarter; left out, the start of the horizon."""
    deadline: Quarter | None = None
    """Done by the last day of this quarter; left out, by the end of the horizon."""
    deadline_days: Positive | None = None
    """Length of the run from its own first day; left out, no limit."""
    deadline_confidence: Annotated[float, Field(gt=0.5, lt=1)] | None = None
    """Share of the finish-time distribution inside the limit; left out, 0.8."""
    accelerators: Count | None = None
    """A fixed size; left out, the plan chooses it."""
    sites: tuple[str, ...] | None = None
    """Sites where it may run; named, the cloud is not offered to it."""
    countries: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Residency: only sites and cloud regions of these countries (two letters)."""
    stack: str | None = None
    """Row of the catalog kind stacks; left out, the accelerator's usual one."""
    images: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Images (or tiles) of a sequence that pass through the model's vision encoder; none where
    left out."""

    @model_validator(mode="after")
    def _batch_holds_a_sequence(self) -> Job:
        if self.global_batch_tokens.value < self.seq_len:
            code = "batch"
            raise PydanticCustomError(
                code, "global_batch_tokens is below seq_len: not one sequence a step"
            )
        if self.tokens.value < self.global_batch_tokens.value:
            code = "tokens"
            raise PydanticCustomError(code, "tokens is below global_batch_tokens: not one step")
        return self


class Workloads(Part):
    """All demand."""

    training: tuple[Job, ...] = ()
    """Training runs."""
    capacity: tuple[Capacity, ...] = ()
    """Research capacity beside them."""
    inference: tuple[Inference, ...] = ()
    """Tokens served."""


class Cloud(Part):
    """What may be rented."""

    offers: AllOrIds
    """Catalog cloud offers that may be rented, or `all`."""
    terms: Annotated[tuple[Term, ...], Field(min_length=1)] = ("on-demand",)
    """on-demand, or commitments such as reserved-1y."""
    prices: dict[str, dict[str, Positive]] = Field(default_factory=dict)
    """Own quotes: offer -> term -> USD an hour of one instance."""
    max_accelerators: CountOrZero | None = None
    """Rented at the same time, all offers together; left out, no limit."""
    max_accelerators_per_offer: CountOrZero | None = None
    """Of one offer; left out, `finance/cloud-capacity-per-offer-accelerators`."""
    egress_tb_per_month: NonNegative | None = None
    """Data leaving the cloud; left out, none. Counted where a fleet is compared."""
    price_change_frac_per_year: YearlyChange | None = None
    """Of rent, from the start of the horizon on; left out, 0."""


class Fleet(Part):
    """A decision already taken: in service, and paid, in the first quarter."""

    system: str
    """Catalog system."""
    accelerators: Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
    """How many."""
    site: str | None = None
    """Where it stands; left out, the first site."""
    hall: str | None = None
    """Hall of that site; left out, its first."""
    nodes_per_rack: Count | None = None
    """Overrides the number that power, space and weight allow."""
    utilization_frac: Fraction | None = None
    """Share of the hours in which it works: energy, and the hours rented in its place; left out,
    `tco` takes 1."""
    reference: Reference | None = None
    """The job whose delivered PFLOP-days and tokens the TCO view prices; Llama 3.1 70B where left
    out."""


class Oversubscription(Part):
    """Down over up capacity of a tier; 1 is non-blocking."""

    leaf_spine: Ratio | None = None
    """Between leaves and spines; left out, 1."""
    spine_core: Ratio | None = None
    """Between spines and cores; left out, 1."""


class GivenFabric(Part):
    """A fabric that is given, not chosen; fields left out come from the family."""

    id: str
    """Row of the catalog kind fabrics."""
    topology: str | None = None
    """Such as fat-tree or rail-optimized; left out, the family's."""
    tiers: Annotated[int, Field(ge=1, le=3, strict=True)] | None = None
    """Left out, the fewest that reach every accelerator."""
    planes: Annotated[int, Field(ge=1, le=16, strict=True)] | None = None
    """Parallel networks that share a NIC; left out, the family's."""
    endpoints_per_leaf: Annotated[int, Field(ge=1, le=4096, strict=True)] | None = None
    """Leaf ports towards nodes; left out, half of them where non-blocking."""
    nodes_per_su: Annotated[int, Field(ge=1, le=100_000, strict=True)] | None = None
    """Nodes of a scalable unit, for which leaves are bought whole; left out, the family's."""
    oversubscription: Oversubscription = Oversubscription()
    """Of its tiers."""


class Storage(Part):
    """Shared storage bought with the fleet; left out, it is sized from the jobs and the
    accelerators.
    """

    usable_pb: Positive | None = None
    """Capacity that is bought; left out, sized from the accelerators."""
    level: Literal["good", "better", "best"] = "better"
    """Read and write rates for each accelerator, as NVIDIA's SuperPOD guide names them."""
    tier: str | None = None
    """Row of ``storage_tiers``."""
    bytes_per_token: Positive | None = None
    """Training data read for one token: 4 for token ids; images and video take far more."""
    dataset_tb: Positive | None = None
    """Training data where they are more than the jobs' tokens; its capacity comes on top of the
    accelerators' own."""
    kept_checkpoints: AtLeastOne | None = None
    """Kept on the storage at the same time; left out, `storage/storage-kept-checkpoints`."""


class Reliability(Part):
    """How jobs fail and recover; fields left out come from ``catalogs/reliability``."""

    checkpoint: Literal["async", "blocking", "peer"] = "async"
    """async: copied to host memory, written behind the run; peer: hosts hold copies for each other
    besides."""
    save_s: Seconds | None = None
    """Blocking time of a save; left out, from checkpoint size and write rate."""
    interval_s: Seconds | None = None
    """Training between saves; left out, Daly's optimum."""
    restart_s: Seconds | None = None
    """From a stop to the next step, detection and loading included."""
    stops_per_1000_node_days: NodeStops | None = None
    """One rate for a whole node in place of the rates of all parts."""
    spares: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] | None = None
    """Spare nodes of a job; left out, as many as cover 99 % of the time."""
    repair_h: Hours | None = None
    """Mean time that a lost node is away; left out, `reliability/node-repair-h`."""
    production_slowdown: Slowdown | None = None
    """Step time of the run over that of a tuned benchmark; 1 where the step time is measured."""
    early_life: bool = False
    """Whether a new cluster's failures fade over its first month."""
    lemon_nodes: bool = False
    """Whether bad nodes are left in."""


class Supply(Part):
    """What the vendor delivers: racks by quarter and lead time."""

    system: str
    """Catalog system."""
    racks_per_quarter: Series | None = None
    """Most racks delivered, one number or by quarter; left out, no limit."""
    lead_quarters: CountOrZero | None = None
    """From order to service; left out, 1."""
    from_quarter: Quarter | None = Field(default=None, alias="from")
    """First quarter of delivery; left out, from the release on."""
    price_change_frac_per_year: YearlyChange | None = None
    """Of this system, instead of finance.hardware_price_change_frac_per_year."""
    price_usd: Series | None = None
    """Of one unit by order quarter, instead of the catalog's."""


class PartsPerQuarter(Part):
    """What the vendors of parts deliver in a quarter, over all sites; left out, there is no limit."""

    switches: Series | None = None
    """Of the compute fabric."""
    transceivers: Series | None = None
    """Of switches and nodes."""
    power_blocks: Series | None = None
    """UPS, generator and transformer come as one block."""


class Expectation(Part):
    """A gate on a metric, absolute or against a base (CI)."""

    id: Key
    """Name of the gate, shown in every report."""
    metric: str
    """Key of a metric of the answer."""
    min: float | None = None
    """The metric is at least this."""
    max: float | None = None
    """The metric is at most this."""
    equals: float | None = None
    """The metric is this, within tol."""
    tol: Annotated[float, Field(ge=0)] | None = None
    """Absolute tolerance of equals; left out, 0."""
    change_min: float | None = None
    """Answer less base is at least this."""
    change_max: float | None = None
    """Answer less base is at most this."""
    change_pct_min: float | None = None
    """Change over the base in percent is at least this."""
    change_pct_max: float | None = None
    """Of the answer over the base: a fall is negative."""
    against: str | None = None
    """`base` (what `dcplan test --base` names, else the variant of that name), a name in
    `scenarios:`, or `file`, the scenario without any of them."""
    when: str | None = None
    """Name in `scenarios:`, or a pattern of names, that it holds for; `file` is the scenario
    without any."""
    severity: Literal["error", "warn"] = "error"
    """error fails the test, warn is told."""
    owner: str | None = None
    """Who is asked when it fails."""
    note: str | None = None
    """Free text, shown with it."""

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
