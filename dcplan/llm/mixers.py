"""Sizes of linear attention layers and of the indexers of sparse attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.llm.config_keys import need


def is_linear(config: Mapping[str, Any]) -> bool:
    """Return whether a model has linear attention layers with their own sizes.

    >>> is_linear({"linear_num_value_heads": 32}), is_linear({})
    (True, False)
    """
    return config.get("linear_num_value_heads") is not None


def linear_sizes(config: Mapping[str, Any], hidden: int, layers: int, norms: int) -> dict[str, int]:
    r"""Return number, parameters and states of Gated DeltaNet layers.

    .. math::
       N = h (2 K + 2 V + 2 a_v) + k (2 K + V) + 2 a_v + d_v + V h, \quad S = a_v d_k d_v

    with K and V the widths of all keys and values, and k the depth of the convolution over keys,
    queries and values. The projections give query, key, value, output gate, and two numbers for
    each of the a_v value heads.

    Parameters
    ----------
    config : Mapping
        Keys of the config.json; a layer is linear as ``layer_types`` says, or else except every
        ``full_attention_interval``-th.
    hidden : int
        Width of the model.
    layers : int
        Number of layers.
    norms : int
        Parameters of the norms around a layer's blocks.

    References
    ----------
    .. [1] S. Yang et al., "Gated Delta Networks", 2024, arXiv 2412.06464.
    .. [2] Transformers, class Qwen3NextGatedDeltaNet.

    Examples
    --------
    Qwen3-Next: 36 of 48 layers, a state of 32 x 128 x 128 values.

    >>> qwen = {"linear_num_value_heads": 32, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
    ...         "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4}
    >>> sizes = linear_sizes(qwen, 2048, 48, 0)
    >>> sizes["linear_layers"], sizes["linear_state"], sizes["linear_conv"]
    (36, 524288, 24576)
    """
    value_heads = int(need(config, "linear_num_value_heads"))
    key_dim, value_dim = (
        int(need(config, name)) for name in ("linear_key_head_dim", "linear_value_head_dim")
    )
    keys = int(need(config, "linear_num_key_heads")) * key_dim
    values, kernel = value_heads * value_dim, int(config.get("linear_conv_kernel_dim") or 4)
    mixed = 2 * keys + values
    params = hidden * (mixed + values + 2 * value_heads) + mixed * kernel
    params += 2 * value_heads + value_dim + values * hidden
    types = config.get("layer_types")
    interval = int(config.get("full_attention_interval") or 4)
    count = (
        sum(str(t) == "linear_attention" for t in types) if types else layers - layers // interval
    )
    return {
        "linear_layers": count,
        "linear_params": params + norms,
        "linear_state": value_heads * key_dim * value_dim,
        "linear_conv": mixed * (kernel - 1),
    }


def index_sizes(config: Mapping[str, Any], hidden: int, layers: int) -> dict[str, int]:
    r"""Return the sizes of the indexer of sparse attention; empty without one.

    .. math:: N = r\,a_i d_i + h\,d_i + 2 d_i + h\,a_i

    with r the rank of the compressed queries: index queries, index key, its norm and the weights of
    the heads.

    Parameters
    ----------
    config : Mapping
        Keys of the config.json.
    hidden : int
        Width of the model.
    layers : int
        Number of layers; each has its own indexer.

    Raises
    ------
    ValueError
        If layers share an indexer (GLM-5.2), which is not supported.

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V3.2", 2025, arXiv 2512.02556, section 2.1.

    Examples
    --------
    DeepSeek-V3.2: 1536 x 64 x 128 + 7168 x 128 + 2 x 128 + 7168 x 64.

    >>> v32 = {"index_topk": 2048, "index_n_heads": 64, "index_head_dim": 128, "q_lora_rank": 1536}
    >>> index_sizes(v32, 7168, 61)["index_params"]
    13959424
    """
    if not config.get("index_topk"):
        return {}
    if int(config.get("index_topk_freq") or 1) != 1:
        msg = "index_topk_freq: layers that share an indexer are not supported"
        raise ValueError(msg)
    heads, dim = int(need(config, "index_n_heads")), int(need(config, "index_head_dim"))
    rank = int(config.get("q_lora_rank") or hidden)
    return {
        "sparse_topk": int(config["index_topk"]),
        "index_layers": layers,
        "index_heads": heads,
        "index_dim": dim,
        "index_params": rank * heads * dim + hidden * (dim + heads) + 2 * dim,
    }
