"""``dcplan import --kind spend``: a FOCUS cost export as user rates and accelerator use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dcplan.answers.imports.csv_rows import Line, number, read_lines
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Offer
from dcplan.catalog.yaml12 import dump
from dcplan.errors import EXIT_INPUT, EXIT_OK
from dcplan.result import Metric, Result
from dcplan.specs import imports as specs
from dcplan.units import HOURS_PER_DAY, SECONDS_PER_HOUR

NEEDED = (
    "BilledCost",
    "BillingCurrency",
    "ChargeCategory",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "EffectiveCost",
)
NAMES = (
    "ResourceType",
    "SkuPriceDetails",
    "SkuMeter",
    "x_InstanceType",
    "x_SkuMeterSubcategory",
    "ResourceName",
    "ChargeDescription",
    "ServiceName",
    "SkuId",
)
"""Columns that may name the instance, the most specific first."""
HOURS = {
    "hours": 1.0,
    "hour": 1.0,
    "hrs": 1.0,
    "h": 1.0,
    "instance-hours": 1.0,
    "instance hours": 1.0,
    "seconds": 1.0 / SECONDS_PER_HOUR,
    "minutes": 1.0 / 60.0,
    "days": HOURS_PER_DAY,
}
"""Time unit of an instance -> hours."""
OF_ONE = ("gpu-hours", "gpu hours", "accelerator-hours", "chip-hours", "chip hours")
"""Units that count accelerators, not instances."""
UNUSED = "unused"
COMPUTE = ("compute", "ai and machine learning")
"""FOCUS service categories with accelerator-hours."""


@dataclass(frozen=True)
class Use:
    """One charge for the use of accelerators."""

    offer: Offer
    line: int
    hours: float
    """Paid accelerator-hours."""
    unused: bool
    term: str
    """on_demand, spot or committed."""
    effective_usd: float
    list_usd: float
    start: datetime
    end: datetime


def import_spend(
    path: Path, *, catalogs: tuple[Path, ...] = (), fx: Mapping[str, float] | None = None
) -> tuple[Result, str]:
    """Read a FOCUS export.

    Return the outcome of every row, and the YAML of overrides with the user's rates. The rate is
    the effective cost, including unused commitments, over the used accelerator-hours. Utilization
    is used over paid hours. Purchases, credits and taxes have no hours: they are rejected with
    their category, because EffectiveCost already covers them.

    Raises
    ------
    InputError
        When the file cannot be read or lacks a column.

    References
    ----------
    .. [1] FinOps Foundation, FOCUS specification 1.0 to 1.2: ChargeCategory, EffectiveCost,
       ConsumedQuantity, CommitmentDiscountStatus.
    """
    catalog = load_catalog(catalogs)
    offers = _names(catalog)
    uses: list[Use] = []
    refused: list[specs.RejectedRow] = []
    for line in read_lines(
        path, NEEDED, (*NEEDED, "ConsumedQuantity", "ConsumedUnit", "CommitmentDiscountStatus")
    ):
        found = _use(line, offers, fx or {})
        if isinstance(found, Use):
            uses.append(found)
        else:
            what = next(
                (line.text(c) for c in ("ChargeDescription", *NAMES) if line.text(c)),
                line.text("ServiceName"),
            )
            refused.append(specs.RejectedRow(line.number, what[:80], found))
    by: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        by[use.offer.id].append(use)
    metrics = {
        **specs.ROWS_USED(len(uses), label="Imported rows with accelerator use"),
        **specs.ROWS_REJECTED(len(refused), label="Rejected rows, each with its reason"),
        **specs.EFFECTIVE(sum(u.effective_usd for u in uses)),
        **_totals(uses),
    }
    result = Result(
        "import",
        "ok" if uses else "refused",
        EXIT_OK if uses else EXIT_INPUT,
        f"{path.name}: {len(uses):,} rows imported, {len(refused):,} rejected",
        metrics=metrics,
        tables={
            specs.SPEND.name: specs.SPEND.table(_row(own) for _, own in sorted(by.items())),
            specs.REJECTED.name: specs.REJECTED.table(refused),
        },
    )
    return result, dump({"overrides": {"own-spend": _rates(by, path)}})


def _names(catalog: Catalog) -> dict[str, Offer]:
    """Return lower-case name -> offer, long names first, so that p5en does not match p5."""
    found = {}
    for offer in catalog.table("cloud", Offer).values():
        if offer.kind in ("node", "partial"):
            for name in (offer.id, offer.name, *offer.aliases):
                found[name.casefold()] = offer
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def _use(line: Line, offers: Mapping[str, Offer], fx: Mapping[str, float]) -> Use | str:
    """Return the row as use of accelerators, or the reason for its rejection."""
    category = line.text("ChargeCategory").casefold()
    if category != "usage":
        return f"ChargeCategory {line.text('ChargeCategory')}: not a usage charge"
    service = line.text("ServiceCategory").casefold()
    if service and service not in COMPUTE:
        return f"ServiceCategory {line.text('ServiceCategory')}: not compute"
    offer = next(
        (o for column in NAMES if (o := _named(line.text(column), offers)) is not None), None
    )
    if offer is None:
        return "no instance name of the catalog"
    currency = line.text("BillingCurrency").upper()
    rate = 1.0 if currency == "USD" else fx.get(currency)
    if rate is None:
        return f"no exchange rate for {currency}: use --fx {currency}=RATE"
    try:
        cost, listed = number(line.text("EffectiveCost")), number(line.text("ListCost"))
        hours = _hours(line, offer)
        start, end = (_moment(line.text(c)) for c in ("ChargePeriodStart", "ChargePeriodEnd"))
    except ValueError as error:
        return str(error)
    if cost is None or end <= start:
        return "no EffectiveCost" if cost is None else "the charge period ends before it starts"
    status = line.text("CommitmentDiscountStatus").casefold()
    pricing = line.text("PricingCategory").casefold()
    term = (
        "committed"
        if status or pricing == "committed"
        else "spot"
        if pricing == "dynamic"
        else "on_demand"
    )
    return Use(
        offer,
        line.number,
        hours,
        status == UNUSED,
        term,
        cost * rate,
        (cost if listed is None else listed) * rate,
        start,
        end,
    )


def _moment(text: str) -> datetime:
    """Return a date and time; without a zone it is UTC, as FOCUS requires."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _named(text: str, offers: Mapping[str, Offer]) -> Offer | None:
    """Return the offer whose name occurs in a text."""
    lower = text.casefold()
    return next((offer for name, offer in offers.items() if name in lower), None) if lower else None


