"""Discount factors, residual curves, and internal rates: none, one, several."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Curve
from dcplan.economics.discounting import (
    discount_factor,
    irr,
    residual_frac,
    straight_line_frac,
    straight_residual_frac,
)

QUICK = settings(max_examples=80, deadline=None)
RATE, YEARS = st.floats(0.0, 0.5), st.floats(0.0, 30.0)
FLOWS = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=2, max_size=40)


def present_value(flows: Sequence[float], rate: float) -> float:
    return sum(usd * (1.0 + rate) ** -k for k, usd in enumerate(flows))


@pytest.mark.parametrize(
    ("rate", "years", "factor"),
    # 1 / 1.1 = 0.909090…; 1 / 1.08^3 = 1 / 1.259712; 1 / sqrt(1.21) = 1 / 1.1; no rate, no discount
    [
        (0.10, 1.0, 0.9090909091),
        (0.08, 3.0, 0.7938322410),
        (0.21, 0.5, 0.9090909091),
        (0.0, 7.0, 1.0),
    ],
)
def test_discount_factor_by_hand(rate: float, years: float, factor: float) -> None:
    assert discount_factor(rate, years) == pytest.approx(factor, rel=1e-9)


@given(RATE, YEARS, YEARS)
@QUICK
def test_discounting_twice_is_discounting_once_for_the_sum(rate: float, a: float, b: float) -> None:
    assert discount_factor(rate, a) * discount_factor(rate, b) == pytest.approx(
        discount_factor(rate, a + b)
    )


@given(RATE, YEARS, st.floats(0.0, 5.0))
@QUICK
def test_later_money_is_never_worth_more(rate: float, years: float, more: float) -> None:
    assert discount_factor(rate, years + more) <= discount_factor(rate, years) <= 1.0


@pytest.mark.parametrize(
    ("age", "left"),
    # curve 1, 0.625, 0.425: whole years as given; 0.25 years: 1 - 0.25 x 0.375; 1.5: the middle;
    # then the last
    [
        (0.0, 1.0),
        (1.0, 0.625),
        (2.0, 0.425),
        (0.25, 0.90625),
        (1.5, 0.525),
        (2.5, 0.425),
        (40.0, 0.425),
    ],
)
def test_residual_is_interpolated_between_years(age: float, left: float) -> None:
    assert residual_frac([1.0, 0.625, 0.425], age) == pytest.approx(left)


def _curve(name: str) -> tuple[float, ...]:
    return load().get("residuals", name, Curve).value_frac


@pytest.mark.parametrize("age", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
def test_high_residual_is_epoch_at_whole_years(age: float) -> None:
    # Epoch AI: 0.14 orders of magnitude a year, so 10^-0.14 = 0.7244 is left after one; catalog has
    # 3 digits
    assert residual_frac(_curve("residual-high"), age) == pytest.approx(
        10 ** (-0.14 * age), abs=1e-3
    )


@given(st.floats(0.0, 6.0))
@QUICK
def test_linear_interpolation_stays_near_the_exponential(age: float) -> None:
    # chord above e^-kt with k = 0.14 ln 10 = 0.322: at most k^2/8 = 1.3 % of the value at the
    # year's start
    exact = 10 ** (-0.14 * age)
    # 10^-0.14 = 0.7244 in the catalog is 0.724, a rounding of 0.0005 more
    assert -0.001 <= residual_frac(_curve("residual-high"), age) - exact <= 0.0131 + 0.001


def test_residual_curves_are_ordered_and_never_rise() -> None:
    low, mid, high = (_curve(f"residual-{name}") for name in ("low", "mid", "high"))
    for age in range(7):
        assert low[age] <= mid[age] <= high[age]
    for curve in (low, mid, high):
        assert curve[0] == 1.0
        assert list(curve) == sorted(curve, reverse=True)


@pytest.mark.parametrize(
    ("life", "end"), [(4.0, 0.2), (6.0, 0.0), (1.0, 0.5), (5.0, 1.0), (2.5, 0.2)]
)
def test_residual_fraction_is_a_straight_line_then_flat(life: float, end: float) -> None:
    for age in (0.0, life / 4, life / 2, life, life + 3):
        expected = max(1 - (1 - end) * age / life, end)
        assert straight_residual_frac(age, life, end) == pytest.approx(expected), age


def test_end_of_life_in_the_middle_of_a_year_is_reached_then() -> None:
    # life 2.5 years, 20 % left: half way (1.25) 0.6, at 2.5 and later 0.2
    assert straight_residual_frac(1.25, 2.5, 0.2) == pytest.approx(0.6)
    assert straight_residual_frac(2.5, 2.5, 0.2) == pytest.approx(0.2)


@given(YEARS, st.floats(0.5, 40.0))
@QUICK
def test_straight_line_and_what_is_written_off_make_one(age: float, life: float) -> None:
    assert straight_line_frac(age, life) + min(age / life, 1.0) == pytest.approx(1.0)


def test_straight_line_by_hand() -> None:
    # a building of 20 years after 5: 15/20; after its life nothing, and never less
    assert straight_line_frac(5.0, 20.0) == 0.75
    assert straight_line_frac(20.0, 20.0) == 0.0
    assert straight_line_frac(25.0, 20.0) == 0.0
    assert math.isclose(straight_line_frac(0.0, 3.0), 1.0)


def test_internal_rate_by_hand() -> None:
    assert irr([-100.0, 110.0]).rate == pytest.approx(0.1)
    assert irr([-100.0, 0.0, 121.0]).rate == pytest.approx(0.1)
    assert irr([-100.0, 50.0]).rate == pytest.approx(-0.5)
    assert irr([-100.0, 50.0, 50.0]).rate == pytest.approx(0.0, abs=1e-12)
    assert irr([100.0, -110.0]).rate == pytest.approx(0.1)  # a loan
    assert irr([-1.0, 1e6]).rate == pytest.approx(999_999.0)


def test_no_change_of_sign_has_no_rate() -> None:
    for flows in ([1.0, 2.0], [-1.0, -2.0], [0.0, 0.0], [0.0, 5.0]):
        assert irr(flows).rates == ()
        assert irr(flows).rate is None


def test_more_than_one_rate_is_said_and_none_is_chosen() -> None:
    # (1 + i) = 1.1 or 1.2: -100 x² + 230 x - 132; three roots at 0, 100 and 200 %
    two = irr([-100.0, 230.0, -132.0])
    assert two.rates == pytest.approx((0.1, 0.2))
    assert two.rate is None
    assert irr([-1.0, 6.0, -11.0, 6.0]).rates == pytest.approx((0.0, 1.0, 2.0), abs=1e-9)


def test_two_changes_of_sign_may_have_no_rate_and_a_double_one_is_found() -> None:
    assert irr([1.0, -1.0, 1.0]).rates == ()
    assert irr([100.0, -220.0, 121.0]).rates == pytest.approx((0.1,), abs=1e-6)


def test_a_mine_with_clean_up_has_two_rates() -> None:
    # the sum is 5 above zero; late money weighs more below 0 %, so it sinks on both sides
    flows = [-100.0, *[20.0] * 10, -95.0]
    found = irr(flows)
    assert len(found.rates) == 2
    for rate in found.rates:
        assert present_value(flows, rate) == pytest.approx(0.0, abs=1e-7)


@given(FLOWS)
@QUICK
def test_every_internal_rate_makes_the_present_value_zero(flows: list[float]) -> None:
    found = irr(flows)
    assume(all(-0.9 < rate < 1e3 for rate in found.rates))
    for rate in found.rates:
        scale = present_value(np.abs(flows), rate)
        assert abs(present_value(flows, rate)) <= 1e-9 * scale
    assert list(found.rates) == sorted(found.rates)


@given(
    st.lists(st.floats(-0.5, 2.0).map(lambda x: round(x, 1)), min_size=1, max_size=4, unique=True)
)
@QUICK
def test_all_rates_of_a_flow_built_from_its_roots_are_found(rates: list[float]) -> None:
    flows = np.poly(
        [1.0 + r for r in rates]
    )  # in powers of (1 + i), highest first: the flow of time 0 first
    assert irr(flows).rates == pytest.approx(sorted(rates), abs=1e-5)


@given(
    st.floats(1.0, 1e6),
    st.lists(st.floats(0.0, 1e6).map(lambda x: round(x, 2)), min_size=1, max_size=60),
)
@QUICK
def test_an_investment_with_income_has_exactly_one_rate(spent: float, income: list[float]) -> None:
    assert len(irr([-spent, *income]).rates) == (1 if sum(income) > 0 else 0)


def test_irregular_times_and_long_horizons() -> None:
    assert irr([-100.0, 121.0], [0.0, 2.0]).rate == pytest.approx(0.1)
    assert irr([121.0, -100.0], [2.0, 0.0]).rate == pytest.approx(0.1)
    assert irr([-1000.0, *[12.0] * 480]).rate == pytest.approx(0.01196, abs=1e-5)
