"""Images as served: patches of a vision encoder, and the work of one generated image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcplan.catalog.schema import WeightFormat
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.engines import KIND
from dcplan.llm.architecture import Architecture
from dcplan.llm.diffusion import guidance_passes, image_tokens
from dcplan.units import GIGA, HALF_BYTES

T5_WIDTH = 4096
"""Width of the T5-XXL text encoder (its config.json), which ``joint_attention_dim`` repeats."""
CLIP_L_WIDTH, CLIP_G_WIDTH = 768, 1280
"""Widths of the pooled texts of CLIP-L and CLIP-G, whose sum ``pooled_projection_dim`` repeats."""


def is_diffusion(config: Mapping[str, Any]) -> bool:
    """Return whether a model generates images by denoising.

    Examples
    --------
    >>> is_diffusion({"_class_name": "FluxTransformer2DModel"}), is_diffusion({"model_type": "bert"})
    (True, False)
    """
    return "_class_name" in config


def is_prefill_only(config: Mapping[str, Any], shape: Architecture) -> bool:
    """Return whether a model embeds or scores text: no decode follows its prompt.

    These are models without an output layer or a causal mask, and rerankers that are language
    models, which their configuration does not tell apart: ask those by ``prefill_only`` themselves.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> config = {"model_type": "bert", "hidden_size": 64, "num_hidden_layers": 2,
    ...     "num_attention_heads": 4, "vocab_size": 10, "architectures": ["BertModel"]}
    >>> is_prefill_only(config, from_config(config))
    True
    """
    text = not is_diffusion(config) and not is_vision(shape)
    return text and not (shape.head and shape.causal)


def is_vision(shape: Architecture) -> bool:
    """Return whether a model is a vision encoder alone.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> is_vision(from_config({"model_type": "vit", "hidden_size": 64, "num_hidden_layers": 2,
    ...     "num_attention_heads": 4, "intermediate_size": 256, "image_size": 32, "patch_size": 16}))
    True
    """
    return shape.tower is None and shape.tower_patches > 0


def image_numbers(shape: Architecture) -> dict[str, float]:
    """Return the fields of :class:`dcplan.serving.passes.ImageTokens` as numbers.

    Parameters
    ----------
    shape : Architecture
        A vision-language model, or a vision encoder alone.
    """
    alone = is_vision(shape)
    return {
        "patches": shape.tower_patches,
        "tokens": shape.tower_patches if alone else shape.tower_tokens,
        "projector_params": 0 if alone else shape.projector_params,
    }


def text_encoder_params(log: InputLog, config: Mapping[str, Any]) -> float:
    """Return the parameters of the text encoders that a diffusion transformer is made for.

    The widths of its text inputs name them; a model with labels (DiT) has none.
    """
    pooled = int(config.get("pooled_projection_dim") or 0)
    found = []
    if config.get("joint_attention_dim") == T5_WIDTH:
        found.append("t5-xxl-params-b")
    if pooled in (CLIP_L_WIDTH, CLIP_L_WIDTH + CLIP_G_WIDTH):
        found.append("clip-l-params-b")
    if pooled == CLIP_L_WIDTH + CLIP_G_WIDTH:
        found.append("clip-g-params-b")
    return sum(log.parameter(KIND, name) for name in found) * GIGA


def text_tokens(log: InputLog, config: Mapping[str, Any]) -> float:
    """Return the text tokens of one prompt in the transformer; 0 for a model with labels."""
    if not config.get("joint_attention_dim"):
        return 0.0
    flux = config["_class_name"] == "FluxTransformer2DModel"
    return log.parameter(KIND, "flux-text-tokens" if flux else "sd3-text-tokens")


def usual_steps(log: InputLog, config: Mapping[str, Any]) -> float:
    """Return the denoising steps of an image as the makers run the model.

    FLUX.1 without a guidance input is distilled to few steps.
    """
    few = config.get("guidance_embeds") is False
    return log.parameter(KIND, "image-steps-distilled" if few else "image-steps")


def held_bytes(log: InputLog, work: Mapping[str, float]) -> dict[str, float]:
    """Return what an image model holds on each accelerator in addition to its transformer [byte].

    Parameters
    ----------
    log : InputLog
        Records the constant that it takes from the catalog.
    work : Mapping
        The work of an image, from :func:`image_work`.
    """
    return {
        "text encoders": work["text_params"] * HALF_BYTES,
        "image decoder": log.parameter(KIND, "image-vae-gb") * GIGA,
    }


def image_work(
    log: InputLog,
    config: Mapping[str, Any],
    shape: Architecture,
    formats: Mapping[str, WeightFormat],
    *,
    steps: float,
    passes: float | None = None,
    pixels: float | None = None,
    prompt_tokens: float | None = None,
) -> dict[str, float]:
    """Return the fields of :class:`dcplan.serving.passes.ImageWork` as numbers.

    Parameters
    ----------
    log : InputLog
        Records the constants that it takes from the catalog.
    config : Mapping
        The transformer's configuration.
    shape : Architecture
        The transformer.
    formats : Mapping
        Format of each tensor class, from :func:`dcplan.inputs.checkpoint.format_rows`.
    steps : float
        Denoising steps, at least 1.
    passes : float, optional
        Forward passes of a step: 2 with classifier-free guidance; else as the makers run the model.
    pixels : float, optional
        Pixels of the image, above 0; else those of the catalog.
    prompt_tokens : float, optional
        Text tokens in the transformer; else those of the makers' pipeline.
    """
    size = log.parameter(KIND, "image-pixels") if pixels is None else pixels
    words = text_tokens(log, config) if prompt_tokens is None else prompt_tokens
    return {
        "tokens": image_tokens(config, size) + words,
        "steps": steps,
        "passes": guidance_passes(config) if passes is None else passes,
        "once_params": shape.once_params,
        "once_bytes": formats["dense"].weight_bytes.value,
        "text_params": text_encoder_params(log, config),
        "text_tokens": words,
        "decode_flops": log.parameter(KIND, "image-decode-flop-per-pixel") * size,
        "text_hbm_frac": log.parameter(KIND, "text-encode-hbm-frac"),
        "decode_flops_frac": log.parameter(KIND, "image-decode-flops-frac"),
    }
