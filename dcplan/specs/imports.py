"""Metrics and tables of the ``import`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Offer, Term
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec

ROWS_USED = MetricSpec("rows.imported", "", "Rows imported into the overlay")
ROWS_REJECTED = MetricSpec("rows.rejected", "", "Rejected rows, each with a reason")
EFFECTIVE = MetricSpec("spend.effective_usd", "USD", "Effective cost of the imported rows")
HOURS = MetricSpec("spend.accelerator_hours", "h", "Accelerator-hours used")
USD_PER_HOUR = MetricSpec(
    "spend.usd_per_accelerator_hour",
    "USD/h",
    "Effective cost over used hours, including unused commitments",
)
UTILIZATION = MetricSpec("spend.utilization_frac", "", "Used hours over paid hours")


@dataclass(frozen=True)
class PriceRow:
    """One imported price."""

    line: Annotated[int, Column("Line of the price list")]
    offer: Offer
    region: Annotated[str, Column("Cloud region of the price")]
    accelerator: Annotated[str, Column("Catalog id of the accelerator")]
    accelerators: Annotated[int, Column("Accelerators of the instance")]
    term: Term
    usd_per_h: Annotated[float, Column("Hourly price of the whole instance")]
    usd_per_accelerator_hour: Annotated[float, Column("Hourly price per accelerator")]
    as_of: Annotated[str, Column("Date of the price")]
    serves_plans: Annotated[str, Column("Whether plans may rent it, or the reason why not")]
    note: Annotated[str, Column("Remark on this price; empty without one")] = ""


@dataclass(frozen=True)
class SpendRow:
    """Use and cost of one offer."""

    offer: Offer
    accelerator: Annotated[str, Column("Catalog id of the accelerator")]
    first: Annotated[str, Column("First day of the charges", name="from")]
    last: Annotated[str, Column("Day on which the last charge period ends", name="to")]
    used_accelerator_hours: Annotated[float, Column("Accelerator-hours used")]
    unused_accelerator_hours: Annotated[
        float, Column("Accelerator-hours of commitments paid for but not used")
    ]
    utilization_frac: Annotated[
        float | None, Column("Used accelerator-hours over paid accelerator-hours")
    ]
    average_accelerators: Annotated[
        float, Column("Used accelerator-hours over the hours between the first and the last day")
    ]
    effective_usd: Annotated[float, Column("Effective cost, including unused commitments")]
    usd_per_accelerator_hour: Annotated[
        float | None, Column("Effective cost over used accelerator-hours")
    ]
    below_list_frac: Annotated[
        float | None, Column("Discount: list cost less effective cost, over list cost")
    ]


@dataclass(frozen=True)
class RateRow:
    """Use and cost of one offer on one term."""

    offer: Offer
    term: Annotated[
        str,
        Column(
            "On-demand, spot, reserved-1y or reserved-3y; committed if the length of the commitment "
            "is not in the file"
        ),
    ]
    commitment: Annotated[
        str, Column("Type of the commitment as the provider names it; empty without one")
    ]
    basis: Annotated[
        str, Column("What is committed: usage (a reservation) or spend (a savings plan)")
    ]
    used_accelerator_hours: Annotated[float, Column("Accelerator-hours used")]
    unused_accelerator_hours: Annotated[
        float, Column("Accelerator-hours of the commitment paid for but not used")
    ]
    effective_usd: Annotated[float, Column("Effective cost of the used and the unused hours")]
    usd_per_used_hour: Annotated[
        float | None, Column("Effective cost over used accelerator-hours; empty without cost")
    ]
    usd_per_paid_hour: Annotated[
        float | None,
        Column("Effective cost over used and unused accelerator-hours; empty without cost"),
    ]
    override: Annotated[str, Column("Price that the overrides set, or why there is none")]


@dataclass(frozen=True)
class ChangeRow:
    """One input that a workbook changes."""

    row: Annotated[int, Column("Row of the workbook's sheet of inputs")]
    key: Annotated[str, Column("Key of the changed input")]
    set_as: Annotated[str, Column("Name of the input in --set and overrides")]
    exported: Annotated[float, Column("Value at the export of the workbook")]
    now: Annotated[float, Column("Value in the workbook now")]


@dataclass(frozen=True)
class RejectedRow:
    """One rejected row."""

    line: Annotated[int, Column("Line or row of the file")]
    what: Annotated[str, Column("Content of the row")]
    reason: Annotated[str, Column("Reason for the rejection")]
    group: Annotated[str, Column("Reason without the details of the row")]


@dataclass(frozen=True)
class ReasonRow:
    """Rejected rows with one reason."""

    group: Annotated[str, Column("Reason for the rejection, without details", name="reason")]
    rows: Annotated[int, Column("Number of rejected rows")]
    first_line: Annotated[int, Column("Line or row of the first of them")]
    first_what: Annotated[str, Column("Content of the first of them", name="first_row")]
    details: Annotated[str, Column("Reason of the first with its details; empty without details")]


PRICES = TableSpec("prices", PriceRow, "Imported prices", by_item=True)
SPEND = TableSpec("spend", SpendRow, "Use and rates paid", by_item=True)
RATES = TableSpec("rates", RateRow, "Rates by term", by_item=True)
CHANGES = TableSpec("changes", ChangeRow, "Inputs changed in the workbook", by_item=True)
REASONS = TableSpec("rejected_by_reason", ReasonRow, "Rejected rows by reason")
REJECTED = TableSpec("rejected", RejectedRow, "Rejected rows", shown=Shown.VERBOSE)
