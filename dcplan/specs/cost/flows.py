"""Metrics and tables of ``tco`` for a list of cash flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

NPV = MetricSpec(
    "cash_flows.npv_usd",
    "USD",
    "Present value of all payments at the discount rate, at time 0; money in is positive. With "
    "dates it is Excel's XNPV; with periods from 1 on, its NPV",
    better=Better.HIGHER,
    main=True,
    label="Net present value",
)
IRR = MetricSpec(
    "cash_flows.irr_frac",
    "",
    "Rate at which the present value is zero: with dates a yearly rate, Excel's XIRR; else the rate "
    "of a period, its IRR; none: no rate, or several",
    better=Better.HIGHER,
    main=True,
    label="Internal rate of return",
)
RATES = MetricSpec(
    "cash_flows.rates", "", "Number of rates of return; they have a meaning if there is one"
)
MOIC = MetricSpec(
    "cash_flows.moic_ratio",
    "",
    "Multiple of invested capital (MOIC): money in over money out, undiscounted",
    better=Better.HIGHER,
    main=True,
    label="Multiple of invested capital (MOIC)",
)
PAYBACK_YEARS = MetricSpec(
    "cash_flows.payback_years",
    "years",
    "Years from the first date until the running sum stays at or above zero, undiscounted, linear "
    "between two dates; none: never",
    better=Better.LOWER,
    main=True,
    label="Payback, undiscounted",
)
DISCOUNTED_YEARS = MetricSpec(
    "cash_flows.discounted_payback_years",
    "years",
    "The same with each payment discounted at the discount rate; none: never",
    better=Better.LOWER,
    label="Payback, discounted",
)
PAYBACK_PERIODS = MetricSpec(
    "cash_flows.payback_periods",
    "",
    "Periods until the running sum stays at or above zero, undiscounted, linear inside a period; "
    "none: never",
    better=Better.LOWER,
    main=True,
    label="Payback in periods, undiscounted",
)
DISCOUNTED_PERIODS = MetricSpec(
    "cash_flows.discounted_payback_periods",
    "",
    "The same with each payment discounted at the discount rate; none: never",
    better=Better.LOWER,
    label="Payback in periods, discounted",
)
PAID = MetricSpec(
    "cash_flows.paid_usd", "USD", "Sum of the negative amounts, as a positive number, undiscounted"
)
RECEIVED = MetricSpec("cash_flows.received_usd", "USD", "Sum of the positive amounts, undiscounted")


@dataclass(frozen=True)
class FlowTimeRow:
    """All payments of one time."""

    when: Annotated[str, Column("Date, or number of the period")]
    time: Annotated[
        float, Column("Time from time 0: days / 365 in years, or the number of the period")
    ]
    usd: Annotated[float, Column("Sum of the payments of that time; money in is positive")]
    so_far_usd: Annotated[float, Column("Running sum, undiscounted")]
    discount_factor: Annotated[
        float | None,
        Column("Present value of one USD at that time: (1 + rate) to the power of minus the time"),
    ] = None
    present_usd: Annotated[float | None, Column("Present value of the payments")] = None
    present_so_far_usd: Annotated[float | None, Column("Running sum of present values")] = None


@dataclass(frozen=True)
class RateRow:
    """One rate at which the present value is zero."""

    rate_frac: Annotated[float, Column("Effective rate of a year, or of a period without dates")]
    present_value_above: Annotated[
        str, Column("Sign of the present value at slightly higher rates: positive or negative")
    ]


@dataclass(frozen=True)
class FlowLineRow:
    """All payments of one line."""

    line: Annotated[str, Column("Line of the list")]
    usd: Annotated[float, Column("Sum of its payments, undiscounted")]
    present_usd: Annotated[float | None, Column("Present value of its payments")] = None


@dataclass(frozen=True)
class ConventionRow:
    """How one thing is counted."""

    convention: Annotated[str, Column("What is counted")]
    choice: Annotated[str, Column("How it is counted")]


FLOWS = TableSpec(
    "cash_flows", FlowTimeRow, "Cash flows by time", section=Section.COST, first=12, by_item=True
)
RATE_ROWS = TableSpec(
    "rates_of_return", RateRow, "Rates of return, lowest first", section=Section.COST
)
LINES = TableSpec(
    "cash_flow_lines", FlowLineRow, "Cash flows by line", section=Section.COST, by_item=True
)
CONVENTIONS = TableSpec(
    "conventions", ConventionRow, "How time and rates are counted", shown=Shown.ALWAYS
)
