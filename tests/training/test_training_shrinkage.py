"""The fit of a few constants, against the algebra of a normal prior and normal errors."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.training.shrinkage import Priors, half_width_frac, left_out, shrink

SMALL = 0.003  # a tenth of the noise: the loss is square here to 0.3 %


def _one(width: float = 0.03, most: float = np.inf) -> Priors:
    return Priors(np.array([1.0]), np.array([width]), np.array([most]))


def _same(count: int):  # type: ignore[no-untyped-def]
    """Runs whose step time is the constant itself."""
    return lambda values: np.repeat(values, count, axis=1)


@pytest.mark.parametrize(
    ("runs", "width", "share"),
    # weight of the runs: n s^2 / (n s^2 + u^2) with noise u = 0.03
    [(1, 0.03, 1 / 2), (2, 0.03, 2 / 3), (1, 0.06, 4 / 5), (4, 0.015, 1 / 2)],
)
def test_a_small_error_is_shared_between_prior_and_runs(
    runs: int, width: float, share: float
) -> None:
    measured = np.full(runs, np.exp(SMALL))
    found = shrink(_same(runs), measured, _one(width), noise=0.03)
    assert np.log(found.value[0]) == pytest.approx(share * SMALL, rel=0.01)
    assert found.informed[0] == pytest.approx(share, rel=0.01)
    assert found.moved[0] == pytest.approx(share * SMALL / width, rel=0.01)
    # variance after: 1 / (1 / s^2 + n / u^2) = s^2 (1 - share)
    assert found.spread(np.array([width]))[0] == pytest.approx(width * np.sqrt(1 - share), rel=0.01)


def test_a_constant_that_no_run_depends_on_keeps_its_prior() -> None:
    priors = Priors(np.array([1.0, 7.0]), np.array([0.3, 0.3]), np.array([np.inf, np.inf]))
    found = shrink(lambda v: v[:, :1], np.array([1.2]), priors, noise=0.03)
    assert found.value[1] == pytest.approx(7.0, rel=1e-9)
    assert found.informed[1] == pytest.approx(0.0, abs=1e-12)
    assert found.value[0] > 1.1


def test_a_fraction_stays_at_its_bound() -> None:
    found = shrink(_same(1), np.array([1.5]), _one(0.3, most=1.1), noise=0.03)
    assert found.value[0] == pytest.approx(1.1, rel=1e-6)


def test_one_odd_run_of_five_moves_the_constant_by_less_than_its_share() -> None:
    measured = np.array([1.0, 1.0, 1.0, 1.0, 3.0])
    found = shrink(_same(5), measured, _one(0.3), noise=0.03)
    assert np.log(found.value[0]) < np.log(3.0) / 5.0 / 4.0


def test_a_run_with_weight_zero_does_not_count() -> None:
    found = shrink(
        _same(2), np.array([1.0, 3.0]), _one(0.3), noise=0.03, weight=np.array([1.0, 0.0])
    )
    assert found.value[0] == pytest.approx(1.0, rel=1e-6)


def test_each_run_is_predicted_by_the_others() -> None:
    """With equal widths a single run moves the constant half of its way: from 0.006 to 0.003."""
    measured = np.array([1.0, np.exp(2 * SMALL)])
    errors = left_out(_same(2), measured, _one(), noise=0.03)
    assert errors == pytest.approx([SMALL, -2 * SMALL], rel=0.02)


@pytest.mark.parametrize(
    ("count", "rank"),
    # ceil(0.8 (n + 1)), at most n
    [(1, 1), (3, 3), (4, 4), (5, 5), (9, 8), (19, 16)],
)
def test_the_half_width_is_the_error_of_that_rank(count: int, rank: int) -> None:
    logs = np.log1p(np.arange(1, count + 1) / 100.0) * np.where(np.arange(count) % 2, 1, -1)
    assert half_width_frac(logs, 0.8) == pytest.approx(rank / 100.0)
