"""``dcplan import --kind prices``: a price list of rented instances as a catalog overlay."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dcplan.answers.imports.csv_rows import Line, date_of, number, read_lines
from dcplan.answers.imports.parts import accelerator_of, by_instance
from dcplan.answers.imports.refused import Refusal, rejected_tables
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import Offer
from dcplan.catalog.schema.market import TERMS
from dcplan.catalog.yaml12 import dump
from dcplan.errors import EXIT_INPUT, EXIT_OK, InputError, Place, Problem
from dcplan.provenance import Status, first_day
from dcplan.result import Result
from dcplan.specs import imports as specs
from dcplan.specs.imports import RejectedRow

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
MOST_OVERLAY = 8_000_000
"""Maximum bytes of a catalog file for the loader."""
SUPERSEDED = "superseded by another line"
WHOLE_NODE = 4
"""Minimum accelerators of a new instance with a network rate to count as a full node."""


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


def import_prices(
    path: Path, *, catalogs: tuple[Path, ...] = (), fx: Mapping[str, float] | None = None
) -> tuple[Result, str]:
    """Read a price list; return the outcome of every row, and the YAML of the overlay.

    Each row is imported, or rejected with a reason. Prices of an instance in the catalog replace
    the catalog prices of the same term; prices of other terms stay.

    Raises
    ------
    InputError
        When the file cannot be read, or lacks a column.
    """
    catalog = load_catalog(catalogs)
    taken: list[Priced] = []
    refused: list[RejectedRow] = []
    for line in read_lines(path, NEEDED, COLUMNS):
        found = _row(line, catalog, path, fx or {})
        if isinstance(found, Priced):
            taken.append(found)
        else:
            what = " ".join(x for x in (line.text("provider"), line.text("instance_sku")) if x)
            refused.append(found.row(line.number, what))
    taken = _distinct(taken, catalog)
    taken, double = _latest(taken)
    refused = sorted((*refused, *double), key=lambda r: r.line)
    text = dump({"cloud": _offers(taken, catalog)})
    if len(text.encode()) > MOST_OVERLAY:
        cause = (
            f"the overlay has {len(text) / 1e6:.0f} MB, but dcplan reads at most "
            f"{MOST_OVERLAY / 1e6:.0f} MB; split the list"
        )
        raise InputError([Problem("DC006", cause, Place(str(path)))])
    serves = {row["id"]: row.get("kind") for row in _offers(taken, catalog)}
    rows = (
        specs.PriceRow(
            line=p.line,
            offer=p.offer,
            region=p.region,
            accelerator=p.accelerator,
            accelerators=p.count,
            term=term,
            usd_per_h=usd,
            usd_per_accelerator_hour=usd / p.count,
            as_of=p.as_of,
            serves_plans="no: not a full node with a network rate"
            if serves.get(p.offer) == "partial"
            else "yes",
        )
        for p in taken
        for term, usd in p.usd_per_h.items()
    )
    out = len({r.line for r in refused} - {p.line for p in taken})
    code = EXIT_OK if taken else EXIT_INPUT
    result = Result(
        "import",
        "ok" if taken else "refused",
        code,
        f"{path.name}: {len(taken):,} rows imported, {out:,} rejected",
        metrics=specs.ROWS_USED(len(taken)) | specs.ROWS_REJECTED(out),
        tables={specs.PRICES.name: specs.PRICES.table(rows), **rejected_tables(refused)},
    )
    return result, text


def _row(line: Line, catalog: Catalog, path: Path, fx: Mapping[str, float]) -> Priced | Refusal:
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
    rate = _rate(line, fx)
    wrong = _wrong(line, count, [usd for usd in prices.values() if usd is not None])
    if wrong is not None:
        return wrong
    if isinstance(rate, Refusal) or count is None:
        return rate if isinstance(rate, Refusal) else Refusal("no accel_count")
    each = count if basis.startswith(EACH) else 1.0
    usd = {term: price * each * rate for term, price in prices.items() if price is not None}
    return _priced(line, catalog, path, int(count), network, usd, for_each=basis.startswith(EACH))


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
    if date_of(line.text("date")) is None:
        reason = f"invalid date {line.text('date')!r}: use 2026-09-14, 2026-09, 2026-Q3 or 2026"
        return Refusal(reason, "invalid date")
    return None


def _rate(line: Line, fx: Mapping[str, float]) -> float | Refusal:
    """Return USD per unit of the row's currency, or why it is not known."""
    name = line.text("currency").upper() or "USD"
    if name == "USD":
        return 1.0
    return fx.get(name, no_rate(name))


