"""The change of price that two commitments imply; prices may rise."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.economics.price_trend import implied_yearly_factor, term_weight

QUICK = settings(max_examples=80, deadline=None)


def test_three_years_at_the_same_price_imply_no_change_and_dearer_ones_a_rise() -> None:
    assert implied_yearly_factor(2.0, 1, 2.0, 3) == pytest.approx(1.0)
    # 1 + r + r² = 3 x 7/3 = 7: r = 2
    assert implied_yearly_factor(1.0, 1, 7 / 3, 3) == pytest.approx(2.0)
    # three years for the price of one: 1 + r + r² = 1, r = 0
    assert implied_yearly_factor(3.0, 1, 1.0, 3) == pytest.approx(0.0, abs=1e-9)


@given(st.floats(0.05, 3.0), st.floats(0.25, 3.0), st.floats(0.25, 3.0), st.floats(0.1, 100.0))
@QUICK
def test_the_factor_behind_two_terms_is_found_again(
    factor: float, short: float, more: float, first_usd: float
) -> None:
    long = short + more
    quotes = [first_usd * term_weight(factor, years) / years for years in (short, long)]
    assume(long > 1.01)
    assert implied_yearly_factor(quotes[0], short, quotes[1], long) == pytest.approx(
        factor, rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: implied_yearly_factor(6.0, 1, 1.0, 3), "no yearly factor fits"),
        (lambda: implied_yearly_factor(1.0, 3, 1.0, 1), "long_years must be above short_years"),
        (
            lambda: implied_yearly_factor(1.0, 0.25, 1.0, 0.5),
            "both terms end within the first year",
        ),
        (lambda: implied_yearly_factor(0.0, 1, 1.0, 3), "short_usd must be above 0"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
