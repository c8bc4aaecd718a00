"""Payments of a saved plan, read from its table ``flows``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dcplan.economics.cash_flow import AssetClass, FlowGroup, Unit
from dcplan.result import Cell, Result
from dcplan.specs.plan.money import FLOWS, Falls
from dcplan.units import quarter_index


@dataclass(frozen=True)
class Payment:
    """One row of the table, with quarters counted from year 0."""

    quarter: int
    group: FlowGroup
    line: str
    asset: AssetClass
    site: str
    provider: str
    at_end: bool
    usd: float
    term: str
    item: str
    place: str
    quantity: float
    unit: Unit
    used: float | None
    """Used part of the quantity of a commitment; None: no commitment."""
    serves_from: int | None
    life_months: int | None


def payments_of(result: Result) -> list[Payment]:
    """Return the payments of a plan, without residual value and unserved demand.

    Raises
    ------
    ValueError
        When the result is no plan, is redacted, comes from an earlier version, or has a payment
        without a name, a finite amount or a quantity.
    """
    table = result.tables.get(FLOWS.name)
    if table is None:
        msg = "only a plan can be exported to FOCUS: this result has no table flows"
        raise ValueError(msg)
    missing = [name for name in FLOWS.names if name not in table.columns]
    if missing:
        msg = (
            f"the table flows of this result has no column {', '.join(missing)}: it comes from an "
            "earlier version, run dcplan plan again"
        )
        raise ValueError(msg)
    rows = table.records()
    if any(row["usd"] is None for row in rows):
        msg = "a redacted result has no payments to export"
        raise ValueError(msg)
    paid = [_payment(row) for row in rows if _is_paid(row)]
    if not all(p.line.strip() and math.isfinite(p.usd) for p in paid):
        msg = "a payment of this result has no name or no finite amount"
        raise ValueError(msg)
    if not all(p.item and p.quantity > 0 for p in paid):
        msg = "a payment of this result has no item or no quantity"
        raise ValueError(msg)
    return paid


def _is_paid(row: Mapping[str, Cell]) -> bool:
    """Whether money changes hands: unserved demand and value that is kept are no payments."""
    group = FlowGroup(str(row["group"]))
    kept = group is FlowGroup.RESIDUAL and row["falls"] == Falls.END
    return group is not FlowGroup.UNSERVED and not kept and bool(row["usd"])


def _payment(row: Mapping[str, Cell]) -> Payment:
    used, life, serves = row["used_quantity"], row["life_months"], row["serves_from"]
    return Payment(
        quarter=quarter_index(str(row["quarter"])),
        group=FlowGroup(str(row["group"])),
        line=str(row["line"]),
        asset=AssetClass(str(row["asset"])),
        site=str(row["site"]),
        provider=str(row["provider"]),
        at_end=row["falls"] == Falls.END,
        usd=float(row["usd"] or 0.0),
        term=str(row["term"]),
        item=str(row["item"]),
        place=str(row["place"]),
        quantity=float(row["quantity"] or 0.0),
        unit=Unit(str(row["unit"])),
        used=None if used is None else float(used),
        serves_from=quarter_index(str(serves)) if serves else None,
        life_months=None if life is None else int(life),
    )
