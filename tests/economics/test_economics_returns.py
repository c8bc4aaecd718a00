"""NPV, IRR (none, one, several), MIRR, payback."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.economics.returns import (
    dated_npv_usd,
    first_crossing,
    irr,
    mirr,
    payback_months,
    periodic_npv_usd,
)

QUICK = settings(max_examples=80, deadline=None)
FLOWS = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=2, max_size=40)


def test_net_present_value_by_hand_at_begin_middle_and_end() -> None:
    # 121 in the second of two periods at 10 %
    assert periodic_npv_usd([0.0, 121.0], 0.1, timing="begin") == pytest.approx(110.0)
    assert periodic_npv_usd([0.0, 121.0], 0.1, timing="end") == pytest.approx(100.0)
    assert periodic_npv_usd([0.0, 121.0], 0.1, timing="mid") == pytest.approx(121 / 1.1**1.5)
    assert periodic_npv_usd([1.0, 2.0, 3.0], 0.0) == 6.0


def test_dated_flows_come_in_any_order_and_agree_with_periods() -> None:
    assert dated_npv_usd([110.0, -100.0], [365, 0], 0.1, days_per_year=365) == pytest.approx(0.0)
    assert dated_npv_usd([-100.0, 110.0], [0, 365], 0.1, days_per_year=365.25) > 0.0
    flows = [-5.0, 1.0, 2.0, 3.0]
    dated = dated_npv_usd(flows, [0, 365, 730, 1095], 0.07, days_per_year=365)
    assert dated == pytest.approx(periodic_npv_usd(flows, 0.07, timing="begin"))


def test_samples_have_their_own_flows_or_rates() -> None:
    assert periodic_npv_usd([[1.0, 1.0], [2.0, 2.0]], np.array([0.0, 1.0])).tolist() == [2.0, 1.5]
    assert periodic_npv_usd([1.0, 1.0], np.array([0.0, 1.0])).tolist() == [2.0, 0.75]
    assert periodic_npv_usd([[1.0, 1.0], [2.0, 2.0]], 0.0).tolist() == [2.0, 4.0]


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
        assert periodic_npv_usd(flows, rate, timing="begin") == pytest.approx(0.0, abs=1e-7)


@given(FLOWS)
@QUICK
def test_every_internal_rate_makes_the_present_value_zero(flows: list[float]) -> None:
    found = irr(flows)
    assume(all(-0.9 < rate < 1e3 for rate in found.rates))
    for rate in found.rates:
        scale = periodic_npv_usd(np.abs(flows), rate, timing="begin")
        assert abs(periodic_npv_usd(flows, rate, timing="begin")) <= 1e-9 * scale
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


def test_modified_rate_by_hand() -> None:
    # -100 now, 60 and 60 later reinvested at 10 %: 66 + 60 = 126; sqrt(1.26) - 1
    assert mirr([-100.0, 60.0, 60.0], 0.05, 0.10) == pytest.approx(1.26**0.5 - 1)
    assert mirr([100.0, 10.0], 0.1, 0.1) is None
    # at the internal rate itself all three are one
    rate = irr([-100.0, 60.0, 60.0]).rate
    assert mirr([-100.0, 60.0, 60.0], rate, rate) == pytest.approx(rate)


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
        (lambda: periodic_npv_usd([1.0], -1.0), "rate_per_period must be above -1"),
        (
            lambda: dated_npv_usd([1.0], [0], -1.0, days_per_year=365),
            "rate_per_year must be above -1",
        ),
        (lambda: payback_months([1.0], -1.0), "rate_per_month must be above -1"),
        (lambda: periodic_npv_usd([np.nan], 0.1), "flows_usd must be a number"),
        (lambda: dated_npv_usd([1.0], [0], 0.1, days_per_year=0), "days_per_year must be above 0"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
