"""Rows of a price list as prices of offers, or the reasons for their rejection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dcplan.answers.imports.csv_rows import Line, date_of, number
from dcplan.answers.imports.currencies import no_rate
from dcplan.answers.imports.parts import accelerator_of, by_instance
from dcplan.answers.imports.refused import Refusal
from dcplan.catalog.lint import RANGES
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Offer
from dcplan.provenance import first_day

PRICES = {
    "on_demand_usd_h": "on-demand",
    "reserved_1yr_usd_h": "reserved-1y",
    "reserved_3yr_usd_h": "reserved-3y",
    "spot_usd_h": "spot",
    "capacity_block_usd_h": "capacity-block",
}
"""Column -> term."""
NEEDED = ("provider", "instance_sku", "accelerator", "accel_count", "price_basis", "date")
COLUMNS = (
    "provider",
    "instance_sku",
    "accelerator",
    "accel_count",
    "region",
    *PRICES,
    "price_basis",
    "network_gbps",
    "date",
    "source_url",
    "via",
    "quote_or_note",
)
PROVIDERS = {
    "amazon web services": "aws",
    "amazon": "aws",
    "microsoft azure": "azure",
    "microsoft": "azure",
    "google cloud": "gcp",
    "google": "gcp",
    "oracle cloud": "oci",
    "oracle": "oci",
    "lambda labs": "lambda",
}
"""Name of a provider in price lists -> its key in the catalog."""
EACH = ("per gpu", "per chip", "per accelerator")
"""Values of ``price_basis`` for one accelerator."""
MOST_COUNT, MOST_GBPS = 100_000, 1e6


@dataclass(frozen=True)
class Priced:
    """An imported row: its offer and its prices for the full instance."""

    line: int
    offer: str
    provider: str
    sku: str
    accelerator: str
    count: int
    region: str
    network_gbps: float | None
    usd_per_h: Mapping[str, float]
    as_of: str
    source: Mapping[str, str]


@dataclass(frozen=True)
class Reading:
    """What the rows of a price list are read with."""

    file: Path
    catalog: Catalog
    fx: Mapping[str, float]
    """USD for one unit of other currencies."""
    today: str
    """Latest date of a price: YYYY-MM-DD."""


def price_row(line: Line, reading: Reading) -> Priced | Refusal:
    """Return the row as prices of an offer, or the reason for its rejection."""
    basis = line.text("price_basis").casefold()
    if "index" in basis or line.text("provider").casefold() == "index":
        return Refusal("price index, not an offer")
    if not basis.startswith(("per instance", "per ultraserver", *EACH)):
        what = line.text("price_basis")
        reason = f"unsupported price_basis {what!r}: use per instance, per GPU or per chip"
        return Refusal(reason, "unsupported price_basis")
    try:
        prices = {term: number(line.text(column)) for column, term in PRICES.items()}
        count, network = number(line.text("accel_count")), number(line.text("network_gbps"))
    except ValueError as error:
        return Refusal(str(error), "not a number")
    rate = _rate(line, reading.fx)
    wrong = _wrong(line, count, [usd for usd in prices.values() if usd is not None])
    wrong = wrong or _wrong_date(line.text("date"), reading.today)
    if wrong is not None:
        return wrong
    if isinstance(rate, Refusal) or count is None:
        return rate if isinstance(rate, Refusal) else Refusal("no accel_count")
    each = count if basis.startswith(EACH) else 1.0
    usd = {term: price * each * rate for term, price in prices.items() if price is not None}
    found = _priced(line, reading, int(count), network, usd, for_each=basis.startswith(EACH))
    return found if isinstance(found, Refusal) else _out_of_range(found) or found


def _wrong(line: Line, count: float | None, prices: list[float]) -> Refusal | None:
    """Return the problem with the amounts of a row; None if there is none."""
    if count is None or not 1 <= count <= MOST_COUNT or count != int(count):
        reason = f"invalid accel_count: use a whole number from 1 to {MOST_COUNT:,}"
        return Refusal(reason, "invalid accel_count")
    if not 0 < (number(line.text("network_gbps")) or 1.0) <= MOST_GBPS:
        reason = f"invalid network_gbps: use a number above 0, up to {MOST_GBPS:,.0f}"
        return Refusal(reason, "invalid network_gbps")
    if not prices:
        return Refusal("no price")
    if min(prices) <= 0:
        return Refusal("invalid price: a price must be above 0", "invalid price")
    return None


def _wrong_date(text: str, today: str) -> Refusal | None:
    """Return the problem with the date of a row; None if there is none."""
    date = date_of(text)
    if date is None:
        reason = f"invalid date {text!r}: use 2026-09-14, 2026-09, 2026-Q3 or 2026"
        return Refusal(reason, "invalid date")
    if first_day(date) > today:
        return Refusal(f"date in the future: {date} is after today, {today}", "date in the future")
    return None


def _out_of_range(row: Priced) -> Refusal | None:
    """Return the first price outside the range of the catalog's prices; None if there is none."""
    low, high = RANGES["usd_per_h"]
    for term, usd in row.usd_per_h.items():
        if not low <= usd <= high:
            group = "price outside the range of the catalog"
            what = f"{term} is {usd:,.6g} USD/h for the instance"
            reason = f"{group}: {what}, expected {low:g} to {high:,.0f}; check price_basis and unit"
            return Refusal(reason, group)
    return None


