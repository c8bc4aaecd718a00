"""Metrics and tables of counters of accelerators, and of quotas that leave accelerators idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

NO_ALLOCATION = "the samples cannot be separated into allocated and free: see the notes"
NO_COUNTER = "no sample has this counter"
NO_PRICE = "--own-usd-per-accelerator-hour is not given"

SEEN = MetricSpec("demand.seen_accelerator_hours", "", "Accelerator-hours that samples cover")
SEEN_FRAC = MetricSpec(
    "demand.seen_frac",
    "",
    "Accelerator-hours with samples over those from the first to the last sample",
    better=Better.HIGHER,
    main=True,
)
ALLOCATED = MetricSpec(
    "demand.allocated_accelerator_hours",
    "",
    "Accelerator-hours that jobs held",
    unknown=NO_ALLOCATION,
)
BUSY = MetricSpec(
    "demand.busy_accelerator_hours",
    "",
    "Accelerator-hours with GPU_UTIL above 0",
    unknown=NO_COUNTER,
)
SM = MetricSpec(
    "demand.sm_active_accelerator_hours",
    "",
    "Accelerator-hours times SM_ACTIVE",
    unknown=NO_COUNTER,
)
TENSOR = MetricSpec(
    "demand.tensor_active_accelerator_hours",
    "",
    "Accelerator-hours times PIPE_TENSOR_ACTIVE",
    unknown=NO_COUNTER,
)
IDLE = MetricSpec(
    "demand.idle_allocated_accelerator_hours",
    "",
    "Accelerator-hours that jobs held with SM_ACTIVE below 1 % for more than 10 min",
    better=Better.LOWER,
    unknown="the allocation or SM_ACTIVE is not known",
    main=True,
)
IDLE_FRAC = MetricSpec(
    "demand.idle_allocated_frac",
    "",
    "Share of the allocated hours that was idle for more than 10 min",
    better=Better.LOWER,
    unknown="the allocation or SM_ACTIVE is not known",
    main=True,
)
IDLE_USD = MetricSpec(
    "demand.idle_allocated_usd",
    "USD",
    "Cost of the hours that were idle while allocated",
    better=Better.LOWER,
    unknown=NO_PRICE,
)
MEDIAN_UTIL = MetricSpec(
    "demand.median_gpu_util_frac", "", "Median of GPU_UTIL over hours", unknown=NO_COUNTER
)
MEDIAN_SM = MetricSpec(
    "demand.median_sm_active_frac", "", "Median of SM_ACTIVE over hours", unknown=NO_COUNTER
)
MEDIAN_POWER = MetricSpec(
    "demand.median_board_power_w", "W", "Median of the board power over hours", unknown=NO_COUNTER
)
STRANDED = MetricSpec(
    "demand.stranded_accelerator_hours",
    "",
    "Idle accelerator-hours of all queues that jobs waiting for their own quota would have used",
    better=Better.LOWER,
)
STRANDED_USD = MetricSpec(
    "demand.stranded_usd",
    "USD",
    "Cost of these accelerator-hours",
    better=Better.LOWER,
    unknown=NO_PRICE,
)
ENOUGH_FRAC = MetricSpec(
    "demand.pending_with_enough_idle_frac",
    "",
    "Share of the time with waiting jobs in which all queues together had enough idle accelerators",
    better=Better.LOWER,
    unknown="no job waited",
)


@dataclass(frozen=True)
class UseRow:
    """One measure of use; the rows are different things and do not add up."""

    measure: Annotated[str, Column("Measure")]
    definition: Annotated[str, Column("What counts")]
    accelerator_hours: Annotated[float | None, Column("Accelerator-hours; empty: unknown")]
    known_accelerator_hours: Annotated[
        float, Column("Accelerator-hours in which the measure is known")
    ]
    of_known_frac: Annotated[float | None, Column("Share of the hours in which it is known")]
    usd: Annotated[float | None, Column("Cost of the accelerator-hours at the price of an own one")]


USE = TableSpec("accelerator_use", UseRow, "Use of the accelerators", section=Section.ORDERS)


@dataclass(frozen=True)
class GroupRow:
    """Use of one cluster, queue or user; shares are of its allocated hours, else of those seen."""

    by: Annotated[str, Column("Kind of group")]
    group: Annotated[str, Column("Cluster, queue or user")]
    seen_accelerator_hours: Annotated[float, Column("Accelerator-hours with samples")]
    allocated_accelerator_hours: Annotated[
        float | None, Column("Accelerator-hours that jobs held; empty: unknown")
    ]
    allocated_usd: Annotated[float | None, Column("Their cost", shown=Shown.VERBOSE)]
    busy_accelerator_hours: Annotated[float | None, Column("Hours with GPU_UTIL above 0")]
    busy_frac: Annotated[float | None, Column("Their share")]
    busy_usd: Annotated[float | None, Column("Their cost", shown=Shown.VERBOSE)]
    sm_active_accelerator_hours: Annotated[float | None, Column("Hours times SM_ACTIVE")]
    sm_active_frac: Annotated[float | None, Column("Their share")]
    sm_active_usd: Annotated[float | None, Column("Their cost", shown=Shown.VERBOSE)]
    tensor_active_accelerator_hours: Annotated[
        float | None, Column("Hours times PIPE_TENSOR_ACTIVE")
    ]
    tensor_active_frac: Annotated[float | None, Column("Their share")]
    tensor_active_usd: Annotated[float | None, Column("Their cost", shown=Shown.VERBOSE)]
    idle_allocated_accelerator_hours: Annotated[
        float | None, Column("Allocated hours with SM_ACTIVE below 1 % for more than 10 min")
    ]
    idle_allocated_frac: Annotated[float | None, Column("Their share of the allocated hours")]
    idle_allocated_usd: Annotated[float | None, Column("Their cost")]


GROUPS = TableSpec(
    "use_by_group", GroupRow, "Use by cluster, queue and user", section=Section.ORDERS, first=12
)


@dataclass(frozen=True)
class ValueRow:
    """Values of one counter over the hours in which it is known."""

    counter: Annotated[str, Column("Counter")]
    unit: Annotated[str, Column("Unit of the values")]
    known_accelerator_hours: Annotated[float, Column("Accelerator-hours in which it is known")]
    mean: Annotated[float | None, Column("Mean")]
    p10: Annotated[float | None, Column("10th percentile")]
    p50: Annotated[float | None, Column("Median")]
    p90: Annotated[float | None, Column("90th percentile")]


VALUES = TableSpec("counter_values", ValueRow, "Values of the counters", section=Section.OTHER)


@dataclass(frozen=True)
class CoverageRow:
    """What the samples cover."""

    accelerators: Annotated[int, Column("Accelerators with samples")]
    samples: Annotated[int, Column("Samples")]
    interval_s: Annotated[float, Column("Median of the usual distance of samples")]
    seen_accelerator_hours: Annotated[float, Column("Accelerator-hours with samples")]
    window_accelerator_hours: Annotated[
        float, Column("Accelerator-hours from the first sample of all to the last")
    ]
    seen_frac: Annotated[float, Column("Share of the window with samples")]
    gaps: Annotated[int, Column("Pauses of more than 1.5 times the usual distance")]
    gap_accelerator_hours: Annotated[float, Column("Accelerator-hours in these pauses")]
    longest_gap_h: Annotated[float, Column("Longest pause")]
    edge_accelerator_hours: Annotated[
        float, Column("Accelerator-hours before the first and after the last sample of each")
    ]


COVERAGE = TableSpec(
    "counter_coverage", CoverageRow, "What the samples cover", section=Section.RISK
)


@dataclass(frozen=True)
class StrandedRow:
    """What the quota of one queue kept from work."""

    queue: Annotated[str, Column("Queue")]
    quota: Annotated[float, Column("Accelerators that its jobs may hold")]
    short_h: Annotated[float, Column("Time in which its jobs waited for more than it had idle")]
    elsewhere_frac: Annotated[
        float | None, Column("Share of that time with accelerators idle in other queues")
    ]
    stranded_accelerator_hours: Annotated[
        float, Column("Idle accelerator-hours of other queues that its jobs would have used")
    ]
    usd: Annotated[float | None, Column("Their cost at the price of an own accelerator")]


STRANDED_BY_QUOTA = TableSpec(
    "stranded_by_quota",
    StrandedRow,
    "Accelerators that were idle while jobs waited for their own quota",
    section=Section.LIMITS,
    first=12,
)
