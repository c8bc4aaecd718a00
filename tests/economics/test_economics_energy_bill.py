"""Energy, demand, minimum take and ratchet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.energy_bill import (
    billed_demand_kw,
    demand_usd_per_kwh,
    energy_bill,
    facility_energy_usd,
    facility_kw,
)

QUICK = settings(max_examples=60, deadline=None)
PEAKS = st.lists(st.floats(0.0, 1e5), min_size=1, max_size=24)


def test_facility_energy_by_hand() -> None:
    # 100 kW x 1.3 x 10 h x 0.20 = 260 USD; half of the load, half of the money; a negative price
    # pays
    assert facility_kw(100.0, 1.3) == pytest.approx(130.0)
    assert facility_energy_usd(100.0, 1.3, 10.0, 0.2) == pytest.approx(260.0)
    assert facility_energy_usd(100.0, 1.3, 10.0, 0.2, load_frac=0.5) == pytest.approx(130.0)
    assert facility_energy_usd(100.0, 1.3, 10.0, -0.2) == pytest.approx(-260.0)


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


def test_a_demand_charge_weighs_more_on_a_poor_load_factor() -> None:
    # 14.60 USD/kW-month over 730 h: 2 cents at full load, 4 at half
    assert demand_usd_per_kwh(14.6, 1.0, 730) == pytest.approx(0.02)
    assert demand_usd_per_kwh(14.6, 0.5, 730) == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: facility_kw(100.0, 0.9), "pue must be at least 1"),
        (lambda: facility_energy_usd(1.0, 1.2, -1.0, 0.1), "hours must be at least 0"),
        (
            lambda: billed_demand_kw([1.0], contracted_kw=1.0, floor_frac=85),
            "floor_frac must be from 0 to 1, got 85",
        ),
        (
            lambda: energy_bill([1.0], [-1.0], usd_per_kwh=0.1, usd_per_kw_month=1),
            "demand_kw must be at least 0",
        ),
        (lambda: billed_demand_kw([1.0], ratchet_frac=1.5), "ratchet_frac must be from 0 to 1"),
        (lambda: demand_usd_per_kwh(1.0, 0.0, 730), "load_factor_frac must be above 0"),
        (lambda: demand_usd_per_kwh(1.0, 1.5, 730), "load_factor_frac must be at most 1"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
