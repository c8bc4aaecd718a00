"""Shape of a model: what its parameters, FLOPs and operations are counted from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """Sizes of a transformer, or of a hybrid of attention, MLP and Mamba-2 blocks.

    ``attention_params`` and the MLP counts are per layer, norms and biases included where the model has them.
    ``attention_layers`` and ``dense_layers`` count attention and dense MLP blocks; in a plain transformer a
    layer holds one attention block and one dense or mixture-of-experts block.
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
    attention_layers: int
    dense_layers: int
    ffn: int
    gated: bool
    query_rank: int = 0
    kv_rank: int = 0
    rope_dim: int = 0
    local_layers: int = 0
    window: int = 0
    moe_layers: int = 0
    experts: int = 0
    experts_per_token: int = 0
    expert_groups: int = 0
    """Groups of experts that one token may use (node-limited routing); 0 where free."""
    expert_ffn: int = 0
    shared_ffn: int = 0
    expert_params: int = 0
    moe_fixed_params: int = 0
    mamba_layers: int = 0
    mamba_inner: int = 0
    mamba_state: int = 0
    mamba_groups: int = 0
    mamba_heads: int = 0
    mamba_params: int = 0
    mtp_layers: int = 0
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
    def embedding_params(self) -> int:
        """Look-up table, output layer and learned positions."""
        return self.vocab * self.hidden * (1 if self.tied else 2) + self.position_params

    @property
    def _common(self) -> int:
        blocks = self.attention_layers * self.attention_params + self.dense_layers * self.dense_mlp_params
        return self.embedding_params + blocks + self.mamba_layers * self.mamba_params + self.norm_params


def context_tokens(shape: Architecture, seq_len: int) -> float:
    r"""Keys a query meets, summed over the attention layers, causal.

    .. math:: C = L_{full}\,s/2 + L_{local}\,(w - w^2/(2s)),\quad w \le s

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens of a sequence, at least 1.

    Examples
    --------
    >>> from dcplan.training.config import from_config
    >>> tiny = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 10}
    >>> context_tokens(from_config(tiny), 1000)
    1000.0
    """
    window = min(shape.window, seq_len)
    local = shape.local_layers if window else 0
    return (shape.attention_layers - local) * seq_len / 2.0 + local * (window - window * window / (2.0 * seq_len))


def model_flops_per_token(shape: Architecture, seq_len: int) -> float:
    r"""Forward and backward model FLOPs of one token, causal attention, no recompute.

    .. math:: F = 6 (N_{act} - N_{lookup}) + 6\,C\,a\,(d_{qk} + d_v) + 18\,L_m\,d_{inner}\,d_{state}

    where the embedding look-up does no multiplication, C is :func:`context_tokens` and the last term is the
    state-space scan of L_m Mamba-2 blocks.

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
    .. [3] T. Dao, A. Gu, "Transformers are SSMs", 2024, section 6 (state-space duality).

    Examples
    --------
    >>> from dcplan.training.config import from_config
    >>> gpt = from_config({"model_type": "gpt2", "n_embd": 12288, "n_layer": 96, "n_head": 96,
    ...                    "vocab_size": 51200, "n_positions": 2048})
    >>> round(model_flops_per_token(gpt, 2048) / 1e12, 3)
    1.062
    """
    lookup = 0 if shape.tied else shape.vocab * shape.hidden
    matmul = 6.0 * (shape.active_params - lookup - shape.position_params)
    pair = shape.heads * (shape.head_dim + shape.value_dim)
    scan = 18.0 * shape.mamba_layers * shape.mamba_inner * shape.mamba_state
    return matmul + 6.0 * context_tokens(shape, seq_len) * pair + scan
