"""Kernel times: roofline limits, tiles and waves by hand, and kernels measured on A100 and B200.

Measured efficiencies are SimuMax's (release v1.2): a share of the data sheet, 312 TFLOP/s for A100
PCIe and 2,250 for B200; of attention they count all scores, so causal ones are half.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.llm.kernels import attention_backward_s, attention_s, gemm_s, grouped_gemm_s
from tests.training.tiny import COEFFICIENTS

QUICK = settings(max_examples=80, deadline=None)
SIZES = st.integers(1, 20_000)
ENDLESS = 1e30


def _gemm(
    m: float,
    n: float,
    k: float,
    *,
    flops: float = 1e15,
    units: float = 1.0,
    prologue: float = 0.0,
    **memory: float,
) -> float:
    in_bytes, out_bytes = memory.get("in_bytes", 2.0), memory.get("out_bytes", 2.0)
    numbers = (np.array(x, dtype=float) for x in (m, n, k, flops, units, prologue))
    return float(
        gemm_s(
            *numbers,
            np.array(memory.get("rate", ENDLESS)),
            np.array(in_bytes),
            out_bytes,
            COEFFICIENTS.tiling,
        )
    )  # type: ignore[arg-type]


def _grouped(groups: float, m: float, n: float, k: float, **given: float) -> float:
    numbers = (
        np.array(x, dtype=float)
        for x in (groups, m, n, k, given.get("flops", 1e15), given.get("few", 0.0))
    )
    return float(grouped_gemm_s(*numbers, np.array(given.get("rate", ENDLESS)), np.array(2.0), 2.0))  # type: ignore[arg-type]


def _attention(backward: bool, **given: Any) -> float:
    names = ("pairs", "heads", "dims", "work", "flops_per_s", "units")
    numbers = (np.array(given[name], dtype=float) for name in names)
    return float((attention_backward_s if backward else attention_s)(*numbers, COEFFICIENTS.ramp))


def test_full_tiles_on_one_unit_run_at_the_given_speed() -> None:
    # 2 x 8,192^3 = 1.0995e12 FLOP at 1e15 a second
    assert _gemm(8192, 8192, 8192) == pytest.approx(1.099511627776e-3, rel=1e-12)


def test_few_rows_take_the_time_to_read_the_weights() -> None:
    # 2 x (8 x 8,192 + 8,192^2) + 2 x 8 x 8,192 bytes = 134.48 MB at 3 TB/s = 44.8 us; its FLOPs
    # take 17 us
    assert _gemm(8, 8192, 8192, rate=3e12) == pytest.approx(134_479_872 / 3e12, rel=1e-12)
    assert _gemm(8, 8192, 8192) < 134_479_872 / 3e12 / 2


def test_inputs_and_output_have_their_own_width() -> None:
    # one byte in, eight out (two passes over a 32-bit gradient): 2 x 128^2 + 8 x 128^2 bytes at 1
    # TB/s
    assert _gemm(128, 128, 128, rate=1e12, in_bytes=1.0, out_bytes=8.0) == pytest.approx(
        10 * 128**2 / 1e12
    )


@pytest.mark.parametrize(
    ("m", "n", "tiles"), [(128, 128, 1), (129, 128, 2), (128, 129, 2), (129, 257, 6), (1, 1, 1)]
)
def test_part_of_a_tile_takes_a_whole_one(m: int, n: int, tiles: int) -> None:
    # NVIDIA Matrix Multiplication Background, section 3: 129 rows need two tiles of 128
    assert _gemm(m, n, 1024) == pytest.approx(tiles * 2 * 128 * 128 * 1024 / 1e15, rel=1e-12)


@pytest.mark.parametrize(("tiles", "waves"), [(132, 1), (133, 2), (264, 2), (265, 3), (66, 1)])
def test_last_wave_loses_half_of_its_idle_share(tiles: int, waves: int) -> None:
    """t tiles on 132 units: sqrt(waves 132 / t) of the time of t tiles spread evenly.

    133 tiles: sqrt(264 / 133) = 1.409 (a full loss would be 1.985); 132 and 264 lose nothing.
    """
    even = tiles * 2 * 128 * 128 * 1024 / 1e15
    assert _gemm(128 * tiles, 128, 1024, units=132.0) == pytest.approx(
        even * (waves * 132 / tiles) ** 0.5, rel=1e-12
    )


def test_prologue_adds_its_depth_and_twice_that_at_eight_bit() -> None:
    full = _gemm(1024, 1024, 1024)
    assert _gemm(1024, 1024, 1024, prologue=256.0) == pytest.approx(
        full * 1.25, rel=1e-12
    )  # 256 / 1,024
    assert _gemm(1024, 1024, 1024, prologue=256.0, in_bytes=1.0) == pytest.approx(
        full * 1.5, rel=1e-12
    )
    assert _gemm(1024, 1024, 65_536, prologue=256.0) == pytest.approx(
        64 * full * (1 + 1 / 256), rel=1e-12
    )


@pytest.mark.parametrize("empty", ["m", "n", "k"])
def test_product_of_no_size_takes_no_time(empty: str) -> None:
    sizes = {"m": 4096, "n": 4096, "k": 4096, empty: 0}
    assert _gemm(sizes["m"], sizes["n"], sizes["k"], units=132.0, prologue=140.0, rate=3e12) == 0.0


def test_large_product_of_no_size_takes_no_time() -> None:
    # 65,536 tokens into the absent shared expert of a model 16,384 wide
    assert _gemm(65_536, 0, 16_384, units=132.0, rate=3e12) == 0.0


@given(SIZES, SIZES, SIZES, st.integers(1, 200), st.floats(0.0, 2000.0))
@QUICK
def test_product_is_never_below_either_roof(
    m: int, n: int, k: int, units: int, prologue: float
) -> None:
    found = _gemm(m, n, k, units=units, prologue=prologue, rate=3e12)
    assert found >= 2 * m * n * k / 1e15 * (1 - 1e-12)
    assert found >= 2 * (m * k + k * n + m * n) / 3e12 * (1 - 1e-12)


@given(
    SIZES,
    SIZES,
    SIZES,
    st.integers(1, 200),
    st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    st.integers(1, 999),
)
@QUICK
def test_larger_product_is_never_faster(
    m: int, n: int, k: int, units: int, way: tuple[int, int, int], more: int
) -> None:
    larger = (size + more * one for size, one in zip((m, n, k), way, strict=True))
    common = {"units": float(units), "prologue": 140.0, "rate": 3e12}
    assert _gemm(*larger, **common) >= _gemm(m, n, k, **common) * (1 - 1e-12)


@given(st.integers(64, 400))
@QUICK
def test_large_products_lose_little_to_tiles_and_waves(size: int) -> None:
    # from 8,192 on: under 1/64 a side of part tiles, and at least 4,096 / 132 = 31 waves: 1.6 % x 2
    # + 1/62
    n = size * 128 - 1
    assert _gemm(n, n, n, units=132.0) <= 2 * n**3 / 1e15 * 1.05


@pytest.mark.parametrize(
    ("m", "n", "k", "measured"),
    [
        (4096, 1536, 5120, 0.78767),
        (4096, 5120, 12288, 0.77174),
        (4096, 7168, 2048, 0.68125),
        (4096, 28672, 4096, 0.73727),
        (4096, 768, 4096, 0.76536),
        (4096, 8192, 8192, 0.73265),
        (4096, 16128, 8192, 0.74936),
    ],
)
def test_measured_a100_products_within_a_tenth(m: int, n: int, k: int, measured: float) -> None:
    """A100 PCIe, forward; one speed (0.80 of 312 TFLOP/s) and one depth (140) for all shapes."""
    found = _gemm(m, n, k, flops=0.80 * 312e12, units=108.0, prologue=140.0, rate=1.3e12)
    assert 2 * m * n * k / 312e12 / found == pytest.approx(measured, rel=0.1)


GROUPED = [
    (256, 128, 4096, 7168, 0.20811),
    (128, 256, 4096, 7168, 0.27144),
    (64, 512, 4096, 7168, 0.36349),
    (32, 1024, 4096, 7168, 0.45711),
    (40, 2460, 3072, 5120, 0.48677),
    (160, 154, 3072, 5120, 0.19969),
]


@pytest.mark.parametrize(("groups", "m", "n", "k", "measured"), GROUPED)
def test_measured_b200_grouped_products_within_a_fifth(
    groups: int, m: int, n: int, k: int, measured: float
) -> None:
    """B200, forward; one speed (0.54 of 2,250 TFLOP/s), 200 rows to half of it, 0.69 of 8 TB/s.

    256 experts of 128 rows: 0.54 / (1 + 200/128) = 0.2107 of the peak, measured 0.2081.
    """
    found = _grouped(groups, m, n, k, flops=0.54 * 2250e12, few=200.0, rate=0.69 * 8e12)
    assert groups * 2 * m * n * k / 2250e12 / found == pytest.approx(measured, rel=0.2)


def test_grouped_product_by_hand() -> None:
    # 4 x 2 x 256 x 1,024 x 2,048 = 4.295 GFLOP at 1e15: 4.295 us; 256 rows to half speed double it
    assert _grouped(4, 256, 1024, 2048) == pytest.approx(4.294967296e-6, rel=1e-12)
    assert _grouped(4, 256, 1024, 2048, few=256.0) == pytest.approx(2 * 4.294967296e-6, rel=1e-12)
    # the smallest of the three sizes counts: a weight gradient has the rows as its depth
    assert _grouped(4, 1024, 2048, 256, few=256.0) == pytest.approx(2 * 4.294967296e-6, rel=1e-12)


def test_grouped_product_of_one_row_reads_all_weights() -> None:
    # 8 experts: 8 x 2 x (4,096 + 4,096^2 + 4,096) = 268.6 MB at 3 TB/s; 8 x 33.6 MFLOP take 0.27 us
    assert _grouped(8, 1, 4096, 4096, rate=3e12) == pytest.approx(
        8 * 2 * (4096**2 + 2 * 4096) / 3e12, rel=1e-12
    )


def test_no_rows_no_experts_no_time() -> None:
    assert _grouped(0, 128, 4096, 4096, few=200.0, rate=3e12) == 0.0
    assert _grouped(1, 0, 0, 4096, few=200.0, rate=3e12) == 0.0


@given(st.integers(1, 64), SIZES, SIZES, SIZES, st.floats(0.0, 500.0))
@QUICK
def test_grouped_products_add_up_and_more_rows_are_better_used(
    groups: int, m: int, n: int, k: int, few: float
) -> None:
    one, all_ = (_grouped(g, m, n, k, few=few, rate=3e12) for g in (1, groups))
    assert all_ == pytest.approx(groups * one, rel=1e-12)
    assert one >= 2 * m * n * k / 1e15 * (1 - 1e-12)
    assert _grouped(1, 2 * m, n, k, few=few, rate=3e12) <= 2 * one * (1 + 1e-12)


def test_causal_attention_flops_are_flash_attention_s() -> None:
    """FlashAttention-2 (arXiv 2307.08691, section 4.1): 4 s^2 d a forward, half if causal, 2.5
    times backward.

    s = 8,192, d = 128, 32 heads: 4 x 8,192^2 x 128 x 32 / 2 = 5.4976e11 FLOP. At 1e15 on a unit
    that is full: 550 us, and backward at 0.8 of the speed 2.5 / 0.8 = 3.125 times that.
    """
    shape = {
        "pairs": 8192**2 / 2,
        "heads": 32,
        "dims": 256,
        "work": 1e12,
        "flops_per_s": 1e15,
        "units": 1,
    }
    assert _attention(False, **shape) == pytest.approx(5.49755813888e-4, rel=1e-6)
    assert _attention(True, **shape) == pytest.approx(3.125 * 5.49755813888e-4, rel=1e-6)


def test_attention_is_half_as_fast_where_work_just_fills_the_units() -> None:
    # 300 query positions times heads a unit forward, 100 backward: 132 units
    full = {"pairs": 1e6, "heads": 8, "dims": 256, "flops_per_s": 1e15, "units": 132}
    for backward, each in ((False, 300), (True, 100)):
        much, little = (_attention(backward, **full, work=w) for w in (1e15, 132 * each))
        assert little == pytest.approx(2 * much, rel=1e-6)


@pytest.mark.parametrize(
    ("peak", "share", "units", "heads", "measured"),
    [
        (312e12, 0.70, 108, 64, 1.18701),
        (312e12, 0.70, 108, 32, 1.13197),
        (312e12, 0.70, 108, 16, 0.99105),
        (312e12, 0.70, 108, 8, 0.77678),
        (312e12, 0.70, 108, 4, 0.51420),
        (2250e12, 0.50, 148, 128, 0.99665),
        (2250e12, 0.50, 148, 64, 0.87152),
        (2250e12, 0.50, 148, 32, 0.73178),
        (2250e12, 0.50, 148, 16, 0.57827),
    ],
)
def test_measured_attention_within_a_tenth(
    peak: float, share: float, units: int, heads: int, measured: float
) -> None:
    """A100 and B200, forward, 4,096 tokens, 128 wide; one speed each. B200 below 16 heads is a
    third slower."""
    flops = 2 * (4096**2 / 2) * heads * 256
    found = _attention(
        False,
        pairs=4096**2 / 2,
        heads=heads,
        dims=256,
        work=4096 * heads,
        flops_per_s=share * peak,
        units=units,
    )
    assert flops / found / peak == pytest.approx(measured / 2, rel=0.1)


@given(st.integers(1, 10**7), st.integers(1, 128), st.integers(1, 10**7), st.booleans())
@QUICK
def test_attention_is_linear_in_pairs_and_never_above_its_speed(
    pairs: int, heads: int, work: int, backward: bool
) -> None:
    shape = {"heads": heads, "dims": 256, "work": work, "flops_per_s": 1e15, "units": 132}
    one, two = (_attention(backward, pairs=n * pairs, **shape) for n in (1, 2))
    assert two == pytest.approx(2 * one, rel=1e-12)
    assert one >= (5.0 if backward else 2.0) * pairs * heads * 256 / 1e15 * (1 - 1e-12)
    assert _attention(backward, pairs=pairs, **(shape | {"work": 2 * work})) <= one
