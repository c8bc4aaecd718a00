"""Moments of three-point estimates: by hand, and against samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.risk import (
    pert_mean,
    pert_variance,
    sum_variance,
    triangular_mean,
    triangular_quantile,
    triangular_variance,
)

QUICK = settings(max_examples=60, deadline=None)
THREE = st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3).map(sorted)


def test_triangle_by_hand() -> None:
    # 0, 0, 6: mean 2, variance 36 / 18 = 2
    assert triangular_mean(0, 0, 6) == 2.0
    assert triangular_variance(0, 0, 6) == pytest.approx(2.0)
    assert triangular_variance(5, 5, 5) == 0.0
    # half of the mass of 0, 0, 6 lies below 6 (1 - sqrt(1/2))
    assert triangular_quantile(0.5, 0, 0, 6) == pytest.approx(6 * (1 - 0.5**0.5))
    assert triangular_quantile(0.3, 5, 5, 5) == 5.0


def test_pert_by_hand() -> None:
    # 0, 1, 6: (0 + 4 + 6) / 6 = 5/3; (5/3)(13/3) / 7; (6/6)² = 1
    assert pert_mean(0, 1, 6) == pytest.approx(5 / 3)
    assert pert_variance(0, 1, 6) == pytest.approx(65 / 63)
    assert pert_variance(0, 1, 6, rule="one-sixth") == pytest.approx(1.0)
    assert pert_variance(6, 8, 18, rule="one-sixth") == pytest.approx(4.0)
    # without weight on the middle PERT is uniform: mean 3, variance 36/12
    assert pert_mean(0, 1, 6, weight=0.0) == 3.0
    assert pert_variance(0, 1, 6, weight=0.0) == pytest.approx(3.0)


@given(THREE)
@QUICK
def test_moments_are_those_of_the_quantile_function(three: list[float]) -> None:
    values = triangular_quantile((np.arange(20_000) + 0.5) / 20_000, *three)
    width = three[2] - three[0]
    assert values.mean() == pytest.approx(triangular_mean(*three), abs=1e-4 * width + 1e-9)
    assert values.var() == pytest.approx(triangular_variance(*three), abs=1e-3 * width**2 + 1e-9)
    assert values.min() >= three[0] - 1e-9
    assert values.max() <= three[2] + 1e-9
    assert (np.diff(values) >= -1e-9).all()


@given(THREE)
@QUICK
def test_pert_is_narrower_than_the_triangle(three: list[float]) -> None:
    assert pert_variance(*three) <= triangular_variance(*three) + 1e-9
    assert three[0] - 1e-9 <= pert_mean(*three) <= three[2] + 1e-9


def test_sums_of_lines() -> None:
    assert sum_variance([1.0, 4.0, 9.0]) == pytest.approx(14.0)
    assert sum_variance([1.0, 4.0, 9.0], 1.0) == pytest.approx(36.0)
    # in the middle of both: half of 14 and half of 36
    assert sum_variance([1.0, 4.0, 9.0], 0.5) == pytest.approx(25.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: triangular_mean(2, 1, 3), "needs low <= likely <= high"),
        (lambda: pert_mean(0, 4, 3), "needs low <= likely <= high"),
        (lambda: triangular_quantile(1.5, 0, 1, 2), "share must be from 0 to 1"),
        (lambda: sum_variance([1.0], 2.0), "correlation must be from 0 to 1"),
        (lambda: sum_variance([-1.0]), "variances must be at least 0"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
