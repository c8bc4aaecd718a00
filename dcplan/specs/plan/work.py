"""What a plan's hardware does: runs, network, storage, demand, rent and futures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Hall, Job, Offer, Quarter, Term
from dcplan.specs.table import Column, TableSpec


@dataclass(frozen=True)
class EndRow:
    """When one run ends, and why its end is unsure."""

    job: Job
    goodput_frac: Annotated[
        float, Column("Lasting progress over wall-clock time while the run lasts")
    ]
    interruptions: Annotated[float, Column("Stops expected over the median length of the run")]
    checkpoint_interval_s: Annotated[float, Column("Training time between two checkpoints")]
    spares: Annotated[int, Column("Accelerators that stand by for failed ones")]
    serves_from: Annotated[
        str, Column("First day of the quarter from which the run's accelerators must be in service")
    ]
    planned_start: Annotated[str, Column("Day on which the run is planned to start")]
    days_p50: Annotated[float, Column("Median length of the run from its start")]
    days: Annotated[float, Column("Length of the run at the confidence that the job asks for")]
    finish_p50: Annotated[str, Column("Median day of the end, what may delay the start counted in")]
    finish: Annotated[
        str,
        Column(
            "Day of the end at the confidence that the job asks for, what may delay the start"
            " counted in"
        ),
    ]
    step_time_frac: Annotated[
        float, Column("Share of the end's variance that the predicted step time causes")
    ]
    production_frac: Annotated[
        float, Column("Share of the end's variance from how much slower steps are in production")
    ]
    failure_rates_frac: Annotated[
        float,
        Column("Share of the end's variance from not knowing the failure rates and restart times"),
    ]
    failures_frac: Annotated[
        float, Column("Share of the end's variance from the chance of failures at known rates")
    ]
    delivery_frac: Annotated[
        float, Column("Share of the end's variance from late delivery of the hardware")
    ]
    energization_frac: Annotated[
        float, Column("Share of the end's variance from late power in a new hall")
    ]


ENDS = TableSpec("schedule", EndRow, "Runs on the calendar")


@dataclass(frozen=True)
class NetworkRow:
    """Compute fabric of one hall."""

    hall: Hall
    fabric: Annotated[str | None, Column("Catalog fabric family and number of tiers")]
    nic_ports: Annotated[
        int, Column("NIC ports of all racks ordered, given or kept by the last quarter")
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
            "Price of this network of switches, transceivers and cables as a whole, assets' "
            "part too"
        ),
    ]


NETWORK = TableSpec("network", NetworkRow, "Compute fabric in the last quarter")


@dataclass(frozen=True)
class StorageRow:
    """Shared storage of one hall."""

    hall: Hall
    tier: Annotated[
        str, Column("Catalog storage tier; given where the scenario gives the capacity")
    ]
    blocks: Annotated[
        float | None, Column("Building blocks of the tier in the last quarter, in parts")
    ]
    required_pb: Annotated[
        float, Column("Capacity that the data sets and checkpoints of the hall's jobs take")
    ]
    usable_pb: Annotated[float | None, Column("Usable capacity in the last quarter")]
    read_gb_per_s: Annotated[
        float | None, Column("Read rate that comes with the accelerators in service")
    ]
    write_gb_per_s: Annotated[
        float | None, Column("Write rate that comes with the accelerators in service")
    ]
    racks: Annotated[float, Column("Rack positions that the storage takes, in parts")]
    power_kw: Annotated[float, Column("Power of the storage in the last quarter")]
    capex_usd: Annotated[float, Column("Price of the storage in service in the last quarter")]
    sized_by: Annotated[
        str,
        Column(
            "What sets the blocks of an accelerator, capacity, read or write; usable_pb where given"
        ),
    ]


STORAGE = TableSpec("storage", StorageRow, "Shared storage")


@dataclass(frozen=True)
class DemandRow:
    """One demand in one quarter, in its own unit."""

    quarter: Quarter
    demand: Annotated[str, Column("Id of the demand for research capacity or inference")]
    unit: Annotated[str, Column("Field of the scenario that the amounts are in")]
    required: Annotated[
        float,
        Column("Capacity that the scenario asks for in the quarter; of inference the average"),
    ]
    owned: Annotated[float, Column("Capacity that own accelerators give to it in the quarter")]
    rented: Annotated[float, Column("Capacity that rented accelerators give to it")]
    unserved: Annotated[float, Column("Capacity given up at the price of unmet demand")]


DEMAND = TableSpec("demand", DemandRow, "Capacity asked, and what serves it")


@dataclass(frozen=True)
class CloudRow:
    """Accelerators of one offer that are rented for one use."""

    quarter: Annotated[
        str, Column("Quarter of the rent; of a training run the one in which it starts")
    ]
    offer: Offer
    region: Annotated[str, Column("Cloud region whose price is taken")]
    average_accelerators: Annotated[
        float,
        Column(
            "Accelerators rented on average over the quarter; of a training run those it "
            "holds while it lasts"
        ),
    ]
    usd_per_accelerator_hour: Annotated[
        float, Column("On-demand price in that quarter, also where a commitment covers the use")
    ]
    for_use: Annotated[
        str, Column("Demand that is served, or the training run and its length", name="for")
    ]


CLOUD = TableSpec("cloud", CloudRow, "Rented accelerators")


@dataclass(frozen=True)
class FutureRow:
    """Spread of one figure over the sampled futures."""

    what: Annotated[str, Column("What is spread over the sampled futures")]
    unit: Annotated[str, Column("Unit of the line")]
    mean: Annotated[float, Column("Mean over the sampled futures")]
    p5: Annotated[float, Column("Value that the futures stay below with 5 % probability")]
    p10: Annotated[float, Column("Value that the futures stay below with 10 % probability")]
    p50: Annotated[float, Column("Median of the futures")]
    p90: Annotated[float, Column("Value that the futures stay below with 90 % probability")]
    p95: Annotated[float, Column("Value that the futures stay below with 95 % probability")]
    cvar: Annotated[float, Column("Mean of the worst share of futures (CVaR)")]
    worse_than_plan_frac: Annotated[
        float | None,
        Column("Share of futures that cost more, end after the deadline or leave demand unserved"),
    ]


FUTURES = TableSpec("monte_carlo", FutureRow, "The plan in sampled futures")


@dataclass(frozen=True)
class DriverRow:
    """How much one input drives the cost over the futures."""

    input: Annotated[
        str, Column("Name of the input that futures vary, as in the scenario's uncertainty")
    ]
    rank_correlation: Annotated[
        float,
        Column(
            "Rank correlation (Spearman) of the input with the net present cost over the futures"
        ),
    ]
    cost_at_low_usd: Annotated[
        float, Column("Mean net present cost of the fifth of futures in which the input is lowest")
    ]
    cost_at_high_usd: Annotated[
        float, Column("Mean net present cost of the fifth of futures in which the input is highest")
    ]
    difference_usd: Annotated[float, Column("Cost at high less cost at low")]


DRIVERS = TableSpec("cost_drivers", DriverRow, "What drives the cost in them")


@dataclass(frozen=True)
class CommitmentRow:
    """One commitment to rented nodes."""

    offer: Offer
    term: Term
    begins: Annotated[str, Column("First quarter of the commitment")]
    nodes: Annotated[int, Column("Rented nodes committed to")]
    accelerators: Annotated[int, Column("Accelerators of these nodes")]
    usd_per_accelerator_hour: Annotated[
        float, Column("Committed price of an hour, used or not, fixed when the commitment begins")
    ]
    paid_usd: Annotated[
        float, Column("Payments of the whole term, after the horizon too; undiscounted")
    ]
    used_frac: Annotated[
        float,
        Column(
            "Share of the offer's committed accelerators in use, over its months inside the horizon"
        ),
    ]


COMMITMENTS = TableSpec("commitments", CommitmentRow, "Commitments to rented nodes")
