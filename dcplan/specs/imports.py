"""Metrics and tables of the ``import`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Offer, Term
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, TableSpec

ROWS_USED = MetricSpec("rows.imported", "", "Rows whose prices are in the overlay")
ROWS_REFUSED = MetricSpec(
    "rows.rejected", "", "Rows of which nothing is in the overlay, each with its reason"
)
EFFECTIVE = MetricSpec("spend.effective_usd", "USD", "Effective cost of the rows used")
HOURS = MetricSpec("spend.accelerator_hours", "h", "Used")
USD_PER_HOUR = MetricSpec(
    "spend.usd_per_accelerator_hour",
    "USD/h",
    "Effective cost, unused commitment included, over use",
)
UTILIZATION = MetricSpec("spend.utilization_frac", "", "Used over paid hours")


@dataclass(frozen=True)
class PriceRow:
    """One price that was taken."""

    line: Annotated[int, Column("Line of the price list")]
    offer: Offer
    region: Annotated[str, Column("Cloud region of the price")]
    accelerator: Annotated[str, Column("Catalog id of the accelerator")]
    accelerators: Annotated[int, Column("Accelerators of the instance")]
    term: Term
    usd_per_h: Annotated[float, Column("Price of the whole instance for an hour")]
    usd_per_accelerator_hour: Annotated[
        float, Column("Price over the accelerators of the instance")
    ]
    as_of: Annotated[str, Column("Date of the price")]
    serves_plans: Annotated[str, Column("Whether plans may rent it, or why not")]


@dataclass(frozen=True)
class SpendRow:
    """Use and cost of one offer."""

    offer: Offer
    accelerator: Annotated[str, Column("Catalog id of the accelerator")]
    first: Annotated[str, Column("First day of the charges", name="from")]
    last: Annotated[str, Column("Day on which the last charge period ends", name="to")]
    used_accelerator_hours: Annotated[float, Column("Accelerator-hours used")]
    unused_accelerator_hours: Annotated[
        float, Column("Accelerator-hours of commitments paid and not used")
    ]
    utilization_frac: Annotated[float | None, Column("Used over paid accelerator-hours")]
    average_accelerators: Annotated[
        float, Column("Used accelerator-hours over the clock hours between first and last day")
    ]
    effective_usd: Annotated[float, Column("Effective cost, unused commitments among it")]
    usd_per_accelerator_hour: Annotated[
        float | None, Column("Effective cost over used accelerator-hours")
    ]
    below_list_frac: Annotated[
        float | None,
        Column("By how much the effective cost is below the list cost, over the list cost"),
    ]


@dataclass(frozen=True)
class ChangeRow:
    """One input that a workbook changes."""

    row: Annotated[int, Column("Row of the workbook's sheet of inputs")]
    key: Annotated[str, Column("Key of the changed input")]
    set_as: Annotated[str, Column("Its name in --set and overrides")]
    exported: Annotated[float, Column("Value that the workbook was exported with")]
    now: Annotated[float, Column("Value that stands in the workbook")]


@dataclass(frozen=True)
class RefusedRow:
    """One row that was not taken."""

    line: Annotated[int, Column("Line or row of the file")]
    what: Annotated[str, Column("What stands in it")]
    reason: Annotated[str, Column("Why it was not taken")]


PRICES = TableSpec("prices", PriceRow, "Prices taken")
SPEND = TableSpec("spend", SpendRow, "Own use and rates")
CHANGES = TableSpec("changes", ChangeRow, "Inputs changed in the workbook")
REFUSED = TableSpec("rejected", RefusedRow, "Rows not taken")
