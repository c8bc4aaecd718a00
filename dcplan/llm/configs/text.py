"""Read a text model: decoders, hybrids with state spaces, and encoders."""

from __future__ import annotations

from typing import Any

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import Config, linear_params, need, whole
from dcplan.llm.configs.attention import Attention, attention_of, norms_per_layer
from dcplan.llm.configs.encoder_decoder import TWO_STACKS, encoder_decoder
from dcplan.llm.configs.experts import dense_params, experts_of, inner_width, is_gated
from dcplan.llm.configs.families import (
    ENCODERS,
    HEADLESS,
    LAYER_NORM,
    LEARNED_POSITIONS,
    MAMBA_HYBRIDS,
    MASKED,
    PARALLEL,
    POOLED,
    TIED,
    family,
)
from dcplan.llm.configs.layers import (
    CONV,
    DENSE,
    FULL,
    LINEAR,
    LOCAL,
    MAMBA,
    MOE,
    NONE,
    Layers,
    layers_of,
    window_of,
)
from dcplan.llm.configs.names import spellings
from dcplan.llm.configs.state_space import mamba_sizes, short_conv_sizes
from dcplan.llm.mixers import index_sizes, linear_sizes

RELATIVE = "attention to contents and positions apart (DeBERTa)"


def text_model(config: Config) -> Architecture:
    """Return the architecture of a text model.

    Parameters
    ----------
    config : Mapping
        Keys of the text model, by :func:`dcplan.llm.configs.names.canonical`.

    Raises
    ------
    ValueError
        If a size is missing, or a layer is of a kind without a reader.

    Examples
    --------
    >>> text_model({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    ...     "vocab_size": 10}).layers
    2
    """
    if family(config) in TWO_STACKS:
        return encoder_decoder(config)
    hidden = int(need(config, "hidden_size"))
    layers = layers_of(config)
    _refuse_unplaced(config, layers)
    full, local = layers.mixer_count(FULL), layers.mixer_count(LOCAL)
    states = _states(config, layers, hidden)
    attention = _attention(config, full, local, states)
    inner = inner_width(config, hidden)
    rest = {
        **_outside(config, hidden),
        **_experts(config, layers, hidden, inner),
        **states,
        **index_sizes(config, hidden, full + local),
    }
    latent, sub = bool(config.get("kv_lora_rank")), _sublayers(config)
    return Architecture(
        layers=len(layers.mixers),
        hidden=hidden,
        heads=attention.heads,
        kv_heads=attention.kv_heads,
        head_dim=attention.head_dim,
        value_dim=attention.value_dim,
        vocab=int(need(config, "vocab_size")),
        tied=bool(config.get("tie_word_embeddings", family(config) in TIED)),
        attention_params=attention.params + _mixer_norms(config, layers, hidden),
        dense_mlp_params=dense_params(config, hidden, inner) + _ffn_norm(layers, hidden),
        attention_layers=sub * (full + local),
        dense_layers=sub * len(layers.ffns) if sub > 1 else layers.ffn_count(DENSE),
        ffn=inner,
        gated=is_gated(config),
        query_rank=whole(config, "q_lora_rank"),
        kv_rank=whole(config, "kv_lora_rank"),
        rope_dim=whole(config, "qk_rope_head_dim") if latent else 0,
        local_layers=local,
        window=window_of(config) if local else 0,
        mtp_layers=whole(config, "num_nextn_predict_layers"),
        causal=_is_causal(config),
        kv_heads_total=attention.kv_heads_total,
        untimed=(RELATIVE,) if family(config) == "deberta-v2" else (),
        **rest,
    )


def _refuse_unplaced(config: Config, layers: Layers) -> None:
    """Raise for sizes of a state space where no layer has one: the file does not say which have."""
    if layers.mixer_count(MAMBA) or family(config) in MAMBA_HYBRIDS:
        return
    for name in ("mamba_num_heads", "ssm_state_size", "mamba_dt_rank"):
        if config.get(name):
            given = next(key for key in reversed(spellings(name)) if config.get(key))
            msg = (
                f"{given}: hybrid layers, but no key says which layers they are; add layer_types, or "
                "use a model_type that dcplan reads"
            )
            raise ValueError(msg)


