"""Read a Hugging Face ``config.json`` into an :class:`Architecture`."""

from __future__ import annotations

from dataclasses import fields

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import Config
from dcplan.llm.configs.check_keys import key_notes, refuse_unread
from dcplan.llm.configs.layers import MOST_LAYERS
from dcplan.llm.configs.names import canonical, text_part
from dcplan.llm.configs.text import text_model
from dcplan.llm.diffusion import from_diffusers
from dcplan.llm.vision.alone import encoder_from_config, is_encoder
from dcplan.llm.vision.joined import with_tower
from dcplan.units import GIGA

MOST = 10_000_000
"""Maximum size of a model dimension; a larger number is a typing mistake."""
MOST_PARAMS = 1e18
LEAST_ONE = ("layers", "hidden", "heads", "kv_heads", "head_dim", "value_dim", "ffn")
NO_SIZE = ("tower", "untimed")


def from_config(config: Config) -> Architecture:
    """Read a Hugging Face ``config.json``.

    Dense, GQA, MQA, MLA, MoE with shared experts and dense first layers, linear attention (Gated
    DeltaNet, Kimi Delta Attention, lightning attention), Mamba-1 and Mamba-2, alone and in
    hybrids, sparse attention with an indexer, encoders, and decoders with an encoder.

    It also reads a vision encoder, alone or of a language model (:mod:`dcplan.llm.vision`), and diffusion
    transformers (:mod:`dcplan.llm.diffusion`).

    Raises
    ------
    ValueError
        If a required key is missing, a key or a ``model_type`` changes the cost and has no reader,
        or a key is misspelled.

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
            text = text_part(config)
            refuse_unread(text)
            shape = with_tower(text_model(canonical(text)), config)
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


def timed_config(config: Config) -> Architecture:
    """Read a ``config.json`` of a model whose time is asked for.

    Raises
    ------
    ValueError
        As :func:`from_config`, or if the model has a part whose time no model computes.

    Examples
    --------
    >>> timed_config({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    ...     "vocab_size": 10}).layers
    2
    """
    shape = from_config(config)
    if shape.untimed:
        msg = (
            f"{shape.untimed[0]}: the {shape.params / GIGA:.4g} B parameters are counted, but dcplan "
            "has no time model for this part; use a decoder or an encoder alone"
        )
        raise ValueError(msg)
    return shape


def config_notes(config: Config) -> tuple[str, ...]:
    """Return notes on keys of a ``config.json`` that no reader knows.

    Examples
    --------
    >>> config_notes({"model_type": "llama", "rope_theta": 1e6})
    ()
    """
    if "_class_name" in config or is_encoder(config):
        return ()
    return key_notes(text_part(config))


def _impossible(shape: Architecture) -> list[str]:
    """Return the impossible sizes of a model."""
    found = []
    if shape.tower is not None:
        found += [f"vision_config: {problem}" for problem in _impossible(shape.tower)]
    for f in fields(shape):
        if f.name in NO_SIZE:
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
