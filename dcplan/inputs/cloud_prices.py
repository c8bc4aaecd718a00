"""Cloud offers with their latest prices in the region nearest to a site of the scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dcplan.catalog.schema import Accelerator, Offer, Region, System
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.catalog.schema.market import TERMS, CloudPrice
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.devices import SMALL_DOMAIN
from dcplan.provenance import Quantity, Status, first_day
from dcplan.scenario.schema import Cloud, Scenario
from dcplan.units import (
    BITS_PER_BYTE,
    EARTH_RADIUS_KM,
    GRAMS_PER_KG,
    HOURS_PER_MONTH,
    QUARTERS_PER_YEAR,
)

ON_DEMAND: Final = "on-demand"
LENGTHS = {"reserved-1y": 4, "reserved-3y": 12}
"""Duration of each commitment term. [quarters]."""
SPOT: Final = "spot"
BLOCK: Final = "capacity-block"
APART = (SPOT, BLOCK)
"""Terms without a commitment whose use has conditions of its own: in a plan, each is an offer of
its own."""
HOURLY = (ON_DEMAND, *APART)
"""Terms that are paid by the hour of use."""
NEVER = {"index": "a price index: no provider sells at it"}
"""Kinds of rows that nobody can rent, with the reason."""


@dataclass(frozen=True)
class CommitTerms:
    """A commitment term for rented nodes, which are paid whether used or not."""

    term: str
    quarters: int
    usd_per_accelerator_hour: tuple[float, ...]
    """Price by the quarter in which the commitment begins."""


@dataclass(frozen=True)
class OfferTerms:
    """A cloud offer with its latest on-demand price in the nearest region."""

    id: str
    accelerator: str
    usd_per_accelerator_hour: tuple[float, ...]
    max_accelerators: int
    region: str
    note: str
    node_accelerators: int = 8
    kg_per_accelerator_hour: float | None = None
    """Operational carbon, with the cloud's PUE and the nearest known grid; None if the power is
    unknown."""
    committed: tuple[CommitTerms, ...] = ()
    on_demand: bool = True
    """Whether use by the hour beyond the commitments is possible."""
    apart_usd_per_hour: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Hourly prices by quarter of spot and capacity blocks, for `tco`; `plan` has them as offers of
    their own. [USD]"""
    apart_regions: Mapping[str, str] = field(default_factory=dict)
    """Regions of these prices, by term."""
    term: str = ON_DEMAND
    """Term of the use by the hour."""
    gb_per_s: float = 0.0
    """One-way scale-out rate of one accelerator; 0 if unknown: jobs then stay in one instance, or
    in the scale-up domain that connects instances."""
    most_per_job: int | None = None
    """Maximum accelerators of one job, if no network connects more."""
    reclaims_per_instance_h: float = 0.0
    """Rate at which the provider reclaims an instance."""
    wait_h: float = 0.0
    """Mean time until capacity is back after a reclaim."""
    longest_days: float | None = None
    """Longest use without a break; None if there is no limit."""

    def connects(self, accelerators: int) -> bool:
        """Return whether one job may use that many accelerators."""
        return self.most_per_job is None or accelerators <= self.most_per_job

    @property
    def planned_terms(self) -> tuple[str, ...]:
        """Terms with a price that `plan` may choose."""
        return (*([self.term] if self.on_demand else []), *(c.term for c in self.committed))


CLOUD = "cloud:"
"""Prefix of the place of an offer, which separates offers from halls."""


def cloud_place(offer: str) -> str:
    """Return the place of an offer.

    Examples
    --------
    >>> cloud_place("aws-p5"), is_cloud(cloud_place("aws-p5")), offer_of(cloud_place("aws-p5"))
    ('cloud:aws-p5', True, 'aws-p5')
    """
    return CLOUD + offer


def row_of(offer: str) -> str:
    """Return the catalog row of an offer of a plan, such as that of its spot capacity.

    Examples
    --------
    >>> row_of("aws-p5-48xlarge/spot"), row_of("aws-p5-48xlarge")
    ('aws-p5-48xlarge', 'aws-p5-48xlarge')
    """
    return offer.split("/", maxsplit=1)[0]


def is_cloud(place: str) -> bool:
    """Return whether a place is an offer, not a hall."""
    return place.startswith(CLOUD)


def offer_of(place: str) -> str:
    """Return the offer id of a place; for a hall, the hall id."""
    return place.removeprefix(CLOUD)


