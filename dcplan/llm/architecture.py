"""Architecture of a model, the basis of parameter, FLOP and operation counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """Sizes of a transformer, or of a hybrid of attention, MLP, Mamba-2 and linear attention blocks.

    ``attention_params`` and the MLP counts are per layer, including norms and biases if the model
    has them. ``attention_layers`` and ``dense_layers`` count attention and dense MLP blocks; in a
    plain transformer a layer has one attention block and one dense or mixture-of-experts block.
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
    """Groups of experts that one token may use (node-limited routing); 0 if any."""
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
    """Parameters outside the blocks that every token uses: last norm; patch and output projections
    of a vision model."""
    causal: bool = True
    """False if every query attends to all keys, and a local query to all keys of its window."""
    once_params: int = 0
    """Parameters that are stored but not used by every token: modulation, time and label embedders
    of a diffusion transformer (once per sample), the second copy of two-stream blocks (a token uses
    one copy)."""
    head: bool = True
    """False if the model has no output layer over the vocabulary (encoders)."""
    kv_heads_total: int = 0
    """Key-value heads summed over the attention layers if they differ; 0 if each has kv_heads."""
    expert_hidden: int = 0
    """Width of the inputs of routed experts in a latent space; 0: the hidden size."""
    mamba_conv: int = 0
    """Values of the convolution state of one Mamba-2 layer and sequence."""
    linear_layers: int = 0
    """Layers with linear attention (Gated DeltaNet) instead of full attention."""
    linear_params: int = 0
    """Parameters of one linear attention block, norms included."""
    linear_state: int = 0
    """Values of the recurrent state of one linear layer and sequence: heads x key x value size."""
    linear_conv: int = 0
    """Values of the convolution state of one linear layer and sequence."""
    sparse_topk: int = 0
    """Keys that a query attends to in a full attention layer with sparse attention; 0: all."""
    index_layers: int = 0
    """Layers with an indexer, which selects the keys of sparse attention."""
    index_heads: int = 0
    index_dim: int = 0
    """Size of an index key; the index heads share it."""
    index_params: int = 0
    """Parameters of one indexer."""
    tower: Architecture | None = None
    """Vision encoder, with its own kind of block."""
    tower_patches: int = 0
    """Tokens of one image (or tile) inside the tower, class token included; of a vision encoder alone,
    its own."""
    tower_tokens: int = 0
    """Tokens of one image in the language model."""
    projector_params: int = 0
    """Parameters between tower and language model, applied to each of ``tower_tokens``."""
    untimed: tuple[str, ...] = ()
    """Parts whose parameters are counted, but whose time no model computes."""

    @property
    def params(self) -> int:
        """Return all parameters, including the vision tower, without multi-token-prediction layers."""
        return self.trunk_params + self.tower_params

    @property
    def trunk_params(self) -> int:
        """Return all parameters except those of the vision tower and its projector."""
        moe = self.moe_layers * (self.experts * self.expert_params + self.moe_fixed_params)
        return self._common + self.once_params + moe

    @property
    def tower_params(self) -> int:
        """Return the parameters of the vision tower and its projector."""
        return self.projector_params + (self.tower.trunk_params if self.tower else 0)

    @property
    def active_params(self) -> int:
        """Return the parameters that one token uses, without the vision tower."""
        moe = self.moe_layers * (
            self.experts_per_token * self.expert_params + self.moe_fixed_params
        )
        return self._common + moe

    @property
    def routed_params(self) -> int:
        """Return the parameters of the routed experts, which expert parallelism shards."""
        return self.moe_layers * self.experts * self.expert_params

    @property
    def embedding_params(self) -> int:
        """Return the parameters of look-up table, output layer and learned positions."""
        copies = 1 if self.tied or not self.head else 2
        return self.vocab * self.hidden * copies + self.position_params

    @property
    def lookup_params(self) -> int:
        """Return the parameters that no token multiplies: a look-up table that is no output layer."""
        own_table = not self.tied or not self.head
        return (self.vocab * self.hidden if own_table else 0) + self.position_params

    @property
    def _common(self) -> int:
        blocks = (
            self.attention_layers * self.attention_params
            + self.dense_layers * self.dense_mlp_params
        )
        return (
            self.embedding_params
            + blocks
            + self.mamba_layers * self.mamba_params
            + self.linear_layers * self.linear_params
            + self.index_layers * self.index_params
            + self.norm_params
        )


