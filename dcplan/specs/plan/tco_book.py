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
    MONTH_HOURS = "hours of a month"
    OWN_POWER = "average power of an accelerator at work"
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
class SiteTermRow:
    """A rate of tax of a site that has rates of its own."""

    site: Annotated[str, Column("Id of the site")]
    term: Annotated[str, Column("Name of a value that the workbook uses")]
    value: Annotated[float, Column("Value in the answer, before any edit of the workbook")]
    unit: Annotated[str, Column("Unit of the value")]
    input: Annotated[str, Column("Key of the input that gives the value")]


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
    """A rent with the inputs of its accompanying costs; a cost that does not count has none."""

    rent: Annotated[str, Column("Offer and term of the rent")]
    offer: Annotated[str, Column("Cloud offer, by its id in the catalog")]
    term: Annotated[str, Column("Rental term, or mix of terms")]
    node_accelerators: Annotated[int, Column("Accelerators of one instance of the offer")]
    storage_input: Annotated[
        str | None,
        Column("Key of the price of storage, or of a quote of a month; empty without one"),
    ]
    support_input: Annotated[str | None, Column("Key of the support fee; empty without one")]
    egress_input: Annotated[str | None, Column("Key of the egress price; empty without egress")]
    interruptions_frac: Annotated[
        float | None,
        Column("Paid hours above useful hours of spot capacity; empty for other terms"),
    ]
    network_input: Annotated[
        str | None, Column("Key of a quote of network and egress; empty at the usual price")
    ] = None
    cpu_nodes_input: Annotated[
        str | None, Column("Key of a quote of CPU nodes; empty at the usual price")
    ] = None
    goodput_loss_input: Annotated[
        str | None, Column("Key of a quote of lost goodput; empty at the usual share")
    ] = None
    set_up_input: Annotated[
        str | None, Column("Key of a quote of set-up; empty at the usual price")
    ] = None
    debugging_input: Annotated[
        str | None, Column("Key of a quote of debugging; empty at the usual price")
    ] = None
    storage_quoted: Annotated[
        bool, Column("Whether storage is a quote of a month instead of a price of a TB")
    ] = False


@dataclass(frozen=True)
class PartRow:
    """A part of a rent: its term, or one of the terms of a mix."""

    rent: Annotated[str, Column("Offer and term of the rent")]
    part: Annotated[str, Column("Term of the part")]
    share_frac: Annotated[float, Column("Share of the fleet on this term")]
    share_input: Annotated[
        str | None, Column("Key of the share; empty for the rest of a mix, or all of a fleet")
    ]
    months: Annotated[int, Column("Months of a commitment; 0 for other terms")]
    upfront_input: Annotated[
        str | None, Column("Key of the amount due at the start of each commitment; empty if none")
    ]
    monthly_input: Annotated[
        str | None, Column("Key of the amount of a month of the commitment; empty if none")
    ]


@dataclass(frozen=True)
class HoursRow:
    """Months of a rent with one price."""

    rent: Annotated[str, Column("Offer and term of the rent")]
    part: Annotated[str, Column("Term of the part of the rent")]
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
    own_term: Annotated[bool, Column("Whether the hours are of the part's own commitment")]


@dataclass(frozen=True)
class LeftOutRow:
    """A cost line that does not count."""

    side: Annotated[str, Column("Side of the line: owned or rented")]
    line: Annotated[str, Column("Cost line that does not count")]


@dataclass(frozen=True)
class OwnLineRow:
    """An own cost line, with the inputs of its amounts; empty for those that it has not."""

    line: Annotated[str, Column("Name of the own cost line")]
    once_input: Annotated[str | None, Column("Key of the amount paid once")]
    month_input: Annotated[str | None, Column("Key of the amount of a month")]
    hour_input: Annotated[str | None, Column("Key of the amount of an accelerator-hour")]
    units_input: Annotated[str | None, Column("Key of the number of units")]
    share_input: Annotated[str | None, Column("Key of the share of the amount")]


@dataclass(frozen=True)
class SiteEnergyRow:
    """A site whose energy the comparison counts by own hours, own power or tiers."""

    site: Annotated[str, Column("Site whose energy counts by own hours, own power or tiers")]
    own_power: Annotated[bool, Column("Whether the accelerators at work have an own average power")]


@dataclass(frozen=True)
class TierRow:
    """A tier of a site's tariff."""

    site: Annotated[str, Column("Site of the tariff")]
    price_input: Annotated[str, Column("Key of the price of the tier")]
    end_input: Annotated[
        str | None,
        Column("Key of the energy of a month at which the tier ends; empty for the last"),
    ]


@dataclass(frozen=True)
class EarlierRow:
    """The book value of hardware in service before the plan in one month."""

    month: Annotated[int, Column("Month of the horizon, from 0")]
    charge_usd: Annotated[float, Column("Straight-line depreciation of what is kept")]
    sold_value_usd: Annotated[float, Column("Book value of what is sold in the month")]
    value_usd: Annotated[float, Column("Book value at the end of the month")]


TERMS = TableSpec("book_terms", TermRow, "Terms for the workbook", Shown.DATA)
SITE_TERMS = TableSpec("book_site_terms", SiteTermRow, "Taxes by site for the workbook", Shown.DATA)
WRITE_OFF = TableSpec("book_write_off", WriteOffRow, "Tax write-off for the workbook", Shown.DATA)
LEFT = TableSpec("book_left", LeftRow, "Resale value for the workbook", Shown.DATA)
RENTS = TableSpec("book_rents", RentRow, "Rents for the workbook", Shown.DATA)
HOURS = TableSpec("book_hours", HoursRow, "Paid hours for the workbook", Shown.DATA)
PARTS = TableSpec("book_parts", PartRow, "Parts of rents for the workbook", Shown.DATA)
LEFT_OUT = TableSpec("book_left_out", LeftOutRow, "Lines that do not count", Shown.DATA)
OWN_LINES = TableSpec("book_own_lines", OwnLineRow, "Own lines for the workbook", Shown.DATA)
SITE_ENERGY = TableSpec(
    "book_site_energy", SiteEnergyRow, "Sites with own energy for the workbook", Shown.DATA
)
TIERS = TableSpec("book_tiers", TierRow, "Tiers of tariffs for the workbook", Shown.DATA)
EARLIER = TableSpec("book_earlier", EarlierRow, "Earlier hardware for the workbook", Shown.DATA)
FLOWS = TableSpec("book_flows", FlowRow, "Payments for the workbook", Shown.DATA)
