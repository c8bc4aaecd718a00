"""Metrics and tables of ``train``: the run on the calendar, its storage, energy and money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, TableSpec

DAYS_P10 = MetricSpec("train.days_p10", "days", "Duration, 10th percentile")
DAYS_P50 = MetricSpec("train.days_p50", "days", "Median duration; low, high: P10 and P90")
DAYS_P90 = MetricSpec("train.days_p90", "days", "Duration, 90th percentile")
ACCELERATOR_HOURS = MetricSpec("train.accelerator_hours", "h", "Median accelerator-hours")
GOODPUT = MetricSpec(
    "train.goodput_frac", "", "Lasting progress over wall-clock time", better=Better.HIGHER
)
PRODUCTION_SLOWDOWN = MetricSpec(
    "train.production_slowdown_ratio",
    "",
    "Step time in production over the predicted one, as the days count it",
)
INTERRUPTIONS = MetricSpec("train.interruptions", "", "Stops expected in the median run time")
INTERRUPTIONS_UNPLANNED = MetricSpec(
    "train.unplanned_interruptions", "", "Those that nobody planned"
)
MTTF = MetricSpec("train.mttf_h", "h", "Mean time between stops")
CHECKPOINT_SIZE = MetricSpec("train.checkpoint_size_tb", "TB", "One checkpoint")
CHECKPOINT_SAVE = MetricSpec("train.checkpoint_save_s", "s", "Training waits for one checkpoint")
CHECKPOINT_INTERVAL = MetricSpec("train.checkpoint_interval_s", "s", "Between checkpoints")
SPARES = MetricSpec(
    "train.spares", "", "Stand by besides those that train, as an owner would hold them"
)
IN_TIME = MetricSpec(
    "train.deadline_probability_frac", "", "Probability of ending within the deadline"
)
ENERGY = MetricSpec("train.energy_mwh", "MWh", "IT energy, PUE not included")
ENERGY_PER_FLOP = MetricSpec("train.energy_j_per_flop", "J", "IT energy of one model FLOP")
CARBON = MetricSpec("train.carbon_t", "t", "CO2 of the energy")
RENT = MetricSpec("train.cost_usd", "USD", "Rent of the accelerators over the median run time")
BOUGHT = MetricSpec(
    "train.capex_usd",
    "USD",
    "All accelerators with their systems, spares among them, and their network",
    better=Better.LOWER,
)
AMORTIZED = MetricSpec(
    "train.amortized_usd",
    "USD",
    "Value lost meanwhile, and energy; no staff, building, storage",
    better=Better.LOWER,
)
AMORTIZED_PER_MILLION_TOKENS = MetricSpec(
    "train.usd_per_million_tokens", "USD", "Amortised", better=Better.LOWER
)


@dataclass(frozen=True)
class RunStorageRow:
    """Shared storage of one run."""

    tier: Annotated[str, Column("Catalog storage tier")]
    blocks: Annotated[int, Column("Whole building blocks of the tier")]
    sized_by: Annotated[
        str, Column("What sets their number, capacity, read, write or the smallest there is")
    ]
    required_pb: Annotated[
        float,
        Column(
            "Capacity that the run's data set and kept checkpoints take, and what else is stored"
        ),
    ]
    required_read_gb_per_s: Annotated[float, Column("Read rate that the run needs")]
    read_set_by: Annotated[
        str, Column("What sets that rate, service level, ingest of data or restart")
    ]
    required_write_gb_per_s: Annotated[float, Column("Write rate that the run needs")]
    usable_pb: Annotated[float, Column("Usable capacity of the blocks")]
    read_gb_per_s: Annotated[float, Column("Read rate of the blocks")]
    write_gb_per_s: Annotated[float, Column("Write rate of the blocks")]
    racks: Annotated[float, Column("Racks that the blocks take, in parts")]
    power_kw: Annotated[float, Column("Power of the blocks")]
    capex_usd: Annotated[float, Column("Price of the blocks")]


RUN_STORAGE = TableSpec("run_storage", RunStorageRow, "Shared storage that the run asks for")


@dataclass(frozen=True)
class RunCostRow:
    """The cost of the run one way."""

    basis: Annotated[
        str,
        Column(
            "Hardware bought, its loss of value during the run (amortised), or its hours rented"
        ),
    ]
    hardware_usd: Annotated[
        float | None,
        Column(
            "Price of whole systems, the value they lose during the run, or the rent of its hours"
        ),
    ]
    network_usd: Annotated[
        float | None, Column("Price of their network, or the value it loses during the run")
    ]
    energy_usd: Annotated[
        float | None, Column("Energy of the run at the site, counted where amortised")
    ]
    total_usd: Annotated[float | None, Column("Sum of the three")]
    usd_per_million_tokens: Annotated[
        float | None, Column("Total over the training tokens in millions")
    ]


RUN_COST = TableSpec("run_cost", RunCostRow, "The run bought, amortised and rented")


@dataclass(frozen=True)
class LossRow:
    """Wall-clock time that one kind of loss takes."""

    loss: Annotated[str, Column("Kind of lost time")]
    share_frac: Annotated[float, Column("Share of wall-clock time that it takes")]
    days: Annotated[float, Column("Days of the median length that it takes")]
    of: Annotated[str, Column("What the time is lost to")]


LOSSES = TableSpec("time_losses", LossRow, "Where wall-clock time is lost")


@dataclass(frozen=True)
class StopRow:
    """Stops that one kind of part causes."""

    part: Annotated[str, Column("Id of the failure rate in the catalog")]
    count: Annotated[
        float,
        Column("Parts in the run, in what the rate counts, such as accelerators or GB of memory"),
    ]
    stops_per_day: Annotated[float, Column("Stops of the whole run in a day that this part causes")]
    stops: Annotated[
        float, Column("Such stops expected in the median length, waiting time left out")
    ]


STOPS = TableSpec("interruptions", StopRow, "What stops the run")


@dataclass(frozen=True)
class ReplayRow:
    """The run played through stop by stop, beside the closed form."""

    replicas: Annotated[int, Column("Runs played through stop by stop")]
    simulated_goodput_frac: Annotated[float, Column("Clean days over the mean played length")]
    analytic_goodput_frac: Annotated[
        float, Column("The same by the closed form, of the causes that are played")
    ]
    days_p10: Annotated[float, Column("Length that a played run stays below with 10 % probability")]
    days_p50: Annotated[float, Column("Median length of the played runs")]
    days_p90: Annotated[float, Column("Length that a played run stays below with 90 % probability")]
    stops: Annotated[float, Column("Mean stops of a played run")]
    wait_days: Annotated[float, Column("Mean days of a played run without a spare node")]


REPLAY = TableSpec(
    "failure_simulation",
    ReplayRow,
    "Simulation through stop by stop (without slow parts, outages and the step time's own interval)",
)


@dataclass(frozen=True)
class UncertaintyRow:
    """What one cause adds to the variance of the run's length."""

    cause: Annotated[str, Column("What makes the length of the run unsure")]
    variance_frac: Annotated[float, Column("Its share of the variance")]


UNCERTAINTY = TableSpec("uncertainty", UncertaintyRow, "What makes the end unsure")
