"""Sizes of linear attention layers and of the indexers of sparse attention."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.llm.config_keys import Config, need, whole
from dcplan.llm.configs.families import LIGHTNING, family


def linear_sizes(config: Config, hidden: int, count: int, norms: int) -> dict[str, int]:
    """Return number, parameters and states of the linear attention layers; empty without them.

    They are Gated DeltaNet, Kimi Delta Attention or lightning attention.

    Parameters
    ----------
    config : Mapping
        Keys of the text model, by :func:`dcplan.llm.configs.names.canonical`.
    hidden : int
        Width of the model.
    count : int
        Layers with linear attention.
    norms : int
        Parameters of the norms around a layer's blocks.

    Raises
    ------
    ValueError
        If no kind of linear attention with known sizes is in the configuration.

    Examples
    --------
    >>> linear_sizes({"model_type": "llama"}, 4096, 0, 0)
    {}
    """
    if not count:
        return {}
    if config.get("linear_num_value_heads") is not None:
        params, state, conv = gated_delta_net(config, hidden)
    elif isinstance(config.get("linear_attn_config"), Mapping):
        params, state, conv = kimi_delta(config["linear_attn_config"], hidden)
    elif config.get("linear_num_heads") is not None:
        own = {
            "num_heads": config["linear_num_heads"],
            "head_dim": config.get("linear_head_dim"),
            "short_conv_kernel_size": config.get("linear_conv_kernel_dim"),
        }
        params, state, conv = kimi_delta(own, hidden)
    elif family(config) in LIGHTNING:
        params, state, conv = lightning(config, hidden)
    else:
        msg = f"linear attention of model_type {family(config)!r} is not supported"
        raise ValueError(msg)
    return {
        "linear_layers": count,
        "linear_params": params + norms,
        "linear_state": state,
        "linear_conv": conv,
    }


def gated_delta_net(config: Config, hidden: int) -> tuple[int, int, int]:
    r"""Return parameters, state and convolution state of a Gated DeltaNet layer.

    .. math::
       N = h (2 K + 2 V + 2 a_v) + k (2 K + V) + 2 a_v + d_v + V h, \quad S = a_v d_k d_v

    with K and V the widths of all keys and values, and k the depth of the convolution over keys,
    queries and values. The projections give query, key, value, output gate, and two numbers for
    each of the a_v value heads.

    References
    ----------
    .. [1] S. Yang et al., "Gated Delta Networks", 2024, arXiv 2412.06464.
    .. [2] Transformers, class Qwen3NextGatedDeltaNet.

    Examples
    --------
    Qwen3-Next: a state of 32 x 128 x 128 values.

    >>> qwen = {"linear_num_value_heads": 32, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
    ...         "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4}
    >>> gated_delta_net(qwen, 2048)[1:]
    (524288, 24576)
    """
    heads = int(need(config, "linear_num_value_heads"))
    key_dim, value_dim = (
        int(need(config, name)) for name in ("linear_key_head_dim", "linear_value_head_dim")
    )
    keys = int(need(config, "linear_num_key_heads")) * key_dim
    values, kernel = heads * value_dim, whole(config, "linear_conv_kernel_dim", 4)
    mixed = 2 * keys + values
    params = hidden * (mixed + values + 2 * heads) + mixed * kernel
    params += 2 * heads + value_dim + values * hidden
    return params, heads * key_dim * value_dim, mixed * (kernel - 1)


def kimi_delta(config: Config, hidden: int) -> tuple[int, int, int]:
    r"""Return parameters, state and convolution state of a Kimi Delta Attention layer.

    .. math:: N = 4 h w + 3 k w + 2 (h d + d w) + h a + w + a + d, \quad w = a d, \quad S = a d^2

    with a heads of d values: queries, keys, values and output, their convolution of depth k, decay
    and output gate of rank d, one step size for each head, and the norm.

    Parameters
    ----------
    config : Mapping
        ``linear_attn_config`` of the file.
    hidden : int
        Width of the model.

    References
    ----------
    .. [1] Kimi Team, "Kimi Linear", 2025, arXiv 2510.26692, section 3.
    .. [2] Transformers 5.23, class KimiLinearDeltaAttention.

    Examples
    --------
    Kimi Linear 48B-A3B: 32 heads of 128.

    >>> kimi_delta({"num_heads": 32, "head_dim": 128, "short_conv_kernel_size": 4}, 2304)
    (39514272, 524288, 36864)
    """
    heads, dim = int(need(config, "num_heads")), int(need(config, "head_dim"))
    kernel, width = whole(config, "short_conv_kernel_size", 4), heads * dim
    params = 4 * hidden * width + 3 * kernel * width + 2 * (hidden * dim + dim * width)
    params += hidden * heads + width + heads + dim
    return params, heads * dim * dim, 3 * width * (kernel - 1)


def lightning(config: Config, hidden: int) -> tuple[int, int, int]:
    r"""Return parameters, state and convolution state of a lightning attention layer.

    .. math:: N = 5 h w + w, \quad w = a d, \quad S = a d^2

    with a heads of d values: queries, keys, values, output gate and output, and the norm.

    References
    ----------
    .. [1] MiniMax, "MiniMax-01", 2025, arXiv 2501.08313, section 2.2.
    .. [2] Transformers 5.23, class MiniMaxLightningAttention.

    Examples
    --------
    MiniMax-M1: 64 heads of 128, a width of 8192.

    >>> lightning({"num_attention_heads": 64, "head_dim": 128}, 6144)
    (251666432, 1048576, 0)
    """
    heads = int(need(config, "num_attention_heads"))
    dim = whole(config, "head_dim") or hidden // heads
    width = heads * dim
    return 5 * hidden * width + width, heads * dim * dim, 0


def index_sizes(config: Config, hidden: int, layers: int) -> dict[str, int]:
    r"""Return the sizes of the indexers of sparse attention; empty without one.

    .. math:: N = r\,a_i d_i + h\,d_i + 2 d_i + h\,a_i

    with r the rank of the compressed queries: index queries, index key, its norm and the weights of
    the heads. A layer that ``indexer_types`` names as shared uses the keys that an earlier layer
    selected (GLM-5.2).

    Parameters
    ----------
    config : Mapping
        Keys of the config.json.
    hidden : int
        Width of the model.
    layers : int
        Number of layers with attention.

    Raises
    ------
    ValueError
        If layers share an indexer, and no key names them.

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
    types = config.get("indexer_types")
    if types is None and whole(config, "index_topk_freq", 1) > 1:
        msg = "index_topk_freq: layers share an indexer; add indexer_types, which names them"
        raise ValueError(msg)
    own = sum(str(t) == "full" for t in types) if types else layers
    heads, dim = int(need(config, "index_n_heads")), int(need(config, "index_head_dim"))
    rank = whole(config, "q_lora_rank") or hidden
    return {
        "sparse_topk": int(config["index_topk"]),
        "index_layers": own,
        "index_heads": heads,
        "index_dim": dim,
        "index_params": rank * heads * dim + hidden * (dim + heads) + 2 * dim,
    }
