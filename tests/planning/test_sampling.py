"""Samples: seeded, within bounds, stratified, with the moments of their distribution."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dcplan.economics.risk import (
    pert_mean,
    pert_variance,
    sum_variance,
    triangular_mean,
    triangular_variance,
)
from dcplan.economics.sampling import Marginal, samples
from tests.economics.published import GAO_LINES

INPUTS = {
    "triangle": Marginal(1.0, 2.0, 6.0),
    "pert": Marginal(1.0, 2.0, 6.0, "pert"),
    "flat": Marginal(1.0, 2.0, 6.0, "uniform"),
    "fixed": Marginal(3.0, 3.0, 3.0),
}


@pytest.mark.parametrize("method", ["latin-hypercube", "sobol"])
def test_moments_and_bounds_of_each_shape(method: str) -> None:
    drawn = samples(INPUTS, 4096, seed=7, method=method)
    assert drawn["triangle"].mean() == pytest.approx(triangular_mean(1, 2, 6), abs=2e-3)
    assert drawn["triangle"].var() == pytest.approx(triangular_variance(1, 2, 6), rel=1e-2)
    assert drawn["pert"].mean() == pytest.approx(pert_mean(1, 2, 6), abs=2e-3)
    assert drawn["pert"].var() == pytest.approx(pert_variance(1, 2, 6), rel=1e-2)
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
    low, likely, high = np.array(list(GAO_LINES.values()), dtype=float).T
    assert total.mean() == pytest.approx(82_244.0, abs=20.0)
    assert total.std() == pytest.approx(4_599.6, rel=0.02)
    assert total.std() == pytest.approx(
        sum_variance(triangular_variance(low, likely, high)) ** 0.5, rel=0.02
    )
    assert (total < likely.sum()).mean() < 0.2


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
