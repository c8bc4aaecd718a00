"""Links between sites: parts and prices worked out by hand, and the cheaper of two ways over ten
years."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.interconnect import Interconnect, Line, interconnect

QUICK = settings(max_examples=60, deadline=None)
# 400ZR: catalog rows coherent-400zr, amplifier-usd, mux-pair-usd, fibre-lease-usd-per-pair-km-
# month, fibre-us-per-km
ZR = Line(400.0, 4000.0, 0.018, 40.0, 120.0, 25_600.0, 80.0, 10_000.0, 12_000.0, 150.0, 4.897)
LINES = st.builds(
    Line,
    port_gbps=st.sampled_from([100.0, 400.0, 800.0]),
    port_usd=st.floats(500.0, 20_000.0),
    port_kw=st.just(0.02),
    plain_reach_km=st.floats(2.0, 80.0),
    amplified_reach_km=st.just(1000.0),
    pair_gbps=st.sampled_from([800.0, 1600.0, 25_600.0]),
    span_km=st.floats(40.0, 120.0),
    amplifier_usd=st.floats(0.0, 30_000.0),
    mux_pair_usd=st.floats(0.0, 30_000.0),
    lease_usd_per_pair_km_month=st.floats(0.0, 1200.0),
    fibre_us_per_km=st.just(4.9),
)


def _ten_years(found: Interconnect) -> float:
    return found.capex_usd + 10 * found.lease_usd_per_year


@pytest.mark.parametrize(
    ("gbps", "km", "links", "pairs", "amplifiers", "capex_usd", "lease_usd"),
    [
        # 10,000 / 400 = 25 links, 64 fit a pair; one span has two ends. 50 x 4,000 + 2 x 10,000 +
        # 12,000;
        # 60 km x 150 x 12
        pytest.param(10_000.0, 60.0, 25, 1, 2, 232_000.0, 108_000.0, id="one-span"),
        # 65 links need two pairs; 110 km are two spans with three sites a pair: 6. 130 x 4,000 + 6
        # x 10,000 +
        # 2 x 12,000; 2 x 110 x 150 x 12
        pytest.param(26_000.0, 110.0, 65, 2, 6, 604_000.0, 396_000.0, id="two-spans"),
        # exactly 64 links on one pair over exactly one span
        pytest.param(25_600.0, 80.0, 64, 1, 2, 128 * 4000.0 + 32_000.0, 144_000.0, id="full-pair"),
        # within 40 km: two pairs cost 2 x 1 x 1,800 x 10 = 36,000 in ten years, a shared one 18,000
        # + 32,000
        pytest.param(800.0, 1.0, 2, 2, 0, 16_000.0, 3_600.0, id="near-alone"),
        # 10 km: 360,000 alone, 180,000 + 32,000 shared
        pytest.param(800.0, 10.0, 2, 1, 2, 16_000.0 + 32_000.0, 18_000.0, id="near-shared"),
        # one link never shares: 72,000 x 10 alone, and the same with gear
        pytest.param(1.0, 40.0, 1, 1, 0, 8_000.0, 72_000.0, id="edge-of-plain-reach"),
        # beyond it even one link is amplified
        pytest.param(
            400.0, 40.001, 1, 1, 2, 8_000.0 + 32_000.0, 40.001 * 1800, id="beyond-plain-reach"
        ),
    ],
)
def test_by_hand(
    gbps: float,
    km: float,
    links: int,
    pairs: int,
    amplifiers: int,
    capex_usd: float,
    lease_usd: float,
) -> None:
    found = interconnect(gbps, km, ZR)
    assert (found.links, found.ports, found.fibre_pairs, found.amplifiers) == (
        links,
        2 * links,
        pairs,
        amplifiers,
    )
    assert found.capex_usd == pytest.approx(capex_usd, rel=1e-12)
    assert found.lease_usd_per_year == pytest.approx(lease_usd, rel=1e-12)
    assert found.power_kw == pytest.approx(links * 2 * 0.018)
    assert found.gbps == links * 400.0


def test_spans_of_a_long_line() -> None:
    """1,000 km of 400ZR+ are 12.5 spans of 80 km, so 13, with 14 sites."""
    assert interconnect(400.0, 1000.0, replace(ZR, amplified_reach_km=1000.0)).amplifiers == 14


def test_round_trip_is_light_in_glass() -> None:
    """60 km and back at 4.897 us/km; c / 1.468 = 204,200 km/s gives 587.7 us (mapyourtech.com)."""
    found = interconnect(10_000.0, 60.0, ZR).rtt_us
    assert found == pytest.approx(587.64, abs=0.005)
    assert found == pytest.approx(2 * 60 / (299_792.458 / 1.468) * 1e6, rel=1e-3)


def test_no_port_reaches_beyond_its_line() -> None:
    assert interconnect(400.0, 120.0, ZR).links == 1
    with pytest.raises(
        ValueError, match=r"121 km is more than the reach of the port with amplifiers, 120 km"
    ):
        interconnect(400.0, 121.0, ZR)


@given(st.floats(1.0, 200_000.0), st.floats(0.1, 1000.0), LINES)
@QUICK
def test_links_hold_the_capacity_and_no_link_is_idle(gbps: float, km: float, line: Line) -> None:
    found = interconnect(gbps, km, line)
    assert found.ports == 2 * found.links
    assert found.gbps >= gbps * (1 - 1e-9)
    assert (found.links - 1) * line.port_gbps < gbps
    assert found.fibre_pairs * line.pair_gbps >= found.gbps
    assert found.rtt_us == pytest.approx(2 * km * line.fibre_us_per_km)
    if km > line.plain_reach_km:
        assert found.amplifiers >= 2 * found.fibre_pairs


@given(st.floats(1.0, 100_000.0), st.floats(0.1, 1000.0), LINES)
@QUICK
def test_the_cheaper_way_is_taken_where_there_are_two(gbps: float, km: float, line: Line) -> None:
    """Both ways spelled out: a pair a link without gear, or as few pairs as hold all with gear at
    every site."""
    found = interconnect(gbps, km, line)
    each = line.port_usd * 2 * found.links
    pair_usd = 10 * 12 * km * line.lease_usd_per_pair_km_month
    pairs = math.ceil(found.gbps / line.pair_gbps - 1e-9)
    sites = math.ceil(km / line.span_km - 1e-9) + 1
    shared = each + pairs * (pair_usd + line.mux_pair_usd + sites * line.amplifier_usd)
    ways = [shared, each + found.links * pair_usd] if km <= line.plain_reach_km else [shared]
    assert _ten_years(found) == pytest.approx(min(ways), rel=1e-9)


@given(st.floats(1.0, 100_000.0), st.floats(0.0, 50_000.0), st.floats(0.1, 1000.0), LINES)
@QUICK
def test_more_capacity_never_costs_less(gbps: float, more: float, km: float, line: Line) -> None:
    few, many = interconnect(gbps, km, line), interconnect(gbps + more, km, line)
    assert few.ports <= many.ports
    assert few.power_kw <= many.power_kw
    assert _ten_years(few) <= _ten_years(many) * (1 + 1e-12)


@given(st.floats(1.0, 100_000.0), st.floats(0.1, 400.0), st.floats(0.0, 400.0), LINES)
@QUICK
def test_a_longer_route_never_costs_less(gbps: float, km: float, more: float, line: Line) -> None:
    near, far = interconnect(gbps, km, line), interconnect(gbps, km + more, line)
    assert _ten_years(near) <= _ten_years(far) * (1 + 1e-12)
    assert near.rtt_us <= far.rtt_us
