"""Readers of the vision encoder of a language model.

Each takes the ``vision_config``, the complete configuration, and the width of the language model.
A size that is missing raises ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from dcplan.llm.architecture import Architecture
from dcplan.llm.config_keys import linear_params, need
from dcplan.llm.vision.blocks import Config, image_patches, projections, sizes, transformer

IMAGE_SIZE = 448
"""Side of an image if the encoder accepts any size: the fixed size of the first Qwen-VL (arXiv
2308.12966, section 2.1). [pixel]"""


@dataclass(frozen=True)
class Tower:
    """A vision encoder and its projector to the language model."""

    encoder: Architecture
    patches: int
    """Tokens of one image inside the encoder, class token included."""
    tokens: int
    """Tokens of one image in the language model."""
    projector_params: int


def reader_of(config: Config) -> Callable[[Config, Config, int], Tower] | None:
    """Return the reader of a configuration's vision encoder; None if no reader supports it."""
    vision = config.get("vision_config")
    if not isinstance(vision, Mapping):
        return None
    kinds, reader = READERS.get(str(config.get("model_type")), ((), None))
    return reader if str(vision.get("model_type", config.get("model_type"))) in kinds else None


def clip(vision: Config, config: Config, width: int) -> Tower:
    """Read the CLIP ViT of LLaVA (arXiv 2310.03744, section 3).

    It has norms before and after, and a two-layer MLP on patches.
    """
    hidden, layers, heads, inner = sizes(vision)
    patches, values = image_patches(vision)
    outside = linear_params(values, hidden, bias=False) + 4 * hidden
    positions = (
        patches + 2
    ) * hidden  # one position is that of the class token, whose embedding is also learned
    attention = projections(hidden) + 4 * hidden
    bias = bool(config.get("multimodal_projector_bias", True))
    projector = linear_params(hidden, width, bias=bias) + linear_params(width, width, bias=bias)
    if config["model_type"] == "llava_next":
        projector += width  # the learned end token of a row of tiles
    return Tower(
        transformer(hidden, layers, heads, inner, attention, outside, positions),
        patches + 1,
        patches,
        projector,
    )


def siglip(vision: Config, config: Config, width: int) -> Tower:
    """Read the SigLIP of Gemma 3 (arXiv 2503.19786, section 2.1).

    Patches are averaged to a fixed number of tokens.
    """
    hidden, layers, heads, inner = sizes(vision)
    patches, values = image_patches(vision)
    outside = linear_params(values, hidden) + 2 * hidden
    attention = projections(hidden) + 4 * hidden
    encoder = transformer(hidden, layers, heads, inner, attention, outside, patches * hidden)
    return Tower(
        encoder, patches, int(need(config, "mm_tokens_per_image")), hidden * width + hidden
    )


def qwen(vision: Config, config: Config, width: int) -> Tower:
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
    patches, values = image_patches(vision, int(vision.get("image_size") or IMAGE_SIZE))
    outside = int(need(vision, "temporal_patch_size")) * values * hidden
    encoder = transformer(
        hidden, layers, heads, inner, projections(hidden) + 2 * norm, outside, 0, gated=newer
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


def intern(vision: Config, config: Config, width: int) -> Tower:
    """Read the InternViT of InternVL (arXiv 2404.16821, section 3.1).

    It has scaled layers, pixel shuffle and a two-layer MLP.
    """
    hidden, layers, heads, inner = sizes(vision)
    patches, values = image_patches(vision)
    norms = need(vision, "norm_type")
    if norms not in {"rms_norm", "layer_norm"}:
        msg = f"norm_type {norms!r}: must be rms_norm or layer_norm"
        raise ValueError(msg)
    attention = 4 * hidden * hidden + hidden + (3 * hidden if need(vision, "qkv_bias") else 0)
    attention += (2 if need(vision, "qk_normalization") else 0) * hidden
    attention += (2 if norms == "rms_norm" else 4) * hidden + 2 * hidden
    positions = (patches + 2) * hidden
    encoder = transformer(
        hidden, layers, heads, inner, attention, linear_params(values, hidden), positions
    )
    ratio = float(need(config, "downsample_ratio"))
    joined = round(hidden / ratio**2)
    projector = 2 * joined + linear_params(joined, width) + linear_params(width, width)
    return Tower(encoder, patches + 1, round(patches * ratio**2), projector)


def llama4(vision: Config, config: Config, width: int) -> Tower:
    """Read the encoder of Llama 4.

    It has pixel shuffle, a two-layer adapter and one projection, all without biases.
    """
    hidden, layers, heads, inner = sizes(vision)
    patches, values = image_patches(vision)
    attention = projections(hidden) + 4 * hidden
    positions = (patches + 2) * hidden
    encoder = transformer(
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


READERS: Mapping[str, tuple[tuple[str, ...], Callable[[Config, Config, int], Tower]]] = {
    "llava": (("clip_vision_model",), clip),
    "llava_next": (("clip_vision_model",), clip),
    "gemma3": (("siglip_vision_model",), siglip),
    "qwen2_vl": (("qwen2_vl",), qwen),
    "qwen2_5_vl": (("qwen2_5_vl",), qwen),
    "internvl_chat": (("intern_vit_6b",), intern),
    "llama4": (("llama4_vision_model",), llama4),
}
"""By ``model_type``: supported kinds of encoder, and their readers."""
