"""Prices of an offer: the scenario's own, or the latest of the region nearest to a site."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dcplan.catalog.schema import Offer, Region
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.catalog.schema.market import TERMS, CloudPrice
from dcplan.inputs.cloud_prices.places import great_circle_km
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status, first_day
from dcplan.scenario.schema import Cloud, Scenario


def price_of(
    offer: Offer, term: str, scenario: Scenario, cloud: Cloud, log: InputLog
) -> tuple[CloudPrice | None, float] | None:
    """Return the scenario's own price of a term, or the latest of the nearest region [USD/h].

    The price is per accelerator.
    """
    key = f"{term.replace('-', '_')}_usd_per_h"
    own = _own_prices(offer, cloud, log).get(key)
    price = None if own else _nearest(offer, term, scenario, log)
    if own is None and price is None:
        return None
    quantity = own if own is not None else _quantity(price, offer)
    return price, log.take(f"cloud.{offer.id}.{key}", quantity) / offer.accelerators


def region_of(offer: Offer, price: CloudPrice | None, scenario: Scenario, log: InputLog) -> str:
    """Return the region of the offer's price.

    For a user's own price, it is the nearest region in the catalog.
    """
    if price is not None:
        return price.region
    near = next(
        (p for term in TERMS if (p := _nearest(offer, term, scenario, log)) is not None), None
    )
    return near.region if near is not None else "scenario"


def _own_prices(offer: Offer, cloud: Cloud, log: InputLog) -> Mapping[str, Quantity]:
    """Return the scenario's prices of an offer, under its id or an alias."""
    found: dict[str, Quantity] = {}
    for name, prices in cloud.prices.items():
        if log.catalog.get("cloud", name, Offer).id == offer.id:
            found |= prices
    return found


def _quantity(price: CloudPrice | None, offer: Offer) -> Quantity:
    if price is None:
        msg = f"{offer.id} has no price"
        raise ValueError(msg)
    return price.usd_per_h.model_copy(
        update={
            "source": str(price.source),
            "as_of": price.as_of,
            "status": price.status or Status.CATALOG,
            "note": f"region {price.region}; {others(offer, price)}",
        }
    )


def _nearest(offer: Offer, term: str, scenario: Scenario, log: InputLog) -> CloudPrice | None:
    """Return the latest price of the nearest region.

    Regions without coordinates come last; "global" regions come first.
    """
    prices = [p for p in offer.prices if p.term == term]
    if not prices:
        return None
    places = {
        r.region: (r.lat, r.lon)
        for r in log.catalog.table("regions", Region).values()
        if r.provider == offer.provider
    }
    sites = [log.catalog.get("sites", s.location, CatalogSite) for s in scenario.sites]

    def distance(price: CloudPrice) -> float:
        if price.region == "global":
            return 0.0
        if price.region not in places:
            return math.inf
        return min(great_circle_km((s.lat, s.lon), places[price.region]) for s in sites)

    nearest = min(distance(p) for p in prices)
    return max((p for p in prices if distance(p) == nearest), key=lambda p: first_day(p.as_of))


def others(offer: Offer, chosen: CloudPrice | None) -> str:
    """Name the catalog's other prices of the chosen price's term; the first six of a long list."""
    rest: Sequence[CloudPrice] = [
        p for p in offer.prices if chosen and p is not chosen and p.term == chosen.term
    ]
    shown = ", ".join(f"{p.region} {p.usd_per_h.value:g} ({p.as_of})" for p in rest[:6])
    more = f" and {len(rest) - 6} more" if len(rest) > 6 else ""
    return f"others: {shown}{more}" if rest else "the only price"
