"""One name for each size that configuration files spell in several ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.llm.config_keys import Config

ALIASES: Mapping[str, tuple[str, ...]] = {
    "hidden_size": ("n_embd", "d_model"),
    "num_hidden_layers": ("n_layer", "n_layers", "num_layers"),
    "num_attention_heads": ("n_head", "n_heads"),
    "num_key_value_heads": (
        "num_kv_heads",
        "kv_n_heads",
        "multi_query_group_num",
        "num_attention_groups",
    ),
    "head_dim": ("kv_channels", "attention_head_dim"),
    "vocab_size": ("padded_vocab_size",),
    "intermediate_size": ("n_inner", "ffn_dim", "ffn_hidden_size", "block_ff_dim"),
    "dense_intermediate_size": ("intermediate_size_mlp",),
    "hidden_act": (
        "hidden_activation",
        "activation_function",
        "mlp_hidden_act",
        "feed_forward_proj",
    ),
    "max_position_embeddings": ("n_positions", "max_sequence_length"),
    "n_routed_experts": ("num_local_experts", "num_experts", "moe_num_experts"),
    "num_experts_per_tok": (
        "num_experts_per_token",
        "experts_per_token",
        "moe_topk",
        "moe_top_k",
        "moe_k",
        "num_selected_experts",
        "top_k_experts",
    ),
    "moe_intermediate_size": ("expert_intermediate_size", "expert_ffn_hidden_size"),
    "n_shared_experts": ("num_shared_experts", "num_shared_expert", "moe_num_shared_experts"),
    "shared_expert_intermediate_size": (
        "moe_shared_expert_intermediate_size",
        "shared_intermediate_size",
        "share_expert_dim",
        "share_expert_dims",
    ),
    "first_k_dense_replace": ("num_dense_layers", "moe_layer_start_index", "moe_layer_num_skipped"),
    "n_group": ("num_expert_group",),
    "num_nextn_predict_layers": ("mtp_num_hidden_layers",),
    "sliding_window_pattern": ("_sliding_window_pattern",),
    "mamba_num_heads": ("mamba_n_heads",),
    "mamba_head_dim": ("mamba_d_head",),
    "mamba_groups": ("mamba_n_groups", "n_groups", "mamba_ngroups"),
    "ssm_state_size": ("mamba_d_state", "state_size"),
    "conv_kernel": ("mamba_d_conv",),
    "mamba_dt_rank": ("time_step_rank",),
    "expand": ("mamba_expand",),
}
"""Name that the readers use -> other spellings, in their order."""
PARTS = ("attn_config", "ffn_config")
"""Objects whose keys belong to the model itself (DBRX, MPT)."""
TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config")
"""Objects that hold the language model of a model with several parts."""


def text_part(config: Config) -> dict[str, Any]:
    """Return the keys of the language model: of its own object, then of the file.

    Examples
    --------
    >>> text_part({"model_type": "x", "text_config": {"model_type": "llama", "n_layer": 2}})["model_type"]
    'llama'
    """
    merged = dict(config)
    for name in TEXT_PARTS:
        inner = config.get(name)
        if isinstance(inner, Mapping):
            merged = {**merged, **text_part(inner)}
    for name in PARTS:
        inner = config.get(name)
        if isinstance(inner, Mapping):
            merged = {**{k: v for k, v in inner.items() if k != "model_type"}, **merged}
    return {k: v for k, v in merged.items() if k not in TEXT_PARTS}


def canonical(config: Config) -> dict[str, Any]:
    """Return a configuration with the readers' name of each size; other keys stay.

    Examples
    --------
    >>> canonical({"n_embd": 768, "num_local_experts": 8})["hidden_size"]
    768
    """
    named = dict(config)
    for name, others in ALIASES.items():
        if named.get(name) is None:
            found = (config[other] for other in others if config.get(other) is not None)
            value = next(found, None)
            if value is not None:
                named[name] = value
    return named


def window_tokens(config: Config) -> int:
    """Return the longest context that a configuration states; 0 if it states none [tokens].

    Examples
    --------
    >>> window_tokens({"n_positions": 1024}), window_tokens({}), window_tokens(
    ...     {"text_config": {"max_position_embeddings": 8192}})
    (1024, 0, 8192)
    """
    value = canonical(text_part(config)).get("max_position_embeddings")
    return value if isinstance(value, int) else 0


def spellings(key: str) -> tuple[str, ...]:
    """Return all names of the size that a key holds.

    Examples
    --------
    >>> spellings("num_experts")[:2], spellings("qk_rope_head_dim")
    (('n_routed_experts', 'num_local_experts'), ('qk_rope_head_dim',))
    """
    for name, others in ALIASES.items():
        if key == name or key in others:
            return (name, *others)
    return (key,)
