"""Checks of `finance.tax`: a field that has no effect without another one."""

from __future__ import annotations

from dcplan.scenario.checks.checker import Checker


def check_tax(check: Checker) -> None:
    """Reject a table of tax depreciation without a rate of income tax.

    A rate of 0 is a choice, so the table may stay.
    """
    tax = check.scenario.finance.tax
    if tax.depreciation is not None and tax.income_rate is None:
        cause = "finance.tax.depreciation has no effect without finance.tax.income_rate"
        more = "give income_rate (0 for no income tax), or remove depreciation"
        check.add("DC003", cause, ("finance", "tax", "depreciation"), help=more)
