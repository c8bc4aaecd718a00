"""Network time between the users of a service and the places that may serve them."""

from __future__ import annotations

from collections.abc import Sequence

from dcplan.catalog.schema import Offer, Region
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.fabric.user_path import user_rtt_s
from dcplan.inputs.cloud_prices import great_circle_km, is_cloud, offer_of, row_of
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.services.loads import ServiceLoad
from dcplan.planning.problem.work.targets import Target
from dcplan.scenario.load import Question
from dcplan.units import MILLI


def rtt_of(load: ServiceLoad, target: Target, question: Question, log: InputLog) -> float:
    """Return the round-trip time of the network between users and a target [s].

    It is 0 for a service without regions. An offer without a known place is taken to be near the
    users, which only the last mile separates from it.
    """
    if load.region is None:
        return 0.0
    users = log.catalog.get("sites", load.region.location, CatalogSite)
    here = (users.lat, users.lon)
    there = _position(target, question, log) or here
    return user_rtt_s(
        great_circle_km(here, there),
        log.parameter("network", "user-route-factor"),
        log.parameter("network", "fibre-us-per-km"),
        log.parameter("network", "last-mile-rtt-ms") * MILLI,
    )


def near(
    load: ServiceLoad,
    where: Sequence[Target],
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> list[Target]:
    """Return the places within the maximum round-trip time of the users."""
    region = load.region
    if region is None or region.max_rtt_ms is None:
        return list(where)
    most = region.max_rtt_ms.value
    found = []
    for target in where:
        rtt_ms = rtt_of(load, target, question, log) / MILLI
        known = _position(target, question, log) is not None
        if known and rtt_ms <= most:
            found.append(target)
            continue
        reason = (
            f"{rtt_ms:,.0f} ms of network time to the users in {region.id}; max_rtt_ms is {most:g}"
        )
        if not known:
            reason = f"its region is unknown, and max_rtt_ms of {region.id} is {most:g}"
        where_text = f"{target.place} {target.system}"
        excluded.append(ExcludedOption(Kind.INFERENCE, load.id, where_text, reason))
    return found


def _position(target: Target, question: Question, log: InputLog) -> tuple[float, float] | None:
    """Return latitude and longitude of a site or of the region of an offer."""
    catalog = log.catalog
    if not is_cloud(target.place):
        site = target.place.partition("/")[0]
        location = next(s.location for s in question.scenario.sites if s.id == site)
        row = catalog.get("sites", location, CatalogSite)
        return row.lat, row.lon
    if target.offer is None:
        return None
    provider = catalog.get("cloud", row_of(offer_of(target.place)), Offer).provider
    return next(
        (
            (r.lat, r.lon)
            for r in catalog.table("regions", Region).values()
            if (r.provider, r.region) == (provider, target.offer.region)
        ),
        None,
    )
