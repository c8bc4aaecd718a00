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
from dcplan.scenario.schema.base import AllOrIds, Count, CountOrZero, Key, Part, Quarter
from dcplan.scenario.schema.demand import Capacity, Inference, Precision, Reference
from dcplan.scenario.schema.held import YearlyChange


class Job(Part):
    """A training run: this model on this many tokens, by a date or within a time."""

    id: Key
    model: str
    """Catalog id, or a path (relative to the scenario file) to a Hugging Face config.json."""
    tokens: Positive
    seq_len: Annotated[int, Field(ge=1, le=100_000_000, strict=True)]
    global_batch_tokens: Positive
    precision: Annotated[tuple[Precision, ...], Field(min_length=1)]
    start: Quarter | None = None
    deadline: Quarter | None = None
    deadline_days: Positive | None = None
    deadline_confidence: Annotated[float, Field(gt=0.5, lt=1)] | None = None
    accelerators: Count | None = None
    """A fixed size; left out, the plan chooses it."""
    sites: tuple[str, ...] | None = None
    countries: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Residency: only sites and cloud regions of these countries (two letters)."""
    stack: str | None = None
    images: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Images (or tiles) of a sequence that pass through the model's vision encoder; none where left out."""

    @model_validator(mode="after")
    def _batch_holds_a_sequence(self) -> Job:
        if self.global_batch_tokens.value < self.seq_len:
            code = "batch"
            raise PydanticCustomError(code, "global_batch_tokens is below seq_len: not one sequence a step")
        return self


class Workloads(Part):
    """All demand."""

    training: tuple[Job, ...] = ()
    capacity: tuple[Capacity, ...] = ()
    inference: tuple[Inference, ...] = ()


class Cloud(Part):
    """What may be rented."""

    offers: AllOrIds
    terms: Annotated[tuple[Term, ...], Field(min_length=1)] = ("on-demand",)
    prices: dict[str, dict[str, Positive]] = Field(default_factory=dict)
    max_accelerators: CountOrZero | None = None
    max_accelerators_per_offer: CountOrZero | None = None
    egress_tb_per_month: NonNegative | None = None
    price_change_frac_per_year: YearlyChange | None = None


class Fleet(Part):
    """A decision already taken: in service, and paid, in the first quarter."""

    system: str
    accelerators: Annotated[int, Field(ge=1, le=10_000_000, strict=True)]
    site: str | None = None
    hall: str | None = None
    nodes_per_rack: Count | None = None
    utilization_frac: Fraction | None = None
    reference: Reference | None = None
    """The job whose delivered PFLOP-days and tokens the TCO view prices; Llama 3.1 70B where left out."""


class Oversubscription(Part):
    """Down over up capacity of a tier; 1 is non-blocking."""

    leaf_spine: Ratio | None = None
    spine_core: Ratio | None = None


class GivenFabric(Part):
    """A fabric that is given, not chosen; fields left out come from the family."""

    id: str
    topology: str | None = None
    tiers: Annotated[int, Field(ge=1, le=3, strict=True)] | None = None
    planes: Annotated[int, Field(ge=1, le=16, strict=True)] | None = None
    endpoints_per_leaf: Annotated[int, Field(ge=1, le=4096, strict=True)] | None = None
    nodes_per_su: Annotated[int, Field(ge=1, le=100_000, strict=True)] | None = None
    oversubscription: Oversubscription = Oversubscription()


class Storage(Part):
    """Shared storage bought with the fleet; left out, it is sized from the jobs and the accelerators."""

    usable_pb: Positive | None = None
    level: Literal["good", "better", "best"] = "better"
    """Read and write rates for each accelerator, as NVIDIA's SuperPOD guide names them."""
    tier: str | None = None
    """Row of ``storage_tiers``."""
    bytes_per_token: Positive | None = None
    """Training data read for one token: 4 for token ids; images and video take far more."""
    dataset_tb: Positive | None = None
    """Training data where they are more than the jobs' tokens; its capacity comes on top of the accelerators' own."""
    kept_checkpoints: AtLeastOne | None = None


class Reliability(Part):
    """How jobs fail and recover; fields left out come from ``catalogs/reliability``."""

    checkpoint: Literal["async", "blocking", "peer"] = "async"
    """async: copied to host memory, written behind the run; peer: hosts hold copies for each other besides."""
    save_s: Seconds | None = None
    interval_s: Seconds | None = None
    restart_s: Seconds | None = None
    """From a stop to the next step, detection and loading included."""
    stops_per_1000_node_days: NodeStops | None = None
    spares: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] | None = None
    """Spare nodes of a job; left out, as many as cover 99 % of the time."""
    repair_h: Hours | None = None
    production_slowdown: Slowdown | None = None
    """Step time of the run over that of a tuned benchmark; 1 where the step time is measured."""
    early_life: bool = False
    lemon_nodes: bool = False


class Supply(Part):
    """What the vendor delivers: racks by quarter and lead time."""

    system: str
    racks_per_quarter: Series | None = None
    lead_quarters: CountOrZero | None = None
    from_quarter: Quarter | None = Field(default=None, alias="from")
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
    metric: str
    min: float | None = None
    max: float | None = None
    equals: float | None = None
    tol: Annotated[float, Field(ge=0)] | None = None
    change_min: float | None = None
    change_max: float | None = None
    change_pct_min: float | None = None
    change_pct_max: float | None = None
    """Of the answer over the base: a fall is negative."""
    against: str | None = None
    """`base` (what `dcplan test --base` names, else the variant of that name), a name in `scenarios:`, or `file`, the
    scenario without any of them."""
    when: str | None = None
    """Name in `scenarios:`, or a pattern of names, that it holds for; `file` is the scenario without any."""
    severity: Literal["error", "warn"] = "error"
    owner: str | None = None
    note: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _has_a_limit(cls, data: Any) -> Any:
        limits = {"min", "max", "equals", "change_min", "change_max", "change_pct_min", "change_pct_max"}
        if isinstance(data, dict) and not limits & set(data):
            code = "expectation"
            raise PydanticCustomError(
                code,
                "an expectation needs one of min, max, equals, change_max, change_pct_max, change_min, change_pct_min",
            )
        return data
