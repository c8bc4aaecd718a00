"""Taxes: shields once, losses kept, schedules as the caller chose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.depreciation import book_value_usd, tax_depreciation_usd
from dcplan.economics.taxes import income_tax, property_tax_usd
from tests.economics import published as facts

US_LOSS_OFFSET_FRAC = 0.8
"""Internal Revenue Code, section 172(a)(2): of taxable income, since 2018."""

QUICK = settings(max_examples=80, deadline=None)
YEARS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12)
RATE = st.floats(0.0, 0.6)


def test_a_profitable_year_by_hand() -> None:
    # 100 of income less 30 of depreciation and 10 of interest: 60 x 21 % = 12.6
    tax = income_tax([100.0], [30.0], [10.0], rate_frac=0.21)
    assert tax.taxable_usd.tolist() == [60.0]
    assert tax.tax_usd.tolist() == pytest.approx([12.6])


def test_losses_wait_for_income_by_hand() -> None:
    # -100, then 60 and 80. All of it: 60 and 40 used, 40 taxed; 80 %: 48 and 52 used, 12 and 28
    # taxed
    full = income_tax([-100.0, 60.0, 80.0], 0.0, 0.0, rate_frac=0.25)
    assert full.loss_used_usd.tolist() == [0.0, 60.0, 40.0]
    assert full.loss_carried_usd.tolist() == [100.0, 40.0, 0.0]
    assert full.tax_usd.tolist() == pytest.approx([0.0, 0.0, 10.0])
    part = income_tax(
        [-100.0, 60.0, 80.0], 0.0, 0.0, rate_frac=0.25, offset_limit_frac=US_LOSS_OFFSET_FRAC
    )
    assert part.loss_used_usd.tolist() == pytest.approx([0.0, 48.0, 52.0])
    assert part.tax_usd.tolist() == pytest.approx([0.0, 3.0, 7.0])


def test_losses_of_a_cost_center_save_tax_at_once() -> None:
    # 20 of running cost and 80 of depreciation at 25 %: 25 saved elsewhere in the company
    tax = income_tax([-20.0], [80.0], 0.0, rate_frac=0.25, losses="used-at-once")
    assert tax.tax_usd.tolist() == [-25.0]
    assert tax.loss_carried_usd.tolist() == [0.0]


def test_an_opening_loss_is_used_and_refused_where_nothing_is_carried() -> None:
    tax = income_tax([50.0, 50.0], 0.0, 0.0, rate_frac=0.2, opening_loss_usd=70.0)
    assert tax.tax_usd.tolist() == pytest.approx([0.0, 6.0])
    with pytest.raises(ValueError, match="opening_loss_usd must be 0"):
        income_tax([50.0], 0.0, 0.0, rate_frac=0.2, losses="used-at-once", opening_loss_usd=1.0)


@given(YEARS, st.floats(0.0, 1e6), st.floats(0.0, 1e6), RATE)
@QUICK
def test_each_shield_counts_once(
    income: list[float], depreciation: float, interest: float, rate: float
) -> None:
    n = len(income)
    with_both = income_tax(
        income, [depreciation] * n, [interest] * n, rate_frac=rate, losses="used-at-once"
    ).tax_usd
    bare = income_tax(income, 0.0, 0.0, rate_frac=rate, losses="used-at-once").tax_usd
    assert bare - with_both == pytest.approx(np.full(n, rate * (depreciation + interest)), abs=1e-6)


@given(YEARS, RATE, st.floats(0.0, 1.0))
@QUICK
def test_no_loss_is_made_or_lost(income: list[float], rate: float, limit: float) -> None:
    tax = income_tax(income, 0.0, 0.0, rate_frac=rate, offset_limit_frac=limit)
    losses = np.maximum(-np.array(income), 0.0)
    assert losses.sum() == pytest.approx(
        tax.loss_used_usd.sum() + tax.loss_carried_usd[-1], abs=1e-6
    )
    assert (tax.tax_usd >= -1e-9).all()
    assert (tax.loss_used_usd <= limit * np.maximum(income, 0.0) + 1e-9).all()
    at_once = income_tax(income, 0.0, 0.0, rate_frac=rate, losses="used-at-once").tax_usd.sum()
    assert tax.tax_usd.sum() == pytest.approx(at_once + rate * tax.loss_carried_usd[-1], abs=1e-6)


def test_samples_have_their_own_rates_and_basis() -> None:
    depreciation = tax_depreciation_usd(np.array([100.0, 200.0]), facts.MACRS_5)
    tax = income_tax(np.full(6, 50.0), depreciation, 0.0, rate_frac=np.array([0.2, 0.3]))
    assert tax.tax_usd.shape == (2, 6)
    assert tax.tax_usd[0, 0] == pytest.approx(0.2 * (50 - 20))
    # second sample: 50 - 40 = 10, then 50 - 64 = -14, then 50 - 38.4 - 14 < 0
    assert tax.tax_usd[1, :3].tolist() == pytest.approx([3.0, 0.0, 0.0])
    only_limit = income_tax(
        [-1.0, 1.0], 0.0, 0.0, rate_frac=0.5, offset_limit_frac=np.array([0.0, 1.0])
    )
    assert only_limit.tax_usd.tolist() == [[0.0, 0.5], [0.0, 0.0]]


def test_property_tax_on_a_schedule_and_on_book_value() -> None:
    # 800, 500 and 200, a tenth of it assessed, 2 %: 1.6, 1.0, 0.4
    value = [800.0, 500.0, 200.0]
    assert property_tax_usd(value, 0.02, assessment_frac=0.1).tolist() == pytest.approx(
        [1.6, 1.0, 0.4]
    )
    book = book_value_usd(1000.0, [200.0, 320.0])
    assert property_tax_usd(book, 0.01, abated_frac=[1.0, 0.5]).tolist() == pytest.approx(
        [0.0, 2.4]
    )
    rows = property_tax_usd([[100.0, 100.0], [200.0, 200.0]], np.array([0.01, 0.02]))
    assert rows.tolist() == [[1.0, 1.0], [4.0, 4.0]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: income_tax([1.0], 0.0, 0.0, rate_frac=21),
            "rate_frac must be from 0 to 1, got 21",
        ),
        (
            lambda: income_tax([1.0], 0.0, 0.0, rate_frac=0.2, opening_loss_usd=-1.0),
            "opening_loss_usd must be",
        ),
        (lambda: property_tax_usd([1.0], 0.01, abated_frac=2.0), "abated_frac must be from 0 to 1"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
