"""Read the vision encoder of a language model, or a vision encoder alone.

It has sizes of the tower, its patches and its projector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import linear_params, mlp_params, need

Config = Mapping[str, Any]
IMAGE_SIZE = 448
"""Side of an image if the encoder accepts any size: the fixed size of the first Qwen-VL (arXiv
2308.12966, section 2.1). [pixel]"""
COLORS = 3


@dataclass(frozen=True)
class Tower:
    """A vision encoder and its projector to the language model."""

    encoder: Architecture
    patches: int
    """Tokens of one image inside the encoder, class token included."""
    tokens: int
    """Tokens of one image in the language model."""
    projector_params: int


def with_tower(shape: Architecture, config: Config) -> Architecture:
    """Return the language model with the vision encoder of its configuration.

    This applies only to encoders that this reader supports.

    Raises
    ------
    ValueError
        If the encoder's kind is supported but a size is missing; the message names the key.
    """
    reader = _reader(config)
    if reader is None:
        return shape
    try:
        tower = reader(config["vision_config"], config, shape.hidden)
    except ValueError as error:
        msg = f"vision_config: {error}"
        raise ValueError(msg) from error
    return replace(
        shape,
        tower=tower.encoder,
        tower_patches=tower.patches,
        tower_tokens=tower.tokens,
        projector_params=tower.projector_params,
    )


def refusal(shape: Architecture, images: float, seq_len: int) -> str | None:
    """Return why a model cannot process a number of images per sequence; None if it can.

    Examples
    --------
    >>> from dcplan.llm.config import from_config
    >>> tiny = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 10}
    >>> refusal(from_config(tiny), 1.0, 2048)
    'the model has no vision encoder for images'
    """
    if not 0 <= images < float("inf"):
        return f"{images:g}: the number of images must not be negative"
    if images and shape.tower is None:
        return "the model has no vision encoder for images"
    if images * shape.tower_tokens > seq_len:
        return f"{images:g} images of {shape.tower_tokens} tokens do not fit in a sequence of {seq_len}"
    return None


def uncounted_parts(config: Config) -> tuple[str, ...]:
    """Return the parts of a configuration that the architecture does not count.

    Examples
    --------
    >>> uncounted_parts({"text_config": {}, "vision_config": {"hidden_size": 1408}})
    ('vision_config',)
    """
    unread = ("vision_config", "audio_config", "mm_vision_tower")
    return tuple(
        key
        for key in unread
        if config.get(key) and not (key == "vision_config" and _reader(config))
    )


def assumed(config: Config) -> tuple[str, ...]:
    """Return notes on assumed sizes of the vision encoder.

    Examples
    --------
    >>> assumed({"model_type": "qwen2_vl", "vision_config": {"patch_size": 14}})
    ('vision_config has no image_size: images are assumed to have 448 x 448 pixels',)
    """
    if _reader(config) is not _qwen or config["vision_config"].get("image_size"):
        return ()
    return (
        f"vision_config has no image_size: images are assumed to have {IMAGE_SIZE} x {IMAGE_SIZE} pixels",
    )


def _reader(config: Config) -> Callable[[Config, Config, int], Tower] | None:
    """Return the reader of a configuration's vision encoder; None if no reader supports it."""
    vision = config.get("vision_config")
    if not isinstance(vision, Mapping):
        return None
    kinds, reader = READERS.get(str(config.get("model_type")), ((), None))
    return reader if str(vision.get("model_type", config.get("model_type"))) in kinds else None


def _encoder(
    hidden: int,
    layers: int,
    heads: int,
    inner: int,
    attention: int,
    outside: int,
    positions: int,
    *,
    gated: bool = False,
) -> Architecture:
    """Return the architecture of a vision transformer.

    ``attention`` is parameters per block with norms, ``outside`` is parameters for every patch.
    """
    return Architecture(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=hidden // heads,
        value_dim=hidden // heads,
        vocab=0,
        tied=True,
        attention_params=attention,
        dense_mlp_params=mlp_params(hidden, inner, gated=gated, bias=True),
        attention_layers=layers,
        dense_layers=layers,
        ffn=inner,
        gated=gated,
        position_params=positions,
        norm_params=outside,
        causal=False,
    )


