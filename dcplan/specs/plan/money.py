"""Money of a plan: cost lines, cash flow by quarter, public benchmarks, every payment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.specs.columns import Quarter
from dcplan.specs.table import Column, Section, Shown, TableSpec


class Inside(StrEnum):
    """Whether a unit cost is within its public range."""

    INSIDE = "inside"
    OUTSIDE = "OUTSIDE"


class Falls(StrEnum):
    """Timing of a payment within its quarter."""

    MIDDLE = "middle"
    END = "end"


@dataclass(frozen=True)
class CostRow:
    """Undiscounted sum of one line."""

    group: Annotated[str, Column("Kind of cost, such as capex, energy, opex, cloud or residual")]
    line: Annotated[str, Column("Cost line")]
    usd: Annotated[
        float,
        Column(
            "Sum over the horizon, and after it for commitments; undiscounted; negative is "
            "residual value"
        ),
    ]


COST = TableSpec(
    "cost", CostRow, "Cost over the horizon, undiscounted", section=Section.COST, by_item=True
)


@dataclass(frozen=True)
class CashRow:
    """Cash flow of one quarter of the horizon."""

    quarter: Quarter
    capex_usd: Annotated[
        float,
        Column(
            "Payments in the quarter for hardware, network, storage, halls, power, orders and "
            "cancellation fees"
        ),
    ]
    energy_usd: Annotated[
        float, Column("Energy and demand charges of the quarter, and fuel of plants on site")
    ]
    opex_usd: Annotated[float, Column("Staff, maintenance, lease and upkeep of the quarter")]
    cloud_usd: Annotated[float, Column("Rent in the quarter, on demand and committed")]
    unserved_usd: Annotated[float, Column("Value of unserved demand in the quarter; not a payment")]
    sales_usd: Annotated[
        float, Column("Sales of hardware in the quarter; negative, because it is money received")
    ]
    end_value_usd: Annotated[
        float,
        Column(
            "In the last quarter, value of what the plan still owns; negative, and no payment: "
            "nobody sold it"
        ),
    ]
    debt_drawn_usd: Annotated[
        float, Column("Debt borrowed in the quarter, a share of the capital cost")
    ]
    debt_service_usd: Annotated[float, Column("Interest and repayment in the quarter")]
    cash_out_usd: Annotated[
        float,
        Column(
            "Payments that a budget limits: capital cost, energy, operating cost and rent, plus "
            "debt service, minus debt drawn; without sales, end value and unserved demand; "
            "undiscounted"
        ),
    ]


CASH_FLOW = TableSpec(
    "cash_flow",
    CashRow,
    "Cash flow by quarter, undiscounted",
    brief=lambda x: bool(x.cash_out_usd or x.sales_usd or x.end_value_usd),
    section=Section.COST,
    by_item=True,
)


@dataclass(frozen=True)
class BenchmarkRow:
    """One unit cost or ratio with its public range."""

    figure: Annotated[str, Column("Name of the unit cost or ratio")]
    value: Annotated[float, Column("Value in the plan, in the unit in the name")]
    low: Annotated[float, Column("Low end of the public range")]
    high: Annotated[float, Column("High end of the public range")]
    unit: Annotated[str, Column("Unit of the value and of its range")]
    inside: Annotated[Inside, Column("Inside or OUTSIDE the public range")]
    source: Annotated[str, Column("Source of the public range", shown=Shown.VERBOSE)]


BENCHMARKS = TableSpec(
    "benchmarks",
    BenchmarkRow,
    "Comparison with public benchmarks",
    brief=lambda x: x.inside != Inside.INSIDE,
    section=Section.COST,
    by_item=True,
)


@dataclass(frozen=True)
class FlowRow:
    """Payments of one quarter for one line, class, site and provider."""

    quarter: Quarter
    group: Annotated[str, Column("Kind of cost, such as capex, energy, opex, cloud or residual")]
    line: Annotated[str, Column("Cost line")]
    asset: Annotated[
        str,
        Column(
            "Asset class of the line, such as racks, network, storage, building, cooling or "
            "power; other if the line is not an asset"
        ),
    ]
    site: Annotated[str, Column("Id of the site; empty for rent and unserved demand")]
    provider: Annotated[str, Column("Cloud provider; empty unless the payment is rent")]
    falls: Annotated[
        Falls, Column("Whether the payment is discounted from the middle or the end of its quarter")
    ]
    usd: Annotated[
        float, Column("Payments in the quarter, undiscounted; negative is residual value")
    ]
    term: Annotated[str, Column("Rental term; empty unless the payment is rent")] = ""
    item: Annotated[
        str,
        Column(
            "Catalog id of the system, cooling option, fabric, plant or cloud offer, or the kind of "
            "service; empty for residual value and unserved demand"
        ),
    ] = ""
    place: Annotated[
        str, Column("Hall as site/hall, or cloud region of rent; empty for a whole site")
    ] = ""
    quantity: Annotated[
        float | None, Column("Amount that the payment buys, in the unit of the row")
    ] = None
    unit: Annotated[str, Column("Unit of the quantity")] = ""
    used_quantity: Annotated[
        float | None, Column("Used part of the quantity of a commitment; empty for others")
    ] = None
    serves_from: Annotated[
        str, Column("First quarter in service of an asset, or of a commitment; empty for others")
    ] = ""
    life_months: Annotated[
        int | None, Column("Months over which an asset is written off; empty for others")
    ] = None
    advance_usd: Annotated[
        float, Column("Part of the price that was paid before the plan; no payment of the plan")
    ] = 0.0


FLOWS = TableSpec("flows", FlowRow, "Payments", shown=Shown.DATA, by_item=True)
