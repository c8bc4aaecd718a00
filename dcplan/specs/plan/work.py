"""Use of a plan's hardware: runs, network, storage, demand, rent and simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import ConfidenceFrac, Hall, Job, Offer, Quarter, Term
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class ScheduleRow:
    """Finish date of one run and the causes of its variance."""

    job: Job
    goodput_frac: Annotated[
        float, Column("Goodput: lasting progress over wall-clock time of the run")
    ]
    interruptions: Annotated[
        float, Column("Interruptions expected over the median duration of the run")
    ]
    checkpoint_interval_s: Annotated[float, Column("Training time between two checkpoints")]
    spares: Annotated[int, Column("Spare accelerators that replace failed ones")]
    serves_from: Annotated[
        str, Column("First day of the quarter from which the run's accelerators must be in service")
    ]
    planned_start: Annotated[str, Column("Planned start date")]
    days_p50: Annotated[float, Column("Median duration of the run from its start")]
    confidence_frac: ConfidenceFrac
    days: Annotated[float, Column("Duration of the run at the job's required confidence")]
    power_cut_days: Annotated[
        float | None,
        Column(
            "Days of the run that it loses while the grid interrupts or calls power of its site; empty "
            "if it keeps its power"
        ),
    ]
    start_delay_days: Annotated[
        float,
        Column(
            "Effect of possible late delivery or power on the median finish: days from the planned "
            "start to the median finish, minus the median duration"
        ),
    ]
    finish_p50: Annotated[str, Column("Median finish date, including possible delays of the start")]
    finish: Annotated[
        str,
        Column(
            "Finish date at the job's required confidence, including possible delays of the start"
        ),
    ]
    step_time_frac: Annotated[
        float, Column("Share of the finish date's variance due to the predicted step time")
    ]
    production_frac: Annotated[
        float, Column("Share of the finish date's variance due to the slowdown in production")
    ]
    failure_rates_frac: Annotated[
        float,
        Column(
            "Share of the finish date's variance due to uncertain failure rates and restart times"
        ),
    ]
    failures_frac: Annotated[
        float, Column("Share of the finish date's variance due to random failures at known rates")
    ]
    delivery_frac: Annotated[
        float, Column("Share of the finish date's variance due to late delivery of the hardware")
    ]
    energization_frac: Annotated[
        float, Column("Share of the finish date's variance due to late energization of a new hall")
    ]


SCHEDULE = TableSpec(
    "schedule",
    ScheduleRow,
    "Schedule of the training runs",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
)


@dataclass(frozen=True)
class NetworkRow:
    """Compute fabric of one hall."""

    hall: Hall
    fabric: Annotated[str | None, Column("Catalog fabric family and number of tiers")]
    nic_ports: Annotated[
        int, Column("NIC ports of all racks in the last quarter: ordered, fixed or existing")
    ]
    nic_ports_in_service: Annotated[
        int, Column("Of these ports, those of racks in service in the last quarter, not sold")
    ]
    leaf_switches: Annotated[int, Column("Leaf switches for these ports")]
    spine_switches: Annotated[int, Column("Spine switches for these ports")]
    core_switches: Annotated[int, Column("Core switches for these ports")]
    leaf_spine_links: Annotated[int, Column("Links between leaves and spines")]
    spine_core_links: Annotated[int, Column("Links between spines and cores")]
    transceivers: Annotated[int, Column("Transceivers at switches and nodes")]
    power_kw: Annotated[float, Column("Power of switches and transceivers")]
    capex_usd: Annotated[
        float,
        Column(
            "Price of all switches, transceivers and cables of this network, including those that "
            "exist already"
        ),
    ]


NETWORK = TableSpec(
    "network",
    NetworkRow,
    "Compute fabric in the last quarter",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
    by_item=True,
)


@dataclass(frozen=True)
class StorageRow:
    """Shared storage of one hall on one tier."""

    hall: Hall
    role: Annotated[
        str,
        Column("Data on the tier: all, hot data that need the rates of the service level, or cold"),
    ]
    tier: Annotated[str, Column("Catalog storage tier; given if the scenario fixes the capacity")]
    blocks: Annotated[
        float | None, Column("Building blocks of the tier in the last quarter, fractions allowed")
    ]
    required_pb: Annotated[
        float | None,
        Column("Capacity for the data sets and checkpoints of the hall's jobs; they are hot"),
    ]
    usable_pb: Annotated[float | None, Column("Usable capacity in the last quarter")]
    read_gb_per_s: Annotated[float | None, Column("Read rate at the accelerators in service")]
    write_gb_per_s: Annotated[float | None, Column("Write rate at the accelerators in service")]
    racks: Annotated[float, Column("Rack positions of the storage, fractions allowed")]
    power_kw: Annotated[float, Column("Power of the storage in the last quarter")]
    capex_usd: Annotated[float, Column("Price of the storage in service in the last quarter")]
    sized_by: Annotated[
        str, Column("Sizing criterion: capacity, read or write; usable_pb if the scenario fixes it")
    ]


STORAGE = TableSpec(
    "storage",
    StorageRow,
    "Shared storage",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
    by_item=True,
)


@dataclass(frozen=True)
class StorageChoiceRow:
    """One storage tier, or a hot and a cold one, that the plan compared."""

    hot_tier: Annotated[str, Column("Tier of the hot data, or of all data")]
    cold_tier: Annotated[str | None, Column("Tier of the cold data; none: one tier for all data")]
    chosen: Annotated[bool, Column("Whether the plan has it: the lowest present cost")]
    price_usd: Annotated[float, Column("Price of the storage of one accelerator")]
    power_kw: Annotated[float, Column("Power of the storage of one accelerator")]
    present_cost_usd: Annotated[
        float,
        Column(
            "Present cost for one accelerator: price less residual value, energy over the horizon, "
            "power blocks and its part of a hall"
        ),
    ]
    difference_usd: Annotated[
        float, Column("Additional present cost at the accelerators of the plan, last quarter")
    ]


STORAGE_CHOICES = TableSpec(
    "storage_choices",
    StorageChoiceRow,
    "Storage tiers compared, by present cost",
    shown=Shown.VERBOSE,
    section=Section.DESIGN,
    by_item=True,
)


@dataclass(frozen=True)
class DemandRow:
    """One demand in one quarter, in its own unit."""

    quarter: Quarter
    demand: Annotated[str, Column("Id of the demand for research capacity or inference")]
    unit: Annotated[str, Column("Scenario field that sets the unit of the amounts")]
    required: Annotated[
        float, Column("Capacity required in the quarter; for inference, the average")
    ]
    owned: Annotated[float, Column("Capacity served by owned accelerators in the quarter")]
    rented: Annotated[float, Column("Capacity served by rented accelerators")]
    unserved: Annotated[float, Column("Unserved capacity, charged at the price of unserved demand")]


DEMAND = TableSpec(
    "demand", DemandRow, "Demand and supply by quarter", first=16, section=Section.ORDERS
)


@dataclass(frozen=True)
class CloudRow:
    """Accelerators of one offer, rented for one use."""

    quarter: Annotated[
        str, Column("Quarter of the rent; for a training run, the quarter of its start")
    ]
    offer: Offer
    region: Annotated[str, Column("Cloud region of the price")]
    average_accelerators: Annotated[
        float,
        Column(
            "Average of the accelerators rented in the quarter; for a training run, those "
            "reserved for its duration"
        ),
    ]
    usd_per_accelerator_hour: Annotated[
        float, Column("On-demand price in the quarter, even if a commitment covers the use")
    ]
    for_use: Annotated[
        str, Column("Demand served, or the training run and its duration", name="for")
    ]


CLOUD = TableSpec(
    "cloud", CloudRow, "Rented accelerators", first=8, section=Section.ORDERS, by_item=True
)


@dataclass(frozen=True)
class MonteCarloRow:
    """Spread of one quantity over the sampled scenarios."""

    what: Annotated[str, Column("Simulated quantity")]
    unit: Annotated[str, Column("Unit of the quantity")]
    mean: Annotated[float, Column("Mean over the sampled scenarios")]
    p5: Annotated[float, Column("5th percentile over the sampled scenarios")]
    p10: Annotated[float, Column("10th percentile over the sampled scenarios")]
    p50: Annotated[float, Column("Median over the sampled scenarios")]
    p90: Annotated[float, Column("90th percentile over the sampled scenarios")]
    p95: Annotated[float, Column("95th percentile over the sampled scenarios")]
    tail_frac: Annotated[
        float, Column("Share of the sampled scenarios, the worst ones, that the CVaR averages")
    ]
    cvar: Annotated[float, Column("CVaR: mean of the worst sampled scenarios")]
    worse_than_plan_frac: Annotated[
        float | None,
        Column(
            "Share of sampled scenarios that cost more, finish after the deadline or leave "
            "demand unserved"
        ),
    ]


MONTE_CARLO = TableSpec(
    "monte_carlo", MonteCarloRow, "Monte Carlo simulation of the plan", section=Section.RISK
)


@dataclass(frozen=True)
class DriverRow:
    """Effect of one input on the cost over the sampled scenarios."""

    input: Annotated[
        str,
        Column(
            "Name of the varied input, as in the scenario's uncertainty block", shown=Shown.VERBOSE
        ),
    ]
    what: Annotated[str, Column("The varied input in words")]
    rank_correlation: Annotated[
        float, Column("Rank correlation (Spearman) of the input with the net present cost")
    ]
    cost_at_low_usd: Annotated[
        float,
        Column(
            "Mean net present cost of the 20% of sampled scenarios with the lowest values of this "
            "input"
        ),
    ]
    cost_at_high_usd: Annotated[
        float,
        Column(
            "Mean net present cost of the 20% of sampled scenarios with the highest values of this "
            "input"
        ),
    ]
    difference_usd: Annotated[float, Column("Cost at high less cost at low")]


DRIVERS = TableSpec(
    "cost_drivers",
    DriverRow,
    "Cost drivers in the simulation: mean cost at low and high values of one input",
    first=5,
    section=Section.RISK,
    by_item=True,
)


@dataclass(frozen=True)
class CommitmentRow:
    """One commitment to a cloud offer."""

    offer: Offer
    term: Term
    begins: Annotated[str, Column("First quarter of the commitment")]
    nodes: Annotated[int, Column("Nodes committed")]
    accelerators: Annotated[int, Column("Accelerators of these nodes")]
    usd_per_accelerator_hour: Annotated[
        float, Column("Committed hourly price, used or not, fixed at the start of the commitment")
    ]
    paid_usd: Annotated[
        float, Column("Payments over the whole term, including after the horizon; undiscounted")
    ]
    used_frac: Annotated[
        float,
        Column(
            "Share of the offer's committed accelerators in use, over the months within the horizon"
        ),
    ]


COMMITMENTS = TableSpec(
    "commitments",
    CommitmentRow,
    "Commitments to cloud offers",
    section=Section.ORDERS,
    by_item=True,
)
