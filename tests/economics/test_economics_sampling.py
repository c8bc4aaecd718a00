"""Samples: seeded, within bounds, stratified, with the moments of their distribution."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.economics.sampling import PERT_WEIGHT, Marginal, pert_mean, samples, triangular_quantile
from tests.economics.published import GAO_LINES

THREE = st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3).map(sorted)

INPUTS = {
    "triangle": Marginal(1.0, 2.0, 6.0),
    "pert": Marginal(1.0, 2.0, 6.0, "pert"),
    "flat": Marginal(1.0, 2.0, 6.0, "uniform"),
    "fixed": Marginal(3.0, 3.0, 3.0),
}


def triangular_moments(low: float, likely: float, high: float) -> tuple[float, float]:
    """Mean and variance in closed form: (a + b + c) / 3, and squared distances over 36."""
    squares = (likely - low) ** 2 + (high - likely) ** 2 + (high - low) ** 2
    return (low + likely + high) / 3, squares / 36


def test_quantiles_of_a_triangle_by_hand() -> None:
    # half of the mass of 0, 0, 6 lies below 6 (1 - sqrt(1/2))
    assert triangular_quantile(0.5, 0, 0, 6) == pytest.approx(6 * (1 - 0.5**0.5))
    assert triangular_quantile(0.3, 5, 5, 5) == 5.0


def test_mean_of_pert_by_hand() -> None:
    # 0, 1, 6: (0 + 4 + 6) / 6 = 5/3; without weight on the middle PERT is uniform: mean 3
    assert pert_mean(0, 1, 6) == pytest.approx(5 / 3)
    assert pert_mean(0, 1, 6, weight=0.0) == 3.0


@given(THREE)
@settings(max_examples=60, deadline=None)
def test_moments_are_those_of_the_quantile_function(three: list[float]) -> None:
    values = triangular_quantile((np.arange(20_000) + 0.5) / 20_000, *three)
    mean, variance = triangular_moments(*three)
    width = three[2] - three[0]
    assert values.mean() == pytest.approx(mean, abs=1e-4 * width + 1e-9)
    assert values.var() == pytest.approx(variance, abs=1e-3 * width**2 + 1e-9)
    assert values.min() >= three[0] - 1e-9
    assert values.max() <= three[2] + 1e-9
    assert (np.diff(values) >= -1e-9).all()


@pytest.mark.parametrize("method", ["latin-hypercube", "sobol"])
def test_moments_and_bounds_of_each_shape(method: str) -> None:
    drawn = samples(INPUTS, 4096, seed=7, method=method)
    mean, variance = triangular_moments(1, 2, 6)
    assert drawn["triangle"].mean() == pytest.approx(mean, abs=2e-3)
    assert drawn["triangle"].var() == pytest.approx(variance, rel=1e-2)
    # 1, 2, 6: (1 + 8 + 6) / 6 = 2.5; of the beta distribution 1.5 x 3.5 / (4 + 3) = 0.75
    assert PERT_WEIGHT == 4.0
    assert drawn["pert"].mean() == pytest.approx(2.5, abs=2e-3)
    assert drawn["pert"].var() == pytest.approx(0.75, rel=1e-2)
    assert drawn["flat"].mean() == pytest.approx(3.5, abs=2e-3)
    assert drawn["flat"].var() == pytest.approx(25 / 12, rel=1e-2)
    assert (drawn["fixed"] == 3.0).all()
    for values in drawn.values():
        assert values.min() >= 1.0
        assert values.max() <= 6.0


@pytest.mark.parametrize("method", ["latin-hypercube", "sobol"])
def test_one_seed_one_sample(method: str) -> None:
    first, again, other = (samples(INPUTS, 64, seed=seed, method=method) for seed in (1, 1, 2))
    for name in ("triangle", "pert", "flat"):
        assert (first[name] == again[name]).all()
        assert (first[name] != other[name]).any()


def test_each_stratum_of_a_latin_hypercube_holds_one_sample() -> None:
    flat = np.sort(samples({"x": Marginal(0.0, 0.5, 1.0, "uniform")}, 100, seed=3)["x"])
    assert (np.floor(flat * 100) == np.arange(100)).all()


def test_the_total_of_gao_has_its_analytic_moments_and_lies_above_the_likely_sum() -> None:
    lines = {name: Marginal(*three) for name, three in GAO_LINES.items()}
    total = sum(samples(lines, 8192, seed=11).values())
    likely = sum(three[1] for three in GAO_LINES.values())
    assert likely / 1e3 == pytest.approx(77.0, abs=0.5)  # GAO prints 77 million USD a unit
    moments = [triangular_moments(*three) for three in GAO_LINES.values()]
    assert total.mean() == pytest.approx(sum(m for m, _ in moments), abs=20.0)
    assert total.std() == pytest.approx(sum(v for _, v in moments) ** 0.5, rel=0.02)
    assert (total < likely).mean() < 0.2


def test_correlated_inputs_move_together_and_keep_their_own_distribution() -> None:
    two = {"price": Marginal(1.0, 2.0, 6.0), "rent": Marginal(10.0, 20.0, 60.0)}
    drawn = samples(two, 4096, seed=5, correlation=[[1.0, 0.8], [0.8, 1.0]])
    assert np.corrcoef(drawn["price"], drawn["rent"])[0, 1] == pytest.approx(0.79, abs=0.03)
    assert drawn["rent"].mean() == pytest.approx(30.0, abs=0.3)
    alone = samples(two, 4096, seed=5)
    assert abs(np.corrcoef(alone["price"], alone["rent"])[0, 1]) < 0.05
    assert alone["price"] == pytest.approx(drawn["price"], abs=1e-6)


def test_one_sample_and_no_inputs() -> None:
    assert samples(INPUTS, 1, seed=1, method="sobol")["flat"].shape == (1,)
    assert samples({}, 10, seed=1) == {}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Marginal(2.0, 1.0, 3.0), "needs low <= value <= high"),
        (lambda: pert_mean(0, 4, 3), "needs low <= likely <= high"),
        (lambda: triangular_quantile(1.5, 0, 1, 2), "share must be from 0 to 1"),
        (lambda: samples(INPUTS, 0, seed=1), "at least one sample is needed"),
        (lambda: samples(INPUTS, 4, seed=1, correlation=[[1.0]]), "correlation must be 4 x 4"),
        (
            lambda: samples(
                {"a": INPUTS["flat"], "b": INPUTS["flat"]}, 4, seed=1, correlation=[[1, 2], [2, 1]]
            ),
            "positive definite",
        ),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]


def test_the_module_loads_without_scipy() -> None:
    code = "import sys, dcplan.economics.sampling; print('scipy' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "False\n"
    )
