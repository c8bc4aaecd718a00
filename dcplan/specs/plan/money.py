"""Money of a plan: cost lines, cash by quarter, public ranges, every payment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.specs.columns import Quarter
from dcplan.specs.table import Column, Shown, TableSpec


class Inside(StrEnum):
    """Whether a unit figure is within its public range."""

    INSIDE = "inside"
    OUTSIDE = "OUTSIDE"


class Falls(StrEnum):
    """When in its quarter a payment falls."""

    MIDDLE = "middle"
    END = "end"


@dataclass(frozen=True)
class CostRow:
    """Undiscounted sum of one line."""

    group: Annotated[str, Column("Kind of cost, such as capex, energy, opex, cloud or residual")]
    line: Annotated[str, Column("What is paid for")]
    usd: Annotated[
        float,
        Column(
            "Sum over the horizon and, of commitments, after it; undiscounted, negative is "
            "value kept"
        ),
    ]


COST = TableSpec("cost", CostRow, "Cost over the horizon (undiscounted)")


@dataclass(frozen=True)
class CashRow:
    """Cash of one quarter of the horizon."""

    quarter: Quarter
    capex_usd: Annotated[
        float,
        Column(
            "Hardware, network, storage, halls, power, orders and cancellation fees paid in "
            "the quarter"
        ),
    ]
    energy_usd: Annotated[
        float, Column("Energy and demand charges of the quarter, and what plants on the site burn")
    ]
    opex_usd: Annotated[float, Column("Staff, maintenance, lease and upkeep of the quarter")]
    cloud_usd: Annotated[float, Column("Rent of the quarter, on demand and of commitments")]
    unserved_usd: Annotated[float, Column("Value of demand not served in the quarter; no payment")]
    residual_usd: Annotated[
        float,
        Column(
            "Sales in the quarter, in the last one what all is worth at the end; negative is "
            "value kept"
        ),
    ]
    debt_drawn_usd: Annotated[
        float, Column("Borrowed in the quarter, the debt's share of its capital spending")
    ]
    debt_service_usd: Annotated[float, Column("Interest and repayment in the quarter")]
    cash_out_usd: Annotated[
        float,
        Column(
            "Capex, energy, opex and rent, less what is borrowed, with debt service; undiscounted"
        ),
    ]


CASHFLOW = TableSpec("cash_flow", CashRow, "Cash by quarter (undiscounted)")


@dataclass(frozen=True)
class BenchmarkRow:
    """One unit figure beside its public range."""

    figure: Annotated[str, Column("Name of the unit figure")]
    value: Annotated[
        float, Column("The plan's own figure, in the unit that the figure's name says")
    ]
    low: Annotated[float, Column("Low end of the public range")]
    high: Annotated[float, Column("High end of the public range")]
    inside: Annotated[Inside, Column("Inside or OUTSIDE the public range")]
    source: Annotated[str, Column("Where the public range is from", shown=Shown.VERBOSE)]


BANDS = TableSpec("benchmarks", BenchmarkRow, "Beside public ranges")


@dataclass(frozen=True)
class FlowRow:
    """Payments of one quarter for one line, class, site and provider."""

    quarter: Quarter
    group: Annotated[str, Column("Kind of cost, such as capex, energy, opex, cloud or residual")]
    line: Annotated[str, Column("What is paid for")]
    asset: Annotated[
        str,
        Column(
            "Asset class of the line, such as racks, network, storage, building, cooling or "
            "power; other where it is no asset"
        ),
    ]
    site: Annotated[
        str, Column("Id of the site that it is paid for; empty for rent and unserved demand")
    ]
    provider: Annotated[str, Column("Cloud provider that is paid; empty for all but rent")]
    falls: Annotated[
        Falls, Column("Whether the payment is discounted from the middle or the end of its quarter")
    ]
    usd: Annotated[float, Column("Payments of the quarter, undiscounted; negative is value kept")]


FLOWS = TableSpec("flows", FlowRow, "Payments", shown=Shown.DATA)
