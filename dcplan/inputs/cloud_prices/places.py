"""Places of offers: how they differ from halls, and distances on the globe."""

from __future__ import annotations

import math

from dcplan.units import EARTH_RADIUS_KM

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
