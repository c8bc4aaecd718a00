"""Tables of a comparison of owning and renting from which its workbook is computed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from dcplan.specs.plan.money import FlowRow
from dcplan.specs.table import Column, Shown, TableSpec


class BookTerm(StrEnum):
    """Name of a single value that the workbook uses."""

    ACCELERATORS = "accelerators"
    UTILIZATION = "utilization"
    STORAGE = "storage"
    EGRESS = "egress"
    PRICE_CHANGE = "price change"
    INCOME_TAX = "income tax rate"
    SALES_TAX = "sales tax rate"
    PROPERTY_TAX = "property tax rate"
    BUILDING_TAX = "property tax rate of buildings"
    COOLING_TAX = "property tax rate of cooling"
    POWER_TAX = "property tax rate of power equipment"
    DEPOSIT = "deposit"
    DEPOSIT_MONTHS = "months from deposit to service"
    ACCEPTANCE = "acceptance payment"
    ACCEPTANCE_MONTHS = "months from service to acceptance"
    DEBT_SHARE = "debt share"
    DEBT_RATE = "debt rate"
    DEBT_YEARS = "debt term"
    LIFE = "service life of hardware"
    BUILDING_LIFE = "life of buildings"
    COOLING_LIFE = "life of cooling"
    POWER_LIFE = "life of power equipment"
    RESIDUAL = "residual at the end of life"
    LOST_OWNED = "lost goodput, owned"
    LOST_RENTED = "lost goodput, rented"
    CPU_NODES = "CPU nodes"
    NETWORK = "network"
    SET_UP = "set-up"
    DEBUGGING = "debugging"
    START = "first quarter"


class Paid(StrEnum):
    """Share of the hours of a month that a rent pays."""

    USED = "used"
    """The hours in use."""
    ALL = "all"
    """All hours, as under a commitment."""
    DAYS = "days"
    """Complete days of use, as of capacity blocks."""


@dataclass(frozen=True)
class TermRow:
    """A single value of the comparison."""

    term: Annotated[str, Column("Name of a value that the workbook uses")]
    value: Annotated[float, Column("Value in the answer, before any edit of the workbook")]
    unit: Annotated[str | None, Column("Unit of the value; empty where it has none")]
    input: Annotated[
        str | None, Column("Key of the input that gives the value; empty for a fixed value")
    ]
    note: Annotated[str | None, Column("Reason why the value is fixed")] = None


@dataclass(frozen=True)
class WriteOffRow:
    """The tax write-off of one year after a purchase."""

    table: Annotated[str, Column("Depreciation table, by its id in the catalog")]
    building: Annotated[bool, Column("Whether the table is for buildings")]
    year: Annotated[int, Column("Year of the write-off; 1 is the year of the payment")]
    written_off_frac: Annotated[float, Column("Share of the price written off in the year")]


@dataclass(frozen=True)
class LeftRow:
    """The value of equipment at one age."""

    age_months: Annotated[int, Column("Age of the equipment")]
    left_frac: Annotated[float, Column("Resale value over the price at that age")]


@dataclass(frozen=True)
class RentRow:
    """A rent with the inputs of its accompanying costs."""

    rent: Annotated[str, Column("Offer and term of the rent")]
    offer: Annotated[str, Column("Cloud offer, by its id in the catalog")]
    term: Annotated[str, Column("Rental term")]
    node_accelerators: Annotated[int, Column("Accelerators of one instance of the offer")]
    storage_input: Annotated[str, Column("Key of the price of storage")]
    support_input: Annotated[str | None, Column("Key of the support fee; empty without one")]
    egress_input: Annotated[str | None, Column("Key of the egress price; empty without egress")]
    interruptions_frac: Annotated[
        float | None,
        Column("Paid hours above useful hours of spot capacity; empty for other terms"),
    ]


@dataclass(frozen=True)
class HoursRow:
    """Months of a rent with one price."""

    rent: Annotated[str, Column("Offer and term of the rent")]
    way: Annotated[
        int,
        Column(
            "Number of the way to pay the horizon; more than one where the horizon cuts off a "
            "commitment, and the cheapest counts"
        ),
    ]
    first_month: Annotated[int, Column("First month, counted from 0 at the start of the horizon")]
    last_month: Annotated[int, Column("Last month, counted from 0 at the start of the horizon")]
    price_input: Annotated[str, Column("Key of the hourly price of an instance")]
    price_quarter: Annotated[
        int, Column("Quarter whose price applies, counted from 0 at the start of the horizon")
    ]
    paid: Annotated[Paid, Column("Hours that are paid: used hours, all hours, or complete days")]


@dataclass(frozen=True)
class EarlierRow:
    """The book value of hardware in service before the plan in one month."""

    month: Annotated[int, Column("Month of the horizon, from 0")]
    charge_usd: Annotated[float, Column("Straight-line depreciation of what is kept")]
    sold_value_usd: Annotated[float, Column("Book value of what is sold in the month")]
    value_usd: Annotated[float, Column("Book value at the end of the month")]


TERMS = TableSpec("book_terms", TermRow, "Terms for the workbook", Shown.DATA)
WRITE_OFF = TableSpec("book_write_off", WriteOffRow, "Tax write-off for the workbook", Shown.DATA)
LEFT = TableSpec("book_left", LeftRow, "Resale value for the workbook", Shown.DATA)
RENTS = TableSpec("book_rents", RentRow, "Rents for the workbook", Shown.DATA)
HOURS = TableSpec("book_hours", HoursRow, "Paid hours for the workbook", Shown.DATA)
EARLIER = TableSpec("book_earlier", EarlierRow, "Earlier hardware for the workbook", Shown.DATA)
FLOWS = TableSpec("book_flows", FlowRow, "Payments for the workbook", Shown.DATA)
