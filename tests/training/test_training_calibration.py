"""Fits of measured kernels: times made by the laws themselves give their parameters back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.llm.kernel_fit import Fitted, Products, fit_attention, fit_gemm, fit_grouped, fit_rate
from dcplan.llm.kernels import attention_backward_s, attention_s, gemm_s, grouped_gemm_s
from dcplan.llm.tables import Array
from tests.training.tiny import COEFFICIENTS

QUICK = settings(max_examples=25, deadline=None)
PEAK, UNITS, HBM = (
    989.4e12,
    132.0,
    2.9e12,
)  # H100 SXM: data sheet bf16, multiprocessors, about what copies reach
LAYERS = [
    (t, o, i)
    for t in (1024, 4096, 16384)
    for o, i in ((512, 4096), (6144, 4096), (28672, 8192), (8192, 1024))
]
SHAPES = np.array(
    [s for t, o, i in LAYERS for s in ((t, o, i), (t, i, o), (o, i, t))], dtype=float
).T
SEEDS = st.integers(0, 10_000)


def _fit_gemm(measured: Products, **known: float) -> tuple[Fitted, Fitted]:
    return fit_gemm(measured, tiling=COEFFICIENTS.tiling, **known)


def _noise(seed: int, size: int, share: float) -> Array:
    return np.exp(np.random.default_rng(seed).normal(0.0, share, size))


def _products(fraction: float, depth: float, in_bytes: float = 2.0, peak: float = PEAK) -> Products:
    m, n, k = SHAPES
    time_s = gemm_s(
        m=m,
        n=n,
        k=k,
        flops_per_s=np.array(fraction * peak),
        units=np.array(UNITS),
        prologue=np.array(depth),
        bytes_per_s=np.array(HBM),
        in_bytes=np.array(in_bytes),
        out_bytes=2.0,
        tiling=COEFFICIENTS.tiling,
    )
    return Products(m, n, k, time_s, in_bytes)


def _noisy(x: Products, seed: int, share: float) -> Products:
    return Products(x.m, x.n, x.k, x.time_s * _noise(seed, x.m.size, share), x.in_bytes, x.groups)


@QUICK
@given(st.floats(0.1, 0.99), st.floats(0.0, 2500.0))
def test_exact_times_give_fraction_and_depth_back(fraction: float, depth: float) -> None:
    e, k0 = _fit_gemm(
        _products(fraction, depth), peak_flops_per_s=PEAK, units=UNITS, bytes_per_s=HBM
    )
    assert e.value == pytest.approx(fraction, rel=5e-3)
    assert k0.value == pytest.approx(depth, rel=0.02, abs=8)
    assert e.error < 1e-3


# fixed examples: about one random draw in some hundreds lies outside any such bound of noise
@settings(QUICK, derandomize=True, database=None)
@given(st.floats(0.3, 0.95), st.floats(50.0, 1500.0), SEEDS)
def test_noisy_times_give_them_back_within_the_noise(
    fraction: float, depth: float, seed: int
) -> None:
    # 3 % noise on 36 shapes: the middle of them is known to 3 % x 1.25 / sqrt(36) = 0.6 %, a few
    # times that with
    # the depth free; at k = 4,096 a share of 2 % is 80 of depth
    x = _noisy(_products(fraction, depth), seed, 0.03)
    e, k0 = _fit_gemm(x, peak_flops_per_s=PEAK, units=UNITS, bytes_per_s=HBM)
    assert e.value == pytest.approx(fraction, rel=0.04)
    assert k0.value == pytest.approx(depth, rel=0.12, abs=60)
    assert 0 < e.low <= e.value <= e.high <= 1
    assert 0 <= k0.low <= k0.value <= k0.high
    assert e.high / e.low < 1.2  # 10th to 90th percentile of 3 % noise: exp(2 x 1.28 x 0.03) = 1.08


def test_a_few_odd_kernels_do_not_move_the_fit() -> None:
    x = _products(0.8, 300.0)
    slow = x.time_s.copy()
    slow[[2, 11, 23]] *= 3.0
    e, k0 = _fit_gemm(
        Products(x.m, x.n, x.k, slow, 2.0), peak_flops_per_s=PEAK, units=UNITS, bytes_per_s=HBM
    )
    assert e.value == pytest.approx(0.8, rel=0.02)
    assert k0.value == pytest.approx(300.0, rel=0.15)


def test_a_kept_depth_leaves_the_fraction_of_another_precision() -> None:
    x = _products(0.7, 300.0, in_bytes=1.0, peak=2 * PEAK)
    e, k0 = _fit_gemm(x, peak_flops_per_s=2 * PEAK, units=UNITS, bytes_per_s=HBM, prologue=300.0)
    assert e.value == pytest.approx(0.7, rel=2e-3)
    assert k0.value == 300.0


def test_memory_bound_shapes_do_not_count_for_the_fraction() -> None:
    # 8 rows: 2 x 8 x 8192 x 8192 FLOP over 134 MB of weights take 46 us of memory at 2.9 TB/s, 1 us
    # of compute
    x = _products(0.8, 300.0)
    few, wide = np.full(4, 8.0), np.full(4, 8192.0)
    memory_s = (2.0 * (8.0 + 8192.0) * 8192.0 + 2.0 * 8.0 * 8192.0) / HBM
    both = Products(
        np.concatenate([x.m, few]),
        np.concatenate([x.n, wide]),
        np.concatenate([x.k, wide]),
        np.concatenate([x.time_s, np.full(4, memory_s)]),
        2.0,
    )
    e, _ = _fit_gemm(both, peak_flops_per_s=PEAK, units=UNITS, bytes_per_s=HBM)
    alone, _ = _fit_gemm(x, peak_flops_per_s=PEAK, units=UNITS, bytes_per_s=HBM)
    assert e.value == pytest.approx(0.8, rel=5e-3)
    assert e.points == alone.points


@QUICK
@given(st.floats(40.0, 3000.0), SEEDS)
def test_grouped_rows_come_back(rows: float, seed: int) -> None:
    m = np.tile([64.0, 128, 256, 512, 1024, 2048, 4096], 2)
    n, k = np.repeat([4096.0, 7168.0], 7), np.repeat([7168.0, 2048.0], 7)
    time_s = grouped_gemm_s(
        groups=np.array(8.0),
        m=m,
        n=n,
        k=k,
        flops_per_s=np.array(0.8 * PEAK),
        few_rows=np.array(rows),
        bytes_per_s=np.array(HBM),
        in_bytes=np.array(2.0),
        out_bytes=2.0,
    )
    x = _noisy(Products(m, n, k, time_s, 2.0, 8.0), seed, 0.01)
    found = fit_grouped(x, flops_per_s=0.8 * PEAK, bytes_per_s=HBM)
    assert found.value == pytest.approx(rows, rel=0.12, abs=25)
    assert found.low <= found.value <= found.high
    # an exact table gives an exact answer
    exact = fit_grouped(
        Products(m, n, k, time_s, 2.0, 8.0), flops_per_s=0.8 * PEAK, bytes_per_s=HBM
    )
    assert exact.value == pytest.approx(rows, rel=2e-3)


@QUICK
@given(st.floats(0.1, 0.95), SEEDS)
def test_attention_fraction_comes_back_from_both_passes(fraction: float, seed: int) -> None:
    seq, heads = np.array([1024.0, 4096, 8192, 16384] * 2), np.array([32.0, 32, 16, 64] * 2)
    back = np.array([False] * 4 + [True] * 4)
    shape = {"pairs": seq * seq / 2, "heads": heads, "dims": np.array(256.0), "work": seq * heads}
    rates: dict[str, Any] = {"flops_per_s": np.array(fraction * PEAK), "units": np.array(UNITS)}
    rates["ramp"] = COEFFICIENTS.ramp
    time_s = np.where(back, attention_backward_s(**shape, **rates), attention_s(**shape, **rates))
    time_s = time_s * _noise(seed, 8, 0.02)
    shape["dims"] = np.full(8, 256.0)
    found = fit_attention(
        **shape,
        backward=back,
        time_s=time_s,
        peak_flops_per_s=PEAK,
        units=UNITS,
        ramp=COEFFICIENTS.ramp,
    )
    assert found.value == pytest.approx(fraction, rel=0.05)
    assert found.low <= found.value <= found.high
    assert found.points == 8


def test_small_transfers_do_not_count_for_a_bandwidth() -> None:
    # 1 GB and 0.5 GB at 0.9 of 3 TB/s; 16 MB out of the cache at twice the peak
    moved = np.array([1e9, 0.5e9, 16e6])
    time_s = np.array([1e9 / 2.7e12, 0.5e9 / 2.7e12, 16e6 / 6e12])
    found = fit_rate(moved, time_s, peak_bytes_per_s=3e12)
    assert found.value == pytest.approx(0.9)
    assert found.points == 2
