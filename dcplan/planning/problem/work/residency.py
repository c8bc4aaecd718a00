"""Data residency: work that may run only in some countries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dcplan.catalog.schema import Offer, Region
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.inputs.cloud_prices import OfferTerms, cloud_place, is_cloud, row_of
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.work.targets import Target
from dcplan.scenario.schema import Scenario


def countries_of(scenario: Scenario, rented: Iterable[OfferTerms], log: InputLog) -> dict[str, str]:
    """Return the country of each site and of each offer's region (``cloud:<offer>``).

    Offers of unknown regions have none.
    """
    catalog = log.catalog
    found = {s.id: catalog.get("sites", s.location, CatalogSite).country for s in scenario.sites}
    regions = {(r.provider, r.region): r.country for r in catalog.table("regions", Region).values()}
    for offer in rented:
        provider = catalog.get("cloud", row_of(offer.id), Offer).provider
        found[cloud_place(offer.id)] = regions.get((provider, offer.region), "")
    return found


def resident(
    where: Sequence[Target],
    allowed: Sequence[str] | None,
    country: dict[str, str],
    kind: Kind,
    key: str,
    excluded: list[ExcludedOption],
) -> list[Target]:
    """Return the places in the allowed countries, or all places if no country is named.

    Other places are excluded with a reason.
    """
    if allowed is None:
        return list(where)
    wanted = {x.upper() for x in allowed}
    found = []
    for target in where:
        place = target.place if is_cloud(target.place) else target.place.split("/")[0]
        here = country.get(place, "")
        if here in wanted:
            found.append(target)
            continue
        reason = (
            f"in {here or 'an unknown country'}; `countries` allows {', '.join(sorted(wanted))}"
        )
        excluded.append(ExcludedOption(kind, key, f"{target.place} {target.system}", reason))
    return found
