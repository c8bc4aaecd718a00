"""Payments as monthly charges: what is billed, and what an asset costs while it serves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from dcplan.economics.cash_flow import AssetClass, FlowGroup, Unit
from dcplan.inputs.cloud_prices import SPOT
from dcplan.report.focus.payments import Payment
from dcplan.units import MONTHS_PER_QUARTER


class Category(StrEnum):
    """Allowed values of ChargeCategory that a plan has."""

    USAGE = "Usage"
    PURCHASE = "Purchase"
    CREDIT = "Credit"


class Frequency(StrEnum):
    """Allowed values of ChargeFrequency."""

    ONCE = "One-Time"
    RECURRING = "Recurring"
    BY_USE = "Usage-Based"


class Class(StrEnum):
    """Allowed value of ChargeClass; null is a charge that corrects nothing."""

    CORRECTION = "Correction"


class Pricing(StrEnum):
    """Allowed values of PricingCategory that a plan has."""

    STANDARD = "Standard"
    DYNAMIC = "Dynamic"
    COMMITTED = "Committed"


class Status(StrEnum):
    """Allowed values of CommitmentDiscountStatus."""

    USED = "Used"
    UNUSED = "Unused"


@dataclass(frozen=True)
class Charge:
    """One row of the export."""

    paid: Payment
    month: int
    """Months since year 0."""
    category: Category
    frequency: Frequency
    billed_usd: float
    effective_usd: float
    list_usd: float
    """List and contracted cost: the quantity at the price of the plan."""
    quantity: float
    unit: str
    pricing: Pricing = Pricing.STANDARD
    status: Status | None = None
    corrects: Class | None = None
    """Correction of a charge of an earlier billing period, such as a refund."""

    @property
    def unit_usd(self) -> float:
        """Return the price of one unit, which is never negative."""
        return self.list_usd / self.quantity


UNITS = {
    Unit.RACK: "Racks",
    Unit.HALL: "Halls",
    Unit.BLOCK: "Blocks",
    Unit.PLANT: "Plants",
    Unit.LOT: "Lots",
    Unit.RACK_MONTH: "Rack-Months",
    Unit.PLANT_MONTH: "Plant-Months",
    Unit.SITE_MONTH: "Site-Months",
    Unit.KW_MONTH: "kW-Months",
    Unit.KWH: "kWh",
    Unit.ACCELERATOR_HOUR: "Accelerator-Hours",
    Unit.ACCELERATOR_MONTH: "Accelerator-Months",
    Unit.ACCELERATOR: "Accelerators",
    Unit.MONTH: "Months",
    Unit.TONNE: "Tonnes CO2",
    Unit.M3: "Cubic Meters",
}
"""Unit of goods -> its name in FOCUS."""
MONTHS = {
    Unit.RACK: "Rack-Months",
    Unit.HALL: "Hall-Months",
    Unit.BLOCK: "Block-Months",
    Unit.PLANT: "Plant-Months",
    Unit.LOT: "Lot-Months",
}
"""Unit of an asset -> the unit in which it serves."""


def charges_of(paid: Payment) -> Iterator[Charge]:
    """Yield the charges of one payment.

    A purchase, the set-up of a rent and a sale are billed in the first month of their quarter, all
    other payments in thirds. An asset costs the same amount in each month of its life, from its first month in
    service. A commitment is billed as a purchase, and costs as used and unused hours. A refund for a
    canceled order corrects the purchase that was paid before the plan.
    """
    first = paid.quarter * MONTHS_PER_QUARTER
    if paid.group is FlowGroup.RESIDUAL:
        yield _once(paid, first, Category.CREDIT, paid.usd)
    elif paid.unit is Unit.ACCELERATOR:  # set-up of rented accelerators
        yield _once(paid, first, Category.PURCHASE, paid.usd)
    elif paid.group is not FlowGroup.CAPEX:
        for month in range(first, first + MONTHS_PER_QUARTER):
            yield from _running(paid, month)
    elif paid.life_months is None:
        charge = _once(paid, first, Category.PURCHASE, paid.usd)
        yield replace(charge, corrects=Class.CORRECTION) if paid.usd < 0.0 else charge
    else:
        yield _once(paid, first, Category.PURCHASE, 0.0)
        yield from _in_service(paid, paid.life_months)


def _signed(amount: float, usd: float) -> float:
    """Return a quantity with the sign of its cost, because unit prices are never negative."""
    return math.copysign(amount, usd)


def _once(paid: Payment, month: int, category: Category, effective_usd: float) -> Charge:
    usd, quantity = paid.usd, _signed(paid.quantity, paid.usd)
    unit = UNITS[paid.unit]
    return Charge(paid, month, category, Frequency.ONCE, usd, effective_usd, usd, quantity, unit)


def _in_service(paid: Payment, months: int) -> Iterator[Charge]:
    """Yield the cost of an asset in each month of its life; nothing is billed."""
    begins = paid.quarter if paid.serves_from is None else paid.serves_from
    first, each = begins * MONTHS_PER_QUARTER, paid.usd / months
    quantity, unit = _signed(paid.quantity, paid.usd), MONTHS[paid.unit]
    for month in range(first, first + months):
        yield Charge(
            paid, month, Category.USAGE, Frequency.RECURRING, 0.0, each, each, quantity, unit
        )


def _running(paid: Payment, month: int) -> Iterator[Charge]:
    usd, unit = paid.usd / MONTHS_PER_QUARTER, UNITS[paid.unit]
    quantity = _signed(paid.quantity / MONTHS_PER_QUARTER, paid.usd)
    if paid.used is None:
        pricing = Pricing.DYNAMIC if paid.term == SPOT else Pricing.STANDARD
        leased = paid.asset is AssetClass.LEASED
        by_use, usage = Frequency.RECURRING if leased else Frequency.BY_USE, Category.USAGE
        yield Charge(paid, month, usage, by_use, usd, usd, usd, quantity, unit, pricing)
        return
    recurring = Frequency.RECURRING
    yield Charge(paid, month, Category.PURCHASE, recurring, usd, 0.0, usd, quantity, unit)
    share = min(max(paid.used / paid.quantity, 0.0), 1.0)
    for status, part in ((Status.USED, share), (Status.UNUSED, 1.0 - share)):
        if part > 0.0:
            yield Charge(
                paid,
                month,
                Category.USAGE,
                Frequency.BY_USE if status is Status.USED else recurring,
                0.0,
                usd * part,
                usd * part,
                quantity * part,
                unit,
                Pricing.COMMITTED,
                status,
            )
