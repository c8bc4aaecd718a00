"""Links of a plan sized from the catalog: parts and prices by hand, and longer or larger links."""

from __future__ import annotations

import itertools

import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Optic, Switch
from dcplan.errors import InputError, Place
from dcplan.inputs.links.facts import ROUTER_ROW, LinkAsk
from dcplan.inputs.links.sized import SizedLink, sized
from dcplan.inputs.log import InputLog

CHASSIS, CARD, LOCAL = 127_500.0, 74_400.0, 650.0
"""Prices of arista-7804r4, of its card of 36 ports of 800G, and of generic-800g-dsp [USD]."""
PAIR_KM = 0.86 / 6 * 1000
"""Price of a fiber pair of fiber-os2-12f [USD/km]."""


def link(
    gbps: float, km: float, ends: int = 2, *, optic: str | None = None, own: bool = True
) -> SizedLink:
    log = InputLog(load())
    row = log.catalog.get("optics", optic, Optic) if optic else None
    router = log.catalog.get("switches", ROUTER_ROW, Switch)
    return sized(LinkAsk(gbps, km, row, router, None, "span", Place, own), ends, log)


def test_a_link_between_two_halls_by_hand() -> None:
    """100 Tb/s over 600 m: 250 links of 400G FR4 on 250 pairs of fiber that is bought, without amplifiers.

    A router has 125 ports to the other hall and 125 to its own: 2 chassis of 144 with 7 cards of 36. The
    125 links to its own hall have a transceiver at both ends.
    """
    found = link(100_000.0, 0.6)
    assert found.optic == "generic-400g-fr4"
    routers = 2 * (2 * CHASSIS + 7 * CARD)
    hand = 500 * 650.0 + 250 * 0.6 * PAIR_KM + routers + 2 * 2 * 125 * LOCAL
    assert found.capex_usd == pytest.approx(hand)
    assert found.usd_per_year == 0.0
    assert found.kw == pytest.approx(500 * 0.01 + 2 * (2 * 1.706 + 7 * 0.915) + 500 * 0.018)
    assert found.rtt_s == pytest.approx(2 * 0.6 * 4.897e-6 + 4 * 3.8e-6)


def test_a_star_of_halls_has_a_core_without_a_hall_by_hand() -> None:
    """Four halls at 8 Tb/s: 10 ports of 800G DR4 a leg, 4 pairs each; 20 router ports in a hall, 40 in the core."""
    found = link(8_000.0, 0.2, ends=4)
    assert found.optic == "generic-800g-dr4"
    legs = 4 * (20 * 500.0 + 40 * 0.2 * PAIR_KM)
    routers = 5 * CHASSIS + (4 * 1 + 2) * CARD
    assert found.capex_usd == pytest.approx(legs + routers + 4 * 2 * 10 * LOCAL)
    assert found.rtt_s == pytest.approx(4 * 0.2 * 4.897e-6 + 6 * 3.8e-6)


def test_only_wavelengths_share_a_fiber_pair() -> None:
    """Between sites the fiber is leased at 150 USD a pair, km and month: 25 pairs of FR4 over 1.5 km are
    dearer than one pair of 400ZR over 50 km, which has two amplifiers and multiplexers."""
    grey = link(10_000.0, 1.5, optic="generic-400g-fr4", own=False)
    assert grey.usd_per_year == pytest.approx(25 * 1.5 * 150 * 12)
    routers = 2 * (CHASSIS + CARD) + 2 * 2 * 13 * LOCAL
    assert grey.capex_usd == pytest.approx(50 * 650.0 + routers)
    zr = link(10_000.0, 50.0, own=False)
    assert zr.optic == "coherent-400zr"
    assert zr.usd_per_year == pytest.approx(50 * 150 * 12)
    assert zr.capex_usd == pytest.approx(50 * 4_000.0 + 2 * 20_000 + 12_000 + routers)


@pytest.mark.parametrize("own", [True, False])
def test_a_longer_or_larger_link_never_costs_less(*, own: bool) -> None:
    def ten_years(gbps: float, km: float) -> float:
        found = link(gbps, km, own=own)
        return found.capex_usd + 10 * found.usd_per_year

    lengths = [ten_years(10_000.0, km) for km in (0.05, 0.4, 0.6, 2.0, 2.1, 9.0, 11.0, 60.0, 300.0)]
    rates = [ten_years(gbps, 0.4) for gbps in (100.0, 800.0, 900.0, 6_400.0, 20_000.0)]
    for costs in (lengths, rates):
        assert all(a <= b for a, b in itertools.pairwise(costs))


def test_an_optic_that_does_not_reach_says_what_to_do() -> None:
    with pytest.raises(InputError, match="leave the optic out"):
        link(800.0, 3.0, optic="generic-400g-fr4")
