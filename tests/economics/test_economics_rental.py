"""The eight adders of a rented cluster, tiers, discounts and lost hours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.rental import (
    RentedCluster,
    accelerators_usd_per_month,
    discounted_usd,
    goodput_loss_usd,
    storage_usd_per_month,
    tiered_usd,
)

QUICK = settings(max_examples=60, deadline=None)
USD = st.floats(0.0, 1e8)


def test_a_month_and_a_contract_by_hand() -> None:
    # support 5 % of 1,000 + 100 + 50 + 50 = 60; set-up 2,400 over 24 months = 100; loss 20;
    # debugging 30
    cluster = RentedCluster(1000.0, 100.0, 50.0, 50.0, 0.05, 20.0, 30.0, 2400.0, 24)
    assert cluster.support_usd == pytest.approx(60.0)
    assert cluster.lines_usd()["setup"] == 100.0
    assert cluster.month_usd == pytest.approx(1410.0)
    assert cluster.contract_usd == pytest.approx(33_840.0)


@given(
    st.builds(
        RentedCluster, USD, USD, USD, USD, st.floats(0.0, 0.2), USD, USD, USD, st.integers(1, 60)
    )
)
@QUICK
def test_eight_lines_sum_to_the_month_and_setup_is_paid_once(cluster: RentedCluster) -> None:
    lines = cluster.lines_usd()
    assert len(lines) == 8
    assert cluster.month_usd == pytest.approx(sum(lines.values()))
    months = cluster.contract_months
    monthly = cluster.month_usd - lines["setup"]
    assert cluster.contract_usd == pytest.approx(
        months * monthly + cluster.setup_usd, rel=1e-9, abs=1e-3
    )


def test_samples_run_through_all_lines() -> None:
    cluster = RentedCluster(
        np.array([100.0, 200.0]), support_frac=np.array([0.0, 0.1]), contract_months=2
    )
    assert cluster.month_usd.tolist() == [100.0, 220.0]
    assert cluster.contract_usd.tolist() == [200.0, 440.0]


def test_hours_of_a_month_are_the_callers() -> None:
    assert accelerators_usd_per_month(10, 2.0, 720) == 14_400.0
    assert accelerators_usd_per_month(10, 2.0, 730) == 14_600.0
    assert (
        accelerators_usd_per_month(0, 2.0, 730) == accelerators_usd_per_month(10, 0.0, 730) == 0.0
    )


def test_lost_hours_cost_their_rent_or_their_replacement() -> None:
    assert goodput_loss_usd(1000.0, 0.9) == pytest.approx(100.0)
    assert goodput_loss_usd(1000.0, 0.9, basis="replacement") == pytest.approx(1000 / 9)
    assert (
        goodput_loss_usd(1000.0, 1.0) == goodput_loss_usd(1000.0, 1.0, basis="replacement") == 0.0
    )


def test_discounts_follow_one_another() -> None:
    # 100, 37 % for three years, then 10 % negotiated: 63 x 0.9
    assert discounted_usd(100.0, 0.37, 0.10) == pytest.approx(56.7)
    assert discounted_usd(100.0) == 100.0
    assert discounted_usd(100.0, -0.2) == pytest.approx(120.0)  # a surcharge


@pytest.mark.parametrize(
    ("quantity", "usd"),
    # 10 at 3, the next 40 at 2, the rest at 1
    [(0.0, 0.0), (10.0, 30.0), (11.0, 32.0), (50.0, 110.0), (60.0, 120.0)],
)
def test_each_tier_has_its_own_price(quantity: float, usd: float) -> None:
    assert tiered_usd(quantity, [10.0, 50.0], [3.0, 2.0, 1.0]) == pytest.approx(usd)


def test_a_single_tier_is_a_product_and_samples_pass() -> None:
    assert tiered_usd(5.0, [], [2.0]) == 10.0
    assert tiered_usd(np.array([0.0, 20.0]), [10.0], [3.0, 2.0]).tolist() == [0.0, 50.0]
    assert storage_usd_per_month(10.0, 20.0) == 200.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: RentedCluster(-1.0), "accelerators_usd must be at least 0"),
        (lambda: RentedCluster(1.0, contract_months=0), "contract_months must be above 0"),
        (lambda: goodput_loss_usd(1.0, 0.0), "goodput_frac must be above 0"),
        (lambda: goodput_loss_usd(1.0, 97.0), "goodput_frac must be at most 1"),
        (lambda: discounted_usd(1.0, 30), "discount must be at most 1"),
        (lambda: tiered_usd(1.0, [10.0, 5.0], [1, 1, 1]), "tier_ends must rise"),
        (lambda: tiered_usd(1.0, [10.0], [1.0]), "tier_ends must rise"),
        (lambda: accelerators_usd_per_month(1, 1, 0), "hours_per_month must be above 0"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
