"""Table of the three statements of a plan or of an owned fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.earlier import Earlier
from dcplan.economics.monthly.financing import Financed
from dcplan.economics.monthly.statements import statements
from dcplan.result import Table
from dcplan.specs.cost.statements import STATEMENTS, StatementRow

USD_DIGITS = 6
"""Digits of a USD that the table keeps, so that rounding of doubles is 0."""


def statements_table(
    found: Financed,
    tax_rate_frac: float,
    life_years: Mapping[AssetClass, float],
    hardware_years: float,
    earlier: Sequence[Earlier] = (),
) -> Table:
    """List result, cash and balance sheet by month; arguments as of ``statements``."""
    made = statements(found, tax_rate_frac, life_years, hardware_years, earlier)
    columns = {
        "operating_usd": made.operating,
        "depreciation_usd": made.depreciation,
        "interest_usd": made.interest,
        "gain_usd": made.gain,
        "tax_expense_usd": made.tax_expense,
        "result_usd": made.result,
        "capital_paid_usd": made.capital_paid,
        "tax_paid_usd": made.tax_paid,
        "debt_paid_usd": made.debt_paid,
        "sold_usd": made.sold,
        "contributed_usd": made.contributed,
        "book_value_usd": made.book_value,
        "land_usd": made.land,
        "prepaid_usd": made.prepaid,
        "debt_usd": made.debt,
        "deferred_tax_usd": made.deferred_tax,
        "equity_usd": made.equity,
        "difference_usd": made.difference,
    }
    return STATEMENTS.table(
        StatementRow(
            month=made.first_month + i + 1,
            **{name: round(float(values[i]), USD_DIGITS) + 0.0 for name, values in columns.items()},
        )
        for i in range(len(made.operating))
    )
