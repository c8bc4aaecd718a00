"""Compute time of the blocks of a model for one micro-batch on one rank.

It has forward, input gradient and weight gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.llm.coefficients import Coefficients
from dcplan.llm.kernels import attention_backward_s, attention_s, gemm_s, grouped_gemm_s
from dcplan.llm.tables import (
    Array,
    DeviceTable,
    LayoutTable,
    ModelTable,
    RecipeTable,
    StackTable,
    TowerTable,
)
from dcplan.units import FLOAT_BYTES, HALF_BYTES


@dataclass(frozen=True)
class Setup:
    """All inputs of a time computation."""

    model: ModelTable
    device: DeviceTable
    recipe: RecipeTable
    stack: StackTable
    layout: LayoutTable
    coefficients: Coefficients
    tower: TowerTable | None = None
    """Vision encoder on the first pipeline stage; None if the model has none."""


def tower_setup(setup: Setup, tower: TowerTable) -> Setup:
    """Return the setup of the vision tower as a separate model, on the images of one micro-batch.

    Its ranks are those of one tensor-parallel group; context-parallel ranks divide the images.
    Heads that are not divisible by the tensor-parallel size are padded to a multiple, as Megatron-LM does for
    InternViT's 25.
    """
    x = setup.layout
    heads = np.ceil(tower.model.heads / x.tp) * x.tp
    model = replace(tower.model, heads=heads, kv_heads=heads)
    one = np.ones_like(x.tp)
    layout = replace(
        x,
        micro_batch=x.micro_batch * tower.images / x.cp,
        cp=one,
        ep=one,
        etp=one,
        seq_len=tower.patches,
    )
    return replace(setup, model=model, layout=layout, tower=None)


@dataclass(frozen=True)
class Pass:
    """Seconds of one kind of operation: forward, gradient of the input, gradient of the weights."""

    forward: Array
    dgrad: Array
    wgrad: Array

    def __add__(self, other: Pass) -> Pass:
        """Return the sum by pass."""
        return Pass(
            self.forward + other.forward, self.dgrad + other.dgrad, self.wgrad + other.wgrad
        )

    def scaled(self, factor: Array) -> Pass:
        """Return all three passes times a factor."""
        return Pass(self.forward * factor, self.dgrad * factor, self.wgrad * factor)


def tokens(setup: Setup) -> Array:
    """Return the tokens of a micro-batch on one context-parallel rank."""
    x = setup.layout
    return x.micro_batch * x.seq_len / x.cp


def _width(setup: Setup) -> Array:
    """Return the bytes of a value between operations."""
    return setup.recipe.activation_bytes


def linear(setup: Setup, m: Array, n: Array, k: Array, *, half: bool = False) -> Pass:
    """Return the time of a linear layer on m tokens from k to n values, with the casts of inputs."""
    d, r = setup.device, setup.recipe
    speed = d.half_flops if half else d.linear_flops
    size = r.activation_bytes if half else r.operand_bytes
    gap = np.where(n * k * m > 0, d.kernel_s, 0.0)
    cast = (
        np.zeros_like(m)
        if half
        else np.where(
            n * k * m > 0, r.cast_bytes * setup.stack.cast_factor * m / d.hbm_bytes_per_s, 0.0
        )
    )
    weights = setup.stack.weight_cast_bytes * n * k / d.hbm_bytes_per_s
    c, rates = setup.coefficients, (speed, d.units, d.prologue, d.hbm_bytes_per_s, size)
    forward = gemm_s(m, n, k, *rates, r.activation_bytes, c.tiling)
    dgrad = gemm_s(m, k, n, *rates, r.activation_bytes, c.tiling)
    wgrad = gemm_s(k, n, m, *rates, 2.0 * FLOAT_BYTES, c.tiling)
    return Pass(forward + cast * k + weights + gap, dgrad + cast * n + gap, wgrad + gap)


def attention_linear(setup: Setup) -> Pass:
    """Return the time of the projections of one attention block.

    They are grouped-query, or latent (DeepSeek-V2, arXiv 2405.04434, section 2.1).
    """
    m, x = setup.model, setup.layout
    t = tokens(setup)
    latent = m.kv_rank > 0
    nope = m.head_dim - m.rope_dim
    kv = np.maximum(m.kv_heads / x.tp, 1.0)
    plain = m.heads / x.tp * m.head_dim + kv * (m.head_dim + m.value_dim)
    down = np.where(latent, m.query_rank + m.kv_rank + m.rope_dim, plain)
    total = linear(setup, t, down, m.hidden)
    # without a query rank, queries are computed directly from the hidden states
    source = np.where(m.query_rank > 0, m.query_rank, m.hidden)
    total += linear(setup, t, np.where(latent, m.heads * m.head_dim / x.tp, 0.0), source)
    total += linear(
        setup, t, np.where(latent, m.heads * (nope + m.value_dim) / x.tp, 0.0), m.kv_rank
    )
    return total + linear(setup, t, m.hidden, m.heads * m.value_dim / x.tp)


def attention_core(setup: Setup) -> Pass:
    """Return the time of scores, softmax and values of all attention layers.

    Unfused attention moves the score matrix through HBM.

    Pairs are those of :func:`dcplan.llm.architecture.context_tokens`.
    """
    m, x, d, c = setup.model, setup.layout, setup.device, setup.coefficients
    heads, dims = m.heads / x.tp, m.head_dim + m.value_dim
    speed = d.attention_flops * np.where(x.cp > 1, setup.stack.context_frac, 1.0)
    work = x.micro_batch * x.seq_len / x.cp * heads
    window = np.minimum(np.where(m.window > 0, m.window, np.inf), x.seq_len)
    local = np.where(m.window > 0, m.local_layers, 0.0)
    full_pairs = np.where(m.causal > 0, x.seq_len / 2.0, x.seq_len)
    local_pairs = np.where(m.causal > 0, window - window * window / (2.0 * x.seq_len), window)
    context = (m.attention_layers + m.mtp_layers - local) * full_pairs + local * local_pairs
    pairs = x.micro_batch * x.seq_len / x.cp * context
    sizes = (pairs, heads, dims, work, speed, d.units)
    fused = attention_s(*sizes, c.ramp)
    fused_back = attention_backward_s(*sizes, c.ramp)
    square = x.micro_batch * x.seq_len**2 / x.cp * (m.attention_layers + m.mtp_layers) * heads
    scores = square * c.score_bytes * _width(setup) / HALF_BYTES / d.hbm_bytes_per_s
    product = 2.0 * square * dims / (d.half_flops * c.unfused_frac)
    flash = setup.stack.flash > 0
    return Pass(
        np.where(flash, fused, product + scores),
        np.where(flash, fused_back, 2.0 * product + scores),
        np.zeros_like(pairs),
    )


def scan(setup: Setup) -> Pass:
    """Return the time of one Mamba-2 block's convolution and state-space scan.

    They are chunked products of small matrices, and memory-bound.

    References
    ----------
    .. [1] T. Dao, A. Gu, "Transformers are SSMs", 2024, section 6.
    """
    m, x, d = setup.model, setup.layout, setup.device
    t = tokens(setup) / x.tp
    width = m.mamba_inner + 2.0 * m.mamba_groups * m.mamba_state
    traffic = t * (width * 3.0 + m.mamba_inner * 4.0) * _width(setup)
    flops = 6.0 * t * m.mamba_inner * m.mamba_state
    forward = traffic * setup.stack.elementwise / d.hbm_bytes_per_s + flops / (
        d.half_flops * setup.coefficients.scan_frac
    )
    return Pass(forward, 2.0 * forward, np.zeros_like(forward))


def dense_mlp(setup: Setup, width: Array) -> Pass:
    """Return the time of up, gate and down projection to ``width`` values in total."""
    m, x = setup.model, setup.layout
    t = tokens(setup)
    up = linear(setup, t, (1.0 + m.gated) * width / x.tp, m.hidden)
    return up + linear(setup, t, m.hidden, width / x.tp)


def experts(setup: Setup) -> Pass:
    """Return the time of the routed experts of one block.

    They are two grouped products on the rows dispatched to this rank.
    """
    m, x, d = setup.model, setup.layout, setup.device
    local = np.maximum(m.experts / x.ep, 1.0)
    each = tokens(setup) / x.tp * m.experts_per_token * x.etp / local
    speed, few = d.linear_flops, d.grouped_rows
    total = Pass(*(np.zeros_like(each),) * 3)
    for n, k in (
        ((1.0 + m.gated) * m.expert_ffn / x.etp, m.hidden),
        (m.hidden, m.expert_ffn / x.etp),
    ):
        cast = setup.recipe.cast_bytes * setup.stack.cast_factor * each * local / d.hbm_bytes_per_s
        weights = setup.stack.weight_cast_bytes * local * n * k / d.hbm_bytes_per_s
        size, hbm, out = setup.recipe.operand_bytes, d.hbm_bytes_per_s, _width(setup)
        total += Pass(
            grouped_gemm_s(local, each, n, k, speed, few, hbm, size, out) + cast * k + weights,
            grouped_gemm_s(local, each, k, n, speed, few, hbm, size, out) + cast * n,
            grouped_gemm_s(local, k, n, each, speed, few, hbm, size, 2.0 * FLOAT_BYTES),
        )
    return total


def elementwise(setup: Setup) -> tuple[Array, Array, Array, Array]:
    """Return forward HBM time of norms and residuals of an attention, dense, expert and Mamba block.

    The count is in passes over a tensor: a norm reads and writes, a residual reads two and writes one, a
    gated activation reads two and writes one, rotary positions read and write the queries and keys.
    """
    m, x, d = setup.model, setup.layout, setup.device
    t = tokens(setup)
    spread = np.where(setup.stack.sequence_parallel > 0, x.tp, 1.0)
    size = _width(setup)
    hidden = t / spread * m.hidden * size
    residual = 5.0 * hidden
    rotary = 2.0 * t / x.tp * (m.heads + m.kv_heads) * m.head_dim * size
    act = t / x.tp * (2.0 + m.gated) * size
    rate = setup.stack.elementwise / d.hbm_bytes_per_s
    routed = t / x.tp * m.experts_per_token
    permute = 6.0 * routed * m.hidden * size + routed * (2.0 + m.gated) * m.expert_ffn * size
    return (
        (residual + rotary) * rate,
        (residual + act * m.ffn) * rate,
        (residual + permute * setup.stack.moe_elementwise + act * m.shared_ffn) * rate,
        residual * rate,
    )


def projector(setup: Setup, tower: TowerTable) -> Pass:
    """Return the projector's time: its weights as one product, divided by tensor parallelism."""
    m, x = setup.model, setup.layout
    t = x.micro_batch * tower.images * tower.tokens / x.cp
    # the remainder of a row of the model's width is biases and norms
    return linear(setup, t, m.hidden, np.floor(tower.projector_params / m.hidden) / x.tp)


def head(setup: Setup) -> Pass:
    """Return the time of output layer and cross entropy on the last stage."""
    m, x, d = setup.model, setup.layout, setup.device
    t = tokens(setup)
    logits = t * m.vocab / x.tp * FLOAT_BYTES / d.hbm_bytes_per_s
    product = linear(setup, t, m.vocab / x.tp, m.hidden, half=True)
    return product + Pass(3.0 * logits, 2.0 * logits, np.zeros_like(logits))
