"""Tariffs: energy, demand, minimum take and ratchet, prices by tier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.tariffs import billed_demand_kw, energy_bill, tiered_usd

QUICK = settings(max_examples=60, deadline=None)
PEAKS = st.lists(st.floats(0.0, 1e5), min_size=1, max_size=24)


def test_minimum_take_on_a_ramp_by_hand() -> None:
    # 85 % of a contract of 50, 100, 100 kW against peaks of 60, 20, 95
    billed = billed_demand_kw(
        [60.0, 20.0, 95.0], contracted_kw=[50.0, 100.0, 100.0], floor_frac=0.85
    )
    assert billed.tolist() == [60.0, 85.0, 95.0]


def test_a_ratchet_remembers_earlier_peaks_and_forgets() -> None:
    # 80 % of the highest of two earlier months: 100, then 80 twice, then 40 (80 % of 50)
    billed = billed_demand_kw([100.0, 50.0, 10.0, 10.0], ratchet_frac=0.8, ratchet_months=2)
    assert billed.tolist() == [100.0, 80.0, 80.0, 40.0]
    assert billed_demand_kw([100.0, 50.0], ratchet_frac=0.8, ratchet_months=0).tolist() == [
        100.0,
        50.0,
    ]


def test_a_ratchet_does_not_feed_on_itself() -> None:
    assert billed_demand_kw([100.0, 0.0, 0.0], ratchet_frac=0.5).tolist() == [100.0, 50.0, 50.0]


@given(PEAKS, st.floats(0.0, 1e5), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, 12))
@QUICK
def test_what_is_billed_is_never_below_peak_floor_or_ratchet(
    peaks: list[float], contract: float, floor: float, ratchet: float, months: int
) -> None:
    billed = billed_demand_kw(
        peaks, contracted_kw=contract, floor_frac=floor, ratchet_frac=ratchet, ratchet_months=months
    )
    assert (billed >= peaks).all()
    assert (billed >= floor * contract).all()
    assert (billed <= max(*peaks, floor * contract)).all()


def test_samples_of_demand() -> None:
    billed = billed_demand_kw(
        [[10.0, 0.0], [20.0, 0.0]], contracted_kw=20.0, floor_frac=np.array([0.1, 1.0])
    )
    assert billed.tolist() == [[10.0, 2.0], [20.0, 20.0]]
    rows = billed_demand_kw([10.0, 0.0], contracted_kw=20.0, floor_frac=np.array([0.1, 1.0]))
    assert rows.tolist() == [[10.0, 2.0], [20.0, 20.0]]
    memory = billed_demand_kw([10.0, 0.0], ratchet_frac=np.array([0.0, 0.5]))
    assert memory.tolist() == [[10.0, 0.0], [10.0, 5.0]]


def test_the_bill_by_hand() -> None:
    # 1,000 and 200 kWh at 0.10 with a minimum of 500; 10 and 8 kW at 15 and 20 USD; 5 USD fixed
    bill = energy_bill(
        [1000.0, 200.0],
        [10.0, 8.0],
        usd_per_kwh=0.10,
        usd_per_kw_month=[15.0, 20.0],
        minimum_kwh=500.0,
        fixed_usd_per_month=5.0,
    )
    assert bill.energy_usd.tolist() == pytest.approx([100.0, 50.0])
    assert bill.demand_usd.tolist() == pytest.approx([150.0, 160.0])
    assert bill.total_usd.tolist() == pytest.approx([255.0, 215.0])


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


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: billed_demand_kw([1.0], contracted_kw=1.0, floor_frac=85),
            "floor_frac must be from 0 to 1, got 85",
        ),
        (
            lambda: energy_bill([1.0], [-1.0], usd_per_kwh=0.1, usd_per_kw_month=1),
            "demand_kw must be at least 0",
        ),
        (lambda: billed_demand_kw([1.0], ratchet_frac=1.5), "ratchet_frac must be from 0 to 1"),
        (lambda: tiered_usd(1.0, [10.0, 5.0], [1, 1, 1]), "tier_ends must rise"),
        (lambda: tiered_usd(1.0, [10.0], [1.0]), "tier_ends must rise"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
