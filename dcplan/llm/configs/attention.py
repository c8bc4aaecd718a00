"""Sizes of attention blocks: grouped-query and latent, with biases, norms and gates."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.llm.config_keys import Config, need, whole
from dcplan.llm.configs.families import (
    BIASED,
    FOUR_NORMS,
    GATED_ATTENTION,
    HEAD_NORM,
    LAYER_NORM,
    QKV_BIAS,
    QKV_BIAS_ONLY,
    WIDE_NORM,
    family,
)


@dataclass(frozen=True)
class Attention:
    """One attention block, without the norms of the layer."""

    params: int
    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int
    kv_heads_total: int = 0
    """Key-value heads summed over the layers if they differ; 0 if each has kv_heads."""


def attention_of(config: Config, full: int, local: int) -> Attention:
    r"""Return the sizes of one attention block.

    .. math:: N = h\,a\,d + h\,a_{kv} (d + d_v) + a\,d_v\,h

    for grouped-query attention, with biases, norms of queries and keys, and an output gate of
    h a d where the model has them; latent attention is :func:`latent_attention`.

    Parameters
    ----------
    config : Mapping
        Keys of the text model, by :func:`dcplan.llm.configs.names.canonical`.
    full, local : int
        Layers with full attention and with a window; window layers may have their own number of
        key-value heads.

    Raises
    ------
    ValueError
        If a size is missing, or window layers have other query heads than full layers.

    References
    ----------
    .. [1] J. Ainslie et al., "GQA", 2023, arXiv 2305.13245.

    Examples
    --------
    Llama 3.1 8B: 2 x 4096 x 4096 + 2 x 4096 x 1024.

    >>> attention_of({"hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}, 32, 0).params
    41943040
    """
    kind, hidden = family(config), int(need(config, "hidden_size"))
    heads = int(need(config, "num_attention_heads"))
    if config.get("kv_lora_rank"):
        return latent_attention(config, hidden, heads)
    dim = whole(config, "head_dim") or hidden // heads
    value = whole(config, "v_head_dim") or dim
    kv_heads = _kv_heads(config, kind, heads)
    total = _kv_total(config, kv_heads, full, local)
    per_kv = hidden * (dim + value)
    gated = config.get("attn_output_gate", kind in GATED_ATTENTION)
    params = hidden * heads * dim * (2 if gated else 1) + heads * value * hidden
    params += per_kv * kv_heads
    if total:
        params -= per_kv * (kv_heads * (full + local) - total) // (full + local)
    params += _biases(config, kind, hidden, (heads * dim, kv_heads * dim, kv_heads * value))
    params += _norms(config, kind, heads, kv_heads, dim)
    return Attention(params, heads, kv_heads, dim, value, total)


def latent_attention(config: Config, hidden: int, heads: int) -> Attention:
    r"""Return the sizes of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).

    .. math:: N = h r_q + r_q + r_q a d_{qk} + h (r_k + d_r) + r_k + r_k a (d_{qk} - d_r + d_v) + a d_v h

    with h a d_qk for the queries where they have no rank.

    Examples
    --------
    DeepSeek-V3, a layer:

    >>> v3 = {"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "kv_lora_rank": 512,
    ...     "q_lora_rank": 1536}
    >>> latent_attention(v3, 7168, 128).params
    187107328
    """
    nope, rope = int(need(config, "qk_nope_head_dim")), int(need(config, "qk_rope_head_dim"))
    value, rank = int(need(config, "v_head_dim")), int(need(config, "kv_lora_rank"))
    q_rank = whole(config, "q_lora_rank")
    query = heads * (nope + rope)
    params = hidden * q_rank + q_rank + q_rank * query if q_rank else hidden * query
    params += hidden * (rank + rope) + rank + rank * heads * (nope + value)
    return Attention(params + heads * value * hidden, heads, heads, nope + rope, value)


def norms_per_layer(config: Config) -> int:
    """Return the parameters of a layer's norms, in widths of the model.

    Examples
    --------
    >>> norms_per_layer({"model_type": "gemma2"}), norms_per_layer({"model_type": "llama"})
    (4, 2)
    """
    kind = family(config)
    if kind in LAYER_NORM or kind in FOUR_NORMS or config.get("post_norms"):
        return 4
    return 2


def _kv_heads(config: Config, kind: str, heads: int) -> int:
    given = whole(config, "num_key_value_heads")
    one = config.get("multi_query", kind == "gpt_bigcode")
    # Falcon's first architecture ignores num_kv_heads with multi_query
    if kind in {"falcon", "gpt_bigcode"} and one and not config.get("new_decoder_architecture"):
        return 1
    return given or heads


def _kv_total(config: Config, kv_heads: int, full: int, local: int) -> int:
    """Return the key-value heads of all layers if they differ by layer."""
    for name in ("num_attention_heads", "head_dim", "v_head_dim"):
        own = whole(config, f"swa_{name}")
        if own and own != whole(config, name, own):
            msg = f"swa_{name}: window layers with another {name} are not supported"
            raise ValueError(msg)
    each = config.get("num_key_value_heads_per_layer")
    if each:
        return sum(int(n) for n in each)
    other = whole(config, "swa_num_key_value_heads", kv_heads)
    if local and other != kv_heads:
        return full * kv_heads + local * other
    return whole(config, "num_key_value_heads_total")


def _biases(config: Config, kind: str, hidden: int, widths: tuple[int, int, int]) -> int:
    everywhere = bool(config.get("use_bias", kind in BIASED))
    every = bool(config.get("attention_bias", everywhere))
    some = config.get("qkv_bias") or config.get("use_qkv_bias") or config.get("add_qkv_bias")
    only_inputs = kind in QKV_BIAS_ONLY
    found = sum(widths) if every or some or kind in QKV_BIAS else 0
    out = config.get("attention_out_bias", every and not only_inputs)
    return found + (hidden if out else 0)


def _norms(config: Config, kind: str, heads: int, kv_heads: int, dim: int) -> int:
    asked = config.get("use_qk_norm") and kind not in {"llama4", "minimax_m2"}
    if kind in WIDE_NORM or (asked and kind.startswith("cohere")):
        return (heads + kv_heads) * dim
    return 2 * dim if config.get("qk_norm") or asked or kind in HEAD_NORM else 0