def _sizes(vision: Config) -> tuple[int, int, int, int]:
    """Return width, layers, heads and MLP width by their usual names."""
    return (
        int(need(vision, "hidden_size")),
        int(need(vision, "num_hidden_layers")),
        int(need(vision, "num_attention_heads")),
        int(need(vision, "intermediate_size")),
    )


def _patches(vision: Config, image_size: int | None = None) -> tuple[int, int]:
    """Return the patches of an image, and the color values of one patch."""
    patch = int(need(vision, "patch_size"))
    size = image_size or int(need(vision, "image_size"))
    if not 1 <= patch <= size:
        msg = f"patch_size {patch} does not fit image_size {size}"
        raise ValueError(msg)
    return (size // patch) ** 2, COLORS * patch * patch


def _projections(hidden: int, *, bias: bool = True) -> int:
    """Return the parameters of queries, keys, values and output of one attention block."""
    return 4 * linear_params(hidden, hidden, bias=bias)


def _clip(vision: Config, config: Config, width: int) -> Tower:
    """Read the CLIP ViT of LLaVA (arXiv 2310.03744, section 3).

    It has norms before and after, and a two-layer MLP on patches.
    """
    hidden, layers, heads, inner = _sizes(vision)
    patches, values = _patches(vision)
    outside = linear_params(values, hidden, bias=False) + 4 * hidden
    positions = (
        patches + 2
    ) * hidden  # one position is that of the class token, whose embedding is also learned
    attention = _projections(hidden) + 4 * hidden
    bias = bool(config.get("multimodal_projector_bias", True))
    projector = linear_params(hidden, width, bias=bias) + linear_params(width, width, bias=bias)
    if config["model_type"] == "llava_next":
        projector += width  # the learned end token of a row of tiles
    return Tower(
        _encoder(hidden, layers, heads, inner, attention, outside, positions),
        patches + 1,
        patches,
        projector,
    )


def _siglip(vision: Config, config: Config, width: int) -> Tower:
    """Read the SigLIP of Gemma 3 (arXiv 2503.19786, section 2.1).

    Patches are averaged to a fixed number of tokens.
    """
    hidden, layers, heads, inner = _sizes(vision)
    patches, values = _patches(vision)
    outside = linear_params(values, hidden) + 2 * hidden
    attention = _projections(hidden) + 4 * hidden
    encoder = _encoder(hidden, layers, heads, inner, attention, outside, patches * hidden)
    return Tower(
        encoder, patches, int(need(config, "mm_tokens_per_image")), hidden * width + hidden
    )


def _qwen(vision: Config, config: Config, width: int) -> Tower:
    """Read Qwen2-VL, or Qwen2.5-VL with its windows.

    Sources: arXiv 2409.12191, section 2.1; arXiv 2502.13923, section 2.1.1.
    Patches of two frames, rotary positions; the merger joins ``spatial_merge_size`` squared patches
    into one token.
    """
    newer = config["model_type"] == "qwen2_5_vl"
    hidden = int(need(vision, "hidden_size" if newer else "embed_dim"))
    layers, heads = int(need(vision, "depth")), int(need(vision, "num_heads"))
    inner = int(need(vision, "intermediate_size") if newer else need(vision, "mlp_ratio") * hidden)
    norm = hidden if newer else 2 * hidden  # RMS norms have no bias
    merge = int(need(vision, "spatial_merge_size")) ** 2
    patches, values = _patches(vision, int(vision.get("image_size") or IMAGE_SIZE))
    outside = int(need(vision, "temporal_patch_size")) * values * hidden
    encoder = _encoder(
        hidden, layers, heads, inner, _projections(hidden) + 2 * norm, outside, 0, gated=newer
    )
    if newer:
        side = int(need(vision, "window_size")) // int(vision["patch_size"])
        encoder = replace(
            encoder,
            local_layers=layers - len(need(vision, "fullatt_block_indexes")),
            window=side * side,
        )
    joined = merge * hidden
    projector = norm + linear_params(joined, joined) + linear_params(joined, width)
    return Tower(encoder, patches, patches // merge, projector)


def _intern(vision: Config, config: Config, width: int) -> Tower:
    """Read the InternViT of InternVL (arXiv 2404.16821, section 3.1).

    It has scaled layers, pixel shuffle and a two-layer MLP.
    """
    hidden, layers, heads, inner = _sizes(vision)
    patches, values = _patches(vision)
    norms = need(vision, "norm_type")
    if norms not in {"rms_norm", "layer_norm"}:
        msg = f"norm_type {norms!r}: must be rms_norm or layer_norm"
        raise ValueError(msg)
    attention = 4 * hidden * hidden + hidden + (3 * hidden if need(vision, "qkv_bias") else 0)
    attention += (2 if need(vision, "qk_normalization") else 0) * hidden
    attention += (2 if norms == "rms_norm" else 4) * hidden + 2 * hidden
    positions = (patches + 2) * hidden
    encoder = _encoder(
        hidden, layers, heads, inner, attention, linear_params(values, hidden), positions
    )
    ratio = float(need(config, "downsample_ratio"))
    joined = round(hidden / ratio**2)
    projector = 2 * joined + linear_params(joined, width) + linear_params(width, width)
    return Tower(encoder, patches + 1, round(patches * ratio**2), projector)


def _llama4(vision: Config, config: Config, width: int) -> Tower:
    """Read the encoder of Llama 4.

    It has pixel shuffle, a two-layer adapter and one projection, all without biases.
    """
    hidden, layers, heads, inner = _sizes(vision)
    patches, values = _patches(vision)
    attention = _projections(hidden) + 4 * hidden
    positions = (patches + 2) * hidden
    encoder = _encoder(
        hidden, layers, heads, inner, attention, values * hidden + 4 * hidden, positions
    )
    ratio = float(need(vision, "pixel_shuffle_ratio"))
    first, second = (
        int(need(vision, "projector_input_dim")),
        int(need(vision, "projector_output_dim")),
    )
    projector = (
        round(hidden / ratio**2) * first
        + first * second
        + int(need(vision, "vision_output_dim")) * width
    )
    return Tower(encoder, patches + 1, round(patches * ratio**2), projector)


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
        found = _clip(config, {"model_type": "llava"}, int(need(config, "hidden_size")))
        return replace(found.encoder, tower_patches=found.patches)
    if kind == "siglip_vision_model":
        found = _siglip(config, {"mm_tokens_per_image": 1}, int(need(config, "hidden_size")))
        h, inner = found.encoder.hidden, found.encoder.ffn
        head = _projections(h) + 3 * h + mlp_params(h, inner, gated=False, bias=True)
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
    patches, values = _patches(config)
    attention = _projections(hidden) + 4 * hidden + (2 * hidden if dino else 0)
    outside = linear_params(values, hidden) + 2 * hidden
    encoder = _encoder(
        hidden, layers, heads, inner, attention, outside, (patches + 1) * hidden, gated=gated
    )
    tokens = 2 * hidden if dino else hidden
    labels = int(config.get("num_labels") or 0)
    once = tokens + (linear_params(hidden, labels) if labels else 0)
    return replace(encoder, tower_patches=patches + 1, once_params=once)


ALONE = frozenset({"vit", "dinov2", "clip_vision_model", "siglip_vision_model"})
"""``model_type`` of the encoders that :func:`encoder_from_config` reads."""
READERS: Mapping[str, tuple[tuple[str, ...], Callable[[Config, Config, int], Tower]]] = {
    "llava": (("clip_vision_model",), _clip),
    "llava_next": (("clip_vision_model",), _clip),
    "gemma3": (("siglip_vision_model",), _siglip),
    "qwen2_vl": (("qwen2_vl",), _qwen),
    "qwen2_5_vl": (("qwen2_5_vl",), _qwen),
    "internvl_chat": (("intern_vit_6b",), _intern),
    "llama4": (("llama4_vision_model",), _llama4),
}
"""By ``model_type``: supported kinds of encoder, and their readers."""
