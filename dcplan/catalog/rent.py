"""Market price of a rented accelerator-hour: an index of contracts, or the median of offers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from statistics import median

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Offer
from dcplan.catalog.schema.market import CloudPrice
from dcplan.provenance import Quantity, Status, first_day
from dcplan.units import DAYS_PER_YEAR

TERMS = ("on-demand", "reserved-1y")
"""Terms of a training run, whose price a default may take: no spot, no longer commitment."""
OLDEST_DAYS = DAYS_PER_YEAR
"""An offer whose price is older than the newest one by more than this is not on the market."""


@dataclass(frozen=True)
class Quote:
    """Latest price of one offer and term."""

    offer: Offer
    term: str
    usd_per_hour: float
    """Price of one accelerator; the median over the regions with the latest date."""
    as_of: str
    source: str


def market_rent(catalog: Catalog, accelerator: str) -> Quantity | None:
    """Return the default rent of an accelerator [USD/h], or None without a price.

    It is the latest index of concluded contracts; without one, the median of the offers that can be
    had now, on demand and for one year. Low and high are the spread: of the indices and the median
    of the offers, or of the offers.
    """
    rows, indices = _offers(catalog, accelerator), _indices(catalog, accelerator)
    listed = _current([q for o in rows if o.kind == "node" for q in _quotes(o) if q.term in TERMS])
    usual = [q for q in indices if q.term in TERMS]
    if usual:
        return _by_index(usual, _current(indices), listed)
    return _by_offers(listed) if listed else None


def has_index(catalog: Catalog, accelerator: str) -> bool:
    """Return whether the default rent of an accelerator is an index of contracts."""
    return any(q.term in TERMS for q in _indices(catalog, accelerator))


def _offers(catalog: Catalog, accelerator: str) -> list[Offer]:
    return [o for o in catalog.table("cloud", Offer).values() if o.accelerator == accelerator]


def _indices(catalog: Catalog, accelerator: str) -> list[Quote]:
    rows = _offers(catalog, accelerator)
    return [q for o in rows if o.kind == "index" and o.transacted for q in _quotes(o)]


def _quotes(offer: Offer) -> Iterator[Quote]:
    """Return the latest price of each term; an older price of the same term is superseded."""
    for term in dict.fromkeys(p.term for p in offer.prices):
        known = [p for p in offer.prices if p.term == term]
        last = max(known, key=lambda p: first_day(p.as_of))
        same = [p for p in known if first_day(p.as_of) == first_day(last.as_of)]
        yield Quote(offer, term, _usd(same, offer), last.as_of, str(last.source))


def _usd(prices: list[CloudPrice], offer: Offer) -> float:
    return median(p.usd_per_h.value for p in prices) / offer.accelerators


def _current(quotes: list[Quote]) -> list[Quote]:
    """Return the quotes of at most a year before the newest one."""
    days = {q.as_of: date.fromisoformat(first_day(q.as_of)) for q in quotes}
    newest = max(days.values(), default=None)
    return [q for q in quotes if newest and (newest - days[q.as_of]).days <= OLDEST_DAYS]


def _by_index(usual: list[Quote], indices: list[Quote], listed: list[Quote]) -> Quantity:
    """Return the latest index, on demand first, as a run is shorter than a year."""
    chosen = max(usual, key=lambda q: (first_day(q.as_of), q.term == TERMS[0], q.offer.id))
    spread = [q.usd_per_hour for q in indices] + [chosen.usd_per_hour]
    words = f"{len(indices)} prices of indices"
    if listed:
        offers_usd = median(q.usd_per_hour for q in listed)
        spread.append(offers_usd)
        words += f" and the median of {len(listed)} prices of offers, {offers_usd:.2f} USD/h"
    return Quantity(
        value=chosen.usd_per_hour,
        low=min(spread),
        high=max(spread),
        status=Status.DEFAULT,
        source=f"{chosen.offer.name}, {chosen.term}, {chosen.as_of}: {chosen.source}",
        as_of=chosen.as_of,
        note=f"latest index of contracts, {chosen.term}; low and high from {words}",
    )


def _by_offers(listed: list[Quote]) -> Quantity:
    prices = [q.usd_per_hour for q in listed]
    days = sorted((q.as_of for q in listed), key=first_day)
    count = len({q.offer.id for q in listed})
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    offers = f"{count} offer{'s' if count > 1 else ''}"
    return Quantity(
        value=median(prices),
        low=min(prices),
        high=max(prices),
        status=Status.DEFAULT,
        source=(
            f"median of {len(prices)} on-demand and one-year prices of {offers} in the catalog, "
            f"{span}"
        ),
        as_of=days[-1],
        note="list prices, as the catalog has no index of contracts; low and high from their spread",
    )


def rent_text(quantity: Quantity) -> str:
    """Return price, spread, basis and date of a default rent in one line."""
    basis = (quantity.source or "").partition(":")[0]
    return (
        f"Rent at {quantity.value:.2f} USD per accelerator-hour ({quantity.low:.2f} to "
        f"{quantity.high:.2f}), {basis}"
    )
