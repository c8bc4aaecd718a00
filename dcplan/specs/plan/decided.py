"""What a plan decides: the hedge, racks, runs, and every decision as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Hall, Job, Layout, MfuFrac, P50Days, Precision, System
from dcplan.specs.table import Column, Shown, TableSpec, pattern


@dataclass(frozen=True)
class HedgeRow:
    """Cost of one variant under the hedged plan, its own plan and the likeliest one's."""

    variant: Annotated[str, Column("Variant of the scenario, base for the file without any")]
    weight: Annotated[float, Column("Probability of the variant, weights adding to 1")]
    hedged_npv_usd: Annotated[
        float, Column("Net present cost in the variant of the plan with first decisions in common")
    ]
    alone_npv_usd: Annotated[
        float | None, Column("Net present cost of the variant's own best plan, were it known")
    ]


HEDGE = TableSpec(
    "hedge",
    HedgeRow,
    "One plan for several variants",
    wide=(
        pattern(
            "first_plan_of_<variant>_npv_usd",
            "Net present cost in the row's variant with that one's own first decisions",
        ),
    ),
)


@dataclass(frozen=True)
class RacksRow:
    """Racks of one order, one given fleet, or one asset or order held before."""

    order_quarter: Annotated[
        str | None,
        Column(
            "Quarter in which the order is placed, of a given fleet the first; empty for "
            "assets and standing orders"
        ),
    ]
    serves_from: Annotated[
        str | None,
        Column(
            "First quarter in which the racks serve; empty for assets in service before the plan"
        ),
    ]
    hall: Hall
    cooling: Annotated[str, Column("Catalog id of the cooling option", shown=Shown.VERBOSE)]
    system: System
    racks: Annotated[
        int, Column("Racks ordered, given or kept; a system of several racks counts as one")
    ]
    nodes_per_rack: Annotated[
        int, Column("Systems in one rack; 1 for a system of one rack or more")
    ]
    accelerators: Annotated[int, Column("Accelerators of these racks together")]
    rated_kw: Annotated[float, Column("Rated IT power of these racks together")]
    price_usd: Annotated[
        float,
        Column(
            "Price of these racks without storage; of a standing order what is due on "
            "arrival, storage in it"
        ),
    ]
    decision: Annotated[
        str, Column("Ordered, given, in service or on order, with what is sold or cancelled")
    ]
    limit: Annotated[
        str,
        Column(
            "What limits the nodes of a rack; of an asset or order its id and the end of its life"
        ),
    ]


RACKS = TableSpec("racks", RacksRow, "What to order")


@dataclass(frozen=True)
class JobRow:
    """One training run."""

    job: Job
    place: Annotated[str, Column("Hall as site/hall, or cloud and the offer")]
    system: System
    accelerators: Annotated[
        int, Column("Accelerators held for the run, spares and idle ones among them")
    ]
    training_accelerators: Annotated[
        int, Column("Accelerators that fill whole replicas of the layout")
    ]
    spare_accelerators: Annotated[int, Column("Accelerators that stand by for failed ones")]
    idle_accelerators: Annotated[int, Column("Accelerators held less those used and spare ones")]
    precision: Precision
    start_quarter: Annotated[str, Column("Quarter in which the run is planned to start")]
    days_p50: P50Days
    days: Annotated[float, Column("Length of the run at the confidence that the job asks for")]
    mfu_frac: MfuFrac
    goodput_frac: Annotated[
        float, Column("Lasting progress over wall-clock time while the run lasts")
    ]
    step_time_s: Annotated[
        float, Column("One optimizer step as predicted, waiting for data counted in")
    ]
    layout: Layout


JOBS = TableSpec("jobs", JobRow, "Training runs")


@dataclass(frozen=True)
class DecisionRow:
    """One whole decision; ``plan --fix-decisions`` reads it back."""

    decision: Annotated[
        str, Column("Kind of decision, such as order, fit, fabric, blocks, commit or run")
    ]
    hall: Annotated[
        str | None,
        Column(
            "Hall as site/hall; of blocks and plants the site, of commitments the offer, of a"
            " run its place"
        ),
    ]
    cooling: Annotated[str | None, Column("Catalog id of the cooling option")]
    item: Annotated[
        str | None,
        Column("System, fabric, asset, plant, term, or job and system that is decided on"),
    ]
    quarter: Annotated[
        int | None,
        Column(
            "Number of the quarter from the plan's start, the first is 0; of a run the one "
            "its hardware serves from"
        ),
    ]
    amount: Annotated[
        int,
        Column(
            "Racks, units or nodes decided on; hall units and power blocks are all that stand"
            " by then"
        ),
    ]
    accelerators: Annotated[int | None, Column("Accelerators held by a run, spares among them")]
    precision: Annotated[str | None, Column("Catalog recipe of number formats of a run")]
    start_month: Annotated[
        int | None, Column("Month in which a run is planned to start, counted from 0")
    ]


DECISIONS = TableSpec("decisions", DecisionRow, "Decisions", shown=Shown.DATA)
