"""Metrics and tables of ``train``: duration, storage, energy and cost of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

DAYS_P10 = MetricSpec("train.days_p10", "days", "Duration, 10th percentile")
DAYS_P50 = MetricSpec(
    "train.days_p50",
    "days",
    "Median duration; low, high: P10 and P90",
    main=True,
    label="Median duration",
)
DAYS_P90 = MetricSpec("train.days_p90", "days", "Duration, 90th percentile")
ACCELERATOR_HOURS = MetricSpec(
    "train.accelerator_hours", "h", "Median accelerator-hours, without spares", main=True
)
GOODPUT = MetricSpec(
    "train.goodput_frac",
    "",
    "Goodput: lasting progress over wall-clock time",
    better=Better.HIGHER,
    main=True,
)
PRODUCTION_SLOWDOWN = MetricSpec(
    "train.production_slowdown_ratio",
    "",
    "Step time in production over the predicted one, as used for the duration",
)
INTERRUPTIONS = MetricSpec(
    "train.interruptions", "", "Interruptions expected over the median duration"
)
INTERRUPTIONS_UNPLANNED = MetricSpec("train.unplanned_interruptions", "", "Unplanned interruptions")
MTTF = MetricSpec("train.mttf_h", "h", "Mean time between interruptions", main=True)
CHECKPOINT_SIZE = MetricSpec("train.checkpoint_size_tb", "TB", "Size of one checkpoint")
CHECKPOINT_SAVE = MetricSpec(
    "train.checkpoint_save_s", "s", "Time that training waits for one checkpoint"
)
CHECKPOINT_INTERVAL = MetricSpec("train.checkpoint_interval_s", "s", "Time between checkpoints")
SPARES = MetricSpec(
    "train.spares",
    "",
    "Spare accelerators, in addition to those that train, for owned hardware",
    main=True,
    label="Spare accelerators",
)
REPLICAS = MetricSpec("train.replicas", "", "Elastic data-parallel replicas")
REPLICAS_TRAINING = MetricSpec(
    "train.replicas_training_frac",
    "",
    "Mean share of the elastic replicas that train while the run moves",
    better=Better.HIGHER,
)
WHOLE_JOB_STOPS = MetricSpec(
    "train.whole_job_stops_per_day",
    "1/day",
    "Interruptions of the complete job per day, with elastic replicas",
)
IN_TIME = MetricSpec(
    "train.deadline_probability_frac", "", "Probability of finishing by the deadline", main=True
)
ENERGY = MetricSpec("train.energy_mwh", "MWh", "IT energy, without PUE", main=True)
ENERGY_PER_FLOP = MetricSpec("train.energy_j_per_flop", "J/FLOP", "IT energy per model FLOP")
CARBON = MetricSpec("train.carbon_t", "t CO2e", "Operational carbon of the energy")
RENT = MetricSpec(
    "train.cost_usd",
    "USD",
    "Rent of the accelerators that train over the median duration, without spares",
    main=True,
)
BOUGHT = MetricSpec(
    "train.capex_usd",
    "USD",
    "Capital cost of all systems, including spares, and their network",
    better=Better.LOWER,
)
AMORTIZED = MetricSpec(
    "train.amortized_usd",
    "USD",
    "Amortized cost: loss of value during the run, and energy; without staff, building and storage",
    better=Better.LOWER,
)
AMORTIZED_PER_MILLION_TOKENS = MetricSpec(
    "train.usd_per_million_tokens",
    "USD/M tokens",
    "Amortized cost per million tokens",
    better=Better.LOWER,
    main=True,
)


@dataclass(frozen=True)
class RunStorageRow:
    """Shared storage of one run."""

    tier: Annotated[str, Column("Catalog storage tier")]
    blocks: Annotated[
        float, Column("Building blocks of the tier; a fraction only for a given capacity")
    ]
    sized_by: Annotated[
        str,
        Column(
            "Sizing criterion: capacity, read, write or the minimum size; usable_pb if the capacity "
            "is given"
        ),
    ]
    required_pb: Annotated[
        float, Column("Capacity for the run's data set, retained checkpoints and other stored data")
    ]
    required_read_gb_per_s: Annotated[float, Column("Required read rate")]
    read_set_by: Annotated[
        str, Column("Criterion for the read rate: service level, data ingest or restart")
    ]
    required_write_gb_per_s: Annotated[float, Column("Required write rate")]
    usable_pb: Annotated[float, Column("Usable capacity of the blocks")]
    read_gb_per_s: Annotated[float, Column("Read rate of the blocks")]
    write_gb_per_s: Annotated[float, Column("Write rate of the blocks")]
    racks: Annotated[float, Column("Racks of the blocks, fractions allowed")]
    power_kw: Annotated[float, Column("Power of the blocks")]
    capex_usd: Annotated[float, Column("Price of the blocks")]


RUN_STORAGE = TableSpec(
    "run_storage", RunStorageRow, "Shared storage of the run", shown=Shown.VERBOSE, by_item=True
)


@dataclass(frozen=True)
class RunCostRow:
    """The cost of the run on one basis."""

    basis: Annotated[
        str,
        Column(
            "Cost basis: hardware bought, loss of value during the run (amortized), or hours rented"
        ),
    ]
    covers: Annotated[
        str, Column("Accelerators and kinds of cost that the basis covers, such as hardware only")
    ]
    hardware_usd: Annotated[
        float | None,
        Column("Price of the systems, their loss of value during the run, or the rent"),
    ]
    network_usd: Annotated[
        float | None, Column("Price of the network, or its loss of value during the run")
    ]
    energy_usd: Annotated[
        float | None, Column("Energy cost of the run at the site, only on the amortized basis")
    ]
    total_usd: Annotated[float | None, Column("Total cost")]
    usd_per_million_tokens: Annotated[
        float | None, Column("Total cost per million training tokens")
    ]


RUN_COST = TableSpec(
    "run_cost",
    RunCostRow,
    "Cost of the run: bought, amortized and rented",
    section=Section.COST,
    by_item=True,
)


@dataclass(frozen=True)
class TimeLossRow:
    """Wall-clock time lost to one cause."""

    loss: Annotated[str, Column("Id of the kind of loss", shown=Shown.VERBOSE)]
    what: Annotated[str, Column("Cause of the loss")]
    share_frac: Annotated[
        float,
        Column(
            "Share of wall-clock time; the rest is the time at the predicted rate of tokens per "
            "second"
        ),
    ]
    days_lost: Annotated[float, Column("Days of the median duration")]


LOSSES = TableSpec(
    "time_losses",
    TimeLossRow,
    "Time lost, by cause; the rest is the time at the predicted step time",
    first=6,
)


@dataclass(frozen=True)
class InterruptionRow:
    """Interruptions caused by one kind of component."""

    part: Annotated[str, Column("Id of the failure rate in the catalog")]
    count: Annotated[
        float,
        Column(
            "Components in the run, in the unit of the failure rate, such as accelerators or "
            "GB of memory"
        ),
    ]
    stops_per_day: Annotated[
        float, Column("Interruptions of the run per day caused by this component")
    ]
    stops: Annotated[
        float,
        Column("Interruptions by this component over the median duration, without waiting time"),
    ]


INTERRUPTIONS_BY_COMPONENT = TableSpec(
    "interruptions", InterruptionRow, "Interruptions by component", shown=Shown.VERBOSE
)


@dataclass(frozen=True)
class FailureSimulationRow:
    """The simulation of failures, compared with the analytic model."""

    replicas: Annotated[int, Column("Simulated runs")]
    simulated_goodput_frac: Annotated[
        float, Column("Days without losses over the mean simulated duration")
    ]
    analytic_goodput_frac: Annotated[
        float, Column("Goodput by the analytic model, for the simulated causes")
    ]
    days_p10: Annotated[float, Column("10th percentile of the simulated duration")]
    days_p50: Annotated[float, Column("Median simulated duration")]
    days_p90: Annotated[float, Column("90th percentile of the simulated duration")]
    stops: Annotated[float, Column("Mean interruptions of a simulated run")]
    wait_days: Annotated[
        float, Column("Mean days of a simulated run spent waiting for a spare node")
    ]


FAILURE_SIMULATION = TableSpec(
    "failure_simulation",
    FailureSimulationRow,
    "Simulation of failures (without slow components, outages and step-time uncertainty)",
)


@dataclass(frozen=True)
class UncertaintyRow:
    """Share of one cause in the variance of the finish date."""

    cause: Annotated[str, Column("Id of the cause of the uncertainty", shown=Shown.VERBOSE)]
    what: Annotated[str, Column("Cause of the uncertainty in words")]
    variance_frac: Annotated[float, Column("Share of the variance")]


UNCERTAINTY = TableSpec(
    "uncertainty",
    UncertaintyRow,
    "Variance of the finish date by cause",
    shown=Shown.VERBOSE,
    section=Section.RISK,
)
