"""Spares: the binomial quantile against its definition, domains, groups, waiting."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dcplan.reliability.spares import domain_spares, down_quantile, group_spares, waiting_frac

QUICK = settings(max_examples=80, deadline=None)


def test_byterobust_holds_four_standbys_for_1024_machines() -> None:
    assert down_quantile(1024, 0.001, 0.99) == 4


@given(st.integers(1, 5000), st.floats(1e-5, 0.2), st.floats(0.5, 0.999))
@QUICK
def test_quantile_is_scipys(n: int, p: float, confidence: float) -> None:
    k = down_quantile(n, p, confidence)
    assert binom.cdf(k, n, p) >= confidence - 1e-9
    assert k == 0 or binom.cdf(k - 1, n, p) < confidence + 1e-9


def test_waiting_by_hand() -> None:
    # a = 1, one spare: B(2, 1) = (1/2) / (1 + 1 + 1/2) = 0.2
    assert waiting_frac(1.0, 1) == pytest.approx(0.2)
    # none and half a node in repair: it stands still a third of the time
    assert waiting_frac(0.5, 0) == pytest.approx(1 / 3)


@given(st.floats(0.01, 30.0), st.integers(0, 40))
@QUICK
def test_one_more_spare_waits_less(mean: float, k: int) -> None:
    few, more = waiting_frac(mean, k), waiting_frac(mean, k + 1)
    assert (more < few <= 1) or few == more == 0


def test_a_tray_a_rack_is_cheaper_than_racks_where_trays_fail_often() -> None:
    """18 trays, 1 % down: 16.5 % of racks have one down, so one of each rack idles; whole racks
    would take 11 of 32."""
    found = domain_spares(576, 18, 4, 0.01, 0.99)
    assert found.trays_per_domain == 1
    p = 1 - 0.99**18
    assert p == pytest.approx(0.1655, abs=1e-4)
    racks = down_quantile(32, p, 0.99)
    assert found.accelerators < racks * 72


@given(st.integers(18, 2000), st.floats(1e-4, 0.03))
@QUICK
def test_larger_units_never_need_fewer_spares(nodes: int, down: float) -> None:
    single = down_quantile(nodes, down, 0.99) * 4
    assert single <= group_spares(nodes, 4, 4, down, 0.99).accelerators + 4 * 3


def test_one_system_domain_needs_a_second_one() -> None:
    assert domain_spares(18, 18, 4, 0.01, 0.99).accelerators == 72
