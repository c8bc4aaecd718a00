"""A plan as rows of the FinOps Foundation's cost format (FOCUS 1.2).

Each row is marked as a plan, not an invoice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dcplan.economics.cash_flow import AssetClass, FlowGroup
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
CATEGORY = {
    AssetClass.RACKS: "Compute",
    AssetClass.NETWORK: "Networking",
    AssetClass.STORAGE: "Storage",
}
"""Asset class -> FOCUS service category; all others are Other."""
RENTED = "Compute"
"""Service category of rent."""
OWNED = "on-prem"
NEEDED = ("quarter", "group", "line", "asset", "site", "provider", "usd")
"""Columns of the ``flows`` table that the export reads."""


@dataclass(frozen=True)
class Payment:
    """One row of the ``flows`` table."""

    quarter: int
    group: FlowGroup
    line: str
    asset: AssetClass
    site: str
    provider: str
    usd: float


@dataclass(frozen=True)
class Charge:
    """A part of a payment in one month."""

    paid: Payment
    month: int
    """Months since year 0."""
    category: str
    billed_usd: float
    effective_usd: float
    frequency: str


def focus_csv(result: Result) -> str:
    """Return monthly rows of a saved plan.

    Capital cost is a Purchase, billed in the first month of its quarter and amortized evenly until
    the end of the horizon; the residual value is a Credit. So the billed and the effective column
    both sum to all flows. Operating cost is billed in thirds. Unserved demand is not a cost and has
    no row; commitments after the horizon are billed in its last month.

    Raises
    ------
    ValueError
        When the result has no flows, because it is not a plan, or lacks columns of them.

    References
    ----------
    .. [1] FinOps Foundation, FOCUS specification 1.2, columns.
    """
    table, cash = result.tables.get("flows"), result.tables.get("cash_flow")
    if table is None or cash is None:
        msg = "only a plan can be exported to FOCUS: this result has no table flows"
        raise ValueError(msg)
    last = max((quarter_index(str(row["quarter"])) for row in cash.records()), default=0)
    end = (last + 1) * MONTHS_PER_QUARTER
    missing = [name for name in NEEDED if name not in table.columns]
    if missing:
        msg = f"the table flows of this result lacks columns: {', '.join(missing)}"
        raise ValueError(msg)
    rows = table.records()
    if any(row["usd"] is None for row in rows):
        msg = "a redacted result has no payments to export"
        raise ValueError(msg)
    flows = [_payment(row) for row in rows]
    if not all(flow.line.strip() and math.isfinite(flow.usd) for flow in flows):
        msg = "a payment of this result has no name or no finite amount"
        raise ValueError(msg)
    charges = [c for flow in flows for c in _charges(flow, end)]
    charges.sort(key=lambda c: (c.month, c.paid.group, c.paid.line, c.paid.site, c.category))
    name = str(result.scenario.get("name", ""))
    return csv_text(COLUMNS, [_row(c, name) for c in charges])


def _payment(row: Mapping[str, Cell]) -> Payment:
    return Payment(
        quarter=quarter_index(str(row["quarter"])),
        group=FlowGroup(str(row["group"])),
        line=str(row["line"]),
        asset=AssetClass(str(row["asset"])),
        site=str(row["site"]),
        provider=str(row["provider"]),
        usd=float(row["usd"] or 0.0),
    )


def _charges(paid: Payment, end: int) -> Iterator[Charge]:
    first, usd = paid.quarter * MONTHS_PER_QUARTER, paid.usd
    if paid.group is FlowGroup.CAPEX:
        yield Charge(paid, first, "Purchase", usd, 0.0, "One-Time")
        for month in range(first, end):
            yield Charge(paid, month, "Usage", 0.0, usd / (end - first), "Recurring")
    elif paid.group is FlowGroup.RESIDUAL:
        sold = min(first + MONTHS_PER_QUARTER, end) - 1
        yield Charge(paid, sold, "Credit", usd, usd, "One-Time")
    elif paid.group is FlowGroup.POST_HORIZON:
        yield Charge(paid, end - 1, "Purchase", usd, usd, "One-Time")
    elif paid.group is not FlowGroup.UNSERVED:
        for month in range(first, first + MONTHS_PER_QUARTER):
            each = usd / MONTHS_PER_QUARTER
            yield Charge(paid, month, "Usage", each, each, "Usage-Based")


def _service(paid: Payment) -> str:
    """Return the FOCUS service category of a payment."""
    return RENTED if paid.provider else CATEGORY.get(paid.asset, "Other")


def _row(charge: Charge, scenario: str) -> tuple[Cell, ...]:
    start, stop = _date(charge.month), _date(charge.month + 1)
    paid = charge.paid
    provider = paid.provider or OWNED
    words = f"{paid.line}: planned {charge.category.lower()}"
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
        paid.site or None,
        paid.site or None,
        None,
        paid.line,
        _service(paid),
        paid.line,
        None,
        "plan",
        scenario,
        paid.group.value,
        paid.line,
    )


def _date(month: int) -> str:
    year, rest = divmod(month, MONTHS_PER_YEAR)
    return f"{year:04d}-{rest + 1:02d}-01T00:00:00Z"
