"""Sizes of dense feed-forward blocks and of mixtures of experts."""

from __future__ import annotations

from dcplan.llm.config_keys import Config, mlp_params, need, whole
from dcplan.llm.configs.families import BIASED, SHARED_GATE, UNGATED, family

GATED = frozenset(
    {"silu", "swish", "swiglu", "swigluoai", "gelu_pytorch_tanh", "gelu_tanh_gated", "geglu"}
    | {"gelu_new_gated", "gated-gelu"}
)
"""Activations that have a gate in the families that are not :data:`UNGATED`."""
GELU_GATED = ("gemma", "grok", "modernbert")
"""Beginnings of families that gate with a plain GELU."""
GRANITE_HYBRID = "granitemoehybrid"


def is_gated(config: Config) -> bool:
    """Return whether the MLP has a gate.

    Examples
    --------
    >>> is_gated({"hidden_act": "silu"}), is_gated({"hidden_act": "relu2"})
    (True, False)
    """
    kind = family(config)
    if "gated_mlp" in config:
        return bool(config["gated_mlp"])
    if kind in UNGATED or config.get("hybrid_override_pattern"):
        return False
    act = str(config.get("hidden_act") or "silu")
    return act in GATED or (act == "gelu" and kind.startswith(GELU_GATED))


def inner_width(config: Config, hidden: int) -> int:
    """Return the width of the dense MLP; 4 h where the file has none.

    Granite 4.0 without experts has only the shared MLP. LFM2 scales and rounds its width.

    Examples
    --------
    >>> inner_width({"intermediate_size": 11008}, 4096), inner_width({}, 768)
    (11008, 3072)
    """
    kind = family(config)
    dense_granite = kind == GRANITE_HYBRID and whole(config, "n_routed_experts") <= 1
    if dense_granite and config.get("shared_intermediate_size"):
        return whole(config, "shared_intermediate_size")
    alone = config.get("hybrid_override_pattern") or kind == "nemotron_h"
    width = (
        whole(config, "dense_intermediate_size")
        or whole(config, "intermediate_size")
        or _default_inner(config, hidden, alone=bool(alone))
    )
    if kind == "lfm2" and config.get("block_auto_adjust_ff_dim", True):
        scaled = int(float(config.get("block_ffn_dim_multiplier") or 1.0) * int(2 * width / 3))
        unit = whole(config, "block_multiple_of", 1)
        return (scaled + unit - 1) // unit * unit
    return width


def _default_inner(config: Config, hidden: int, *, alone: bool) -> int:
    """Return the width of the MLP where the file has only its ratio, or that of the experts."""
    if alone:
        return int(need(config, "intermediate_size", "moe_intermediate_size"))
    return round(float(config.get("expansion_ratio") or 4) * hidden)


def dense_params(config: Config, hidden: int, inner: int) -> int:
    """Return the parameters of one dense MLP.

    Examples
    --------
    >>> dense_params({"hidden_act": "silu"}, 4, 16)
    192
    """
    biased = config.get("mlp_bias", config.get("use_bias", family(config) in BIASED))
    return mlp_params(hidden, inner, gated=is_gated(config), bias=bool(biased))


def experts_of(config: Config, hidden: int, inner: int, count: int) -> dict[str, int]:
    r"""Return the sizes of the mixture-of-experts layers; empty without them.

    .. math:: N_{expert} = mlp(h, f_e),\quad N_{all} = mlp(h, f_s) + h E

    with a bias for each expert in the router, a gate of the shared expert, biases of experts, and
    experts in a latent space where the model has them. Identity experts (LongCat-Flash) have no
    parameters except in the router: a token uses k E / (E + Z) of the others on average.

    Parameters
    ----------
    config : Mapping
        Keys of the text model, by :func:`dcplan.llm.configs.names.canonical`.
    hidden, inner : int
        Width of the model and of its dense MLP.
    count : int
        Layers with experts.

    References
    ----------
    .. [1] Meituan, "LongCat-Flash", 2025, arXiv 2509.01322, section 2.1 (identity experts).

    Examples
    --------
    Mixtral 8x22B: three matrices of 6144 x 16384 an expert.

    >>> mixtral = {"n_routed_experts": 8, "num_experts_per_tok": 2, "intermediate_size": 16384}
    >>> experts_of(mixtral, 6144, 16384, 56)["expert_params"]
    301989888
    """
    experts, idle = whole(config, "n_routed_experts"), whole(config, "zero_expert_num")
    if experts <= 1 or not count:
        return {}
    kind, gated = family(config), is_gated(config)
    expert = whole(config, "moe_intermediate_size") or whole(config, "intermediate_size") or inner
    shared = _shared_width(config, kind, expert)
    top_k = whole(config, "num_experts_per_tok", 1)
    # experts in a latent space (Nemotron 3 Super), with one projection to it and one back
    latent = whole(config, "moe_latent_size")
    bias = (2 * expert + hidden) if config.get("expert_bias") else 0
    router = (hidden + (1 if config.get("router_bias") else 0)) * (experts + idle)
    gate = hidden if kind in SHARED_GATE and shared else 0
    return {
        "moe_layers": count,
        "experts": experts,
        "experts_per_token": max(1, round(top_k * experts / (experts + idle))),
        "expert_groups": routing_groups(config),
        "expert_ffn": expert,
        "shared_ffn": shared,
        "expert_params": mlp_params(latent or hidden, expert, gated=gated) + bias,
        "expert_hidden": latent,
        "moe_fixed_params": (mlp_params(hidden, shared, gated=gated) if shared else 0)
        + router
        + gate
        + 2 * hidden * latent,
    }


def _shared_width(config: Config, kind: str, expert: int) -> int:
    """Return the width of all shared experts together."""
    number = config.get("n_shared_experts")
    copies = whole(config, "n_shared_experts") if number is not None else int(kind == "llama4")
    given = whole(config, "shared_expert_intermediate_size")
    return given or copies * expert


def routing_groups(config: Config) -> int:
    """Return the number of groups that a token may use (DeepSeek-V3, arXiv 2412.19437, section 2.1.2).

    It is 0 without a limit.

    Examples
    --------
    >>> routing_groups({"n_group": 8, "topk_group": 4}), routing_groups({})
    (4, 0)
    """
    groups, limit = whole(config, "n_group", 1), whole(config, "topk_group", 1)
    return limit if 1 < limit < groups else 0
