"""Tariffs: prices by tier."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.economics.tariffs import tiered_usd


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
        (lambda: tiered_usd(-1.0, [], [1.0]), "quantity must be at least 0"),
        (lambda: tiered_usd(1.0, [10.0, 5.0], [1, 1, 1]), "tier_ends must rise"),
        (lambda: tiered_usd(1.0, [10.0], [1.0]), "tier_ends must rise"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
