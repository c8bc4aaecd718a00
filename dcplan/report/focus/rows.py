"""Columns of FOCUS 1.2, and a charge as one row of them."""

from __future__ import annotations

import re

from dcplan.economics.cash_flow import AssetClass, Unit
from dcplan.inputs.cloud_prices import Extra
from dcplan.report.focus.charges import Category, Charge, Status
from dcplan.report.focus.payments import Payment
from dcplan.result import Cell
from dcplan.units import MONTHS_PER_YEAR, quarter_name

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
    "CommitmentDiscountCategory",
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountQuantity",
    "CommitmentDiscountStatus",
    "CommitmentDiscountType",
    "CommitmentDiscountUnit",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "ContractedUnitPrice",
    "EffectiveCost",
    "InvoiceId",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingCurrency",
    "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "RegionName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
    "SkuId",
    "SkuMeter",
    "SkuPriceDetails",
    "SkuPriceId",
    "x_AfterHorizon",
    "x_DataKind",
    "x_Group",
    "x_Line",
    "x_ScenarioName",
    "x_SiteId",
)
CURRENCY = "USD"
OWNED = "on-prem"
"""Provider of what the user owns."""
Service = tuple[str, str, str]
"""Category, subcategory and name."""
RENTED: Service = ("Compute", "Virtual Machines", "Rented accelerators")
STORED: Service = ("Storage", "Object Storage", "Storage of rented accelerators")
AROUND: Service = ("Other", "Other (Other)", "Services of rented accelerators")
SITE: Service = ("Other", "Other (Other)", "Site and its operation")
STORAGE: Service = ("Storage", "Other (Storage)", "Owned storage")
RACKS: Service = ("Compute", "Other (Compute)", "Owned racks")
KINDS = {Unit.RACK: "Rack", Unit.HALL: "Hall", Unit.BLOCK: "Power block", Unit.PLANT: "Plant"}
"""Unit of goods -> type of the resource."""
SERVICES = {
    AssetClass.NETWORK: ("Networking", "Network Infrastructure", "Owned network"),
    AssetClass.STORAGE: STORAGE,
    AssetClass.LEASED: ("Compute", "Other (Compute)", "Leased racks"),
}
"""Asset class -> service; all others belong to the site."""


def row_of(charge: Charge, scenario: str, end: int) -> dict[str, Cell]:
    """Return the cells of a charge by column; a column without a cell is null.

    Parameters
    ----------
    charge : Charge
        The charge.
    scenario : str
        Name of the scenario.
    end : int
        First month after the horizon, counted from year 0.
    """
    paid, start, stop = charge.paid, _date(charge.month), _date(charge.month + 1)
    category, subcategory, service = _service(paid)
    region = paid.place if paid.provider else paid.site
    provider = paid.provider or OWNED
    return {
        "BilledCost": charge.billed_usd,
        "BillingAccountId": scenario,
        "BillingAccountName": scenario,
        "BillingCurrency": CURRENCY,
        "BillingPeriodStart": start,
        "BillingPeriodEnd": stop,
        "ChargeCategory": charge.category.value,
        "ChargeClass": None if charge.corrects is None else charge.corrects.value,
        "ChargeDescription": f"{paid.line}: planned {charge.category.value.lower()}",
        "ChargeFrequency": charge.frequency.value,
        "ChargePeriodStart": start,
        "ChargePeriodEnd": stop,
        **_amounts(charge),
        **_commitment(charge),
        **_sku(charge),
        **_resource(charge),
        "InvoiceIssuerName": provider,
        "ProviderName": provider,
        "PublisherName": provider,
        "RegionId": region or None,
        "RegionName": region or None,
        "ServiceCategory": category,
        "ServiceName": service,
        "ServiceSubcategory": subcategory,
        "x_AfterHorizon": "true" if charge.month >= end else "false",
        "x_DataKind": "plan",
        "x_Group": paid.group.value,
        "x_Line": paid.line,
        "x_ScenarioName": scenario,
        "x_SiteId": paid.site or None,
    }


