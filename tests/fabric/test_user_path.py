"""dcplan/fabric/user_path.py: round trips between regions of clouds, as published.

The factor is an average over routes: a direct cable across an ocean has 1.2, a route inside Europe up
to 3.9. So the tests check the median and the range, and state how many single pairs agree.
"""

from __future__ import annotations

import statistics

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Parameter, Region
from dcplan.fabric.user_path import user_rtt_s
from dcplan.inputs.cloud_prices import great_circle_km
from dcplan.provenance import Quantity

CATALOG = load()

PLACES = {
    "au": (-33.86, 151.2094),
    "br": (-23.5505, -46.6333),
    "ch": (47.45, 8.56),
    "de": (50.1109, 8.6821),
    "es": (40.42, -3.70),
    "fr": (46.3772, 2.373),
    "hk": (22.267, 114.188),
    "ie": (53.3478, -6.2597),
    "in": (18.5822, 73.9197),
    "it": (45.47, 9.18),
    "jp": (35.68, 139.77),
    "kr": (37.5665, 126.978),
    "nl": (52.3667, 4.9),
    "pl": (52.23, 21.02),
    "se": (60.6749, 17.1413),
    "sg": (1.283, 103.833),
    "ae": (25.27, 55.32),
    "uk": (50.941, -0.799),
    "za": (-25.7313, 28.2184),
    "us-ca": (37.783, -122.417),
    "us-ia": (41.5908, -93.6208),
    "us-il": (41.8819, -87.6278),
    "us-tx": (29.4167, -98.5),
    "us-va": (37.3719, -79.8164),
    "us-wa": (47.233, -119.852),
}
"""Coordinates of Azure regions, as Azure lists them."""

AZURE_MS = {
    ("us-va", "us-ca"): 74,
    ("us-va", "us-wa"): 75,
    ("us-va", "us-ia"): 35,
    ("us-va", "us-il"): 24,
    ("us-va", "us-tx"): 44,
    ("us-ca", "us-ia"): 41,
    ("us-ca", "us-wa"): 26,
    ("us-wa", "us-ia"): 41,
    ("us-va", "ie"): 74,
    ("us-va", "uk"): 80,
    ("us-va", "nl"): 89,
    ("us-va", "fr"): 90,
    ("us-va", "br"): 119,
    ("us-va", "jp"): 165,
    ("us-va", "sg"): 229,
    ("us-ca", "jp"): 109,
    ("us-wa", "jp"): 103,
    ("us-ca", "sg"): 171,
    ("us-ca", "au"): 141,
    ("us-ca", "hk"): 152,
    ("jp", "kr"): 35,
    ("jp", "sg"): 74,
    ("jp", "hk"): 53,
    ("jp", "au"): 105,
    ("sg", "hk"): 41,
    ("sg", "au"): 98,
    ("sg", "in"): 58,
    ("nl", "uk"): 12,
    ("nl", "ie"): 19,
    ("nl", "fr"): 15,
    ("nl", "de"): 14,
    ("nl", "se"): 31,
    ("nl", "es"): 30,
    ("nl", "it"): 28,
    ("nl", "pl"): 28,
    ("nl", "ch"): 20,
    ("nl", "sg"): 182,
    ("nl", "jp"): 242,
    ("nl", "in"): 153,
    ("nl", "ae"): 124,
    ("nl", "za"): 171,
    ("nl", "br"): 191,
    ("ae", "in"): 35,
}
"""Round trips in ms, 95th percentile of minutes, 30 days to 30 July 2026: Azure network round-trip
latency statistics."""

AWS_MS = {
    ("us-east-1", "us-west-2"): 86.98,
    ("us-east-1", "eu-central-1"): 88.66,
    ("us-east-1", "ap-northeast-1"): 145.3,
    ("us-east-1", "sa-east-1"): 119.5,
    ("us-west-2", "eu-central-1"): 159.5,
    ("us-west-2", "ap-northeast-1"): 89.1,
    ("us-west-2", "ap-southeast-2"): 162.2,
    ("eu-central-1", "ap-northeast-1"): 236.5,
    ("ap-northeast-1", "ap-northeast-2"): 31.44,
    ("ap-northeast-1", "ap-southeast-2"): 103.9,
}
"""Average round trips of AWS regions in ms, 2017, as acomputerscientistlearnsaws.blogspot.com tables
them; no part of the count behind the factor."""


def constant(name: str) -> Quantity:
    return CATALOG.get("network", name, Parameter).value


def ms(km: float, factor: float) -> float:
    """Round trip between two regions, which have no access network."""
    return 1e3 * user_rtt_s(km, factor, constant("fibre-us-per-km").value, 0.0)


def azure_km(pair: tuple[str, str]) -> float:
    return great_circle_km(PLACES[pair[0]], PLACES[pair[1]])


def aws_km(pair: tuple[str, str]) -> float:
    a, b = (CATALOG.get("regions", f"aws-{name}", Region) for name in pair)
    return great_circle_km((a.lat, a.lon), (b.lat, b.lon))


def test_the_factor_is_the_median_of_the_azure_pairs() -> None:
    ratios = [rtt / ms(azure_km(pair), 1.0) for pair, rtt in AZURE_MS.items()]
    tenths = statistics.quantiles(ratios, n=10)
    factor = constant("user-route-factor")
    assert factor.value == pytest.approx(statistics.median(ratios), rel=0.03)  # 1.93
    assert factor.low == pytest.approx(tenths[0], rel=0.03)  # 1.33
    assert factor.high == pytest.approx(tenths[-1], rel=0.03)  # 3.02
    assert min(ratios) > 1.0  # nothing is faster than light in fiber on the great circle
    near = sum(abs(r / factor.value - 1) < 0.25 for r in ratios)
    assert near == 19  # of 43: docs/method/fabric.md states it


def test_nine_of_ten_aws_pairs_lie_in_the_range() -> None:
    """Pairs that the factor was not counted on. Oregon to Tokyo is faster, at 1.14 great circles.

    Seven of the ten cross an ocean, where cables are direct. The median of the ten is 1.49, so the
    factor of 1.9 gives round trips 28 % too long in the middle of this list.
    """
    factor = constant("user-route-factor")
    assert factor.low is not None
    assert factor.high is not None
    ratios = {pair: rtt / ms(aws_km(pair), 1.0) for pair, rtt in AWS_MS.items()}
    outside = [pair for pair, ratio in ratios.items() if not factor.low <= ratio <= factor.high]
    assert outside == [("us-west-2", "ap-northeast-1")]
    assert factor.value / statistics.median(ratios.values()) == pytest.approx(1.28, abs=0.01)


def test_light_in_fiber_is_the_index_of_refraction() -> None:
    """Index 1.468 over 299,792.458 km/s = 4.897 us/km."""
    assert constant("fibre-us-per-km").value == pytest.approx(1.468 / 299_792.458 * 1e6, rel=5e-4)


def test_access_is_added_once() -> None:
    here = user_rtt_s(0.0, 1.9, 4.897, 0.012)
    assert here == 0.012
    # 5,000 km x 2 x 1.9 x 4.897 us = 93.0 ms, + 12 ms
    assert user_rtt_s(5000.0, 1.9, 4.897, 0.012) == pytest.approx(0.1050, abs=1e-4)


@pytest.mark.parametrize(
    "bad",
    [(-1.0, 1.9, 4.9, 0.0), (1.0, 0.9, 4.9, 0.0), (1.0, 1.9, -4.9, 0.0), (1.0, 1.9, 4.9, -1.0)],
)
def test_impossible_routes_are_rejected(bad: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="route factor of at least 1"):
        user_rtt_s(*bad)
