"""The vision encoder of a language model: its tower, and what is refused, assumed or not counted."""

from __future__ import annotations

from dataclasses import replace

from dcplan.llm.architecture import Architecture
from dcplan.llm.vision.blocks import Config
from dcplan.llm.vision.towers import IMAGE_SIZE, qwen, reader_of


def with_tower(shape: Architecture, config: Config) -> Architecture:
    """Return the language model with the vision encoder of its configuration.

    This applies only to encoders that this reader supports.

    Raises
    ------
    ValueError
        If the encoder's kind is supported but a size is missing; the message names the key.
    """
    reader = reader_of(config)
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
        if config.get(key) and not (key == "vision_config" and reader_of(config))
    )


def assumed(config: Config) -> tuple[str, ...]:
    """Return notes on assumed sizes of the vision encoder.

    Examples
    --------
    >>> assumed({"model_type": "qwen2_vl", "vision_config": {"patch_size": 14}})
    ('vision_config has no image_size: images are assumed to have 448 x 448 pixels',)
    """
    if reader_of(config) is not qwen or config["vision_config"].get("image_size"):
        return ()
    return (
        f"vision_config has no image_size: images are assumed to have {IMAGE_SIZE} x {IMAGE_SIZE} pixels",
    )
