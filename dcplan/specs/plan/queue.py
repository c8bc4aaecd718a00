"""Queues of a plan: waits, use and stops of each class of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Quarter
from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

QUEUE_WAIT = MetricSpec(
    "queue.<class>.wait_h",
    "h",
    "Wait that the required share of the jobs of a class does not exceed, longest of all quarters; "
    "empty if its jobs never start",
    better=Better.LOWER,
)
QUEUE_USE = MetricSpec(
    "queue.<pool>.utilization_frac",
    "",
    "Share of the accelerator-hours of a pool that its jobs hold, over all quarters",
)


@dataclass(frozen=True)
class QueueRow:
    """One class of jobs in one quarter."""

    quarter: Quarter
    job_class: Annotated[str, Column("Id of the class of jobs", name="class")]
    pool: Annotated[str, Column("Pool that the class shares")]
    offered_accelerators: Annotated[
        float,
        Column("Accelerators that the jobs hold on average if none waits and shares fill them"),
    ]
    pool_accelerators: Annotated[
        float, Column("Accelerators of the pool, mean of the week, owned and rented")
    ]
    wait_mean_h: Annotated[float | None, Column("Mean wait")]
    wait_p50_h: Annotated[float | None, Column("Median wait", shown=Shown.VERBOSE)]
    wait_h: Annotated[
        float | None, Column("Wait that the required share of the jobs does not exceed")
    ]
    wait_limit_h: Annotated[float, Column("Target of that wait")]
    wait_se_h: Annotated[
        float | None, Column("Standard error of that wait in the simulation", shown=Shown.VERBOSE)
    ]
    quantile_frac: Annotated[
        float, Column("Required share of the jobs that keep the target", shown=Shown.VERBOSE)
    ]
    utilization_frac: Annotated[
        float | None, Column("Share of the accelerator-hours of the pool that the class holds")
    ]
    stops_per_job: Annotated[
        float | None, Column("Stops of a job for other classes or for hours with less capacity")
    ]


QUEUE = TableSpec(
    "queue", QueueRow, "Queue of jobs: waits by class", first=12, section=Section.ORDERS
)
