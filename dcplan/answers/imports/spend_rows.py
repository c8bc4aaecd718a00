"""Rows of a FOCUS cost export as use of accelerators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from dcplan.answers.imports.csv_rows import Line, number
from dcplan.answers.imports.currencies import no_rate
from dcplan.answers.imports.price_rows import PROVIDERS
from dcplan.answers.imports.refused import Refusal
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Offer
from dcplan.inputs.cloud_prices import ON_DEMAND, SPOT
from dcplan.units import HOURS_PER_DAY, MONTHS_PER_YEAR, SECONDS_PER_HOUR

NAMES = (
    "ResourceType",
    "SkuPriceDetails",
    "SkuMeter",
    "x_InstanceType",
    "x_SkuMeterName",
    "x_SkuMeterSubcategory",
    "ResourceName",
    "ChargeDescription",
    "ServiceName",
    "SkuId",
)
"""Columns that may name the instance, the most specific first."""
EARLIER = {
    "ProviderName": "Provider",
    "ConsumedQuantity": "UsageQuantity",
    "ConsumedUnit": "UsageUnit",
}
"""Column -> its name in FOCUS 1.0-preview, which the cost reports of Oracle have."""
HOURS = {
    "hours": 1.0,
    "hour": 1.0,
    "hrs": 1.0,
    "h": 1.0,
    "1 hour": 1.0,
    "instance-hours": 1.0,
    "instance hours": 1.0,
    "seconds": 1.0 / SECONDS_PER_HOUR,
    "minutes": 1.0 / 60.0,
    "days": HOURS_PER_DAY,
}
"""Time unit of an instance -> hours."""
OF_ONE = ("gpu-hours", "gpu hours", "gpu per hour", "accelerator-hours", "chip-hours", "chip hours")
"""Units that count accelerators, not instances."""
OTHER_CHARGE, OTHER_COMPUTE = "other charge", "other compute"
"""What a row is that is no use of an accelerator of the catalog."""
UNUSED = "unused"
COMMITTED = "committed"
"""Term of a commitment whose length is not in the file."""
COMPUTE = ("compute", "ai and machine learning")
"""FOCUS service categories with accelerator-hours."""
IN_PARTS = ("gcp", "oci")
"""Providers that bill accelerators, cores and memory of an instance as separate articles."""
CHIP = re.compile(r"\b(gpu|tpu)\b", re.IGNORECASE)
"""Article of accelerators: each hour is that of one accelerator."""
OTHER_PART = re.compile(r"\b(core|cpu|ram|memory|ssd)\b", re.IGNORECASE)
"""Article of another part of the instance, which has cost but no accelerator-hours."""
YEARS = re.compile(r"\b([13])[ -]?(?:yr|years?|y)\b", re.IGNORECASE)
"""Length of a commitment in a name or a description."""


@dataclass(frozen=True)
class Use:
    """One charge for the use of accelerators."""

    offer: Offer
    line: int
    hours: float
    """Paid accelerator-hours; 0 for another part of the instance."""
    unused: bool
    term: str
    """On-demand, spot, reserved-1y, reserved-3y or :data:`COMMITTED`."""
    commitment: str
    """Type of the commitment as the provider names it."""
    basis: str
    """What is committed: usage or spend."""
    effective_usd: float
    list_usd: float
    start: datetime
    end: datetime


def cell(line: Line, column: str) -> str:
    """Return a cell; empty where it has the text of a null, as some exports write it.

    A column without its name of FOCUS 1.0 is read by its earlier name.
    """
    text = line.text(column) or line.text(EARLIER.get(column, column))
    return "" if text.casefold() == "null" else text


def offers_by_name(catalog: Catalog) -> dict[str, Offer]:
    """Return lower-case name -> offer, long names first, so that p5en does not match p5."""
    found = {}
    for offer in catalog.table("cloud", Offer).values():
        if offer.kind in ("node", "partial"):
            for name in (offer.id, offer.name, *offer.aliases):
                found[name.casefold()] = offer
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def commitment_years(lines: Iterable[Line]) -> dict[str, int]:
    """Return the length of each commitment of which a row, such as its purchase, has it. [years]."""
    found: dict[str, int] = {}
    for line in lines:
        key = cell(line, "CommitmentDiscountId")
        if not key or key in found:
            continue
        months = cell(line, "x_SkuTerm")
        if months in ("12", "36"):
            found[key] = int(months) // MONTHS_PER_YEAR
            continue
        columns = ("CommitmentDiscountType", "CommitmentDiscountName", "ChargeDescription")
        match = next((m for c in columns if (m := YEARS.search(cell(line, c)))), None)
        if match is not None:
            found[key] = int(match[1])
    return found


def use_of(
    line: Line, offers: Mapping[str, Offer], fx: Mapping[str, float], years: Mapping[str, int]
) -> Use | Refusal:
    """Return the row as use of accelerators, or the reason for its rejection.

    Parameters
    ----------
    line
        Row of the file.
    offers
        Offers by name.
    fx
        USD for one unit of other currencies.
    years
        Length of commitments by id. [years]
    """
    wrong = _not_compute(line)
    if wrong is not None:
        return wrong
    offer = _offer(line, offers)
    if isinstance(offer, Refusal):
        return offer
    currency = cell(line, "BillingCurrency").upper()
    rate = 1.0 if currency == "USD" else fx.get(currency)
    if rate is None:
        return no_rate(currency)
    try:
        cost, listed = number(cell(line, "EffectiveCost")), number(cell(line, "ListCost"))
        hours = _hours(line, offer)
        start, end = (_moment(cell(line, c)) for c in ("ChargePeriodStart", "ChargePeriodEnd"))
    except ValueError as error:
        return Refusal(str(error), "a number or a date cannot be read")
    if hours is None:
        unit = cell(line, "ConsumedUnit") or cell(line, "PricingUnit")
        return Refusal(f"no hours in ConsumedQuantity: the unit is {unit!r}", "no hours")
    if cost is None or end <= start:
        return Refusal(
            "no EffectiveCost" if cost is None else "the charge period ends before it starts"
        )
    return Use(
        offer=offer,
        line=line.number,
        hours=hours,
        unused=is_unused(line),
        term=_term(line, years),
        commitment=cell(line, "CommitmentDiscountType"),
        basis=cell(line, "CommitmentDiscountCategory").casefold(),
        effective_usd=cost * rate,
        list_usd=(cost if listed is None else listed) * rate,
        start=start,
        end=end,
    )


def is_unused(line: Line) -> bool:
    """Return whether a row is the unused part of a commitment or of a reservation of capacity."""
    statuses = (cell(line, f"{x}Status") for x in ("CommitmentDiscount", "CapacityReservation"))
    return UNUSED in map(str.casefold, statuses)


def names_chips(line: Line) -> bool:
    """Return whether the article of a row is of accelerators."""
    return bool(CHIP.search(_article(line)))


def _not_compute(line: Line) -> Refusal | None:
    """Return the refusal of a row that is no use of compute."""
    category = cell(line, "ChargeCategory")
    if category.casefold() == "purchase" and cell(line, "CommitmentDiscountId"):
        text = "purchase of a commitment: the EffectiveCost of its hours covers it"
        return Refusal(text, instead=OTHER_CHARGE)
    if category.casefold() != "usage":
        return Refusal(f"ChargeCategory {category}: not a usage charge", instead=OTHER_CHARGE)
    service = cell(line, "ServiceCategory")
    if service and service.casefold() not in COMPUTE:
        return Refusal(f"ServiceCategory {service}: not compute", instead=OTHER_CHARGE)
    return None


def _offer(line: Line, offers: Mapping[str, Offer]) -> Offer | Refusal:
    """Return the offer that a row names, or the only one of its provider with its accelerator."""
    named = next((o for c in NAMES if (o := _named(cell(line, c), offers)) is not None), None)
    if named is not None:
        return named
    if cell(line, "CommitmentDiscountStatus").casefold() == UNUSED:
        text = "unused commitment that names no instance: its cost is in no rate"
        return Refusal(text, instead=OTHER_COMPUTE)
    provider, text = _provider(line), _article(line)
    if provider in IN_PARTS and CHIP.search(text):
        words = set(re.findall(r"[a-z0-9]+", text.casefold()))
        nodes = {
            o.id: o
            for o in offers.values()
            if o.provider == provider and o.kind == "node" and _family(o) in words
        }
        if len(nodes) == 1:
            return next(iter(nodes.values()))
        if nodes:
            several = " or ".join(sorted(nodes))
            return Refusal(f"ambiguous instance {text[:60]!r}: {several}", "ambiguous instance")
    return Refusal("no instance name of the catalog", instead=OTHER_COMPUTE)


def _family(offer: Offer) -> str:
    """Return the first word of the offer's accelerator, such as h100."""
    return offer.accelerator.split("-", maxsplit=1)[0]


