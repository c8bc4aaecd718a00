"""Read a vision encoder without a language model into an :class:`Architecture`."""

from __future__ import annotations

from dataclasses import replace

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import linear_params, mlp_params, need
from dcplan.llm.vision.blocks import Config, image_patches, projections, transformer
from dcplan.llm.vision.towers import clip, siglip

ALONE = frozenset({"vit", "dinov2", "clip_vision_model", "siglip_vision_model"})
"""``model_type`` of the encoders that :func:`encoder_from_config` reads."""


def is_encoder(config: Config) -> bool:
    """Return whether a configuration is a vision encoder alone.

    Examples
    --------
    >>> is_encoder({"model_type": "dinov2"}), is_encoder({"model_type": "llama"})
    (True, False)
    """
    return str(config.get("model_type")) in ALONE


def encoder_from_config(config: Config) -> Architecture:
    """Read a vision encoder without a language model: ViT, DINOv2, CLIP or SigLIP.

    ``tower_patches`` are the tokens of one of its own images. What runs once per image (pooling,
    classifier) and what is only stored (class and mask token) is in ``once_params``.

    Parameters
    ----------
    config : Mapping
        The configuration of the encoder; of CLIP and SigLIP, the part ``vision_config``.

    Raises
    ------
    ValueError
        If a size is missing.

    References
    ----------
    .. [1] A. Dosovitskiy et al., "An Image is Worth 16x16 Words", 2021, arXiv 2010.11929, table 1.
    .. [2] M. Oquab et al., "DINOv2", 2023, arXiv 2304.07193, section 5 (SwiGLU, layer scale).

    Examples
    --------
    >>> vit = encoder_from_config({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12,
    ...     "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224, "patch_size": 16})
    >>> round(vit.params / 1e6, 1), vit.tower_patches
    (85.8, 197)
    """
    kind = str(config["model_type"])
    if kind == "clip_vision_model":
        found = clip(config, {"model_type": "llava"}, int(need(config, "hidden_size")))
        return replace(found.encoder, tower_patches=found.patches)
    if kind == "siglip_vision_model":
        found = siglip(config, {"mm_tokens_per_image": 1}, int(need(config, "hidden_size")))
        h, inner = found.encoder.hidden, found.encoder.ffn
        head = projections(h) + 3 * h + mlp_params(h, inner, gated=False, bias=True)
        pooled = head if config.get("vision_use_head", True) else 0
        return replace(found.encoder, tower_patches=found.patches, once_params=pooled)
    return _plain(config, kind)


def _plain(config: Config, kind: str) -> Architecture:
    """Read ViT or DINOv2: patches and one class token, norms before both parts of a block."""
    dino = kind == "dinov2"
    hidden, layers = int(need(config, "hidden_size")), int(need(config, "num_hidden_layers"))
    heads = int(need(config, "num_attention_heads"))
    gated = bool(config.get("use_swiglu_ffn"))
    inner = int(config.get("intermediate_size") or need(config, "mlp_ratio") * hidden)
    if gated:
        # two thirds of the width, rounded up to a multiple of 8 (SwiGLUFFN of DINOv2)
        inner = (inner * 2 // 3 + 7) // 8 * 8
    patches, values = image_patches(config)
    attention = projections(hidden) + 4 * hidden + (2 * hidden if dino else 0)
    outside = linear_params(values, hidden) + 2 * hidden
    encoder = transformer(
        hidden, layers, heads, inner, attention, outside, (patches + 1) * hidden, gated=gated
    )
    tokens = 2 * hidden if dino else hidden
    labels = int(config.get("num_labels") or 0)
    once = tokens + (linear_params(hidden, labels) if labels else 0)
    return replace(encoder, tower_patches=patches + 1, once_params=once)
