"""Decisions of a plan: the hedge, racks, runs, and every decision as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import (
    ConfidenceFrac,
    Hall,
    Job,
    Layout,
    MfuFrac,
    P50Days,
    Precision,
    System,
)
from dcplan.specs.table import Column, Section, Shown, TableSpec, pattern


@dataclass(frozen=True)
class HedgeRow:
    """Cost of one variant under the hedged plan, its own plan and the most likely one's plan."""

    variant: Annotated[str, Column("Variant of the scenario; base for the base scenario")]
    weight: Annotated[float, Column("Probability of the variant; the weights sum to 1")]
    hedged_npv_usd: Annotated[
        float,
        Column(
            "Net present cost in the variant with common first decisions; after taxes and debt if "
            "the objective is, otherwise before them"
        ),
    ]
    alone_npv_usd: Annotated[
        float | None, Column("Net present cost of the variant's own best plan")
    ]


HEDGE = TableSpec(
    "hedge",
    HedgeRow,
    "One plan for several variants",
    wide=(
        pattern(
            "first_plan_of_<variant>_npv_usd",
            "Net present cost in the row's variant with the first decisions of the named variant",
        ),
    ),
    section=Section.ORDERS,
)


@dataclass(frozen=True)
class RacksRow:
    """Racks of one order, one fixed fleet, or one asset or order that exists before the plan."""

    order_quarter: Annotated[
        str | None,
        Column(
            "Quarter of the order; for a fixed fleet, the first quarter; empty for existing and "
            "on-order hardware"
        ),
    ]
    serves_from: Annotated[
        str | None,
        Column("First quarter in service; empty for hardware in service before the plan"),
    ]
    hall: Hall
    cooling: Annotated[str, Column("Catalog id of the cooling option", shown=Shown.VERBOSE)]
    system: System
    racks: Annotated[
        int,
        Column(
            "Racks, or tanks, ordered, fixed or existing; a system of several racks counts as one"
        ),
    ]
    nodes_per_rack: Annotated[
        int, Column("Systems in one rack; 1 if a system fills one rack or more")
    ]
    accelerators: Annotated[int, Column("Accelerators in all these racks")]
    rated_kw: Annotated[float, Column("Rated IT power of all these racks")]
    price_usd: Annotated[
        float,
        Column(
            "Price of all these racks without storage, which the lessor pays for leased ones; for "
            "hardware on order, the payment due on arrival, including storage"
        ),
    ]
    decision: Annotated[
        str,
        Column(
            "To order or to lease (by this plan), given by the scenario, already in service or already on "
            "order, with any sale or cancellation"
        ),
    ]
    node_limit: Annotated[
        str | None,
        Column(
            "Limit that sets the number of nodes in a rack or tank; empty for existing and on-order "
            "hardware"
        ),
    ] = None
    asset_and_end: Annotated[
        str | None,
        Column("Existing or on-order hardware: its id in the scenario and its last quarter"),
    ] = None


RACKS = TableSpec(
    "racks", RacksRow, "Orders and existing hardware", section=Section.ORDERS, by_item=True
)


@dataclass(frozen=True)
class JobRow:
    """One run: training, or reinforcement learning with its pools."""

    job: Job
    place: Annotated[str, Column("Hall as site/hall, or cloud and the offer")]
    system: System
    accelerators: Annotated[
        int, Column("Accelerators reserved for the run, including spare and idle ones")
    ]
    training_accelerators: Annotated[
        int,
        Column(
            "Accelerators in complete replicas of the layout; of reinforcement learning, those of both "
            "pools"
        ),
    ]
    spare_accelerators: Annotated[int, Column("Spare accelerators that replace failed ones")]
    idle_accelerators: Annotated[
        int, Column("Accelerators reserved but neither training nor spare")
    ]
    precision: Precision
    start_quarter: Annotated[str, Column("Quarter of the planned start")]
    days_p50: P50Days
    confidence_frac: ConfidenceFrac
    days: Annotated[float, Column("Duration of the run at the job's required confidence")]
    mfu_frac: MfuFrac
    goodput_frac: Annotated[
        float, Column("Goodput: lasting progress over wall-clock time of the run")
    ]
    step_time_s: Annotated[float, Column("Predicted time of one step, including waits for data")]
    layout: Layout


JOBS = TableSpec("jobs", JobRow, "Training runs", section=Section.ORDERS)


@dataclass(frozen=True)
class DecisionRow:
    """One integer decision; ``plan --fix-decisions`` reads it back."""

    decision: Annotated[
        str, Column("Kind of decision, such as order, fit, fabric, blocks, commit or run")
    ]
    hall: Annotated[
        str | None,
        Column(
            "Hall as site/hall; for power blocks and plants the site, for commitments the offer, "
            "for a run its place"
        ),
    ]
    cooling: Annotated[str | None, Column("Catalog id of the cooling option")]
    item: Annotated[
        str | None,
        Column("System, fabric, asset, plant or term of the decision, or job and system"),
    ]
    lease: Annotated[str | None, Column("Lease of the racks; empty for other decisions")]
    quarter: Annotated[
        int | None,
        Column(
            "Number of the quarter from the plan's start, the first is 0; for a run, the first "
            "quarter of its hardware in service"
        ),
    ]
    amount: Annotated[
        int, Column("Racks, units or nodes; hall units and power blocks are totals to date")
    ]
    accelerators: Annotated[int | None, Column("Accelerators reserved for a run, including spares")]
    precision: Annotated[str | None, Column("Catalog id of the run's precision recipe")]
    start_month: Annotated[int | None, Column("Month of the run's planned start, counted from 0")]


DECISIONS = TableSpec("decisions", DecisionRow, "Decisions", shown=Shown.DATA)
