"""Read models with an encoder and a decoder that attends to it: Whisper, BART, T5."""

from __future__ import annotations

from dataclasses import replace

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import Config, linear_params, mlp_params, need, whole
from dcplan.llm.configs.families import TIED, family

TWO_STACKS = frozenset({"whisper", "bart", "mbart", "t5", "mt5", "umt5"})
"""``model_type`` of the models that :func:`encoder_decoder` reads."""
CROSS = "cross attention of a decoder to an encoder"


def encoder_decoder(config: Config) -> Architecture:
    r"""Return the architecture of a decoder whose ``tower`` is its encoder.

    A decoder layer has two attention blocks: to itself and to the encoder, 8 a d h weights.
    Parameters are counted; no model computes the time (``untimed``).

    Parameters
    ----------
    config : Mapping
        Keys of the config.json.

    Raises
    ------
    ValueError
        If a size is missing.

    References
    ----------
    .. [1] A. Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022,
       arXiv 2212.04356, section 2.2.
    .. [2] C. Raffel et al., "T5", 2019, arXiv 1910.10683, section 2.1.
    .. [3] Transformers 5.23, classes WhisperModel, BartModel, T5Model.

    Examples
    --------
    Whisper large v3, 1.54 B parameters:

    >>> large = {"model_type": "whisper", "d_model": 1280, "encoder_layers": 32, "decoder_layers": 32,
    ...     "encoder_attention_heads": 20, "decoder_attention_heads": 20, "encoder_ffn_dim": 5120,
    ...     "decoder_ffn_dim": 5120, "num_mel_bins": 128, "vocab_size": 51866,
    ...     "max_source_positions": 1500, "max_target_positions": 448}
    >>> encoder_decoder(large).params
    1543490560
    """
    if family(config) in {"t5", "mt5", "umt5"}:
        return _t5(config)
    return _bart(config, speech=family(config) == "whisper")


def _stack(
    layers: int,
    hidden: int,
    heads: int,
    inner: int,
    attention: int,
    mlp: int,
    *,
    dim: int,
    gated: bool = False,
) -> Architecture:
    """Return a stack of layers without embeddings."""
    return Architecture(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=dim,
        value_dim=dim,
        vocab=0,
        tied=True,
        attention_params=attention,
        dense_mlp_params=mlp,
        attention_layers=layers,
        dense_layers=layers,
        ffn=inner,
        gated=gated,
        causal=False,
    )


def _joined(
    config: Config, decoder: Architecture, encoder: Architecture, outside: tuple[int, int]
) -> Architecture:
    """Return the decoder with its embedding and its encoder; ``outside`` is positions and norms."""
    return replace(
        decoder,
        vocab=int(need(config, "vocab_size")),
        tied=bool(config.get("tie_word_embeddings", family(config) in TIED)),
        position_params=outside[0],
        norm_params=outside[1],
        causal=True,
        tower=encoder,
        tower_patches=max(encoder.position_params // encoder.hidden, 1),
        untimed=(CROSS,),
    )


def _bart(config: Config, *, speech: bool) -> Architecture:
    hidden = int(need(config, "d_model", "hidden_size"))
    block = 4 * linear_params(hidden, hidden) - (hidden if speech else 0)
    stacks = []
    for name, blocks in (("encoder", 1), ("decoder", 2)):
        heads, inner = (
            int(need(config, f"{name}_{part}")) for part in ("attention_heads", "ffn_dim")
        )
        layers = int(need(config, f"{name}_layers"))
        attention = blocks * (block + 2 * hidden) + 2 * hidden
        mlp = mlp_params(hidden, inner, gated=False, bias=True)
        stacks.append(_stack(layers, hidden, heads, inner, attention, mlp, dim=hidden // heads))
    encoder, decoder = stacks
    if speech:
        # two convolutions of depth 3 over the spectrum, then a norm at the end
        mel = int(need(config, "num_mel_bins"))
        front = 3 * mel * hidden + hidden + 3 * hidden * hidden + hidden
        frames = int(need(config, "max_source_positions"))
        encoder = replace(encoder, norm_params=front + 2 * hidden, position_params=frames * hidden)
        positions = int(need(config, "max_target_positions"))
        return _joined(config, decoder, encoder, (positions * hidden, 2 * hidden))
    # two more rows of positions (BartLearnedPositionalEmbedding), a norm after the embedding
    positions = (int(need(config, "max_position_embeddings")) + 2) * hidden
    encoder = replace(encoder, norm_params=2 * hidden, position_params=positions)
    return _joined(config, decoder, encoder, (positions, 2 * hidden))


def _t5(config: Config) -> Architecture:
    hidden, inner = int(need(config, "d_model")), int(need(config, "d_ff"))
    heads, dim = int(need(config, "num_heads")), int(need(config, "d_kv"))
    layers = int(need(config, "num_hidden_layers"))
    gated = str(config.get("feed_forward_proj") or "relu").startswith("gated")
    block = 4 * hidden * heads * dim + hidden
    mlp = mlp_params(hidden, inner, gated=gated) + hidden
    # each stack learns one bias for each head and bucket of distances; umT5 has one in each layer
    buckets = int(need(config, "relative_attention_num_buckets")) * heads
    stacks = []
    for name, blocks in (("num_layers", 1), ("num_decoder_layers", 2)):
        count = whole(config, name, layers)
        stack = _stack(count, hidden, heads, inner, blocks * block, mlp, dim=dim, gated=gated)
        copies = count if family(config) == "umt5" else 1
        stacks.append(replace(stack, norm_params=hidden + copies * buckets))
    encoder, decoder = stacks
    return _joined(config, decoder, encoder, (0, decoder.norm_params))