def _is_causal(config: Config) -> bool:
    """Return whether a token attends to earlier tokens alone."""
    if config.get("use_bidirectional_attention") is True or config.get("is_causal") is False:
        return False
    return family(config) not in ENCODERS or bool(config.get("is_decoder"))


def _sublayers(config: Config) -> int:
    """Return the attention and dense blocks of one layer: two in LongCat-Flash (arXiv 2509.01322)."""
    return 2 if family(config) == "longcat_flash" else 1


def _mixer_norms(config: Config, layers: Layers, hidden: int) -> int:
    """Return the parameters of the norms that belong to the mixer of a layer."""
    if NONE in layers.mixers or all(ffn == NONE for ffn in layers.ffns):
        return hidden
    return norms_per_layer(config) * hidden


def _ffn_norm(layers: Layers, hidden: int) -> int:
    """Return the norm of a feed-forward block that is a layer of its own."""
    return hidden if NONE in layers.mixers else 0


def _states(config: Config, layers: Layers, hidden: int) -> dict[str, int]:
    """Return the sizes of all layers with a recurrent state."""
    norms = _mixer_norms(config, layers, hidden)
    if family(config) in PARALLEL:
        return mamba_sizes(config, hidden, len(layers.mixers), 0)
    linear, conv = layers.mixer_count(LINEAR), layers.mixer_count(CONV)
    return {
        **mamba_sizes(config, hidden, layers.mixer_count(MAMBA), norms),
        **linear_sizes(config, hidden, linear, norms),
        **short_conv_sizes(config, hidden, conv, norms),
    }


def _attention(config: Config, full: int, local: int, states: dict[str, int]) -> Attention:
    """Return the attention block; a model without one has the heads of its state space."""
    if full + local:
        return attention_of(config, full, local)
    width = states.get("mamba_inner") or int(need(config, "hidden_size"))
    heads = states.get("mamba_heads") or 1
    return Attention(0, heads, heads, width // heads, width // heads)


def _experts(config: Config, layers: Layers, hidden: int, inner: int) -> dict[str, int]:
    count = len(layers.ffns) if _sublayers(config) > 1 else layers.ffn_count(MOE)
    sizes = experts_of(config, hidden, inner, count)
    if sizes:
        sizes["moe_fixed_params"] += _ffn_norm(layers, hidden)
    return sizes


def _outside(config: Config, hidden: int) -> dict[str, Any]:
    """Return embeddings of positions, norms and heads outside the layers."""
    kind = family(config)
    classes = frozenset(config.get("architectures") or ())
    positions = whole(config, "max_position_embeddings") if kind in LEARNED_POSITIONS else 0
    if kind == "deberta-v2" and not config.get("position_biased_input", True):
        positions = 0
    types = whole(config, "type_vocab_size") if kind in ENCODERS else 0
    norms = hidden * (2 if kind in LAYER_NORM else 1)
    if kind == "deberta-v2":
        if config.get("pos_att_type") and not config.get("share_att_key"):
            msg = "share_att_key: projections of positions of their own are not supported"
            raise ValueError(msg)
        # embeddings of distances, with their norm
        norms += hidden * (2 * int(need(config, "position_buckets")) + 2)
    if classes & MASKED:
        bias = kind != "modernbert"
        norms += linear_params(hidden, hidden, bias=bias) + hidden * (2 if bias else 1)
        norms += int(need(config, "vocab_size"))
    return {
        "position_params": (positions + types) * hidden,
        "norm_params": norms,
        "head": not HEADLESS.intersection(classes),
        "once_params": hidden * (hidden + 1) if POOLED.intersection(classes) else 0,
    }
