"""Samples of uncertain inputs: low, value and high become a distribution each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, as_value, within

Shape = Literal["triangular", "pert", "uniform"]
Method = Literal["latin-hypercube", "sobol"]
PERT_WEIGHT = 4.0
"""Weight of the most likely value relative to an end, in PERT of 1959."""


def _ordered(low: Value, likely: Value, high: Value) -> tuple[Array, Array, Array]:
    a, b, c = within("low", low), within("likely", likely), within("high", high)
    if np.any((a > b) | (b > c)):
        msg = "a three-point estimate needs low <= likely <= high"
        raise ValueError(msg)
    return a, b, c


def triangular_quantile(share: npt.ArrayLike, low: Value, likely: Value, high: Value) -> Value:
    """Return the quantile of the triangular distribution for a share.

    Parameters
    ----------
    share : float or array
        0 to 1. [-]
    low, likely, high : float or array
        In order; all three equal give that value.

    Examples
    --------
    >>> triangular_quantile(0.5, 0.0, 1.0, 2.0), triangular_quantile(0.125, 0.0, 1.0, 2.0)
    (1.0, 0.5)
    """
    a, b, c = _ordered(low, likely, high)
    q, width = within("share", share, 0.0, 1.0), c - a
    left = a + np.sqrt(q * width * (b - a))
    right = c - np.sqrt((1.0 - q) * width * (c - b))
    return as_value(np.where(q * width < b - a, left, right))


def pert_mean(low: Value, likely: Value, high: Value, *, weight: Value = PERT_WEIGHT) -> Value:
    """Return the mean of PERT: (a + w b + c) / (w + 2).

    Examples
    --------
    >>> pert_mean(1.0, 2.0, 9.0)
    3.0
    """
    a, b, c = _ordered(low, likely, high)
    w = within("weight", weight, 0.0)
    return as_value((a + w * b + c) / (w + 2.0))


@dataclass(frozen=True)
class Marginal:
    """One input: its bounds, its most likely value, and its distribution."""

    low: float
    value: float
    high: float
    shape: Shape = "triangular"

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            three = f"{self.low:g}, {self.value:g}, {self.high:g}"
            msg = f"an uncertain input needs low <= value <= high, got {three}"
            raise ValueError(msg)

    def quantile(self, share: Array) -> Array:
        """Return the quantiles of these shares."""
        width = self.high - self.low
        if width == 0.0:
            return np.full(share.shape, self.value)
        if self.shape == "uniform":
            return np.asarray(self.low + share * width)
        if self.shape == "triangular":
            return np.asarray(triangular_quantile(share, self.low, self.value, self.high))
        from scipy.special import betaincinv

        mean = float(pert_mean(self.low, self.value, self.high))
        a = (PERT_WEIGHT + 2.0) * (mean - self.low) / width
        return np.asarray(self.low + width * betaincinv(a, PERT_WEIGHT + 2.0 - a, share))


def samples(
    inputs: Mapping[str, Marginal],
    count: int,
    *,
    seed: int,
    method: Method = "latin-hypercube",
    correlation: npt.ArrayLike | None = None,
) -> dict[str, Array]:
    """Sample all inputs together; the same seed gives the same samples.

    Parameters
    ----------
    inputs : mapping of name to Marginal
        Inputs; their order changes the samples.
    count : int
        Number of samples, at least 1; a power of two is best for "sobol".
    seed : int
        Seed of the scrambling.
    method : {"latin-hypercube", "sobol"}
        Each marginal is stratified in ``count`` parts, or the points fill the cube evenly.
    correlation : array, shape (inputs, inputs), optional
        Correlation of a Gaussian copula, positive definite; None for independent inputs. Prices of hardware and
        of rent move together. Of correlated inputs only the first stays exactly stratified.

    Returns
    -------
    dict of name to array, shape (count,)

    Raises
    ------
    ValueError
        When there are no samples, or the matrix is not a correlation of the inputs.

    References
    ----------
    .. [1] M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21, 1979; I. M. Sobol', 1967;
       scipy.stats.qmc.

    Examples
    --------
    >>> sampled = samples({"price": Marginal(1.0, 2.0, 6.0)}, 1000, seed=1)
    >>> sampled["price"].shape, round(float(sampled["price"].mean()), 2)
    ((1000,), 3.0)
    """
    if count < 1:
        msg = f"at least one sample is needed, got {count}"
        raise ValueError(msg)
    if not inputs:
        return {}
    points = unit_points(len(inputs), count, seed, method)
    if correlation is not None:
        points = _correlated(np.asarray(points), np.asarray(correlation, dtype=np.float64))
    return {
        name: marginal.quantile(points[:, k]) for k, (name, marginal) in enumerate(inputs.items())
    }


def unit_points(dimensions: int, count: int, seed: int, method: Method) -> Array:
    """Return seeded points that fill the unit cube evenly, shape (count, dimensions)."""
    from scipy.stats import qmc  # needs more than a second to import

    if method == "sobol":
        return np.asarray(
            qmc.Sobol(dimensions, seed=seed).random_base2(int(np.ceil(np.log2(count))))[:count]
        )
    return np.asarray(qmc.LatinHypercube(dimensions, seed=seed).random(count))


def _correlated(points: Array, correlation: Array) -> Array:
    from scipy.special import ndtr, ndtri

    size = points.shape[1]
    if correlation.shape != (size, size) or not np.allclose(np.diag(correlation), 1.0):
        msg = f"correlation must be {size} x {size} with ones on its diagonal"
        raise ValueError(msg)
    if not np.allclose(correlation, correlation.T) or np.linalg.eigvalsh(correlation).min() <= 0.0:
        msg = "correlation must be symmetric and positive definite"
        raise ValueError(msg)
    normal = ndtri(np.clip(points, 1e-12, 1.0 - 1e-12))
    return np.asarray(ndtr(normal @ np.linalg.cholesky(correlation).T))