def _rate(line: Line, fx: Mapping[str, float]) -> float | Refusal:
    """Return USD per unit of the row's currency, or why it is not known."""
    name = line.text("currency").upper() or "USD"
    if name == "USD":
        return 1.0
    return fx.get(name, no_rate(name))


def _priced(
    line: Line,
    reading: Reading,
    count: int,
    network: float | None,
    usd: Mapping[str, float],
    *,
    for_each: bool,
) -> Priced | Refusal:
    catalog, named = reading.catalog, line.text("provider")
    provider = PROVIDERS.get(named.casefold(), _slug(named))
    sku = line.text("instance_sku")
    if not provider or not _slug(sku):
        reason = "missing provider or instance_sku: the id needs letters or digits of both"
        return Refusal(reason, "missing provider or instance_sku")
    match = accelerator_of(line.text("accelerator"), catalog)
    chip = match.id or by_instance(sku, count, match.candidates, catalog)
    offer = _known(provider, sku, catalog)
    if offer is not None:
        if chip is not None and chip != offer.accelerator:
            cause = f"{offer.id} has {offer.accelerator} in the catalog, not {chip}"
            return Refusal(f"different accelerator: {cause}", "different accelerator")
        if for_each and count == 1:  # a rate for one accelerator, multiplied to the full node
            count, usd = (
                offer.accelerators,
                {term: price * offer.accelerators for term, price in usd.items()},
            )
        if count != offer.accelerators:
            cause = f"{offer.id} has {offer.accelerators} accelerators in the catalog, not {count}"
            group = "different accelerator count"
            return Refusal(f"{group}: {cause}", group)
        chip = offer.accelerator
    elif chip is None:
        kind = "ambiguous" if match.candidates else "unknown"
        return Refusal(match.why, f"{kind} accelerator")
    as_of = date_of(line.text("date")) or ""
    source = {
        "title": f"{reading.file.name}, line {line.number}",
        "url": line.text("source_url"),
        "as_of": as_of,
    }
    return Priced(
        line.number,
        offer.id if offer else _id(provider, sku),
        provider,
        sku,
        chip,
        count,
        line.text("region") or "global",
        network,
        usd,
        as_of,
        {k: v for k, v in source.items() if v},
    )


def _known(provider: str, sku: str, catalog: Catalog) -> Offer | None:
    """Return the catalog offer of this provider with this name."""
    names = {sku.casefold(), _slug(sku), _slug(f"{provider}-{sku}")}
    for offer in catalog.table("cloud", Offer).values():
        if offer.provider == provider and names & {
            offer.id,
            offer.name.casefold(),
            *map(str.casefold, offer.aliases),
        }:
            return offer
    return None


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")


def _id(provider: str, sku: str) -> str:
    """Return the id of a new offer: provider and name, the provider once.

    Examples
    --------
    >>> _id("neo", "neo-b300-8"), _id("neo", "B300 x8"), _id("neo", "neon-8")
    ('neo-b300-8', 'neo-b300-x8', 'neo-neon-8')
    """
    own = _slug(sku)
    return own if own.startswith(f"{_slug(provider)}-") else f"{_slug(provider)}-{own}"