def great_circle_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Distance of two points given as latitude and longitude in degrees, haversine formula.

    Examples
    --------
    >>> round(great_circle_km((38.98, -77.47), (40.0, -83.0)))
    488
    """
    (lat1, lon1), (lat2, lon2) = ((math.radians(x), math.radians(y)) for x, y in (a, b))
    h = (
        math.sin((lat2 - lat1) / 2) ** 2
        + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(h))


def offers(
    scenario: Scenario, log: InputLog, excluded: list[ExcludedOption], *, fleet: bool = False
) -> tuple[OfferTerms, ...]:
    """Return the offers that may serve jobs and capacity.

    In a plan, spot and capacity blocks are offers of their own. For the comparison of a ``fleet``,
    which takes complete instances of the same accelerator, they are terms of their offer.
    """
    cloud = scenario.cloud
    if cloud is None:
        return ()
    table = log.catalog.table("cloud", Offer)
    named = (
        table
        if cloud.offers == "all"
        else [log.catalog.get("cloud", x, Offer).id for x in cloud.offers]
    )
    ids = list(dict.fromkeys(named))
    limit = _per_offer_limit(cloud, log)
    found = []
    for key in ids:
        offer = table[key]
        reason, terms = _terms(offer, scenario, cloud, log, limit, excluded)
        if terms is None:
            excluded.append(ExcludedOption(Kind.OFFER, key, "cloud", reason))
        elif fleet:
            found.append(terms)
        else:
            found += _by_condition(terms, log)
    return tuple(found)


def _by_condition(offer: OfferTerms, log: InputLog) -> list[OfferTerms]:
    """Split an offer into its use on demand or under commitments, its spot capacity and its blocks."""
    plain = replace(offer, apart_usd_per_hour={})
    found = [plain] if plain.planned_terms else []
    for term, usd in offer.apart_usd_per_hour.items():
        own = replace(
            plain,
            id=f"{offer.id}/{term}",
            term=term,
            on_demand=True,
            committed=(),
            usd_per_accelerator_hour=usd,
            region=offer.apart_regions[term],
        )
        if term == SPOT:
            month = log.parameter("finance", "spot-interruptions-per-instance-month")
            own = replace(
                own,
                reclaims_per_instance_h=month / HOURS_PER_MONTH,
                wait_h=log.parameter("finance", "spot-wait-h"),
            )
        else:
            most = log.parameter("finance", "capacity-block-instances") * offer.node_accelerators
            own = replace(
                own,
                longest_days=log.parameter("finance", "capacity-block-days"),
                max_accelerators=min(offer.max_accelerators, int(most)),
            )
        found.append(own)
    return found


def _per_offer_limit(cloud: Cloud, log: InputLog) -> int:
    if cloud.max_accelerators_per_offer is not None:
        return cloud.max_accelerators_per_offer
    return int(log.parameter("finance", "cloud-capacity-per-offer-accelerators"))


def _terms(
    offer: Offer,
    scenario: Scenario,
    cloud: Cloud,
    log: InputLog,
    limit: int,
    excluded: list[ExcludedOption],
) -> tuple[str, OfferTerms | None]:
    if offer.kind in NEVER:
        return NEVER[offer.kind], None
    if log.catalog.find("accelerators", offer.accelerator, Accelerator) is None:
        return f"accelerator {offer.accelerator} is not in the catalog", None
    change = cloud.price_change_frac_per_year
    rate = log.take("cloud.price_change_frac_per_year", change) if change else 0.0
    drift = tuple((1 + rate) ** (t / QUARTERS_PER_YEAR) for t in range(scenario.horizon.quarters))
    prices = {term: _price(offer, term, scenario, cloud, log) for term in cloud.terms}
    found = {term: p for term, p in prices.items() if p is not None}
    if not found:
        keys = " or ".join(f"{term.replace('-', '_')}_usd_per_h" for term in prices)
        reason = f"the catalog has no price of these terms; give cloud.prices.{offer.id}: {keys}"
        return reason, None
    excluded += [
        ExcludedOption(Kind.TERM, f"{offer.id} {x}", "cloud", f"no {x} price")
        for x in prices
        if x not in found
    ]
    flexible = ON_DEMAND in found
    price, hourly = found[ON_DEMAND] if flexible else next(iter(found.values()))
    chip = log.catalog.get("accelerators", offer.accelerator, Accelerator)
    gbps = _network_gbps(offer, log)
    wide = (chip.scaleup_domain or 1) > SMALL_DOMAIN  # it connects instances, as in a pod
    domain = (chip.scaleup_domain or 1) if wide else offer.accelerators
    return "", OfferTerms(
        id=offer.id,
        accelerator=chip.id,
        usd_per_accelerator_hour=_at(hourly if flexible else 0.0, drift),
        max_accelerators=limit,
        region=_region(offer, price, scenario, log),
        note=_others(offer, price),
        node_accelerators=offer.accelerators,
        kg_per_accelerator_hour=_carbon(offer, price, scenario, log),
        committed=tuple(
            CommitTerms(x, LENGTHS[x], _at(found[x][1], drift)) for x in found if x in LENGTHS
        ),
        on_demand=flexible,
        apart_usd_per_hour={x: _at(found[x][1], drift) for x in APART if x in found},
        apart_regions={x: _region(offer, found[x][0], scenario, log) for x in APART if x in found},
        gb_per_s=gbps / offer.accelerators / BITS_PER_BYTE,
        most_per_job=None if gbps else domain,
    )


def _network_gbps(offer: Offer, log: InputLog) -> float:
    """Return the network rate of an instance [Gb/s]; 0 if unknown.

    A row with an average price has the network of the provider's instances with the accelerator.
    """
    if offer.scaleout_gbps is not None:
        return log.take(f"cloud.{offer.id}.scaleout_gbps", offer.scaleout_gbps)
    if offer.kind != "average":
        return 0.0
    same = [
        row
        for row in log.catalog.table("cloud", Offer).values()
        if (row.provider, row.accelerator) == (offer.provider, offer.accelerator)
        and row.scaleout_gbps is not None
    ]
    rates = [r.scaleout_gbps.value / r.accelerators for r in same if r.scaleout_gbps]
    return min(rates, default=0.0) * offer.accelerators


def _region(offer: Offer, price: CloudPrice | None, scenario: Scenario, log: InputLog) -> str:
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


def _at(hourly: float, drift: Sequence[float]) -> tuple[float, ...]:
    return tuple(hourly * x for x in drift)


def _price(
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


def _carbon(
    offer: Offer, price: CloudPrice | None, scenario: Scenario, log: InputLog
) -> float | None:
    """Return the carbon of an accelerator-hour [kg/h].

    It uses a catalog system's training power, the cloud's PUE and the nearest grid.

    None if no system with the accelerator has a power value.
    """
    catalog = log.catalog
    chip = catalog.get("accelerators", offer.accelerator, Accelerator).id
    rows = [
        r for r in catalog.table("systems", System).values() if r.accelerator == chip and r.rated_kw
    ]
    if not rows:
        return None
    row = min(rows, key=lambda r: (abs(r.accelerators - offer.accelerators), r.id))
    own = row.average_kw.training
    share = log.parameter("power", "average-training-frac")
    kw = (
        own.value if own else row.rated_kw.value * share if row.rated_kw else 0.0
    ) / row.accelerators
    where = next(
        (
            (r.lat, r.lon)
            for r in catalog.table("regions", Region).values()
            if price and (r.provider, r.region) == (offer.provider, price.region)
        ),
        None,
    )
    known = [s for s in catalog.table("sites", CatalogSite).values() if s.grid_g_per_kwh]
    first = catalog.get("sites", scenario.sites[0].location, CatalogSite)
    here = where or (first.lat, first.lon)
    near = min(known, key=lambda s: (great_circle_km(here, (s.lat, s.lon)), s.id))
    grid = near.grid_g_per_kwh.value if near.grid_g_per_kwh else 0.0
    return kw * log.parameter("facility", "cloud-pue") * grid / GRAMS_PER_KG


def _quantity(price: CloudPrice | None, offer: Offer) -> Quantity:
    if price is None:
        msg = f"{offer.id} has no price"
        raise ValueError(msg)
    return price.usd_per_h.model_copy(
        update={
            "source": str(price.source),
            "as_of": price.as_of,
            "status": price.status or Status.CATALOG,
            "note": f"region {price.region}; {_others(offer, price)}",
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


def _others(offer: Offer, chosen: CloudPrice | None) -> str:
    rest: Sequence[CloudPrice] = [
        p for p in offer.prices if chosen and p is not chosen and p.term == chosen.term
    ]
    shown = ", ".join(f"{p.region} {p.usd_per_h.value:g} ({p.as_of})" for p in rest[:6])
    more = f" and {len(rest) - 6} more" if len(rest) > 6 else ""
    return f"others: {shown}{more}" if rest else "the only price"
