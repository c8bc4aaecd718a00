"""Break-even in hours and months, and payback; never when so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.break_even import (
    break_even_hours,
    cumulative_advantage_usd,
    first_crossing,
    npv_break_even_months,
    payback_months,
)

QUICK = settings(max_examples=60, deadline=None)


def test_hours_by_hand_with_the_three_sensitivities() -> None:
    # 1,000 / (3 - 1) = 500; half used: 1,000 / (1.5 - 1); 40 % committed: 1,000 / (1.8 - 1)
    assert break_even_hours(1000, 3.0, 1.0) == pytest.approx(500)
    assert break_even_hours(1000, 3.0, 1.0, utilization_frac=0.5) == pytest.approx(2000)
    assert break_even_hours(1000, 3.0, 1.0, discount_frac=0.4) == pytest.approx(1250)
    assert break_even_hours(0.0, 3.0, 1.0) == 0.0


def test_rent_at_or_below_running_cost_never_breaks_even() -> None:
    assert break_even_hours(1000, 1.0, 1.0) is None
    assert break_even_hours(1000, 0.5, 1.0) is None
    assert break_even_hours(1000, 3.0, 1.0, utilization_frac=0.2) is None
    assert break_even_hours(1000, np.array([3.0, 0.5]), 1.0) == pytest.approx(
        np.array([500.0, np.nan]), nan_ok=True
    )


@given(st.floats(1.0, 1e9), st.floats(0.1, 100.0), st.floats(0.0, 50.0), st.floats(0.1, 1.0))
@QUICK
def test_at_break_even_both_sides_have_paid_the_same(
    capex: float, margin: float, running: float, use: float
) -> None:
    rent = (running + margin) / use
    hours = break_even_hours(capex, rent, running, utilization_frac=use)
    assert rent * use * hours == pytest.approx(capex + running * hours, rel=1e-6)


@given(st.floats(1.0, 1e6), st.floats(1.0, 10.0), st.floats(0.01, 5.0))
@QUICK
def test_dearer_rent_breaks_even_sooner(capex: float, rent: float, more: float) -> None:
    assert break_even_hours(capex, rent + more, 0.5) < break_even_hours(capex, rent, 0.5)


def test_months_by_hand_and_discounted() -> None:
    # 100 now against 60 a month: after 1 2/3 months; at 10 % a month -100 + 54.55 + 49.59: in the
    # second month
    owned, rented = [100.0, 0.0, 0.0, 0.0], [0.0, 60.0, 60.0, 60.0]
    assert npv_break_even_months(owned, rented) == pytest.approx(5 / 3)
    assert npv_break_even_months(owned, rented, 0.1) == pytest.approx(
        1 + (100 - 60 / 1.1) / (60 / 1.21)
    )
    assert npv_break_even_months([200.0, 0.0], [0.0, 60.0]) is None
    assert npv_break_even_months([10.0, 0.0], [10.0, 5.0]) == 0.0


def test_a_residual_counts_in_its_own_month_alone() -> None:
    # worth 70 and 30: ahead by -100, 60 + 70 - 100 = 30, 120 + 30 - 100 = 50
    lead = cumulative_advantage_usd(
        [100.0, 0.0, 0.0], [0.0, 60.0, 60.0], residual_usd=[0.0, 70.0, 30.0]
    )
    assert lead.tolist() == [-100.0, 30.0, 50.0]
    # at 10 % a month it is discounted as its month is: 130/1.1 - 100
    late = cumulative_advantage_usd(
        [100.0, 0.0, 0.0], [0.0, 60.0, 60.0], 0.1, residual_usd=[0.0, 70.0, 30.0]
    )
    assert late[1] == pytest.approx(130 / 1.1 - 100)
    months = npv_break_even_months(
        [100.0, 0.0, 0.0], [0.0, 60.0, 60.0], residual_usd=[0.0, 70.0, 30.0]
    )
    assert months == pytest.approx(100 / 130)


def test_a_refresh_may_lose_the_lead_again() -> None:
    owned, rented = [100.0, 0.0, 200.0, 0.0, 0.0], [0.0, 110.0, 110.0, 110.0, 110.0]
    assert npv_break_even_months(owned, rented) == pytest.approx(100 / 110)
    # -100, 10, -80, 30, 140
    assert npv_break_even_months(owned, rented, for_good=True) == pytest.approx(2 + 80 / 110)


@given(
    st.lists(st.floats(0.0, 1e4), min_size=2, max_size=30),
    st.floats(0.0, 1e5),
    st.floats(0.0, 0.05),
)
@QUICK
def test_the_last_month_of_the_lead_is_the_difference_of_present_values(
    rents: list[float], capex: float, rate: float
) -> None:
    owned = np.zeros(len(rents))
    owned[0] = capex
    lead = cumulative_advantage_usd(owned, rents, rate)
    factors = (1.0 + rate) ** -np.arange(len(rents))
    sides = [factors @ np.asarray(side) for side in (rents, owned)]
    assert lead[-1] == pytest.approx(sides[0] - sides[1], abs=1e-6)


def test_samples_break_even_on_their_own() -> None:
    owned = np.array([[100.0, 0.0, 0.0], [100.0, 0.0, 0.0]])
    rented = np.array([[0.0, 60.0, 60.0], [0.0, 10.0, 10.0]])
    months = npv_break_even_months(owned, rented, np.array([0.0, 0.1]))
    assert months == pytest.approx(np.array([5 / 3, np.nan]), nan_ok=True)


def test_payback_by_hand() -> None:
    assert payback_months([-100.0, 40.0, 40.0, 40.0]) == pytest.approx(2.5)
    assert payback_months([-100.0, 40.0, 40.0]) is None
    assert payback_months([-100.0, 100.0]) == 1.0
    assert payback_months([0.0, 1.0]) == 0.0
    # 10 % a month: -100 + 60.5/1.1 = -45; 60.5/1.21 = 50: after 1.9 months
    assert payback_months([-100.0, 60.5, 60.5], 0.1) == pytest.approx(1.9)
    assert payback_months(np.array([[-10.0, 20.0], [-10.0, 5.0]]))[0] == 0.5


def test_a_refresh_sinks_a_project_again() -> None:
    flows = [-100.0, 110.0, -50.0, 30.0, 30.0]
    assert payback_months(flows) == pytest.approx(100 / 110)
    # -100, 10, -40, -10, 20: above for good in the fourth month, after a third of it
    assert payback_months(flows, for_good=True) == pytest.approx(3 + 1 / 3)


def test_crossing_keeps_the_axes_of_samples() -> None:
    assert first_crossing(np.full((3, 4), -1.0)).tolist() == pytest.approx(
        [np.nan] * 3, nan_ok=True
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: break_even_hours(1, 1, 1, utilization_frac=60),
            "utilization_frac must be from 0 to 1, got 60",
        ),
        (lambda: break_even_hours(-1, 1, 1), "capex_usd must be at least 0"),
        (lambda: break_even_hours(1, 1, 1, discount_frac=40), "discount_frac must be at most 1"),
        (lambda: npv_break_even_months([1.0], [1.0], -1.0), "rate_per_month must be above -1"),
        (lambda: payback_months([1.0], -1.0), "rate_per_month must be above -1"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
