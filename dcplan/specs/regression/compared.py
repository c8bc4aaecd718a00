"""Tables of the ``diff`` verb that set two plans next to each other, whether they differ or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.result import Cell
from dcplan.specs.columns import Job, Quarter
from dcplan.specs.plan.workloads import Workload
from dcplan.specs.table import Column, Shown, TableSpec

Scenario = Annotated[str, Column("Scenario file of both answers")]


@dataclass(frozen=True)
class FigureCompared:
    """One main figure of both answers."""

    scenario: Scenario
    figure: Annotated[str, Column("Name of the figure")]
    metric: Annotated[str, Column("Metric that the figure is; empty if it is from a table")]
    before: Annotated[Cell, Column("Value of the first answer; empty if it has none")]
    after: Annotated[Cell, Column("Value of the second answer; empty if it has none")]
    change: Annotated[float | None, Column("Second less first; empty for a text")]
    change_frac: Annotated[float | None, Column("Change over the absolute value of the first")]
    unit: Annotated[str, Column("Unit of the values; empty for a date, a count or a ratio")]
    verdict: Annotated[
        str,
        Column(
            "Whether the second answer is better or worse, or within the solver's tolerance; empty "
            "if neither direction is better"
        ),
    ]


FIGURES_COMPARED = TableSpec(
    "figures_compared", FigureCompared, "Main figures of both", shown=Shown.DATA
)


@dataclass(frozen=True)
class PurchaseCompared:
    """All purchases of one item from one vendor in both plans."""

    scenario: Scenario
    vendor: Annotated[str, Column("Vendors in the catalog; not named if it has none")]
    item: Annotated[str, Column("Catalog id of the item or offer, or the kind of goods")]
    unit: Annotated[str, Column("Unit of the quantities")]
    quantity_before: Annotated[float, Column("Quantity of the first plan; 0 if it buys none")]
    quantity_after: Annotated[float, Column("Quantity of the second plan; 0 if it buys none")]
    order_before: Annotated[
        str, Column("Months of the orders in the first plan; empty if ordered before the plan")
    ]
    order_after: Annotated[
        str, Column("Months of the orders in the second plan; empty if ordered before the plan")
    ]
    delivery_before: Annotated[str, Column("Months of delivery in the first plan")]
    delivery_after: Annotated[str, Column("Months of delivery in the second plan")]
    amount_before_usd: Annotated[float | None, Column("Amount in the first plan, undiscounted")]
    amount_after_usd: Annotated[float | None, Column("Amount in the second plan, undiscounted")]
    change_usd: Annotated[float | None, Column("Amount of the second less that of the first")]


PURCHASES_COMPARED = TableSpec(
    "purchases_compared", PurchaseCompared, "Purchases of both", shown=Shown.DATA, by_item=True
)


@dataclass(frozen=True)
class QuarterCompared:
    """Fleet, power and cash of both plans in one quarter; empty where a plan lacks the quarter."""

    scenario: Scenario
    quarter: Quarter
    accelerators_before: Annotated[float | None, Column("Accelerators in service, first plan")]
    accelerators_after: Annotated[float | None, Column("Accelerators in service, second plan")]
    facility_before_mw: Annotated[float | None, Column("Facility power of all sites, first plan")]
    facility_after_mw: Annotated[float | None, Column("Facility power of all sites, second plan")]
    utility_before_mw: Annotated[float | None, Column("Utility limit of all sites, first plan")]
    utility_after_mw: Annotated[float | None, Column("Utility limit of all sites, second plan")]
    paid_before_usd: Annotated[
        float | None, Column("Cash paid in the quarter before tax and financing, first plan")
    ]
    paid_after_usd: Annotated[
        float | None, Column("Cash paid in the quarter before tax and financing, second plan")
    ]
    paid_to_date_before_usd: Annotated[
        float | None, Column("Cash paid from the first quarter to this one, first plan")
    ]
    paid_to_date_after_usd: Annotated[
        float | None, Column("Cash paid from the first quarter to this one, second plan")
    ]


QUARTERS_COMPARED = TableSpec(
    "quarters_compared",
    QuarterCompared,
    "Fleet, power and cash of both by quarter",
    shown=Shown.DATA,
    by_item=True,
)


@dataclass(frozen=True)
class ServedCompared:
    """Accelerators of one system in one place that serve one workload, in both plans."""

    scenario: Scenario
    workload: Workload
    system: Annotated[str, Column("System, or accelerator of a cloud offer")]
    place: Annotated[str, Column("Hall as site/hall, or cloud and the offer")]
    quarters_before: Annotated[str, Column("First to last quarter of the first plan")]
    quarters_after: Annotated[str, Column("First to last quarter of the second plan")]
    largest_accelerators_before: Annotated[
        float | None, Column("Largest quarterly average of the accelerators, first plan")
    ]
    largest_accelerators_after: Annotated[
        float | None, Column("Largest quarterly average of the accelerators, second plan")
    ]
    cost_before_usd: Annotated[float | None, Column("Present cost in the first plan")]
    cost_after_usd: Annotated[float | None, Column("Present cost in the second plan")]


SERVED_COMPARED = TableSpec(
    "served_compared",
    ServedCompared,
    "What serves each workload in both",
    shown=Shown.DATA,
    by_item=True,
)


@dataclass(frozen=True)
class RunCompared:
    """One training run in both plans; empty where a plan lacks it."""

    scenario: Scenario
    job: Job
    system_before: Annotated[str, Column("System in the first plan, with its place")]
    system_after: Annotated[str, Column("System in the second plan, with its place")]
    accelerators_before: Annotated[float | None, Column("Reserved accelerators, first plan")]
    accelerators_after: Annotated[float | None, Column("Reserved accelerators, second plan")]
    finish_before: Annotated[str, Column("Finish date at the required confidence, first plan")]
    finish_after: Annotated[str, Column("Finish date at the required confidence, second plan")]
    margin_before_days: Annotated[
        float | None,
        Column("Days left to the deadline in the first plan; empty without a deadline"),
    ]
    margin_after_days: Annotated[
        float | None,
        Column("Days left to the deadline in the second plan; empty without a deadline"),
    ]


RUNS_COMPARED = TableSpec("runs_compared", RunCompared, "Training runs of both", shown=Shown.DATA)
