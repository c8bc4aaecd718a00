"""Shape of a transformer from Hugging Face ``config.json`` keys, its parameters and its model FLOPs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GATED = frozenset({"silu", "swiglu", "gelu_pytorch_tanh", "gelu_tanh_gated", "geglu", "gelu_new_gated"})
UNGATED_TYPES = frozenset({"gpt2", "gpt_neox", "opt", "bloom", "falcon", "nemotron", "phi", "gptj"})
LEARNED_POSITIONS = frozenset({"gpt2", "opt"})
HYBRID_KEYS = ("hybrid_override_pattern", "mamba_num_heads", "ssm_state_size", "mamba_d_state")


@dataclass(frozen=True)
class Architecture:
    """Sizes of a decoder-only transformer.

    ``attention_params`` and the MLP counts are per layer, norms and biases included where the model has them.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int
    vocab: int
    tied: bool
    attention_params: int
    dense_mlp_params: int
    moe_layers: int = 0
    experts: int = 0
    experts_per_token: int = 0
    expert_params: int = 0
    moe_fixed_params: int = 0
    position_params: int = 0
    norm_params: int = 0

    @property
    def params(self) -> int:
        """All parameters, multi-token-prediction layers not counted."""
        moe = self.moe_layers * (self.experts * self.expert_params + self.moe_fixed_params)
        return self._common + moe

    @property
    def active_params(self) -> int:
        """Parameters a token passes through."""
        moe = self.moe_layers * (self.experts_per_token * self.expert_params + self.moe_fixed_params)
        return self._common + moe

    @property
    def routed_params(self) -> int:
        """Parameters of the routed experts: what expert parallel shards."""
        return self.moe_layers * self.experts * self.expert_params

    @property
    def _common(self) -> int:
        embeddings = self.vocab * self.hidden * (1 if self.tied else 2) + self.position_params
        dense = (self.layers - self.moe_layers) * self.dense_mlp_params
        return embeddings + self.layers * self.attention_params + dense + self.norm_params


def model_flops_per_token(shape: Architecture, seq_len: int) -> float:
    r"""Forward and backward model FLOPs of one token, causal attention, no recompute.

    .. math:: F = 6 (N_{act} - N_{lookup}) + 6 L s\, a\,(d_{qk} + d_v) / 2

    where the embedding look-up does no multiplication and the causal mask halves the score matrix.

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens of one sequence, at least 1.

    References
    ----------
    .. [1] D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
       Megatron-LM", SC21, equation 3 (there non-causal).
    .. [2] A. Chowdhery et al., "PaLM", 2022, appendix B.

    Examples
    --------
    >>> gpt = from_config({"model_type": "gpt2", "n_embd": 12288, "n_layer": 96, "n_head": 96,
    ...                    "vocab_size": 51200, "n_positions": 2048})
    >>> round(model_flops_per_token(gpt, 2048) / 1e12, 3)
    1.062
    """
    lookup = 0 if shape.tied else shape.vocab * shape.hidden
    matmul = 6.0 * (shape.active_params - lookup - shape.position_params)
    pair = shape.heads * (shape.head_dim + shape.value_dim)
    return matmul + 6.0 * shape.layers * seq_len * pair / 2.0


def from_config(config: Mapping[str, Any]) -> Architecture:
    """Read a Hugging Face ``config.json``: dense, GQA, MQA, MLA, MoE with shared experts and dense first layers.

    Raises
    ------
    ValueError
        When a needed key is missing, or the model has layers this reader does not count (Mamba hybrids).

    Examples
    --------
    >>> llama = from_config({"hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336,
    ...     "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "hidden_act": "silu"})
    >>> round(llama.params / 1e9, 3)
    8.03
    """
    config = {**config, **dict(config.get("text_config") or {})}
    found = [key for key in HYBRID_KEYS if key in config]
    if found:
        msg = f"hybrid Mamba layers ({found[0]}) are not supported yet"
        raise ValueError(msg)
    kind = str(config.get("model_type", ""))
    hidden = int(_need(config, "hidden_size", "n_embd", "d_model"))
    layers = int(_need(config, "num_hidden_layers", "n_layer", "num_layers"))
    heads = int(_need(config, "num_attention_heads", "n_head"))
    vocab = int(_need(config, "vocab_size"))
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
    mlp_bias = bool(config.get("mlp_bias", kind in {"gpt2", "gpt_neox", "opt", "bloom"}))
    norms = _norms_per_layer(config, kind) * hidden
    attention += norms
    moe = _moe(config, hidden, layers, inner, gated)
    positions = int(config.get("max_position_embeddings") or config.get("n_positions") or 0)
    return Architecture(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        value_dim=value_dim,
        vocab=vocab,
        tied=bool(
            config.get("tie_word_embeddings", kind in {"gpt2", "opt", "bloom", "falcon", "gemma", "gemma2", "gemma3"})
        ),
        attention_params=attention,
        dense_mlp_params=_mlp(hidden, inner, gated=gated, bias=mlp_bias),
        position_params=positions * hidden if kind in LEARNED_POSITIONS else 0,
        norm_params=hidden * (2 if kind in {"gpt2", "gpt_neox", "opt", "bloom", "falcon"} else 1),
        **moe,
    )


