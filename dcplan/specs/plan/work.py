"""Work of a plan: runs, demands, and rent for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import ConfidenceFrac, Job, Offer, Quarter, Term
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


@dataclass(frozen=True)
class SparePoolRow:
    """Spare nodes that the runs of a system in a hall share in a quarter."""

    place: Annotated[str, Column("Hall of the runs")]
    system: Annotated[str, Column("System of the runs and of their spares")]
    quarter: Annotated[str, Column("Quarter")]
    runs: Annotated[int, Column("Runs that share spares in the month of the most nodes")]
    nodes: Annotated[int, Column("Nodes of these runs")]
    spare_nodes: Annotated[int, Column("Spare nodes that they share in that month")]
    own_spare_nodes: Annotated[int, Column("Spare nodes if each of these runs had its own")]


SPARE_POOLS = TableSpec(
    "spare_pools", SparePoolRow, "Spare nodes that runs share", section=Section.ORDERS, by_item=True
)
