"""Tables of taxes and debt that `plan` and `tco` share: steps of the cost, and three statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, Section, Shown, TableSpec


@dataclass(frozen=True)
class FinancingRow:
    """One step from the plan's cost to its cost after taxes and debt."""

    step: Annotated[str, Column("Cost of the plan first, then each step, then the cost after all")]
    usd: Annotated[
        float, Column("Present cost in the first and last row; otherwise the change by the step")
    ]


@dataclass(frozen=True)
class StatementRow:
    """Result, cash and balance sheet of one month."""

    month: Annotated[int, Column("Month of the horizon, from 1; deposits before it have 0 or less")]
    operating_usd: Annotated[
        float, Column("Payments that are no purchase: running cost, rent, fees, property tax")
    ]
    depreciation_usd: Annotated[float, Column("Straight-line charge over the service life")]
    interest_usd: Annotated[float, Column("Interest of the loan")]
    gain_usd: Annotated[
        float,
        Column(
            "Sales less book value: of hardware in service before the plan in its month, of all the "
            "rest at the end of the horizon"
        ),
    ]
    tax_expense_usd: Annotated[
        float, Column("Income tax on the result before tax; negative saves tax elsewhere")
    ]
    result_usd: Annotated[float, Column("Result after tax; negative is a loss")]
    capital_paid_usd: Annotated[
        float, Column("Purchases with sales tax, as paid by the payment terms")
    ]
    tax_paid_usd: Annotated[float, Column("Income tax paid, in the last month of a year")]
    debt_paid_usd: Annotated[float, Column("Debt service less new debt")]
    sold_usd: Annotated[
        float,
        Column(
            "Received for sales; the residual value in the last month of the horizon counts as one"
        ),
    ]
    contributed_usd: Annotated[
        float, Column("Cash that owners pay in: all payments less what is sold")
    ]
    book_value_usd: Annotated[
        float,
        Column("Purchases, and hardware in service before the plan, less depreciation and sales"),
    ]
    land_usd: Annotated[float, Column("Part of the book value that is land, at cost")]
    prepaid_usd: Annotated[
        float,
        Column(
            "Deposits before delivery, also those paid before the plan; negative is an acceptance "
            "payment that is due"
        ),
    ]
    debt_usd: Annotated[float, Column("Balance of the loan at the month's end")]
    deferred_tax_usd: Annotated[
        float, Column("Tax that the results bear and that is not yet paid; negative is an asset")
    ]
    equity_usd: Annotated[
        float,
        Column(
            "Equity in earlier hardware and in advances at the start, contributions and results so far"
        ),
    ]
    difference_usd: Annotated[
        float, Column("Assets less debt, deferred tax and equity; 0 if the balance is right")
    ]


FINANCING = TableSpec(
    "financing",
    FinancingRow,
    "From the cost before taxes to the cost after taxes and debt",
    section=Section.COST,
    by_item=True,
)
STATEMENTS = TableSpec(
    "statements",
    StatementRow,
    "Result, cash and balance sheet by month",
    shown=Shown.DATA,
    section=Section.COST,
    by_item=True,
)