def _need(config: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        if config.get(name) is not None:
            return config[name]
    msg = f"config.json has no {' / '.join(names)}"
    raise ValueError(msg)


def _is_gated(config: Mapping[str, Any], kind: str) -> bool:
    if "gated_mlp" in config:
        return bool(config["gated_mlp"])
    if kind in UNGATED_TYPES:
        return False
    act = str(
        config.get("hidden_act") or config.get("hidden_activation") or config.get("activation_function") or "silu"
    )
    return act in GATED or (act == "gelu" and kind.startswith(("gemma", "grok")))


def _mlp(hidden: int, inner: int, *, gated: bool, bias: bool = False) -> int:
    matrices = (3 if gated else 2) * hidden * inner
    return matrices + ((2 if gated else 1) * inner + hidden if bias else 0)


def _norms_per_layer(config: Mapping[str, Any], kind: str) -> int:
    if kind in {"gpt2", "gpt_neox", "opt", "bloom", "falcon"}:
        return 4
    return 4 if kind in {"gemma2", "gemma3", "gemma3_text", "grok-1"} or config.get("post_norms") else 2


def _attention(config: Mapping[str, Any], kind: str, hidden: int, heads: int) -> tuple[int, int, int, int]:
    if config.get("kv_lora_rank"):
        return _latent_attention(config, hidden, heads)
    head_dim = int(config.get("head_dim") or hidden // heads)
    kv_heads = _kv_heads(config, kind, heads)
    query, kv = heads * head_dim, kv_heads * head_dim
    params = hidden * query + 2 * hidden * kv + query * hidden
    all_bias = bool(config.get("attention_bias", kind in {"gpt2", "gpt_neox", "opt", "bloom"}))
    if all_bias or config.get("qkv_bias") or kind in {"qwen2", "qwen2_moe"}:
        params += query + 2 * kv
    if all_bias:
        params += hidden
    if config.get("qk_norm") or kind in {"qwen3", "qwen3_moe"}:
        params += 2 * head_dim
    return params, head_dim, head_dim, kv_heads


def _kv_heads(config: Mapping[str, Any], kind: str, heads: int) -> int:
    if kind == "falcon" and config.get("num_kv_heads") is None and config.get("multi_query"):
        return 1
    return int(config.get("num_key_value_heads") or config.get("num_kv_heads") or heads)


def _latent_attention(config: Mapping[str, Any], hidden: int, heads: int) -> tuple[int, int, int, int]:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1)."""
    nope, rope = int(config["qk_nope_head_dim"]), int(config["qk_rope_head_dim"])
    value, kv_rank = int(config["v_head_dim"]), int(config["kv_lora_rank"])
    q_rank = int(config.get("q_lora_rank") or 0)
    query = heads * (nope + rope)
    params = hidden * q_rank + q_rank + q_rank * query if q_rank else hidden * query
    params += hidden * (kv_rank + rope) + kv_rank + kv_rank * heads * (nope + value) + heads * value * hidden
    return params, nope + rope, value, heads


def _moe(config: Mapping[str, Any], hidden: int, layers: int, inner: int, gated: bool) -> dict[str, int]:
    experts = int(config.get("n_routed_experts") or config.get("num_local_experts") or config.get("num_experts") or 0)
    if experts <= 1:
        return {}
    expert_inner = int(
        config.get("moe_intermediate_size")
        or config.get("expert_intermediate_size")
        or config.get("intermediate_size")
        or inner
    )
    shared = int(config.get("n_shared_experts") or str(config.get("model_type", "")).startswith("llama4"))
    shared_inner = int(config.get("shared_expert_intermediate_size") or shared * expert_inner)
    router = hidden * experts + (experts if config.get("router_bias") else 0)
    shared_gate = hidden if config.get("model_type") == "qwen2_moe" else 0
    bias = (2 * expert_inner + hidden) if config.get("expert_bias") else 0
    return {
        "moe_layers": _moe_layer_count(config, layers),
        "experts": experts,
        "experts_per_token": int(
            config.get("num_experts_per_tok") or config.get("moe_topk") or config.get("num_selected_experts") or 1
        ),
        "expert_params": _mlp(hidden, expert_inner, gated=gated) + bias,
        "moe_fixed_params": (_mlp(hidden, shared_inner, gated=gated) if shared_inner else 0) + router + shared_gate,
    }


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