def _amounts(charge: Charge) -> dict[str, Cell]:
    consumed = charge.category is Category.USAGE and charge.status is not Status.UNUSED
    return {
        "EffectiveCost": charge.effective_usd,
        "ContractedCost": charge.list_usd,
        "ContractedUnitPrice": charge.unit_usd,
        "ListCost": charge.list_usd,
        "ListUnitPrice": charge.unit_usd,
        "ConsumedQuantity": charge.quantity if consumed else None,
        "ConsumedUnit": charge.unit if consumed else None,
        "PricingCategory": charge.pricing.value,
        "PricingCurrency": CURRENCY,
        "PricingCurrencyContractedUnitPrice": charge.unit_usd,
        "PricingCurrencyEffectiveCost": charge.effective_usd,
        "PricingCurrencyListUnitPrice": charge.unit_usd,
        "PricingQuantity": charge.quantity,
        "PricingUnit": charge.unit,
    }


def _commitment(charge: Charge) -> dict[str, Cell]:
    """Return the columns of a commitment; empty for other charges."""
    paid = charge.paid
    if paid.used is None or paid.serves_from is None:
        return {}
    begins = quarter_name(paid.serves_from)
    return {
        "CommitmentDiscountCategory": "Usage",
        "CommitmentDiscountId": f"{paid.provider}/{paid.place}/{paid.item}/{paid.term}/{begins}",
        "CommitmentDiscountName": f"{paid.item} {paid.term} from {begins}",
        "CommitmentDiscountQuantity": charge.quantity,
        "CommitmentDiscountStatus": charge.status.value if charge.status else None,
        "CommitmentDiscountType": paid.term,
        "CommitmentDiscountUnit": charge.unit,
    }


def _sku(charge: Charge) -> dict[str, Cell]:
    """Return what is bought: an asset and its months in service are one article at two prices."""
    paid = charge.paid
    article = paid.life_months is not None or paid.provider
    kind = _slug(paid.line)
    sku = paid.item if article or kind == paid.item else f"{kind}/{paid.item}"
    meter = paid.item if article else paid.line
    terms = (sku, paid.place or paid.site, paid.term, _slug(charge.unit))
    return {
        "SkuId": sku,
        "SkuMeter": f"{meter}: {charge.unit}",
        "SkuPriceId": ":".join(x for x in terms if x),
    }


def _resource(charge: Charge) -> dict[str, Cell]:
    """Return the thing that a charge is for; a commitment itself and its unused part have none."""
    paid = charge.paid
    if paid.provider:
        if paid.used is not None and charge.status is not Status.USED:
            return {}
        parts, name = (paid.provider, paid.place, paid.item), paid.item
        kind = "Instance" if paid.unit is Unit.ACCELERATOR_HOUR else "Service"
    elif paid.life_months is not None:
        bought = quarter_name(paid.quarter)
        parts = (paid.place or paid.site, paid.item, bought)
        name, kind = f"{paid.line} of {bought}", _kind(paid)
    else:
        parts = (paid.place or paid.site, paid.item, "")
        name, kind = f"{paid.item} at {paid.place or paid.site}", _kind(paid)
    return {
        "ResourceId": "/".join(x for x in parts if x),
        "ResourceName": name,
        "ResourceType": kind,
    }


def _kind(paid: Payment) -> str:
    """Return the type of a resource on site."""
    if paid.asset is AssetClass.LEASED:
        return "Rack"
    lot = "Network" if paid.asset is AssetClass.NETWORK else "Storage"
    return lot if paid.unit is Unit.LOT else KINDS.get(paid.unit, "Site")


def _service(paid: Payment) -> Service:
    if paid.provider and paid.unit is not Unit.ACCELERATOR_HOUR:
        return STORED if paid.item == Extra.STORAGE else AROUND
    if paid.provider:
        return RENTED
    if paid.unit is Unit.RACK:  # also racks on order, sold or cancelled
        return RACKS
    return STORAGE if paid.asset is AssetClass.EXISTING else SERVICES.get(paid.asset, SITE)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")


def _date(month: int) -> str:
    year, rest = divmod(month, MONTHS_PER_YEAR)
    return f"{year:04d}-{rest + 1:02d}-01T00:00:00Z"
