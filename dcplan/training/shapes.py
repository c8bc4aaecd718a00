"""Architectures that the training model can compute, and the reason to refuse the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.llm.architecture import Architecture
from dcplan.llm.config import timed_config

LINEAR_LAYERS = (
    "linear attention layers (linear_num_value_heads, linear_attn_config, attn_type_list, conv)"
)
"""Words of a refusal, with the keys that ask for such layers."""


def refusal_of_training(shape: Architecture) -> str | None:
    """Return why the training model cannot compute an architecture; None if it can.

    Its parameters and model FLOPs are counted, but no measured run shows the speed and memory of
    these layers in training.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> refusal_of_training(from_config({"hidden_size": 64, "num_hidden_layers": 2,
    ...     "num_attention_heads": 4, "vocab_size": 10})) is None
    True
    """
    mixers = shape.attention_layers + shape.mamba_layers + shape.linear_layers
    found = {
        "attention and a state space in one layer, or two attention blocks": mixers > shape.layers,
        LINEAR_LAYERS: shape.linear_layers,
        "Mamba-1 blocks (mamba_dt_rank)": shape.mamba_layers and not shape.mamba_heads,
        "sparse attention with an indexer (index_topk)": shape.sparse_topk,
        "experts in a latent space (moe_latent_size)": shape.expert_hidden,
        "key-value heads that differ by layer": shape.kv_heads_total,
        "a model without an output layer (encoder)": not shape.head,
    }
    part = next((name for name, present in found.items() if present), None)
    return f"{part}: supported for serving, not for training" if part else None


def trained_shape(config: Mapping[str, Any]) -> Architecture:
    """Read a ``config.json`` of a model to train.

    Raises
    ------
    ValueError
        If the file is not a readable model, or the training model does not support its layers.

    Examples
    --------
    >>> tiny = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 10}
    >>> trained_shape(tiny).layers
    2
    """
    shape = timed_config(config)
    cause = refusal_of_training(shape)
    if cause is not None:
        raise ValueError(cause)
    return shape
