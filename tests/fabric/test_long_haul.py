"""Long-haul links: reach against published figures, counts by hand, the best power by search."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.fabric.long_haul import Mode, long_haul, reach_km, round_trip_us
from dcplan.fabric.span_noise import Glass, span_snr, spans_reached

# the line of catalogs/fabrics/network.yaml
SMF = Glass(0.2, 1.0, 5.5, 16.7, 1.27, 4800.0, 1550.0, 1.5, 38.0)
T800 = Mode(800.0, 140.0, 150.0, 23.0, math.inf, True)
ZR_PLUS = Mode(400.0, 63.1, 75.0, 24.0, math.inf, False)


def test_noise_of_a_span_by_hand() -> None:
    """80 km lose 17 dB: gain 50.12; noise factor 3.548; h nu = 6.626e-34 x 193.41 THz.

    N = 1.2816e-19 x (3.548 x 50.12 - 1) = 2.2662e-17 W/Hz. Kerr: beta2 = 16.7e-6 x (1.55e-6)^2 /
    (2 pi c) = 2.1300e-26 s2/m; fade 0.2 dB/km = 4.6052e-5 1/m, so 21,715 m; effective length
    21,169 m; asinh(pi^2 / 2 x 2.13e-26 x 21,715 x (4.8e12)^2) = asinh(52,588) = 11.563; eta = 8 / 27
    x (1.27e-3 x 21,169)^2 x 11.563 / (pi x 2.13e-26 x 21,715) = 1.7043e+24. The best density is
    (N / 2 eta)^(1/3) = 1.8801e-14, and the ratio 2 / 3 of it over N: 553.
    """
    assert span_snr(80.0, SMF) == pytest.approx(553.1, rel=5e-4)


def test_best_power_is_found_by_a_search_over_powers() -> None:
    """The ratio of a density S is S / (N + eta S^3); no S is better than the formula."""
    best = span_snr(80.0, SMF)
    noise, eta = 2.2662e-17, 1.7043e24
    powers = np.geomspace(1e-15, 1e-12, 4000)
    assert np.max(powers / (noise + eta * powers**3)) == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize(
    ("mode", "margin_db", "published_km", "tolerance"),
    [
        # planning table of github.com/jiahengxiong/CND_project (ZR_OEO.py), 75 GHz
        pytest.param(ZR_PLUS, 1.5, 600.0, 0.25, id="400zr-plus"),
        pytest.param(replace(ZR_PLUS, gbps=200.0, osnr_db=17.0), 1.5, 3000.0, 0.25, id="200g-qpsk"),
        # Verizon, 2020, ICE6 at 95.6 GBd (fibre-systems.com/feature/keep-it-coherent): 800 Gb/s over
        # 667 km, 600 Gb/s over 2,283 km; trials have no margin. Shannon + 4.5 dB: 2 x 2^(800 / 191.2) -
        # 1 = 12.3 + 4.5 dB in 95.6 GHz, 25.6 dB in 12.5 GHz; 600 Gb/s: 8.9 + 4.5, 22.3 dB
        pytest.param(
            Mode(800.0, 95.6, 100.0, 25.6, math.inf, True), 0.0, 667.0, 0.25, id="trial-800"
        ),
        pytest.param(
            Mode(600.0, 95.6, 100.0, 22.3, math.inf, True), 0.0, 2283.0, 0.25, id="trial-600"
        ),
    ],
)
def test_reach_agrees_with_published_figures(
    mode: Mode, margin_db: float, published_km: float, tolerance: float
) -> None:
    found = reach_km(mode, 80.0, replace(SMF, margin_db=margin_db))
    assert found == pytest.approx(published_km, rel=tolerance)


def test_least_osnr_of_the_transponder_rows_is_shannon_and_the_same_gap() -> None:
    """At 140 GBd: 2^(rate / 280) - 1, + 4.5 dB, + 10 log10(140 / 12.5) = 10.5 dB."""
    for gbps, row_db in ((1200, 27.7), (1000, 25.4), (800, 23.0), (600, 20.3), (400, 17.3)):
        shannon_db = 10 * math.log10(2 ** (gbps / 280) - 1)
        assert shannon_db + 4.5 + 10 * math.log10(140 / 12.5) == pytest.approx(row_db, abs=0.1)


def test_counts_of_a_link_by_hand() -> None:
    """100 Tb/s over 1,300 km: 125 wavelengths of 800 Gb/s; 4,800 / 150 = 32 on a pair, so 4 pairs; 17
    spans of 76.5 km, 16 sites with 4 amplifiers each; two ends of 4 degrees; 125 links of 800 Gb/s
    from fabric to router and 125 to transponders, two transceivers each, at both ends."""
    found = long_haul(1e5, 1300.0, 80.0, T800, SMF, 800.0)
    assert (found.wavelengths, found.per_pair, found.fibre_pairs, found.spans) == (125, 32, 4, 17)
    assert (found.sections, found.ports, found.roadm_degrees, found.amplifiers) == (1, 250, 8, 64)
    assert (found.hut_pairs, found.router_ports, found.local_transceivers) == (64, 250, 1000)
    # a pluggable is inside the router: 25 ports to the line, 13 of 800 Gb/s to the fabric
    found = long_haul(1e4, 390.0, 80.0, ZR_PLUS, SMF, 800.0)
    assert (found.wavelengths, found.per_pair, found.fibre_pairs) == (25, 64, 1)
    assert (found.ports, found.router_ports, found.local_transceivers) == (50, 25 + 13, 4 * 13)


def test_a_transponder_is_regenerated_and_a_pluggable_is_not() -> None:
    """A span of 78 km leaves 589.4 x 140 / 12.5 = 6,601. 10^-2.65 - 2 x 10^-3.8 = 1.9217e-3 of it is 12.7:
    12 spans, 936 km. 1,950 km are 25 spans in three sections, so two sites have 2 ports more each and
    22 of 24 sites are amplifiers."""
    mode = replace(T800, osnr_db=25.0)
    assert spans_reached(25.0, 140.0, 78.0, SMF) == 12
    found = long_haul(800.0, 1950.0, 80.0, mode, SMF, 800.0)
    assert (found.spans, found.sections, found.ports) == (25, 3, 2 * 3)
    assert (found.roadm_degrees, found.amplifiers, found.hut_pairs) == (6, 22, 24)
    assert found.local_transceivers == 4 * 2 + 2 * 2
    with pytest.raises(ValueError, match="it reaches 546 km of 1950 km of fiber"):
        long_haul(800.0, 1950.0, 80.0, ZR_PLUS, SMF, 800.0)
    with pytest.raises(ValueError, match="does not allow one span of 150 km"):
        long_haul(800.0, 150.0, 150.0, replace(ZR_PLUS, osnr_db=36.0), SMF, 800.0)


def test_the_limit_that_a_maker_names_holds() -> None:
    assert reach_km(replace(T800, most_km=1000.0), 80.0, SMF) == 1000.0


def test_round_trip_has_fiber_and_equipment() -> None:
    """1,300 x 4.897 = 6,366.1 us; 16 amplifier sites and two ROADMs of 0.15; one section of 15; two
    routers of 3.8: 2 x (6,366.1 + 2.7 + 15 + 7.6) = 12,782.8 us."""
    found = long_haul(1e5, 1300.0, 80.0, T800, SMF, 800.0)
    assert round_trip_us(found, 1300.0, 4.897, (0.15, 15.0, 3.8)) == pytest.approx(
        12_782.8, abs=0.05
    )


@given(st.floats(100.0, 1e6), st.floats(121.0, 8000.0), st.floats(60.0, 100.0))
@settings(max_examples=80, deadline=None)
def test_a_link_has_the_capacity_and_no_wavelength_too_many(
    gbps: float, route_km: float, span_km: float
) -> None:
    found = long_haul(gbps, route_km, span_km, T800, SMF, 800.0)
    assert found.gbps >= gbps * (1 - 1e-9)
    assert found.gbps - 800.0 < gbps
    assert found.fibre_pairs * found.per_pair >= found.wavelengths
    assert found.span_km <= span_km * (1 + 1e-9)
    assert found.sections * reach_km(T800, found.span_km, SMF) >= route_km * (1 - 1e-9)
    assert found.hut_pairs == found.amplifiers + found.fibre_pairs * (found.sections - 1)


@given(st.floats(60.0, 100.0), st.floats(1.0, 40.0))
@settings(max_examples=40, deadline=None)
def test_longer_spans_reach_less(span_km: float, more_km: float) -> None:
    assert span_snr(span_km + more_km, SMF) < span_snr(span_km, SMF)
