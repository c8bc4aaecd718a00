"""Metrics and tables of bills for rented accelerators, in rows of FOCUS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

HOURS = MetricSpec(
    "demand.rented_accelerator_hours", "h", "Used hours of rented accelerators", main=True
)
MEAN = MetricSpec(
    "demand.rented_accelerators_mean", "", "Rented accelerators in use, mean of the bill", main=True
)
PEAK = MetricSpec(
    "demand.rented_accelerators_peak", "", "Rented accelerators in use, mean of the busiest day"
)
IDLE_HOURS = MetricSpec(
    "demand.idle_commitment_accelerator_hours",
    "h",
    "Accelerator-hours of commitments and reservations that nobody used",
    better=Better.LOWER,
    main=True,
)
IDLE_USD = MetricSpec(
    "demand.idle_commitment_usd",
    "USD",
    "Effective cost of these hours",
    better=Better.LOWER,
    main=True,
)
COST = MetricSpec(
    "demand.effective_usd", "USD", "Effective cost of all hours, idle ones too", better=Better.LOWER
)
PRICE = MetricSpec(
    "demand.usd_per_used_accelerator_hour",
    "USD",
    "Effective cost, idle hours too, over used hours",
    better=Better.LOWER,
    unknown="the bill has no used hour",
)

Used = Annotated[float, Column("Used accelerator-hours")]
Idle = Annotated[float, Column("Accelerator-hours of commitments that nobody used")]
Mean = Annotated[float, Column("Accelerators in use, mean of the part that the bill covers")]
Cost = Annotated[float, Column("Effective cost, of idle hours too")]
IdleCost = Annotated[float, Column("Effective cost of the idle hours")]
Spread = Annotated[
    float | None,
    Column("Share of the used hours from charges longer than a day, spread evenly over them"),
]


@dataclass(frozen=True)
class PeriodRow:
    """Use of rented accelerators in one month or on one day."""

    period: Annotated[str, Column("Month or day, in UTC")]
    used_accelerator_hours: Used
    accelerators: Mean
    peak_accelerators: Annotated[float, Column("Accelerators in use, mean of its busiest day")]
    idle_accelerator_hours: Idle
    idle_usd: IdleCost
    effective_usd: Cost
    spread_frac: Spread


MONTHS = TableSpec("rented_by_month", PeriodRow, "Rented use by month", section=Section.ORDERS)
DAYS = TableSpec(
    "rented_by_day", PeriodRow, "Rented use by day", shown=Shown.VERBOSE, section=Section.ORDERS
)


@dataclass(frozen=True)
class SkuRow:
    """Use of one article in one region on one term."""

    accelerator: Annotated[str, Column("Accelerator of the catalog")]
    offer: Annotated[str, Column("Offer of the catalog that the article names")]
    sku: Annotated[str | None, Column("Article of the provider")]
    region: Annotated[str | None, Column("Region of the provider")]
    term: Annotated[str, Column("On demand, spot, or the length of the commitment")]
    used_accelerator_hours: Used
    accelerators: Annotated[float, Column("Accelerators in use, mean of the whole bill")]
    idle_accelerator_hours: Idle
    idle_usd: IdleCost
    effective_usd: Cost


SKUS = TableSpec("rented_by_sku", SkuRow, "Rented use by article", section=Section.ORDERS)
