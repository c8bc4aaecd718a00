"""Rates by period and year, real and nominal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.rates import nominal_rate, periodic_rate, real_rate, yearly_rate
from dcplan.economics.returns import periodic_npv_usd

QUICK = settings(max_examples=80, deadline=None)


def test_the_yearly_rate_is_nominal_or_effective() -> None:
    assert periodic_rate(0.12, 12) == pytest.approx(0.01)
    assert (1 + periodic_rate(0.12, 12, "effective")) ** 12 == pytest.approx(1.12)
    assert periodic_rate(0.0, 12, "effective") == 0.0
    # 1.01^12 = 1.126825
    assert yearly_rate(0.01, 12) == pytest.approx(0.12682503)


@given(
    st.floats(-0.5, 1.0),
    st.sampled_from([1.0, 4.0, 12.0]),
    st.sampled_from(["nominal", "effective"]),
)
@QUICK
def test_years_and_periods_go_there_and_back(rate: float, periods: float, compounding: str) -> None:
    back = yearly_rate(periodic_rate(rate, periods, compounding), periods, compounding)
    assert back == pytest.approx(rate, abs=1e-12)


@given(st.floats(-0.5, 1.0), st.floats(-0.2, 0.5))
@QUICK
def test_fisher_goes_there_and_back(nominal: float, inflation: float) -> None:
    assert nominal_rate(real_rate(nominal, inflation), inflation) == pytest.approx(
        nominal, abs=1e-12
    )
    assert real_rate(nominal, 0.0) == pytest.approx(nominal)


@given(st.floats(0.0, 0.2), st.floats(-0.05, 0.1), st.integers(1, 30))
@QUICK
def test_real_flows_at_the_real_rate_are_worth_nominal_flows_at_the_nominal_one(
    nominal: float, inflation: float, years: int
) -> None:
    grown = 100.0 * (1 + inflation) ** np.arange(1, years + 1)
    real = periodic_npv_usd(np.full(years, 100.0), real_rate(nominal, inflation))
    assert periodic_npv_usd(grown, nominal) == pytest.approx(real)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: real_rate(0.1, -1.0), "inflation must be above -1"),
        (lambda: real_rate(-1.0, 0.1), "nominal_rate must be above -1"),
        (lambda: nominal_rate(-1.0, 0.1), "real_rate must be above -1"),
        (lambda: periodic_rate(-1.0, 12), "rate_per_year must be above -1"),
        (lambda: periodic_rate(0.1, 0), "periods_per_year must be above 0"),
        (lambda: yearly_rate(-1.0, 12), "rate_per_period must be above -1"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
