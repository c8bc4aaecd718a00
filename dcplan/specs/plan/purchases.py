"""Purchase schedule of a plan: what to buy or lease of whom, when, and when it is paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Hall, System
from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class PurchaseRow:
    """One purchase: equipment, a fit-out, or a quarter of rent of one offer and term or of one lease."""

    vendor: Annotated[
        str,
        Column(
            "Vendors in the catalog, several with commas; not named if it has none; of a lease, its lessor"
        ),
    ]
    item: Annotated[
        str,
        Column(
            "Catalog id of the system, cooling option, fabric, plant or cloud offer, or the kind of "
            "goods"
        ),
    ]
    place: Annotated[str, Column("Hall as site/hall, the site, or the cloud region of rent")]
    quantity: Annotated[float, Column("Amount to buy, in the unit of the row")]
    unit: Annotated[str, Column("Unit of the quantity")]
    contents: Annotated[
        str, Column("Nodes and accelerators of racks, parts of a network, nodes of a commitment")
    ]
    unit_price_usd: Annotated[float, Column("Amount over quantity")]
    amount_usd: Annotated[
        float,
        Column(
            "Price of the purchase in the plan's cost, undiscounted; the amounts of a line of capital "
            "cost add up to that line, those of rent to cloud and post-horizon cost, those of a lease to operating and "
            "post-horizon cost"
        ),
    ]
    order_month: Annotated[
        str,
        Column(
            "First month of the quarter of the order or of the first rent; of a new hall and its "
            "power, the month of the last day to order; empty if it was ordered before the plan"
        ),
    ]
    delivery_month: Annotated[str, Column("Month of delivery, the first month in service")]
    serves_from: Annotated[str, Column("First quarter in service")]
    lead_months: Annotated[
        float | None, Column("Lead time from order to service; empty if none is known")
    ]
    lead_source: Annotated[
        str, Column("Origin of the lead time, with its source", shown=Shown.VERBOSE)
    ]
    terms: Annotated[str, Column("Payment terms")]
    deposit_usd: Annotated[float, Column("Deposit, paid before delivery")]
    deposit_month: Annotated[str, Column("Month of the deposit; empty without one")]
    balance_usd: Annotated[
        float,
        Column(
            "Price without deposit and acceptance payment; of rent, the payments of the quarter"
        ),
    ]
    balance_month: Annotated[
        str,
        Column(
            "Month of that payment: delivery if the scenario has payment terms, otherwise the first "
            "month of the quarter in which the plan pays; rent is paid in thirds from then on"
        ),
    ]
    acceptance_usd: Annotated[float, Column("Payment after acceptance")]
    acceptance_month: Annotated[str, Column("Month of that payment; empty without one")]
    alternative: Annotated[
        str,
        Column(
            "Other system that may be ordered for the hall, or other fabric that connects it, with "
            "the lowest price; empty if there is none"
        ),
    ]
    alternative_vendor: Annotated[str, Column("Vendors of the alternative in the catalog")]
    alternative_difference_usd: Annotated[
        float | None,
        Column(
            "Price of the alternative less the amount; of racks, for at least the same rate of large "
            "matrix products; hardware alone, the rest of the plan unchanged"
        ),
    ]
    note: Annotated[str, Column("Remark on the purchase")]
    group: Annotated[str, Column("Kind of cost, such as capex or cloud", shown=Shown.DATA)]
    line: Annotated[
        str, Column("Line of the plan's cost; of rent, the cloud offer", shown=Shown.DATA)
    ]
    quarter: Annotated[str, Column("Quarter of the payment in the plan's cost", shown=Shown.DATA)]


PURCHASES = TableSpec(
    "purchases",
    PurchaseRow,
    "Purchase schedule by vendor",
    shown=Shown.VERBOSE,
    section=Section.ORDERS,
    by_item=True,
)


@dataclass(frozen=True)
class LeaseRow:
    """One lease of racks of an order."""

    lease: Annotated[str, Column("Id of the lease in the scenario")]
    order_quarter: Annotated[str, Column("Quarter of the order")]
    hall: Hall
    system: System
    racks: Annotated[int, Column("Leased racks of the order")]
    accelerators: Annotated[int, Column("Accelerators in these racks")]
    price_usd: Annotated[float, Column("Price of these racks at the order, which the lessor pays")]
    payment_usd_per_month: Annotated[float, Column("Lease payment of a month")]
    serves_from: Annotated[str, Column("First quarter in service, and of the payments")]
    returned: Annotated[str, Column("Quarter in which the racks have gone back to the lessor")]
    paid_in_horizon_usd: Annotated[float, Column("Payments in the horizon, undiscounted")]
    paid_after_horizon_usd: Annotated[
        float,
        Column("Payments after the horizon, undiscounted, which the cost of the plan includes"),
    ]


LEASES = TableSpec("leases", LeaseRow, "Leases of racks", section=Section.ORDERS, by_item=True)