def _hours(line: Line, offer: Offer) -> float:
    """Return the accelerator-hours of a row: consumed, else committed, else priced hours.

    Raises
    ------
    ValueError
        When the amount or its unit is unknown.
    """
    for amount, unit in (
        ("ConsumedQuantity", "ConsumedUnit"),
        ("CommitmentDiscountQuantity", "CommitmentDiscountUnit"),
        ("PricingQuantity", "PricingUnit"),
    ):
        value, name = number(line.text(amount)), line.text(unit).casefold()
        if value is None:
            continue
        if name in OF_ONE:
            return value
        if name in HOURS:
            return value * HOURS[name] * offer.accelerators
    unit = line.text("ConsumedUnit") or line.text("PricingUnit")
    msg = f"no hours in ConsumedQuantity: the unit is {unit!r}"
    raise ValueError(msg)


def _totals(uses: list[Use]) -> dict[str, Metric]:
    used = sum(u.hours for u in uses if not u.unused)
    paid = sum(u.hours for u in uses)
    if used <= 0 or paid <= 0:
        return {}
    return {
        **specs.HOURS(used),
        **specs.USD_PER_HOUR(sum(u.effective_usd for u in uses) / used),
        **specs.UTILIZATION(used / paid),
    }


def _row(uses: list[Use]) -> specs.SpendRow:
    """Return the use and the rate of one offer."""
    paid, unused = sum(u.hours for u in uses), sum(u.hours for u in uses if u.unused)
    used, cost = paid - unused, sum(u.effective_usd for u in uses)
    first, last = min(u.start for u in uses), max(u.end for u in uses)
    full = sum(u.list_usd for u in uses)
    offer = uses[0].offer
    return specs.SpendRow(
        offer=offer.id,
        accelerator=offer.accelerator,
        first=str(first.date()),
        last=str(last.date()),
        used_accelerator_hours=used,
        unused_accelerator_hours=unused,
        utilization_frac=used / paid if paid > 0 else None,
        average_accelerators=used / ((last - first).total_seconds() / SECONDS_PER_HOUR),
        effective_usd=cost,
        usd_per_accelerator_hour=cost / used if used > 0 else None,
        below_list_frac=1.0 - cost / full if full > 0 else None,
    )


def _rates(by: Mapping[str, list[Use]], path: Path) -> dict[str, Any]:
    """Return the rates of each offer as overrides of a scenario."""
    overrides: dict[str, Any] = {}
    for key, uses in sorted(by.items()):
        last = max(u.end for u in uses)
        for term, words in (("on_demand", "uncommitted use"), ("spot", "spot use")):
            own = [u for u in uses if u.term == term]
            hours, usd = sum(u.hours for u in own), sum(u.effective_usd for u in own)
            if hours > 0 and usd > 0:
                overrides[f"cloud.prices.{key}.{term}_usd_per_h"] = {
                    "value": usd / hours * uses[0].offer.accelerators,
                    "source": f"{path.name}: effective cost of {words}",
                    "as_of": str(last.date()),
                }
    return overrides
