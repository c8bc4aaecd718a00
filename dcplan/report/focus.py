"""A plan as rows of the FinOps Foundation's cost format (FOCUS 1.2), each marked as plan, not
invoice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dcplan.report.csvs import csv_text
from dcplan.result import Cell, Result
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, quarter_index

VERSION = "1.2"
COLUMNS = (
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "ContractedUnitPrice",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "RegionName",
    "ResourceId",
    "ResourceName",
    "ServiceCategory",
    "ServiceName",
    "SkuId",
    "x_DataKind",
    "x_ScenarioName",
    "x_Group",
    "x_Line",
)
CATEGORY = {"racks": "Compute", "rented": "Compute", "network": "Networking", "storage": "Storage"}
"""First word of a line -> FOCUS service category; the rest is Other."""
OWNED = "on-prem"


@dataclass(frozen=True)
class Charge:
    """One row's own figures; the rest is the same on all."""

    month: int
    """From year 0."""
    category: str
    group: str
    line: str
    site: str
    billed_usd: float
    effective_usd: float
    frequency: str


def focus_csv(result: Result) -> str:
    """Monthly rows of a saved plan.

    Capital is a Purchase, billed in the first month of its quarter and used up evenly until the
    horizon ends; what is left of it then is a Credit. So the billed and the effective column have
    the same sum: that of all flows. Running cost is billed in thirds. Unserved demand is no cost
    and has no row; commitments after the horizon are due in its last month.

    Raises
    ------
    ValueError
        When the result holds no flows: it is not of ``plan``.

    References
    ----------
    .. [1] FinOps Foundation, FOCUS specification 1.2, columns.
    """
    table, cash = result.tables.get("flows"), result.tables.get("cashflow")
    if table is None or cash is None:
        msg = "only a plan can be exported to focus: this result has no flows"
        raise ValueError(msg)
    last = max((quarter_index(str(row[0])) for row in cash.rows), default=0)
    end = (last + 1) * MONTHS_PER_QUARTER
    if any(row[-1] is None for row in table.rows):
        msg = "a redacted result has no payments to export"
        raise ValueError(msg)
    flows = [
        (quarter_index(str(q)), str(group), str(line), str(site), float(usd or 0.0))
        for q, group, line, site, _, usd in table.rows
    ]
    if not all(line.strip() and math.isfinite(usd) for _, _, line, _, usd in flows):
        msg = "a payment of this result has no name or no finite amount"
        raise ValueError(msg)
    charges = [c for flow in flows for c in _charges(*flow, end)]
    charges.sort(key=lambda c: (c.month, c.group, c.line, c.site, c.category))
    name = str(result.scenario.get("name", ""))
    return csv_text(COLUMNS, [_row(c, name) for c in charges])


def _charges(
    quarter: int, group: str, line: str, site: str, usd: float, end: int
) -> Iterator[Charge]:
    first = quarter * MONTHS_PER_QUARTER
    if group == "capex":
        yield Charge(first, "Purchase", group, line, site, usd, 0.0, "One-Time")
        for month in range(first, end):
            yield Charge(month, "Usage", group, line, site, 0.0, usd / (end - first), "Recurring")
    elif group == "residual":
        sold = min(first + MONTHS_PER_QUARTER, end) - 1
        yield Charge(sold, "Credit", group, line, site, usd, usd, "One-Time")
    elif group == "after":
        yield Charge(end - 1, "Purchase", group, line, site, usd, usd, "One-Time")
    elif group != "unmet":
        for month in range(first, first + MONTHS_PER_QUARTER):
            each = usd / MONTHS_PER_QUARTER
            yield Charge(month, "Usage", group, line, site, each, each, "Usage-Based")


def _row(charge: Charge, scenario: str) -> tuple[Cell, ...]:
    start, stop = _date(charge.month), _date(charge.month + 1)
    cloud = charge.group in ("cloud", "after")
    provider = charge.line.rpartition(" on ")[2].split("-")[0].split()[0] if cloud else OWNED
    service = CATEGORY.get("rented" if cloud else charge.line.split()[0], "Other")
    words = f"{charge.line}: planned {charge.category.lower()}"
    return (
        charge.billed_usd,
        scenario,
        scenario,
        "USD",
        _date(charge.month + 1),
        start,
        charge.category,
        None,
        words,
        charge.frequency,
        stop,
        start,
        None,
        None,
        charge.effective_usd,
        None,
        charge.effective_usd,
        provider,
        charge.effective_usd,
        None,
        "Standard" if charge.category == "Usage" else None,
        None,
        None,
        provider,
        provider,
        charge.site or None,
        charge.site or None,
        None,
        charge.line,
        service,
        charge.line,
        None,
        "plan",
        scenario,
        charge.group,
        charge.line,
    )


def _date(month: int) -> str:
    year, rest = divmod(month, MONTHS_PER_YEAR)
    return f"{year:04d}-{rest + 1:02d}-01T00:00:00Z"
