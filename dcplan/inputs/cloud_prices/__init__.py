"""Cloud offers with their latest prices in the region nearest to a site of the scenario."""

from __future__ import annotations

from dcplan.inputs.cloud_prices.accompanying import Extra, RentExtras, StoredWork, extras_of
from dcplan.inputs.cloud_prices.places import (
    cloud_place,
    great_circle_km,
    is_cloud,
    offer_of,
    row_of,
)
from dcplan.inputs.cloud_prices.rentable import offers
from dcplan.inputs.cloud_prices.terms import (
    HOURLY,
    LENGTHS,
    ON_DEMAND,
    SPOT,
    CommitTerms,
    OfferTerms,
)

__all__ = [
    "HOURLY",
    "LENGTHS",
    "ON_DEMAND",
    "SPOT",
    "CommitTerms",
    "Extra",
    "OfferTerms",
    "RentExtras",
    "StoredWork",
    "cloud_place",
    "extras_of",
    "great_circle_km",
    "is_cloud",
    "offer_of",
    "offers",
    "row_of",
]
