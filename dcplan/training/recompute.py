"""Shares of a forward pass that named modules compute again in the backward pass."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dcplan.llm.architecture import Architecture

MODULES = (
    "layernorm",
    "qkv",
    "mla_up_proj",
    "core_attn",
    "attn_proj",
    "mlp",
    "mlp_act",
    "moe_act",
    "moe",
    "shared_experts",
)
"""Modules of a layer that software can compute again, with Megatron-Core's names; ``qkv``,
``attn_proj`` and ``mlp_act`` are in the policies of MaxText."""


@dataclass(frozen=True)
class Recomputed:
    """Shares, 0 to 1, of the forward time of each kind of operation that is computed again."""

    gemm: float
    grouped: float
    attention: float
    elementwise: float


def recomputed(shape: Architecture, modules: Collection[str]) -> Recomputed:
    r"""Return the shares of a forward pass that a set of modules computes again.

    Matrix products count by their parameters, passes over tensors by their values:

    .. math:: r_{gemm} = \frac{\sum_{i \in modules} N_i}{\sum_i N_i}

    Parameters
    ----------
    shape : Architecture
        The model; its layers of all kinds count.
    modules : collection of str
        Names of :data:`MODULES`.

    Returns
    -------
    Recomputed
        The shares; all 0 without modules.

    Raises
    ------
    ValueError
        When a name is no module.

    References
    ----------
    .. [1] Megatron-LM, option ``--recompute-modules``.
    """
    unknown = sorted(set(modules) - set(MODULES))
    if unknown:
        msg = f"unknown module {unknown[0]!r}: one of {', '.join(MODULES)}"
        raise ValueError(msg)
    on = {name: float(name in modules) for name in MODULES}
    return Recomputed(
        gemm=_share(_products(shape), on),
        grouped=on["moe"],
        attention=on["core_attn"],
        elementwise=_share(_passes(shape), on),
    )


def _share(sizes: dict[str, tuple[float, tuple[str, ...]]], on: dict[str, float]) -> float:
    """Return the share of all sizes that is computed again with a module that repeats it."""
    total = sum(size for size, _ in sizes.values())
    again = sum(size * max((on[m] for m in by), default=0.0) for size, by in sizes.values())
    return again / total if total else 0.0


def _products(shape: Architecture) -> dict[str, tuple[float, tuple[str, ...]]]:
    """Return the parameters of linear layers by part, and the modules that repeat each."""
    heads, rest = shape.heads, shape.head_dim - shape.rope_dim
    source = float(shape.query_rank or 0)
    latent = shape.kv_rank > 0
    both = source * heads * shape.head_dim + shape.kv_rank * heads * (rest + shape.value_dim)
    up = both if latent else 0.0
    out = heads * shape.value_dim * shape.hidden
    inner = max(shape.attention_params - out - up, 0.0)
    return {
        "up": (up * shape.attention_layers, ("mla_up_proj",)),
        "qkv": (inner * shape.attention_layers, ("qkv",)),
        "out": (out * shape.attention_layers, ("attn_proj",)),
        "mlp": (shape.dense_mlp_params * shape.dense_layers, ("mlp",)),
        "shared": (shape.moe_fixed_params * shape.moe_layers, ("moe", "shared_experts")),
    }


def _passes(shape: Architecture) -> dict[str, tuple[float, tuple[str, ...]]]:
    """Return the values of passes over tensors by part, and the modules that repeat each."""
    blocks = shape.attention_layers + shape.dense_layers + shape.moe_layers
    act = 2.0 + shape.gated
    routed = shape.experts_per_token * shape.moe_layers
    return {
        "norm": (2.0 * shape.hidden * blocks, ("layernorm",)),
        "residual": (3.0 * shape.hidden * blocks, ()),
        "dense": (act * shape.ffn * shape.dense_layers, ("mlp", "mlp_act")),
        "shared": (act * shape.shared_ffn * shape.moe_layers, ("moe", "shared_experts")),
        "permute": (6.0 * shape.hidden * routed, ("moe",)),
        "expert": (act * shape.expert_ffn * routed, ("moe", "moe_act")),
    }
