"""Read a Hugging Face ``config.json`` into an :class:`Architecture`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import TEXT_DEFAULTS, mlp_params, need
from dcplan.llm.diffusion import from_diffusers
from dcplan.llm.mixers import index_sizes, is_linear, linear_sizes
from dcplan.llm.vision import encoder_from_config, is_encoder, with_tower

GATED = frozenset(
    {"silu", "swiglu", "gelu_pytorch_tanh", "gelu_tanh_gated", "geglu", "gelu_new_gated"}
)
ENCODERS = frozenset({"bert", "roberta", "xlm-roberta"})
"""Families in which every token attends to all tokens."""
POOLED = frozenset(
    {"BertModel", "RobertaModel", "XLMRobertaModel", "BertForSequenceClassification"}
    | {"RobertaForSequenceClassification", "XLMRobertaForSequenceClassification"}
)
"""Classes with one more layer, used once per sequence: a pooler or a classifier."""
HEADLESS = frozenset({"MistralModel", "Qwen2Model", "Qwen3Model", "LlamaModel"}) | POOLED
"""Classes without an output layer over the vocabulary."""
BIASED = frozenset({"gpt2", "gpt_neox", "opt", "bloom", *ENCODERS})
"""Families with biases in all projections."""
LAYER_NORM = frozenset({*BIASED, "falcon"})
"""Families whose norms have a bias."""
UNGATED_TYPES = frozenset(
    {"gpt2", "gpt_neox", "opt", "bloom", "falcon", "nemotron", "phi", "gptj", *ENCODERS}
)
LEARNED_POSITIONS = frozenset({"gpt2", "opt", *ENCODERS})
TIED = frozenset({"gpt2", "opt", "bloom", "falcon", "gemma", "gemma2", "gemma3", "gemma3_text"})
SHARED_GATE = frozenset({"qwen2_moe", "qwen3_next", "qwen3_5_moe", "qwen3_5_moe_text"})
"""Families with a gate on the output of the shared expert."""
QKV_BIAS = frozenset(
    {"qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"}
)
QK_NORM = frozenset(
    {"qwen3", "qwen3_moe", "gemma3", "gemma3_text", "qwen3_next"}
    | {"qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"}
)
HYBRID_KEYS = ("mamba_d_state", "attn_layer_period", "layers_block_type", "mamba_num_heads")


MOST = 10_000_000
"""Maximum size of a model dimension; a larger number is a typing mistake."""
MOST_LAYERS, MOST_PARAMS = 10_000, 1e18
LEAST_ONE = ("layers", "hidden", "heads", "kv_heads", "head_dim", "value_dim", "ffn")


def from_config(config: Mapping[str, Any]) -> Architecture:
    """Read a Hugging Face ``config.json``.

    Dense, GQA, MQA, MLA, MoE with shared experts and dense first layers, linear attention (Gated
    DeltaNet), sparse attention with an indexer, encoders.

    It also reads a vision encoder, alone or of a language model (:mod:`dcplan.llm.vision`), and diffusion
    transformers (:mod:`dcplan.llm.diffusion`).

    Raises
    ------
    ValueError
        If a required key is missing, or the model has unsupported layers (Mamba
        hybrids, cross attention, unknown diffusion transformers).

    Examples
    --------
    >>> llama = from_config({"hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336,
    ...     "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "hidden_act": "silu"})
    >>> round(llama.params / 1e9, 3)
    8.03
    """
    try:
        if "_class_name" in config:
            shape = from_diffusers(config)
        elif is_encoder(config):
            shape = encoder_from_config(config)
        else:
            shape = with_tower(_read(config), config)
    except (ArithmeticError, TypeError, AttributeError) as error:
        msg = f"a size is not a number: {error}"
        raise ValueError(msg) from error
    except KeyError as error:
        msg = f"config.json has no {error.args[0]}"
        raise ValueError(msg) from error
    problems = _impossible(shape)
    if problems:
        raise ValueError("; ".join(problems))
    return shape


def _impossible(shape: Architecture) -> list[str]:
    """Return the impossible sizes of a model."""
    found = []
    if shape.tower is not None:
        found += [f"vision_config: {problem}" for problem in _impossible(shape.tower)]
    for f in fields(shape):
        if f.name == "tower":
            continue
        value = getattr(shape, f.name)
        counted = f.name.endswith("params") and value <= MOST_PARAMS
        if value < (1 if f.name in LEAST_ONE else 0) or (not counted and value > MOST):
            found.append(f"{f.name} is {value}")
    if shape.experts and not 1 <= shape.experts_per_token <= shape.experts:
        found.append(f"{shape.experts_per_token} of {shape.experts} experts per token")
    if shape.local_layers > shape.attention_layers:
        found.append(f"{shape.local_layers} layer_types for {shape.attention_layers} layers")
    if not found and shape.heads % shape.kv_heads:
        found.append(f"{shape.kv_heads} kv heads do not divide {shape.heads} heads")
    if not found and shape.layers > MOST_LAYERS:
        found.append(f"layers is {shape.layers}")
    return found


def _read(config: Mapping[str, Any]) -> Architecture:
    text = dict(config.get("text_config") or config.get("llm_config") or {})
    usual = TEXT_DEFAULTS.get(str(text.get("model_type")), {})
    config = {**config, **usual, **text}
    if config.get("cross_attention_layers"):
        msg = "cross_attention_layers: layers that read another stream (Llama 3.2 Vision) are not supported"
        raise ValueError(msg)
    if config.get("hybrid_override_pattern"):
        return hybrid_from_config(config)
    found = [key for key in HYBRID_KEYS if key in config]
    if found:
        msg = f"{found[0]}: hybrid layers are supported only with hybrid_override_pattern (Nemotron-H)"
        raise ValueError(msg)
    kind = str(config.get("model_type", ""))
    hidden = int(need(config, "hidden_size", "n_embd", "d_model"))
    layers = int(need(config, "num_hidden_layers", "n_layer", "num_layers"))
    heads = int(need(config, "num_attention_heads", "n_head"))
    vocab = int(need(config, "vocab_size"))
    if layers > MOST_LAYERS:
        msg = f"layers is {layers}"
        raise ValueError(msg)
    attention, head_dim, value_dim, kv_heads = _attention(config, kind, hidden, heads)
    gated = _is_gated(config, kind)
    inner = int(
        config.get("intermediate_size_mlp")
        or config.get("intermediate_size")
        or config.get("n_inner")
        or config.get("ffn_dim")
        or config.get("ffn_hidden_size")
        or 4 * hidden
    )
    mlp_bias = bool(config.get("mlp_bias", kind in BIASED))
    norms = _norms_per_layer(config, kind) * hidden
    attention += norms
    moe = _moe(config, hidden, layers, inner, gated)
    local_layers, window = _windows(config, kind, layers)
    positions = int(config.get("max_position_embeddings") or config.get("n_positions") or 0)
    linear = linear_sizes(config, hidden, layers, norms) if is_linear(config) else {}
    full_layers = layers - linear.get("linear_layers", 0)
    table_norms = 2 if kind in LAYER_NORM else 1
    classes = config.get("architectures") or ()
    return Architecture(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        value_dim=value_dim,
        vocab=vocab,
        tied=bool(config.get("tie_word_embeddings", kind in TIED)),
        attention_params=attention,
        dense_mlp_params=mlp_params(hidden, inner, gated=gated, bias=mlp_bias),
        attention_layers=full_layers,
        dense_layers=layers - moe.get("moe_layers", 0),
        ffn=inner,
        gated=gated,
        query_rank=int(config.get("q_lora_rank") or 0),
        kv_rank=int(config.get("kv_lora_rank") or 0),
        rope_dim=int(config.get("qk_rope_head_dim") or 0),
        local_layers=local_layers,
        window=window,
        mtp_layers=int(
            config.get("num_nextn_predict_layers") or config.get("mtp_num_hidden_layers") or 0
        ),
        position_params=positions * hidden if kind in LEARNED_POSITIONS else 0,
        norm_params=hidden * table_norms,
        causal=kind not in ENCODERS,
        head=not HEADLESS.intersection(classes),
        kv_heads_total=int(config.get("num_key_value_heads_total") or 0),
        once_params=hidden * (hidden + 1) if POOLED.intersection(classes) else 0,
        tower=None,
        **moe,
        **linear,
        **index_sizes(config, hidden, layers),
    )


def _is_gated(config: Mapping[str, Any], kind: str) -> bool:
    if "gated_mlp" in config:
        return bool(config["gated_mlp"])
    if kind in UNGATED_TYPES:
        return False
    act = str(
        config.get("hidden_act")
        or config.get("hidden_activation")
        or config.get("activation_function")
        or "silu"
    )
    return act in GATED or (act == "gelu" and kind.startswith(("gemma", "grok")))


def _norms_per_layer(config: Mapping[str, Any], kind: str) -> int:
    if kind in LAYER_NORM:
        return 4
    return (
        4
        if kind in {"gemma2", "gemma3", "gemma3_text", "grok-1"} or config.get("post_norms")
        else 2
    )


def _attention(
    config: Mapping[str, Any], kind: str, hidden: int, heads: int
) -> tuple[int, int, int, int]:
    if config.get("kv_lora_rank"):
        return _latent_attention(config, hidden, heads)
    head_dim = int(config.get("head_dim") or hidden // heads)
    kv_heads = _kv_heads(config, kind, heads)
    query, kv = heads * head_dim, kv_heads * head_dim
    gate = query if config.get("attn_output_gate", kind == "qwen3_next") else 0
    params = hidden * (query + gate) + 2 * hidden * kv + query * hidden
    total = int(config.get("num_key_value_heads_total") or 0)
    if total:
        layers = int(need(config, "num_hidden_layers"))
        params -= 2 * hidden * head_dim * (kv_heads * layers - total) // layers
    all_bias = bool(config.get("attention_bias", kind in BIASED))
    if all_bias or config.get("qkv_bias") or kind in QKV_BIAS:
        params += query + 2 * kv
    if all_bias:
        params += hidden
    if config.get("qk_norm") or kind in QK_NORM:
        params += 2 * head_dim
    return params, head_dim, head_dim, kv_heads


def _kv_heads(config: Mapping[str, Any], kind: str, heads: int) -> int:
    if kind == "falcon" and config.get("num_kv_heads") is None and config.get("multi_query"):
        return 1
    return int(config.get("num_key_value_heads") or config.get("num_kv_heads") or heads)


def _latent_attention(
    config: Mapping[str, Any], hidden: int, heads: int
) -> tuple[int, int, int, int]:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1)."""
    nope, rope = int(config["qk_nope_head_dim"]), int(config["qk_rope_head_dim"])
    value, kv_rank = int(config["v_head_dim"]), int(config["kv_lora_rank"])
    q_rank = int(config.get("q_lora_rank") or 0)
    query = heads * (nope + rope)
    params = hidden * q_rank + q_rank + q_rank * query if q_rank else hidden * query
    params += (
        hidden * (kv_rank + rope)
        + kv_rank
        + kv_rank * heads * (nope + value)
        + heads * value * hidden
    )
    return params, nope + rope, value, heads


def _moe(
    config: Mapping[str, Any], hidden: int, layers: int, inner: int, gated: bool
) -> dict[str, int]:
    experts = int(
        config.get("n_routed_experts")
        or config.get("num_local_experts")
        or config.get("num_experts")
        or 0
    )
    if experts <= 1:
        return {}
    expert_inner = int(
        config.get("moe_intermediate_size")
        or config.get("expert_intermediate_size")
        or config.get("intermediate_size")
        or inner
    )
    shared = int(
        config.get("n_shared_experts") or str(config.get("model_type", "")).startswith("llama4")
    )
    shared_inner = int(
        config.get("shared_expert_intermediate_size")
        or config.get("moe_shared_expert_intermediate_size")
        or shared * expert_inner
    )
    router = hidden * experts + (experts if config.get("router_bias") else 0)
    shared_gate = hidden if config.get("model_type") in SHARED_GATE else 0
    bias = (2 * expert_inner + hidden) if config.get("expert_bias") else 0
    # experts in a latent space (Nemotron 3 Super), with one projection to it and one back
    latent = int(config.get("moe_latent_size") or 0)
    return {
        "moe_layers": _moe_layer_count(config, layers),
        "experts": experts,
        "experts_per_token": int(
            config.get("num_experts_per_tok")
            or config.get("moe_topk")
            or config.get("num_selected_experts")
            or 1
        ),
        "expert_groups": _routing_groups(config),
        "expert_ffn": expert_inner,
        "shared_ffn": shared_inner,
        "expert_params": mlp_params(latent or hidden, expert_inner, gated=gated) + bias,
        "expert_hidden": latent,
        "moe_fixed_params": (mlp_params(hidden, shared_inner, gated=gated) if shared_inner else 0)
        + router
        + shared_gate
        + 2 * hidden * latent,
    }


def _routing_groups(config: Mapping[str, Any]) -> int:
    """Return the number of groups that a token may use (DeepSeek-V3, arXiv 2412.19437, section 2.1.2).

    It is 0 without a limit.
    """
    groups, limit = int(config.get("n_group") or 1), int(config.get("topk_group") or 1)
    return limit if 1 < limit < groups else 0


def _moe_layer_count(config: Mapping[str, Any], layers: int) -> int:
    first_dense = int(config.get("first_k_dense_replace") or 0)
    step = int(
        config.get("decoder_sparse_step")
        or config.get("interleave_moe_layer_step")
        or config.get("moe_layer_freq")
        or 1
    )
    dense_only = set(config.get("mlp_only_layers") or ())
    sparse = [i for i in range(first_dense, layers) if (i + 1) % step == 0 and i not in dense_only]
    return len(sparse)


def _windows(config: Mapping[str, Any], kind: str, layers: int) -> tuple[int, int]:
    """Return the layers with a local window, and the window, by key or by model family."""
    window = int(config.get("sliding_window") or config.get("attention_chunk_size") or 0)
    if not window or config.get("use_sliding_window") is False:
        return 0, 0
    types = config.get("layer_types")
    if types:
        return sum(str(t) in {"sliding_attention", "chunked_attention"} for t in types), window
    period = int(
        config.get("sliding_window_pattern")
        or {"gemma2": 2, "gpt_oss": 2, "llama4": 4, "llama4_text": 4}.get(kind, 0)
    )
    if period:
        return layers - layers // period, window
    return layers, window


def hybrid_from_config(config: Mapping[str, Any]) -> Architecture:
    """Read a Nemotron-H hybrid.

    One Mamba-2 (M), attention (*), dense (-) or mixture-of-experts (E) block per layer.

    References
    ----------
    .. [1] NVIDIA, "Nemotron-H", 2025, arXiv 2504.03624, section 2.1.
    """
    pattern = str(config["hybrid_override_pattern"])
    unknown = sorted(set(pattern) - set("M*-E"))
    if unknown:
        msg = f"hybrid_override_pattern: unknown block {unknown[0]!r}, known are M, *, - and E"
        raise ValueError(msg)
    kind = str(config.get("model_type", ""))
    hidden, heads = int(need(config, "hidden_size")), int(need(config, "num_attention_heads"))
    attention, head_dim, value_dim, kv_heads = _attention(config, kind, hidden, heads)
    gated = bool(config.get("gated_mlp"))
    keys = (
        ("intermediate_size",) if "-" in pattern else ("intermediate_size", "moe_intermediate_size")
    )
    inner = int(need(config, *keys))
    mamba_heads, head = int(need(config, "mamba_num_heads")), int(need(config, "mamba_head_dim"))
    groups, state = int(need(config, "n_groups")), int(need(config, "ssm_state_size"))
    kernel = int(config.get("conv_kernel") or 4)
    width, conv = mamba_heads * head, mamba_heads * head + 2 * groups * state
    mamba = (
        hidden * (width + conv + mamba_heads)
        + conv * (kernel + 1)
        + 3 * mamba_heads
        + width
        + width * hidden
    )
    moe = _moe(config, hidden, pattern.count("E"), inner, gated) if "E" in pattern else {}
    if moe:
        moe |= {
            "moe_layers": pattern.count("E"),
            "moe_fixed_params": moe["moe_fixed_params"] + hidden,
        }
    return Architecture(
        layers=len(pattern),
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        value_dim=value_dim,
        vocab=int(need(config, "vocab_size")),
        tied=bool(config.get("tie_word_embeddings", False)),
        attention_params=attention + hidden,
        dense_mlp_params=mlp_params(hidden, inner, gated=gated) + hidden,
        attention_layers=pattern.count("*"),
        dense_layers=pattern.count("-"),
        ffn=inner,
        gated=gated,
        mamba_layers=pattern.count("M"),
        mamba_inner=width,
        mamba_state=state,
        mamba_groups=groups,
        mamba_heads=mamba_heads,
        mamba_params=mamba + hidden,
        mamba_conv=conv * (kernel - 1),
        mtp_layers=int(config.get("num_nextn_predict_layers") or 0),
        norm_params=hidden,
        causal=True,
        head=True,
        tower=None,
        **moe,
    )