def context_tokens(shape: Architecture, seq_len: int) -> float:
    r"""Return the keys that a query attends to, summed over the attention layers.

    .. math::
       C_{causal} = L_{full}\,s/2 + L_{local}\,(w - w^2/(2s)),\quad
       C_{all} = L_{full}\,s + L_{local}\,w,\quad w \le s

    Without a causal mask, a local layer divides the sequence into windows of w, and a query attends
    to its own window. With sparse attention, a query of a full layer attends to at most
    ``sparse_topk`` keys, as in a window of this size.

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens per sequence, at least 1.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> tiny = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 10}
    >>> context_tokens(from_config(tiny), 1000)
    1000.0
    """
    window = min(shape.window, seq_len)
    local = shape.local_layers if window else 0
    full = shape.attention_layers - local
    if not shape.causal:
        return float(full * seq_len + local * window)
    kept = min(shape.sparse_topk or seq_len, seq_len)
    return full * _causal_keys(kept, seq_len) + local * _causal_keys(window, seq_len)


def _causal_keys(window: int, seq_len: int) -> float:
    """Return the mean number of keys of a query with a causal mask and a window."""
    return window - window * window / (2.0 * seq_len)


def model_flops_per_token(shape: Architecture, seq_len: int, images: float = 0.0) -> float:
    r"""Return forward and backward model FLOPs of one token, without recompute.

    Attention is causal if the model is.

    .. math::
       F = 6 (N_{act} - N_{lookup}) + 6\,C\,a\,(d_{qk} + d_v)
       + 18\,(L_m\,d_{inner}\,d_{state} + L_\ell\,S) + 3\,L_i\,s\,a_i\,d_i + F_{tower}/s

    where the embedding look-up has no multiplication, C is :func:`context_tokens`, the third term
    is the scan of L_m Mamba-2 blocks and the state update of L_l linear attention blocks with S
    state values, the fourth the scores of L_i indexers with a_i heads over half of the sequence,
    and the last one :func:`tower_flops` of a sequence's images. A state update reads the state with
    key and query and adds an outer product: 6 FLOPs per value and pass.

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens of one sequence, at least 1.
    images : float, default 0
        Images (or tiles) of one sequence that pass through the vision tower.

    References
    ----------
    .. [1] D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
       Megatron-LM", SC21, equation 3 (there non-causal).
    .. [2] A. Chowdhery et al., "PaLM", 2022, appendix B.
    .. [3] T. Dao, A. Gu, "Transformers are SSMs", 2024, section 6 (state-space duality).
    .. [4] S. Yang et al., "Gated Delta Networks", 2024, arXiv 2412.06464, section 3.
    .. [5] DeepSeek-AI, "DeepSeek-V3.2", 2025, arXiv 2512.02556, section 2.1 (indexer).

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> gpt = from_config({"model_type": "gpt2", "n_embd": 12288, "n_layer": 96, "n_head": 96,
    ...                    "vocab_size": 51200, "n_positions": 2048})
    >>> round(model_flops_per_token(gpt, 2048) / 1e12, 3)
    1.062
    """
    matmul = 6.0 * (shape.active_params - shape.lookup_params)
    pair = shape.heads * (shape.head_dim + shape.value_dim)
    states = shape.mamba_layers * shape.mamba_inner * shape.mamba_state
    states += shape.linear_layers * shape.linear_state
    index = 3.0 * shape.index_layers * seq_len * shape.index_heads * shape.index_dim
    own = matmul + 6.0 * context_tokens(shape, seq_len) * pair + 18.0 * states + index
    return own + tower_flops(shape) * images / seq_len


def tower_flops(shape: Architecture) -> float:
    r"""Return forward and backward model FLOPs of one image: vision tower and projector.

    .. math:: F_{tower} = p\,F(p) + 6\,N_{proj}\,t

    with p patches, F(p) the tower's own :func:`model_flops_per_token`, and t tokens for the
    language model.
    """
    if shape.tower is None:
        return 0.0
    inside = shape.tower_patches * model_flops_per_token(shape.tower, shape.tower_patches)
    return inside + 6.0 * shape.projector_params * shape.tower_tokens


def recomputed_frac(shape: Architecture, seq_len: int, images: float = 0.0) -> float:
    r"""Return the share of model FLOPs that full recompute repeats.

    It is one third, without the output layer.

    .. math:: \frac{1}{3}\left(1 - \frac{6\,h\,V}{F}\right)

    Parameters
    ----------
    shape : Architecture
        The model.
    seq_len : int
        Tokens of one sequence, at least 1.
    images : float, default 0
        Images (or tiles) of one sequence that pass through the vision tower.

    References
    ----------
    .. [1] D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
       Megatron-LM", SC21, section 5.1: the output layer is not run again.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> gpt = from_config({"model_type": "gpt2", "n_embd": 12288, "n_layer": 96, "n_head": 96,
    ...                    "vocab_size": 51200, "n_positions": 2048})
    >>> round(1 + recomputed_frac(gpt, 2048), 4)
    1.3321
    """
    head = 6.0 * shape.hidden * shape.vocab * shape.head
    return (1.0 - head / model_flops_per_token(shape, seq_len, images)) / 3.0
