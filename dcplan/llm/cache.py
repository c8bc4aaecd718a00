"""Key-value cache and recurrent states of a model, in bytes of one sequence."""

from __future__ import annotations

from dcplan.llm.architecture import Architecture
from dcplan.units import FLOAT_BYTES

INDEX_BYTES = 1.0
"""Bytes of one value of an index key, which is FP8 (DeepSeek-V3.2 report, arXiv 2512.02556, section
2.1); the scale of a key is left out."""


def layer_bytes_per_token(shape: Architecture, kv_bytes: float) -> float:
    r"""Return the cache of one token in one attention layer, without index keys [byte].

    .. math:: b = 2\,a_{kv}\,d\,B \quad\text{or}\quad (r_{kv} + d_{rope})\,B

    for grouped-query attention, with keys and values of own sizes, or for latent attention, which
    keeps one compressed vector and the rotary key of all heads.

    Parameters
    ----------
    shape : Architecture
        The model. If key-value heads differ by layer, the result is the mean.
    kv_bytes : float
        Bytes of one cached value, above 0.

    References
    ----------
    .. [1] J. Ainslie et al., "GQA", 2023, arXiv 2305.13245.
    .. [2] DeepSeek-AI, "DeepSeek-V2", 2024, arXiv 2405.04434, section 2.1.

    Examples
    --------
    Llama 3.1 70B: 2 x 8 heads x 128 values x 2 bytes.

    >>> from dcplan.llm.config import from_config
    >>> llama = from_config({"hidden_size": 8192, "num_hidden_layers": 80, "vocab_size": 128256,
    ...     "num_attention_heads": 64, "num_key_value_heads": 8})
    >>> layer_bytes_per_token(llama, 2.0)
    4096.0
    """
    if shape.kv_rank:
        return (shape.kv_rank + shape.rope_dim) * kv_bytes
    layers = max(shape.attention_layers, 1)
    heads = shape.kv_heads_total / layers if shape.kv_heads_total else shape.kv_heads
    return heads * (shape.head_dim + shape.value_dim) * kv_bytes


def state_bytes(shape: Architecture, state_bytes_per_value: float = FLOAT_BYTES) -> float:
    r"""Return the recurrent states of one sequence, which do not grow with its length [byte].

    .. math:: L_m (d_{inner} d_{state} + c_m)\,B_s + L_\ell (S + c_\ell)\,B_s

    with the convolution states c of Mamba-2 and linear attention layers.

    Parameters
    ----------
    shape : Architecture
        The model.
    state_bytes_per_value : float, default 4
        Bytes of one value of a state, above 0.

    References
    ----------
    .. [1] T. Dao, A. Gu, "Transformers are SSMs", 2024, arXiv 2405.21060.
    .. [2] S. Yang et al., "Gated Delta Networks", 2024, arXiv 2412.06464.

    Examples
    --------
    Qwen3-Next: 36 layers x (32 x 128 x 128 + 3 x 8192) values x 4 bytes.

    >>> from dcplan.llm.config import from_config
    >>> qwen = from_config({"hidden_size": 2048, "num_hidden_layers": 48, "vocab_size": 151936,
    ...     "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
    ...     "linear_num_value_heads": 32, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
    ...     "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4})
    >>> state_bytes(qwen)
    79036416.0
    """
    mamba = shape.mamba_layers * (shape.mamba_inner * shape.mamba_state + shape.mamba_conv)
    linear = shape.linear_layers * (shape.linear_state + shape.linear_conv)
    return (mamba + linear) * state_bytes_per_value