def _priced(
    line: Line,
    catalog: Catalog,
    path: Path,
    count: int,
    network: float | None,
    usd: Mapping[str, float],
    *,
    for_each: bool,
) -> Priced | Refusal:
    named = line.text("provider")
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
        "title": f"{path.name}, line {line.number}",
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


def _distinct(taken: list[Priced], catalog: Catalog) -> list[Priced]:
    """Give separate ids to new instances with one id but different names or accelerators."""
    kinds: dict[str, set[tuple[str, int]]] = defaultdict(set)
    names: dict[str, list[str]] = defaultdict(list)
    for row in taken:
        kinds[row.offer].add((row.accelerator, row.count))
        if row.sku not in names[row.offer]:
            names[row.offer].append(row.sku)

    def named(row: Priced) -> Priced:
        if catalog.find("cloud", row.offer, Offer) is not None:
            return row
        key = (
            row.offer
            if len(kinds[row.offer]) == 1
            else f"{row.offer}-{row.accelerator}-{row.count}"
        )
        which = names[row.offer].index(row.sku)  # names that differ in punctuation only
        return replace(row, offer=f"{key}-{which + 1}" if which else key)

    return [named(row) for row in taken]


def _latest(taken: list[Priced]) -> tuple[list[Priced], list[RejectedRow]]:
    """Keep the latest price of an offer, region and term; reject older ones."""
    best: dict[tuple[str, str, str], Priced] = {}
    for row in taken:
        for term in row.usd_per_h:
            key = (row.offer, row.region, term)
            if key not in best or first_day(row.as_of) > first_day(best[key].as_of):
                best[key] = row
    kept, refused = [], []
    for row in taken:
        mine = {t: usd for t, usd in row.usd_per_h.items() if best[row.offer, row.region, t] is row}
        if mine:
            kept.append(replace(row, usd_per_h=mine))
        for term in sorted(row.usd_per_h.keys() - mine.keys()):
            other = best[row.offer, row.region, term]
            same = (
                "another price of the same day"
                if other.as_of == row.as_of
                else f"the price of {other.as_of}"
            )
            reason = f"superseded by line {other.line}: {term} in {row.region}, {same}"
            refused.append(Refusal(reason, SUPERSEDED).row(row.line, row.offer))
    return kept, refused


def _offers(taken: list[Priced], catalog: Catalog) -> list[dict[str, Any]]:
    """Return the rows of the overlay, one per offer."""
    by: dict[str, list[Priced]] = defaultdict(list)
    for row in taken:
        by[row.offer].append(row)
    found = []
    for key, rows in sorted(by.items()):
        old, first = catalog.find("cloud", key, Offer), rows[0]
        prices = [
            {
                "region": r.region,
                "term": term,
                "usd_per_h": usd,
                "as_of": r.as_of,
                "source": dict(r.source),
                "status": Status.QUOTE.value,
            }
            for r in rows
            for term, usd in sorted(r.usd_per_h.items(), key=lambda item: TERMS.index(item[0]))
        ]
        terms = {str(p["term"]) for p in prices}
        kept = (
            [
                p.model_dump(mode="json", exclude_none=True)
                for p in old.prices
                if p.term not in terms
            ]
            if old
            else []
        )
        entry: dict[str, Any] = {"id": key}
        if old is None:
            whole = first.count >= WHOLE_NODE and first.network_gbps is not None
            entry |= {
                "name": f"{first.provider} {first.sku}",
                "provider": first.provider,
                "accelerator": first.accelerator,
                "accelerators": first.count,
                "kind": "node" if whole else "partial",
                "source": dict(first.source),
            }
        if first.network_gbps is not None:
            entry["scaleout_gbps"] = first.network_gbps
        found.append(entry | {"prices": [*prices, *kept]})
    return found


MOST_RATE = 1e6


def no_rate(currency: str) -> Refusal:
    """Return the refusal of a row in a currency without an exchange rate."""
    group = f"no exchange rate for {currency}"
    return Refusal(f"{group}: use --fx {currency}=RATE", group)


def fx_of(texts: tuple[str, ...]) -> dict[str, float]:
    """Return ``EUR=1.08`` as USD for one EUR.

    Raises
    ------
    InputError
        When a text does not have this form.
    """
    found = {}
    for text in texts:
        match = re.fullmatch(r"([A-Z]{3})=(\d+(?:\.\d+)?)", text)
        if match is None or not 0 < float(match[2]) < MOST_RATE:
            raise InputError(
                [Problem("DC050", f"{text!r}: use a rate such as EUR=1.08", Place("--fx"))]
            )
        found[match[1]] = float(match[2])
    return found
