"""Schedules of the ``tco`` verb: bills, months, taxes by year, commitments, prices of later years."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Offer, Term
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec, pattern

BREAK_EVEN_CASH_MONTHS = MetricSpec(
    "break_even.<offer>.<term>.cash_months",
    "months",
    "Break-even by cumulative cash, without resale: month from which owning has paid no more than "
    "the rent, undiscounted; none: never within the horizon",
)
BREAK_EVEN_HOURS = MetricSpec(
    "break_even.<offer>.<term>.hours",
    "h",
    "Break-even as calculators publish it: clock hours until the saved rent equals the purchase, before "
    "tax, without discounting and resale; none: never",
)


@dataclass(frozen=True)
class BillRow:
    """The bill of one side, before income tax and debt and without residual value."""

    side: Annotated[str, Column("Owned, or the offer and term of a rent")]
    usd: Annotated[float, Column("Payments over the horizon, undiscounted")]
    usd_per_month: Annotated[float, Column("Payments over the months of the horizon")]
    usd_per_used_hour: Annotated[float, Column("Payments over used accelerator-hours")]
    usd_per_used_pflop_year: Annotated[
        float | None,
        Column("Payments over the dense BF16 peak of the accelerators in used years, without MFU"),
    ]
    above_cheapest_usd_per_month: Annotated[float, Column("Payments a month above the lowest bill")]
    over_cheapest_ratio: Annotated[float, Column("Payments over those of the lowest bill")]


@dataclass(frozen=True)
class EnergyRow:
    """Average power and energy of one site of the owned side, by the hours of the comparison."""

    site: Annotated[str, Column("Site")]
    it_kw: Annotated[float, Column("Average power of IT: systems, network and storage")]
    facility_kw: Annotated[float, Column("Average power of IT with cooling and power losses")]
    overhead_kw: Annotated[float, Column("Average power of cooling and power losses")]
    facility_kwh_per_year: Annotated[
        float, Column("Energy of the facility in a year of the horizon")
    ]


@dataclass(frozen=True)
class MonthRow:
    """One month of the horizon; the cash columns depend on the sides compared."""

    month: Annotated[
        int, Column("Month of the horizon, from 1; earlier and later payments have their month")
    ]


@dataclass(frozen=True)
class TaxYearRow:
    """Depreciation and income tax of the owned side in one year of the horizon."""

    year: Annotated[str, Column("Year of the horizon")]
    running_cost_usd: Annotated[
        float, Column("Payments that are deducted in their year: all lines but capital")
    ]
    tax_depreciation_usd: Annotated[float, Column("Depreciation that income tax counts")]
    interest_usd: Annotated[float, Column("Interest of the loan")]
    disposal_usd: Annotated[
        float, Column("Residual value less the tax value not yet written off, in the last year")
    ]
    taxable_usd: Annotated[
        float, Column("Taxable income: disposal less running cost, tax depreciation and interest")
    ]
    income_tax_usd: Annotated[float, Column("Income tax; negative saves tax elsewhere")]
    book_depreciation_usd: Annotated[
        float, Column("Straight-line charge over the service life, from the month of payment")
    ]
    book_value_usd: Annotated[float, Column("Purchases less book depreciation at the year's end")]


@dataclass(frozen=True)
class CommitmentRow:
    """Payments of the commitments of one rent."""

    offer: Offer
    term: Term
    usd: Annotated[float, Column("Payments of the commitments, used or not, undiscounted")]
    used_usd: Annotated[float, Column("Part of these payments for used hours")]
    unused_usd: Annotated[float, Column("Part of these payments for unused hours")]
    usd_per_instance_hour: Annotated[
        float | None,
        Column("Effective price of an hour of one instance with all payments; empty for a mix"),
    ]


@dataclass(frozen=True)
class ForwardPriceRow:
    """The price of one year that two committed terms of an offer imply."""

    offer: Offer
    year: Annotated[str, Column("Year from the start of the shorter term")]
    usd_per_h: Annotated[float, Column("Implied price of an accelerator-hour in this year")]


BILLS = TableSpec(
    "bills",
    BillRow,
    "Bills before income tax and debt, undiscounted, without residual value",
    shown=Shown.VERBOSE,
    section=Section.COST,
    by_item=True,
)
ENERGY = TableSpec(
    "energy",
    EnergyRow,
    "Average power and energy of the owned side",
    shown=Shown.VERBOSE,
    section=Section.COST,
    by_item=True,
)
MONTHS = TableSpec(
    "months",
    MonthRow,
    "Cash flow by month, undiscounted",
    wide=(
        pattern(
            "<side>_usd",
            "Payments of the side in the month, after tax and debt, undiscounted; negative is "
            "money received",
        ),
    ),
    shown=Shown.DATA,
    section=Section.COST,
    by_item=True,
)
TAXES = TableSpec(
    "taxes",
    TaxYearRow,
    "Depreciation and income tax of owning by year, before lost goodput",
    shown=Shown.VERBOSE,
    section=Section.COST,
    by_item=True,
)
COMMITMENTS = TableSpec(
    "commitments",
    CommitmentRow,
    "Commitments: payments for used and unused hours",
    shown=Shown.VERBOSE,
    section=Section.COST,
    by_item=True,
)
FORWARD_PRICES = TableSpec(
    "forward_prices",
    ForwardPriceRow,
    "Prices of later years implied by the quotes for two terms",
    shown=Shown.VERBOSE,
    by_item=True,
)
