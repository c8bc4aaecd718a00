"""Depreciation: tax tables, straight line, market value; the books always close."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import DepreciationTable
from dcplan.economics.depreciation import (
    book_value_usd,
    economic_value_usd,
    straight_line_usd,
    tax_depreciation_usd,
)
from tests.economics import published as facts

QUICK = settings(max_examples=80, deadline=None)


def catalog_shares(name: str) -> tuple[float, ...]:
    return load().get("depreciation", name, DepreciationTable).share_frac


def test_the_catalog_row_of_macrs_is_the_published_table() -> None:
    assert catalog_shares("macrs-5") == pytest.approx(facts.MACRS_5, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "life"), [("straight-line-5", 5), ("straight-line-6", 6), ("building-39", 39)]
)
def test_the_catalog_rows_of_straight_line_are_what_the_method_gives(name: str, life: int) -> None:
    assert straight_line_usd(1.0, life) == pytest.approx(catalog_shares(name), abs=3e-6)


def test_every_catalog_row_writes_off_its_basis() -> None:
    for name in ("macrs-5", "bonus-100", "straight-line-5", "straight-line-6", "building-39"):
        assert tax_depreciation_usd(1e9, catalog_shares(name)).sum() == pytest.approx(
            1e9, rel=1e-12
        )


@given(st.floats(0.0, 1e10), st.floats(0.0, 1.0), st.floats(2.0, 20.0))
@QUICK
def test_book_and_accumulated_make_the_cost_in_every_year(
    cost: float, bonus: float, life: float
) -> None:
    for charge in (
        tax_depreciation_usd(cost, facts.MACRS_5, bonus_frac=bonus),
        straight_line_usd(cost, life),
    ):
        assert charge.sum() == pytest.approx(cost, rel=1e-9)
        assert book_value_usd(cost, charge) + np.cumsum(charge) == pytest.approx(
            np.full(len(charge), cost)
        )
        assert (charge >= 0).all()


@given(st.floats(0.0, 0.9), st.floats(0.01, 0.1))
@QUICK
def test_a_bonus_only_moves_deductions_forward(bonus: float, more: float) -> None:
    less, much = (
        tax_depreciation_usd(1.0, facts.MACRS_5, bonus_frac=b) for b in (bonus, bonus + more)
    )
    assert (np.cumsum(much) >= np.cumsum(less) - 1e-12).all()


def test_bonus_by_hand_and_by_sample() -> None:
    # 60 % at once, 40 % over two years: 60 + 20, 20
    assert tax_depreciation_usd(100.0, [0.5, 0.5], bonus_frac=0.6).tolist() == pytest.approx(
        [80, 20]
    )
    rows = tax_depreciation_usd(
        np.array([100.0, 200.0]), [0.5, 0.5], bonus_frac=np.array([0.0, 1.0])
    )
    assert rows.tolist() == [[50.0, 50.0], [200.0, 0.0]]


def test_straight_line_with_salvage_broken_life_and_late_start() -> None:
    # 1,000 less 100 over 2.5 years, half of the first year: 180, 360, 360
    assert straight_line_usd(
        1000.0, 2.5, salvage_usd=100.0, first_year_frac=0.5
    ).tolist() == pytest.approx([180.0, 360.0, 360.0])
    assert straight_line_usd(100.0, 0.5).tolist() == [100.0]
    assert straight_line_usd(100.0, 5)[:5].tolist() == pytest.approx([20.0] * 5)


def test_market_value_falls_by_orders_of_magnitude() -> None:
    # half an order in a year leaves 10^-0.5 = 0.316; two years a tenth; a negative trend gains
    assert economic_value_usd(1000.0, 1.0, 0.5) == pytest.approx(316.2278)
    assert economic_value_usd(1000.0, 2.0, 0.5) == pytest.approx(100.0)
    assert economic_value_usd(1000.0, 1.0, -0.5) == pytest.approx(3162.278)
    # Epoch AI, 0.14: 27.6 % in a year
    assert economic_value_usd(1.0, 1.0, 0.14) == pytest.approx(1 - 0.27556, abs=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tax_depreciation_usd(100.0, [0.5, 0.4]), "shares_frac must sum to 1, got 0.9"),
        (
            lambda: tax_depreciation_usd(100.0, [1.0], bonus_frac=1.2),
            "bonus_frac must be from 0 to 1",
        ),
        (lambda: tax_depreciation_usd(-1.0, [1.0]), "basis_usd must be at least 0"),
        (lambda: straight_line_usd(100.0, 0), "life_years must be above 0"),
        (
            lambda: straight_line_usd(100.0, 5, salvage_usd=200.0),
            "cost_usd less salvage_usd must be at least 0",
        ),
        (lambda: economic_value_usd(1.0, -1.0, 0.1), "years must be at least 0"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
