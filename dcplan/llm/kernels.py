"""Time of single kernels.

Matrix products, grouped matrix products, fused attention, memory-bound passes.
"""

from __future__ import annotations

import numpy as np

from dcplan.llm.coefficients import AttentionRamp, Tiling
from dcplan.llm.tables import Array


def gemm_s(
    m: Array,
    n: Array,
    k: Array,
    flops_per_s: Array,
    units: Array,
    prologue: Array,
    bytes_per_s: Array,
    in_bytes: Array,
    out_bytes: Array | float,
    tiling: Tiling,
) -> Array:
    r"""Return the time of an m x k by k x n product.

    .. math::
       t = \max\left(\frac{2mnk}{F}\,q\,w\,\left(1 + \frac{k_0}{k}\right),\;
                     \frac{b_i (mk + kn) + b_o mn}{B}\right)

    with tile quantization :math:`q = \lceil m/s\rceil\lceil n/s\rceil s^2/(mn)` and wave
    quantization :math:`w = (\lceil t/u\rceil u/t)^p` of t tiles on u units.

    Parameters
    ----------
    m, n, k : array
        Sizes, at least 0; an empty product takes no time. [-]
    flops_per_s : array
        Speed on large products. [FLOP/s]
    units : array
        Multiprocessors. [-]
    prologue : array
        Depth k_0 of fill and drain of a tile's pipeline at 16 bit; twice that at 8 bit. [-]
    bytes_per_s : array
        Memory bandwidth. [byte/s]
    in_bytes, out_bytes : array
        Bytes of a value of the inputs and the output.
    tiling : Tiling
        Side s of an output tile, above 0, and power p, 0 to 1. [-]

    References
    ----------
    .. [1] NVIDIA, "Matrix Multiplication Background User's Guide", sections 3 and 4 (tile and wave quantization).

    Examples
    --------
    >>> one = np.array(1.0)
    >>> n, speed = 8192 * one, 1e15 * one
    >>> t = gemm_s(n, n, n, speed, 132 * one, 140 * one, 3e12 * one, 2 * one, 2.0, Tiling(128.0, 0.5))
    >>> bool(1.0 < t / (2 * 8192**3 / 1e15) < 1.05)
    True
    """
    nothing = m * n * k <= 0
    m, n, k = np.maximum(m, 1e-9), np.maximum(n, 1e-9), np.maximum(k, 1e-9)
    side = tiling.side
    tiles = np.ceil(m / side) * np.ceil(n / side)
    waves = tiles / units
    wave = (np.ceil(waves) / waves) ** tiling.wave_power
    depth = k + prologue * 2.0 / in_bytes
    compute = 2.0 * tiles * (side * side) * depth / flops_per_s * wave
    memory = (in_bytes * (m + n) * k + out_bytes * m * n) / bytes_per_s
    return np.where(nothing, 0.0, np.maximum(compute, memory))


def grouped_gemm_s(
    groups: Array,
    m: Array,
    n: Array,
    k: Array,
    flops_per_s: Array,
    few_rows: Array,
    bytes_per_s: Array,
    in_bytes: Array,
    out_bytes: Array | float,
) -> Array:
    r"""Return the time of ``groups`` products of m rows each, one per expert.

    .. math:: t = g\,\max\left(\frac{2mnk}{F}\left(1 + \frac{m_0}{\min(m, n, k)}\right),\;
                                \frac{b_i(mk + kn) + b_o mn}{B}\right)

    With few rows per expert (m_0 is ``few_rows``), tiles are partly empty and weights are read for little
    work: at 128 rows a B200 reaches 20 % of its peak, at 1,024 rows 40 %.

    References
    ----------
    .. [1] Measured grouped products of A100 and B200 in ``kernel_efficiency.csv`` (SimuMax release v1.2).
    """
    small = np.maximum(np.minimum(np.minimum(m, n), k), 1e-9)
    compute = 2.0 * m * n * k / flops_per_s * (1.0 + few_rows / small)
    memory = (in_bytes * (m + n) * k + out_bytes * m * n) / bytes_per_s
    return groups * np.maximum(compute, memory)


def attention_s(
    pairs: Array,
    heads: Array,
    dims: Array,
    work: Array,
    flops_per_s: Array,
    units: Array,
    ramp: AttentionRamp,
) -> Array:
    r"""Return the forward time of fused attention.

    .. math:: t = \frac{2\,p\,a\,(d_{qk} + d_v)}{F}\left(1 + \frac{w_0 u}{w}\right)

    Parameters
    ----------
    pairs : array
        Query-key pairs of one head after the mask. [-]
    heads, dims : array
        Heads, and the sum of query and value dimensions. [-]
    work : array
        Query positions times heads, the work of the multiprocessors. [-]
    flops_per_s : array
        Speed with fully used multiprocessors. [FLOP/s]
    units : array
        Multiprocessors. [-]
    ramp : AttentionRamp
        Work w_0 of a multiprocessor at which it reaches half its speed. [-]
    """
    base = 2.0 * pairs * heads * dims / flops_per_s
    return base * (1.0 + ramp.forward_work * units / np.maximum(work, 1.0))


def attention_backward_s(
    pairs: Array,
    heads: Array,
    dims: Array,
    work: Array,
    flops_per_s: Array,
    units: Array,
    ramp: AttentionRamp,
) -> Array:
    """Compute the backward time of fused attention: 2.5 times the operations.

    The scores are recomputed, at the speed of ``ramp``; the rest is as in :func:`attention_s`.
    """
    base = 5.0 * pairs * heads * dims / (flops_per_s * ramp.backward_frac)
    return base * (1.0 + ramp.backward_work * units / np.maximum(work, 1.0))
