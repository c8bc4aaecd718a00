"""Offers that a scenario may rent, with their terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplan.catalog.schema import Accelerator, Offer
from dcplan.inputs.cloud_prices.carbon import carbon_kg_per_h
from dcplan.inputs.cloud_prices.regional import others, price_of, region_of
from dcplan.inputs.cloud_prices.terms import (
    APART,
    LENGTHS,
    ON_DEMAND,
    SPOT,
    CommitTerms,
    OfferTerms,
)
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.devices import SMALL_DOMAIN
from dcplan.scenario.schema import Cloud, Scenario
from dcplan.units import BITS_PER_BYTE, HOURS_PER_MONTH, QUARTERS_PER_YEAR

NEVER = {"index": "a price index: no provider sells at it"}
"""Kinds of rows that nobody can rent, with the reason."""


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
    prices = {term: price_of(offer, term, scenario, cloud, log) for term in cloud.terms}
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
        region=region_of(offer, price, scenario, log),
        note=others(offer, price),
        node_accelerators=offer.accelerators,
        kg_per_accelerator_hour=carbon_kg_per_h(offer, price, scenario, log),
        committed=tuple(
            CommitTerms(x, LENGTHS[x], _at(found[x][1], drift)) for x in found if x in LENGTHS
        ),
        on_demand=flexible,
        apart_usd_per_hour={x: _at(found[x][1], drift) for x in APART if x in found},
        apart_regions={
            x: region_of(offer, found[x][0], scenario, log) for x in APART if x in found
        },
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


def _at(hourly: float, drift: Sequence[float]) -> tuple[float, ...]:
    return tuple(hourly * x for x in drift)