def _provider(line: Line) -> str:
    name = cell(line, "ProviderName").casefold()
    return PROVIDERS.get(name, name)


def _article(line: Line) -> str:
    return f"{cell(line, 'SkuMeter')} {cell(line, 'ChargeDescription')}".strip()


def _term(line: Line, years: Mapping[str, int]) -> str:
    key = cell(line, "CommitmentDiscountId")
    pricing = cell(line, "PricingCategory").casefold()
    if key or cell(line, "CommitmentDiscountStatus") or pricing == COMMITTED:
        return f"reserved-{years[key]}y" if key in years else COMMITTED
    return SPOT if pricing == "dynamic" else ON_DEMAND


def _moment(text: str) -> datetime:
    """Return a date and time; without a zone it is UTC, as FOCUS requires."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _named(text: str, offers: Mapping[str, Offer]) -> Offer | None:
    """Return the offer whose name occurs in a text."""
    lower = text.casefold()
    return next((offer for name, offer in offers.items() if name in lower), None) if lower else None


def _hours(line: Line, offer: Offer) -> float | None:
    """Return the accelerator-hours of a row: consumed, else committed, else priced hours.

    None without hours. Another part of an instance that is billed in parts has none of its own: 0.

    Raises
    ------
    ValueError
        When an amount is not a number.
    """
    each = float(offer.accelerators)
    if _provider(line) in IN_PARTS:
        text = _article(line)
        if CHIP.search(text):
            each = 1.0
        elif OTHER_PART.search(text):
            return 0.0
    for kind in ("Consumed", "CommitmentDiscount", "Pricing"):
        value, unit = number(cell(line, f"{kind}Quantity")), cell(line, f"{kind}Unit").casefold()
        if value is None:
            continue
        if unit in OF_ONE:
            return value
        if unit in HOURS:
            return value * HOURS[unit] * each
    return None
