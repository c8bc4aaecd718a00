"""Prices by year, in steps, and as commitments imply; they may rise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.economics.price_trend import (
    forward_prices_usd,
    implied_yearly_factor,
    price_at_usd,
    price_by_year_usd,
    stepped_price_usd,
    term_weight,
)

QUICK = settings(max_examples=80, deadline=None)


def test_steady_change_by_hand() -> None:
    # 4 USD falling by a quarter: 4, 3, 2.25; rising by a half: 4, 6, 9
    assert price_by_year_usd(4.0, 0.75, 3).tolist() == [4.0, 3.0, 2.25]
    assert price_at_usd(4.0, -0.25, [0, 1, 2]).tolist() == [4.0, 3.0, 2.25]
    assert price_at_usd(4.0, 0.5, [0, 1, 2]).tolist() == [4.0, 6.0, 9.0]
    assert price_at_usd(4.0, 0.21, [0.5]).tolist() == pytest.approx([4.4])
    assert price_at_usd(4.0, -1.0, [0.0, 1.0]).tolist() == [4.0, 0.0]


def test_samples_have_a_row_each() -> None:
    assert price_at_usd(np.array([1.0, 2.0]), np.array([0.0, 1.0]), [0, 1]).tolist() == [
        [1.0, 1.0],
        [2.0, 4.0],
    ]
    assert price_by_year_usd(2.0, np.array([0.5, 1.0]), 2).tolist() == [[2.0, 1.0], [2.0, 2.0]]


def test_steps_hold_from_their_time_on() -> None:
    # AWS p5 on demand: 98.32 USD/h, 55.04 from June 2025
    assert stepped_price_usd(
        98.32, [(1.0, 55.04), (2.0, 60.0)], [0.0, 0.99, 1.0, 5.0]
    ).tolist() == [*(98.32, 98.32, 55.04, 60.0)]
    assert stepped_price_usd(3.0, [], [0.0, 9.0]).tolist() == [3.0, 3.0]


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


@given(st.floats(0.05, 2.0), st.integers(1, 5), st.floats(0.1, 100.0))
@QUICK
def test_single_years_cost_what_their_term_costs(factor: float, years: int, usd: float) -> None:
    assert forward_prices_usd(usd, years, factor, years).mean() == pytest.approx(usd)


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
        (lambda: price_at_usd(1.0, -1.5, [1.0]), "change_frac_per_year must be at least -1"),
        (lambda: price_by_year_usd(1.0, 0.5, 0), "years must be at least 1"),
        (
            lambda: stepped_price_usd(1.0, [(2.0, 1.0), (1.0, 1.0)], [0.0]),
            "the steps must rise in time",
        ),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
