"""Fit the fractions of :mod:`dcplan.llm.kernels` to measured kernel times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.llm.coefficients import AttentionRamp, Tiling
from dcplan.llm.kernels import attention_backward_s, attention_s, gemm_s, grouped_gemm_s
from dcplan.llm.tables import Array
from dcplan.units import HALF_BYTES

FIT_LARGE_FRAC = 0.25
"""Transfers of at least this share of the largest one count as large."""
FIT_DRAWS = 200
"""Number of resamples of the shapes for the bounds of a depth."""
FRACTION_GRID = np.geomspace(0.005, 1.0, 161)
DEPTH_GRID = np.concatenate([np.arange(0.0, 512.0, 16.0), np.geomspace(512.0, 4096.0, 61)])
ROW_GRID = np.concatenate([np.arange(1.0, 64.0), np.geomspace(64.0, 8192.0, 225)])
UNBOUND = 1e30
"""A rate so high that its term takes no time."""


@dataclass(frozen=True)
class Fitted:
    """One quantity with its bounds.

    It also has the number of measurements and their mean absolute log error.
    """

    value: float
    low: float
    high: float
    points: int
    error: float


@dataclass(frozen=True)
class Products:
    """Measured matrix products m x k by k x n with inputs of one width.

    Grouped products have ``groups`` of them.
    """

    m: Array
    n: Array
    k: Array
    time_s: Array
    in_bytes: float
    groups: Array | float = 1.0


@dataclass(frozen=True)
class _GemmLaw:
    """The law of measured products, by fraction of the peak and prologue depth."""

    measured: Products
    peak_flops_per_s: float
    units: float
    bytes_per_s: float
    tiling: Tiling

    def time_s(self, fraction: Array, depth: Array) -> Array:
        """Return the time of each product."""
        return gemm_s(
            m=self.measured.m,
            n=self.measured.n,
            k=self.measured.k,
            flops_per_s=np.asarray(fraction * self.peak_flops_per_s),
            units=np.asarray(self.units),
            prologue=np.asarray(depth),
            bytes_per_s=np.asarray(self.bytes_per_s),
            in_bytes=np.asarray(self.measured.in_bytes),
            out_bytes=HALF_BYTES,
            tiling=self.tiling,
        )

    def errors(self, fractions: Array, depths: Array) -> Array:
        """Return the absolute log error of each shape, as fractions by depths by shapes."""
        time_s = self.time_s(fractions[:, None, None], depths[None, :, None])
        return np.abs(np.log(time_s / self.measured.time_s))


def fit_gemm(
    measured: Products,
    *,
    peak_flops_per_s: float,
    units: float,
    bytes_per_s: float,
    tiling: Tiling,
    prologue: float | None = None,
) -> tuple[Fitted, Fitted]:
    r"""Fit fraction of peak and prologue depth of matrix products together.

    .. math:: \min_{e, k_0} \frac{1}{N}\sum_i \left|\ln\frac{t_i}{t(m_i, n_i, k_i;\, eF, k_0)}\right|

    on a grid of both, refined around the best pair. The absolute error limits the effect of a few
    unusual kernels.

    Parameters
    ----------
    measured : Products
        At least one product.
    peak_flops_per_s : float
        Data-sheet peak F. [FLOP/s]
    units : float
        Multiprocessors. [-]
    bytes_per_s : float
        Achieved memory bandwidth. [byte/s]
    tiling : Tiling
        As :func:`dcplan.llm.kernels.gemm_s` reads it.
    prologue : float, optional
        Fixed depth; only the fraction is fitted. [-]

    Returns
    -------
    tuple of Fitted
        The fraction, with the 10th and 90th percentile of the fractions of single
        compute-bound shapes; and the depth, with the same percentiles over resamples of the
        shapes.
    """
    law = _GemmLaw(measured, peak_flops_per_s, units, bytes_per_s, tiling)
    depths = DEPTH_GRID if prologue is None else np.array([prologue])
    found = law.errors(FRACTION_GRID, depths)
    chosen = _resampled(found, depths)
    i, j = divmod(int(np.argmin(found.mean(axis=2))), depths.size)
    fraction, depth, error = _refined(
        law, float(FRACTION_GRID[i]), float(depths[j]), fixed_depth=prologue is not None
    )
    time_s = law.time_s(np.asarray(fraction), np.asarray(depth))
    bound = time_s > law.time_s(np.asarray(UNBOUND), np.asarray(depth)) * 1.001
    alone = (fraction * time_s / measured.time_s)[bound]
    return _bounded(fraction, alone, error, most=1.0), _bounded(
        depth, chosen, error, points=measured.m.size
    )


def _resampled(errors: Array, depths: Array) -> Array:
    """Return the best depth of each resample of the shapes."""
    count = errors.shape[2]
    draws = np.random.default_rng(0).multinomial(count, np.full(count, 1.0 / count), FIT_DRAWS)
    best = np.argmin(errors.reshape(-1, count) @ draws.T, axis=0)
    return np.asarray(depths[best % depths.size])


def _refined(
    law: _GemmLaw, fraction: float, depth: float, *, fixed_depth: bool
) -> tuple[float, float, float]:
    """Return fraction, depth and mean error of the best pair on finer grids around a pair."""
    error, depths = np.inf, np.array([depth])
    middle = float(np.median(law.measured.k))
    for width in (0.06, 0.04, 0.02, 0.01, 0.005, 0.002):
        # a product of depth k trades a share of speed for that share of k + k0
        steps = np.linspace(-width, width, 25)
        fractions = np.minimum(fraction * (1.0 + steps), 1.0)
        if not fixed_depth:
            depths = np.maximum(depth + steps * (middle + depth), 0.0)
        found = law.errors(fractions, depths).mean(axis=2)
        i, j = divmod(int(np.argmin(found)), depths.size)
        fraction, depth, error = float(fractions[i]), float(depths[j]), float(found.min())
    return fraction, depth, error


def fit_grouped(measured: Products, *, flops_per_s: float, bytes_per_s: float) -> Fitted:
    """Fit the rows of one expert at which a grouped product reaches half its speed.

    The bounds are percentiles of the rows of single compute-bound shapes.

    Parameters
    ----------
    flops_per_s, bytes_per_s : float
        Speed on large products, achieved memory bandwidth. [FLOP/s, byte/s]
    """
    x = measured

    def time(rows: Array, rate: float = bytes_per_s) -> Array:
        return grouped_gemm_s(
            groups=np.asarray(x.groups),
            m=x.m,
            n=x.n,
            k=x.k,
            flops_per_s=np.asarray(flops_per_s),
            few_rows=rows,
            bytes_per_s=np.asarray(rate),
            in_bytes=np.asarray(x.in_bytes),
            out_bytes=HALF_BYTES,
        )

    rows, found = 0.0, np.zeros(1)
    for near in (ROW_GRID, np.linspace(-0.04, 0.04, 81)):
        tried = near if near is ROW_GRID else np.maximum(rows * (1.0 + near), 1.0)
        found = np.abs(np.log(time(tried[:, None]) / x.time_s)).mean(axis=1)
        rows = float(tried[np.argmin(found)])
    none, one = time(np.asarray(0.0), UNBOUND), time(np.asarray(1.0), UNBOUND)
    alone = np.maximum((x.time_s - none) / (one - none), 1.0)  # the law is linear in the rows
    bound = time(np.asarray(rows)) > time(np.asarray(0.0)) * 1.001
    return _bounded(rows, alone[bound], float(found.min()))


def fit_attention(
    *,
    pairs: Array,
    heads: Array,
    dims: Array,
    work: Array,
    backward: npt.NDArray[np.bool_],
    time_s: Array,
    peak_flops_per_s: float,
    units: float,
    ramp: AttentionRamp,
) -> Fitted:
    """Fit the fraction of the 16-bit peak of fused attention.

    Backward passes use their own formula with the same fraction.

    Parameters
    ----------
    pairs, heads, dims, work : array
        As :func:`dcplan.llm.kernels.attention_s` reads them. [-]
    backward : array of bool
        Whether a measurement is a backward pass.
    ramp : AttentionRamp
        As :func:`dcplan.llm.kernels.attention_s` reads it.
    """
    known = {"pairs": pairs, "heads": heads, "dims": dims, "work": work}
    known |= {"flops_per_s": np.asarray(peak_flops_per_s), "units": np.asarray(units)}
    back = attention_backward_s(**known, ramp=ramp)
    forward = attention_s(**known, ramp=ramp)
    return _middle(np.where(backward, back, forward) / time_s)


def fit_rate(moved_bytes: Array, time_s: Array, *, peak_bytes_per_s: float) -> Fitted:
    """Fit the fraction of a data-sheet bandwidth that large transfers reach.

    >>> fit_rate(np.array([1.0, 80.0, 100.0]), np.array([1.0, 1.0, 1.0]), peak_bytes_per_s=100.0).value
    0.9
    """
    large = moved_bytes >= FIT_LARGE_FRAC * moved_bytes.max()
    return _middle((moved_bytes / time_s / peak_bytes_per_s)[large])


def _middle(fractions: Array) -> Fitted:
    """Return the median over measurements, which has the least mean absolute log error."""
    value = float(np.median(fractions))
    return _bounded(value, fractions, float(np.abs(np.log(fractions / value)).mean()), most=1.0)


def _bounded(
    value: float, alone: Array, error: float, *, most: float = np.inf, points: int | None = None
) -> Fitted:
    value = min(value, most)
    low, high = np.quantile(alone, (0.1, 0.9)) if alone.size else (value, value)
    high = max(min(float(high), most), value)
    return Fitted(
        value, min(float(low), value), high, alone.size if points is None else points, error
    )
